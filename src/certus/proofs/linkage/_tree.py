"""The structure of a tree of merges: validity, order of the leaves, clusters alive at a merge.

    cluster n + t = a ∪ b, a, b < n + t, made by merge t        clusters below n are rows

With rows in the order of the leaves, every cluster is a slice: its members are
order[start:start+size]. Cluster c is alive at merge t if it was made before t and is joined at t or
later.
"""

from typing import Any, NamedTuple

import numpy as np

MONOTONE_METHODS = ("single", "complete", "average", "weighted", "ward", "diana")


class Hierarchy(NamedTuple):
    """The clusters 0 … 2n − 2 of a tree: their parents, sizes and places."""

    n: int
    pairs: np.ndarray  # (n − 1, 2)
    parent: np.ndarray  # the merge that joins it; n − 1: none
    size: np.ndarray
    start: np.ndarray
    depth: np.ndarray  # joins above it
    order: np.ndarray  # (n,) rows as leaves

    def members(self, cluster: int) -> Any:
        first = self.start[cluster]
        return self.order[first : first + self.size[cluster]]

    def alive(self, t: int) -> Any:
        """Return the clusters alive at merge t, sorted by their place among the leaves."""
        alive = np.flatnonzero(self.parent[: self.n + t] >= t)
        return alive[np.argsort(self.start[alive])]

    def name(self, cluster: int) -> str:
        if cluster < self.n:
            return f"row {cluster}"
        return f"cluster {cluster} ({self.size[cluster]:,} rows)"


def tree_errors(merges: np.ndarray, n: int) -> list[str]:
    """Report why these are not n − 1 merges of n rows with each cluster joined once."""
    if len(merges) != n - 1:
        return [f"there are {len(merges):,} merges, and {n:,} rows need {n - 1:,}"]
    made = n + np.arange(n - 1)[:, None]
    pairs = merges[:, :2]
    bad = ~((pairs >= 0) & (pairs < made) & (pairs == np.floor(pairs)))
    if bad.any():
        t, side = np.argwhere(bad)[0]
        return [f"merge {t} joins cluster {pairs[t, side]:g}, which does not exist then"]
    ids = pairs.astype(np.intp).ravel()
    first = np.unique(ids, return_index=True)[1]
    if len(first) < len(ids):
        t = int(np.min(np.setdiff1d(np.arange(len(ids)), first))) // 2
        again = next(c for c in ids[2 * t : 2 * t + 2] if np.sum(ids[: 2 * t + 2] == c) > 1)
        return [f"merge {t} joins cluster {again}, which had been joined before"]
    return []


def hierarchy(merges: np.ndarray, n: int) -> Hierarchy:
    pairs = np.asarray(merges)[:, :2].astype(np.intp)
    parent = np.full(2 * n - 1, n - 1, dtype=np.intp)
    parent[pairs] = np.arange(n - 1)[:, None]
    size, start, depth = [1] * (2 * n - 1), [0] * (2 * n - 1), [0] * (2 * n - 1)
    joined = pairs.tolist()
    for t, (a, b) in enumerate(joined):
        size[n + t] = size[a] + size[b]
    for t in range(n - 2, -1, -1):
        a, b = joined[t]
        start[a], start[b] = start[n + t], start[n + t] + size[a]
        depth[a] = depth[b] = depth[n + t] + 1
    order = np.empty(n, dtype=np.intp)
    order[start[:n]] = np.arange(n)
    sizes, starts, depths = (np.array(v, dtype=np.intp) for v in (size, start, depth))
    return Hierarchy(n, pairs, parent, sizes, starts, depths, order)


def size_errors(tree: Hierarchy, claimed: np.ndarray) -> list[str]:
    true = tree.size[tree.n :]
    return [
        f"merge {t} claims a cluster of {claimed[t]:g} rows, but it has {true[t]:,}"
        for t in np.flatnonzero(claimed != true)
    ]


def height_errors(h: np.ndarray) -> list[str]:
    """Report heights that are negative or not finite."""
    return [f"merge {t} has the height {h[t]:g}" for t in np.flatnonzero(~(h >= 0) | np.isinf(h))]


def order_errors(tree: Hierarchy, h: np.ndarray, method: str, tolerance: np.ndarray) -> list[str]:
    """Report heights that fall; for centroid and median unless the cluster just made is joined.

    After the nearest pair is joined, the remaining distances are not smaller; only those to the new
    cluster can be.
    """
    t = 1 + np.flatnonzero(h[1:] + tolerance[1:] < h[:-1])
    why = f"heights of {method} linkage do not fall"
    if method not in MONOTONE_METHODS:
        t = t[(tree.pairs[t] != (tree.n + t - 1)[:, None]).all(axis=1)]
        why = "the height falls, but the cluster just made is not joined"
    return [
        f"merge {i} at {h[i]:.6g} stands after merge {i - 1} at {h[i - 1]:.6g}: {why}" for i in t
    ]


def inversions(tree: Hierarchy, h: np.ndarray, tolerance: np.ndarray) -> Any:
    """Return the merges that are lower than one of the two clusters they join."""
    below = np.concatenate([np.full(tree.n, -np.inf), h])[tree.pairs].max(axis=1)
    return np.flatnonzero(h + tolerance < below)


def highest_inside(tree: Hierarchy, h: np.ndarray) -> np.ndarray:
    """Return the largest height within each merge's cluster, its own included."""
    high = [0.0] * tree.n + h.tolist()
    for t, (a, b) in enumerate(tree.pairs.tolist()):
        high[tree.n + t] = max(high[tree.n + t], high[a], high[b])
    return np.array(high[tree.n :])


# --- cuts -----------------------------------------------------------------------------------------


def cut(
    tree: Hierarchy, h: np.ndarray | None, n_clusters: int | None, threshold: float | None
) -> Any:
    """Return the clusters of a cut: those before the last n_clusters − 1 merges, or the largest in
    which no height reaches the threshold."""
    if n_clusters is not None:
        return tree.alive(tree.n - n_clusters)
    assert h is not None
    inside = np.concatenate([np.full(tree.n, -np.inf), highest_inside(tree, h)])
    above = np.append(inside[tree.n :], np.inf)[tree.parent]
    clusters = np.flatnonzero((inside < threshold) & (above >= threshold))
    return clusters[np.argsort(tree.start[clusters])]


def label_errors(
    tree: Hierarchy,
    h: np.ndarray | None,
    labels: np.ndarray,
    n_clusters: int | None,
    threshold: float | None,
) -> list[str]:
    """Report rows whose labels differ from the cut; clusters may be numbered in any way."""
    if len(labels) != tree.n:
        return [f"there are {len(labels):,} labels, and {tree.n:,} rows"]
    if n_clusters is not None and not 1 <= n_clusters <= tree.n:
        return [f"{n_clusters} clusters are claimed of {tree.n:,} rows"]
    clusters = cut(tree, h, n_clusters, threshold)
    cut_name = f"the cut into {n_clusters}" if threshold is None else f"the cut at {threshold:g}"
    L = np.asarray(labels)[tree.order]
    first = tree.start[clusters]
    of = np.repeat(np.arange(len(clusters)), tree.size[clusters])
    wrong = []
    for i in np.flatnonzero(L[first][of] != L):
        a, b = tree.order[i], tree.order[first[of[i]]]
        wrong.append(
            f"row {a} is labelled {L[i]} and row {b} {L[first[of[i]]]}, but {cut_name} has them "
            "together"
        )
    seen: dict[Any, int] = {}
    for c, label in zip(first, L[first].tolist(), strict=True):
        if label in seen:
            a, b = tree.order[seen[label]], tree.order[c]
            wrong.append(
                f"rows {a} and {b} are both labelled {label}, but {cut_name} has them apart"
            )
        seen.setdefault(label, c)
    return wrong
