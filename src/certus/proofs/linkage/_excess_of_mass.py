"""The clusters that HDBSCAN chooses in a tree, and the probabilities of their rows.

    mass of a cluster = Σ over its rows (λ at which the row leaves − λ at which it begins),  λ = 1/h

A merge of two parts with at least m rows each splits a cluster into two; a smaller part falls out.
Chosen are disjoint clusters below the root: of a cluster and the best within it those with more
mass, or all that are not split further. Masses that differ by rounding only are ties, which may go
either way, and so are infinite ones (rows at distance 0).
"""

from typing import NamedTuple

import numpy as np

from certus.proofs.linkage._tree import Hierarchy


class Branches(NamedTuple):
    """Clusters with enough rows; 0 is the root, and clusters follow the one that they are in."""

    node: list[int]  # of the tree
    parent: list[int]
    mass: list[float]
    peak: list[float]  # the largest λ at which rows leave
    owner: list[int]  # of each node of the tree: its cluster
    left: list[float]  # of each node of the tree: λ at which it falls out of its cluster, or 0


def branches(tree: Hierarchy, h: np.ndarray, m: int) -> Branches:
    """Return the clusters of at least m rows."""
    n, size = tree.n, tree.size.tolist()
    with np.errstate(divide="ignore"):
        density = (1 / h).tolist()
    pairs = tree.pairs.tolist()
    node, parent, mass, peak, begin = [2 * n - 2], [-1], [0.0], [0.0], [0.0]
    owner, left = [0] * (2 * n - 1), [0.0] * (2 * n - 1)
    for t in range(n - 2, -1, -1):
        c, level = owner[n + t], density[t]
        small = [part for part in pairs[t] if size[part] < m]
        for part in pairs[t]:
            owner[part], left[part] = c, left[n + t]
        if left[n + t]:
            continue
        leaving = small
        if not small:  # a split
            leaving = pairs[t]
            for part in leaving:
                owner[part] = len(node)
                node.append(part)
                parent.append(c)
                mass.append(0.0)
                peak.append(0.0)
                begin.append(level)
        for part in small:
            left[part] = level
        mass[c] += sum(size[part] for part in leaving) * (level - begin[c])
        peak[c] = max(peak[c], level)
    return Branches(node, parent, mass, peak, owner, left)


def choice_errors(
    tree: Hierarchy,
    h: np.ndarray,
    labels: np.ndarray,
    probabilities: np.ndarray | None,
    least_size: int,
    most_size: float,
    leaves: bool,
    tol: float,
) -> list[str]:
    """Report labels that are not those of the clusters to choose, and other probabilities."""
    n = tree.n
    if len(labels) != n or (probabilities is not None and len(probabilities) != n):
        return [f"labels or probabilities do not have {n:,} entries"]
    found = branches(tree, h, least_size)
    by_leaf = np.asarray(labels)[tree.order]  # in the order of the leaves
    counts = dict(zip(*(v.tolist() for v in np.unique(by_leaf, return_counts=True)), strict=True))
    label_of = [_own_label(tree, by_leaf, counts, c) for c in found.node]
    unknown = set(counts) - {-1} - {label for label in label_of if label is not None}
    wrong = [_no_cluster(tree, found, by_leaf, label) for label in sorted(unknown)]
    wrong = wrong or _selection_errors(tree, found, label_of, most_size, leaves, tol)
    if wrong or probabilities is None:
        return wrong
    given, right = np.asarray(probabilities, dtype=float), np.zeros(n)
    left = np.array(found.left[:n])
    for c, label in enumerate(label_of):
        if label is not None and c:
            start = tree.start[found.node[c]]
            rows = tree.order[start : start + tree.size[found.node[c]]]
            inside = np.minimum(left[rows], found.peak[c])
            with np.errstate(invalid="ignore"):
                right[rows] = np.where(np.isinf(left[rows]), 1.0, inside / found.peak[c])
    return [
        f"row {i} has the probability {given[i]:.6g}, and {right[i]:.6g} follows from the tree"
        for i in np.flatnonzero(~(np.abs(given - right) <= tol))
    ]


def _own_label(
    tree: Hierarchy, by_leaf: np.ndarray, counts: dict[int, int], node: int
) -> int | None:
    """Return the label that all rows of a cluster have, and no others."""
    first, size = int(tree.start[node]), int(tree.size[node])
    label = int(by_leaf[first])
    if label == -1 or counts[label] != size or (by_leaf[first : first + size] != label).any():
        return None
    return label


def _no_cluster(tree: Hierarchy, found: Branches, by_leaf: np.ndarray, label: int) -> str:
    """Say how the rows of a label differ from the cluster that is most like them."""
    inside = by_leaf == label
    before = np.append(0, np.cumsum(inside))
    node = np.array(found.node)
    first, last = tree.start[node], tree.start[node] + tree.size[node]
    differing = tree.size[node] + before[-1] - 2 * (before[last] - before[first])
    best = int(np.argmin(differing))
    inside[first[best] : last[best]] ^= True
    return (
        f"the rows labelled {label} are no cluster of the tree: the nearest differs in "
        f"{differing[best]:,}, among them row {tree.order[inside].min()}"
    )


def _selection_errors(
    tree: Hierarchy,
    found: Branches,
    label_of: list[int | None],
    most_size: float,
    leaves: bool,
    tol: float,
) -> list[str]:
    count = len(found.node)
    size = [int(tree.size[node]) for node in found.node]
    below, split = [0.0] * count, [False] * count
    for c in range(count - 1, 0, -1):  # clusters within come later
        fits = size[c] <= most_size
        best = max(below[c], found.mass[c]) if fits else below[c]
        below[found.parent[c]] += best
        split[found.parent[c]] = True
    wrong, open_ = [], [True] + [False] * (count - 1)  # open: not within a chosen cluster
    if label_of[0] is not None:
        wrong.append(f"all rows are labelled {label_of[0]}, and the root cannot be chosen")
    for c in range(1, count):
        if not open_[found.parent[c]]:
            continue
        label, mass, name = label_of[c], found.mass[c], f"{size[c]:,} rows"
        open_[c] = label is None
        if leaves:
            if label is not None and split[c]:
                wrong.append(f"the {name} labelled {label} are split into clusters further down")
            elif label is None and not split[c]:
                wrong.append(f"{name}, {tree.name(found.node[c])}, are a leaf without a label")
        elif label is not None and size[c] > most_size:
            wrong.append(f"the {name} labelled {label} are more than {most_size:g}")
        elif label is not None and mass < below[c] * (1 - tol):
            wrong.append(
                f"the {name} labelled {label} have the mass {mass:.6g}, the clusters within them "
                f"{below[c]:.6g}"
            )
        elif label is None and size[c] <= most_size and below[c] < mass * (1 - tol):
            wrong.append(
                f"the {name} of {tree.name(found.node[c])} have the mass {mass:.6g}, the clusters "
                f"within them {below[c]:.6g}, but no label of their own"
            )
    return wrong
