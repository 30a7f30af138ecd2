"""DIANA: from one cluster of all rows, the widest is split until each row is alone.

    height of a cluster = its diameter, max d(i, j)        the next to be split has the largest

Kaufman and Rousseeuw's split of a cluster C: the row with the largest mean distance to the others
starts a splinter S; then, as long as one gains by it, the row that gains most follows it,

    gain(i) = mean d(i, C∖S∖i) − mean d(i, S) > 0        of equals, the row of smaller number

``check`` is given the tree as merges, the splits from the last to the first. Diameters are
recomputed and splits done again: of all clusters if that is affordable, else of the smallest and of
a sample. A row may follow out of turn where another gains no more than rounding leaves open.
"""

from typing import Any

import numpy as np

from certus.proofs.linkage._row_distances import TILE, Given, LeafRows, Vectors, not_symmetric
from certus.proofs.linkage._tree import (
    Hierarchy,
    hierarchy,
    what_is_no_tree,
    wrong_heights,
    wrong_labels,
    wrong_order,
    wrong_sizes,
)
from certus.proofs.types import RowData

SPLITS = 2.0**27  # elements compared and sums updated for splits, about .3 s
LARGE = 4096  # rows of a cluster whose distances are held at once: 134 MB
NAMED = 20  # sentences; the rest is counted


# --- the definition, plain ------------------------------------------------------------------------


def split(D: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(S, C∖S) of the rows of one cluster, from all their distances."""
    D = np.asarray(D, dtype=float)
    S, rest = [int(np.argmax(D.sum(axis=1)))], list(range(len(D)))
    rest.remove(S[0])
    while len(rest) > 1:
        gain = [
            D[i, rest].sum() / (len(rest) - 1) - D[i, S].mean()  # d(i, i) = 0
            for i in rest
        ]
        best = int(np.argmax(gain))
        if not gain[best] > 0:
            break
        S.append(rest.pop(best))
    return np.array(sorted(S)), np.array(rest)


# --- what a model claims --------------------------------------------------------------------------


def check(
    data: RowData,
    merges: np.ndarray,
    metric: str | None = "euclidean",
    metric_params: dict[str, Any] | None = None,
    scale: np.ndarray | None = None,
    labels: np.ndarray | None = None,
    n_clusters: int | None = None,
    threshold: float | None = None,
    ours: bool = False,
    budget: float = SPLITS,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Is this the divisive tree of these rows? Arguments as in ``linkage.check``.

    O(Σ |C|²p) operations over the clusters C that are looked at, at most ``budget``. Memory O(n·p)
    and the distances of one cluster.
    """
    merges = np.asarray(merges, dtype=float)
    rows, width = data.shape
    n = len(merges) + 1 if metric == "precomputed" and rows != width else rows
    found: dict[str, Any] = {
        "bound": 0.0, "residual": 0.0, "kind": "exact", "merges": n - 1, "sampled": 0,
        "heights": 0, "inversions": [], "far": 0.0, "top": 0.0,
    }  # fmt: skip
    wrong = what_is_no_tree(merges, n) or wrong_heights(merges[:, 2])
    if not wrong:
        tree, h = hierarchy(merges, n), merges[:, 2]
        wrong += wrong_sizes(tree, merges[:, 3])
        wrong += wrong_order(tree, h, "diana", tol * h * (not ours))
        if metric is None:
            found["unproven"] = "a distance of your own has no definition to compare with"
        elif n > 1:
            X = data.all_rows()
            at = (
                Given(X, tree.order)
                if metric == "precomputed"
                else Vectors(X, tree.order, metric, metric_params or {}, scale, False)
            )
            wrong += not_symmetric(X, n, tol) if isinstance(at, Given) else []
            seen = _compared(at, tree, h, budget, tol)
            wrong += seen.pop("wrong")
            found |= seen
        if labels is not None:
            wrong += wrong_labels(tree, h, labels, n_clusters, threshold)
    count = float(len(wrong))
    return {**found, "objective": count, "gap": count, "wrong": wrong[:NAMED]}


def _compared(
    rows: LeafRows, tree: Hierarchy, h: np.ndarray, budget: float, tol: float
) -> dict[str, Any]:
    n, size = tree.n, tree.size[tree.n :]
    cost = size.astype(float) ** 2 * (rows.p + 8)
    smallest = np.argsort(cost, kind="stable")
    taken = smallest[(np.cumsum(cost[smallest]) <= budget / 2) & (size[smallest] <= LARGE)]
    # the larger ones, spread over all
    larger = np.setdiff1d(np.flatnonzero(size <= LARGE), taken)
    spread = np.unique((np.arange(16) * 0.6180339887498949 % 1.0 * len(larger)).astype(int))
    more, spent = [], 0.0
    for t in larger[spread] if len(larger) else []:
        if spent + cost[t] <= budget / 2:
            spent += cost[t]
            more.append(t)
    taken = np.sort(np.concatenate([taken, np.array(more, dtype=np.intp)]))
    wrong, residual = [], 0.0
    for t in taken:
        a, b = tree.pairs[t]
        name = tree.name(n + t)
        D = _inside(rows, int(tree.start[n + t]), int(size[t]))
        diameter = float(D.max())
        forgiven = tol * diameter + float(rows.lost(diameter))
        off = abs(h[t] - diameter)
        residual = max(residual, off / diameter if diameter > 0 else off)
        if off > forgiven:
            said = f"is split at {h[t]:.6g}, but its diameter is {diameter:.6g}"
            wrong.append(f"merge {t}: {name} {said}")
        in_a = np.arange(size[t]) < tree.size[a]
        first = tree.start[n + t]
        number = tree.order[first : first + size[t]]
        if not any(_follows(D, S, forgiven, number) for S in (in_a, ~in_a)):
            into = f"{tree.name(a)} and {tree.name(b)}"
            wrong.append(
                f"merge {t}: {name} is split into {into}, which is not how DIANA splits it"
            )
    return {"wrong": wrong, "sampled": len(taken), "heights": len(taken), "residual": residual}


def _inside(rows: LeafRows, first: int, size: int) -> np.ndarray:
    step = max(1, TILE // size)
    parts = [
        rows.block(first + i, first + min(i + step, size), first, first + size)
        for i in range(0, size, step)
    ]
    return np.concatenate(parts)


def _follows(D: np.ndarray, splinter: np.ndarray, forgiven: float, number: np.ndarray) -> bool:
    """Does the rule end with this splinter, if ties go to the smallest number, or to the largest
    of gains that rounding alone made different?"""
    return any(_ends_with(D, splinter, forgiven, prefer) for prefer in (-number, None))


def _ends_with(
    D: np.ndarray, splinter: np.ndarray, forgiven: float, prefer: np.ndarray | None
) -> bool:
    m = len(D)
    to_rest, to_S, out = D.sum(axis=1), np.zeros(m), np.zeros(m, dtype=bool)
    gain, allowed = to_rest / max(1, m - 1), True
    while allowed:
        near = np.flatnonzero(splinter & ~out & (gain >= gain.max() - forgiven))
        if not len(near):
            return False
        i = int(near[np.argmax((gain if prefer is None else prefer)[near])])
        out[i] = True
        to_S += D[i]
        to_rest -= D[i]
        moved = int(out.sum())
        if m - moved <= 1:
            return bool((out == splinter).all())
        gain = np.where(out, -np.inf, to_rest / (m - moved - 1) - to_S / moved)
        if (out == splinter).all():
            return bool(gain.max() <= forgiven)
        allowed = bool(gain.max() >= -forgiven)
    return False
