"""The order of the leaves of a tree, its cuts and cophenetic distances, without recursion.

    merge t makes cluster n + t of clusters a and b, which were made before: a, b < n + t

The leaves of a cluster are contiguous in the dendrogram. Number each gap between neighbouring
leaves by the merge that joins them: then a cut is a set of gaps, and the leaves in places i < j are
joined by the largest merge number in the gaps i … j − 1.
"""

from typing import NamedTuple

import numpy as np

from ..text.format import count, listed, number

TIE_TOLERANCE = 8 * np.finfo(float).eps  # relative: heights that differ by rounding only are tied


def checked_merges(merges: object, leaf_sizes: np.ndarray | None = None) -> np.ndarray:
    """Return the merges as float64 (n − 1, 4), or raise an error that names the faulty merge."""
    Z = np.ascontiguousarray(merges, dtype=np.float64)
    if Z.ndim != 2 or Z.shape[1] != 4:
        raise ValueError(
            f"merges has shape {Z.shape}: give (n − 1, 4), in each row two clusters, the height at "
            "which they are joined and the size of what they make"
        )
    n = len(Z) + 1
    if not np.isfinite(Z).all():
        t = int(np.flatnonzero(~np.isfinite(Z).all(axis=1))[0])
        raise ValueError(f"merge {t} holds {_row(Z, t)}: give finite numbers")
    pairs, made = Z[:, :2], n + np.arange(n - 1)[:, None]
    _refuse(Z, (pairs != np.floor(pairs)).any(axis=1), "clusters have whole numbers")
    _refuse(
        Z, ((pairs < 0) | (pairs >= made)).any(axis=1),
        f"it can join leaves 0 … {n - 1} and what merges before it made ({n} is merge 0)",
    )  # fmt: skip
    if len(np.unique(pairs)) < pairs.size:
        _refuse_twice(Z, n)
    _refuse(Z, Z[:, 2] < 0, "a height is a distance, of at least 0")
    sizes = np.concatenate([np.ones(n) if leaf_sizes is None else leaf_sizes, Z[:, 3]])
    a, b = pairs.astype(np.intp).T
    _refuse(Z, sizes[a] + sizes[b] != Z[:, 3], "its size is not the sum of those of its two parts")
    return Z


def _refuse(Z: np.ndarray, bad: np.ndarray | np.bool, why: str) -> None:
    if bad.any():
        t = int(np.flatnonzero(bad)[0])
        raise ValueError(f"merge {t} is {_row(Z, t)}: {why}")


def _refuse_twice(Z: np.ndarray, n: int) -> None:
    seen: dict[float, int] = {}
    for t, pair in enumerate(Z[:, :2].tolist()):
        for cluster in pair:
            if cluster in seen:
                raise ValueError(
                    f"merge {t} is {_row(Z, t)}: cluster {int(cluster)} was joined already, by "
                    f"merge {seen[cluster]}"
                )
            seen[cluster] = t


def _row(Z: np.ndarray, t: int) -> str:
    return f"[{', '.join(f'{value:g}' for value in Z[t])}]"


class TreeLayout(NamedTuple):
    """Places of the leaves in the dendrogram, from left to right."""

    order: np.ndarray  # (n,) the leaf at every place
    start: np.ndarray  # (2n − 1,) the first place of every cluster
    n_leaves: np.ndarray  # (2n − 1,) the number of its leaves
    gaps: np.ndarray  # (n − 1,) the merge that joins places g and g + 1


def layout_of(merges: np.ndarray) -> TreeLayout:
    """Return the layout with the first cluster of every merge on the left, as SciPy has it."""
    n = len(merges) + 1
    pairs = merges[:, :2].astype(np.intp).tolist()
    n_leaves = [1] * n + [0] * (n - 1)
    for t, (a, b) in enumerate(pairs):
        n_leaves[n + t] = n_leaves[a] + n_leaves[b]
    start, gaps = [0] * (2 * n - 1), [0] * (n - 1)
    for t in range(n - 2, -1, -1):
        a, b = pairs[t]
        start[a] = start[n + t]
        start[b] = start[a] + n_leaves[a]
        gaps[start[b] - 1] = t
    order = np.empty(n, dtype=np.intp)
    order[start[:n]] = np.arange(n)
    return TreeLayout(order, *(np.array(each, dtype=np.intp) for each in (start, n_leaves, gaps)))


def largest_of_parts(merges: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the larger of ``values`` at the two parts of every merge; a leaf has the value 0."""
    n = len(merges) + 1
    each = np.concatenate([np.zeros(n), values])
    largest: np.ndarray = each[merges[:, :2].astype(np.intp)].max(axis=1, initial=0.0)
    return largest


def formed_at(merges: np.ndarray) -> np.ndarray:
    """Return the greatest height inside every cluster, its own included.

    Without inversions these are the heights themselves.
    """
    heights = merges[:, 2]
    if not (heights < largest_of_parts(merges, heights)).any():
        return heights
    n = len(merges) + 1
    formed = [0.0] * n + heights.tolist()
    for t, (a, b) in enumerate(merges[:, :2].astype(np.intp).tolist()):
        formed[n + t] = max(formed[n + t], formed[a], formed[b])
    return np.array(formed[n:])


def leaf_labels(shape: TreeLayout, undone: np.ndarray) -> np.ndarray:
    """Return the cluster of every leaf, numbered from left to right, when merges are undone."""
    n = len(shape.order)
    labels = np.empty(n, dtype=np.intp)
    labels[shape.order] = np.concatenate([[0], np.cumsum(undone[shape.gaps])])
    return labels


def relabel_by_first_row(labels: np.ndarray) -> np.ndarray:
    """Renumber clusters in the order of their first rows."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    numbered: np.ndarray = rank[inverse]
    return numbered


def cophenetic_distances(
    shape: TreeLayout, heights: np.ndarray, rows: np.ndarray | None
) -> np.ndarray:
    """Return the height that joins rows i < j, condensed, in O(n) memory beside the result."""
    order, gaps = shape.order, shape.gaps
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    places = place if rows is None else place[rows]
    n, each = len(places), np.concatenate([heights, [0.0]])
    condensed = np.empty(n * (n - 1) // 2)
    joined = np.empty(len(order), dtype=np.intp)
    done = 0
    for i in range(n - 1):
        at = places[i]
        joined[at] = -1  # the leaf itself: the 0 appended to the heights
        joined[at + 1 :] = np.maximum.accumulate(gaps[at:])
        joined[:at] = np.maximum.accumulate(gaps[:at][::-1])[::-1]
        condensed[done : done + n - 1 - i] = each[joined[places[i + 1 :]]]
        done += n - 1 - i
    return condensed


def count_leaves(n: int) -> str:
    """Return "1 leaf", "2 leaves", …"""
    return "1 leaf" if n == 1 else f"{n:,} leaves"


def tie_message(merges: np.ndarray, n_clusters: int, from_above: bool) -> str | None:
    """Return why the cut into ``n_clusters`` is arbitrary, or None if it is not.

    An agglomerative tree could have made any of several equal merges first. A divisive one could
    have split another cluster first only if that was not a part of the one it split.
    """
    heights, n = merges[:, 2], len(merges) + 1
    undone = n - n_clusters  # the first merge that is undone
    if n_clusters in (1, n):
        return None
    low, high = heights[undone - 1], heights[undone]
    same = np.flatnonzero(np.abs(heights - high) <= TIE_TOLERANCE * high)
    if abs(high - low) > TIE_TOLERANCE * max(high, low) or (
        from_above and not _exchangeable(merges, same, undone)
    ):
        return None
    least, most = n - int(same[-1]) - 1, n - int(same[0])
    return (
        f"merges {listed([str(t) for t in same], 4)} have the same height, "
        f"{number(float(high))}, and {count(n_clusters, 'cluster')} lie between them: which of "
        f"these merges are undone is arbitrary. {least} and {most} clusters are not"
    )


def _exchangeable(merges: np.ndarray, same: np.ndarray, undone: int) -> bool:
    """Whether one of the equal merges could be kept in place of another."""
    n, pairs = len(merges) + 1, merges[:, :2].astype(np.intp)
    made_by = {int(part): t for t in range(undone, n - 1) for part in pairs[t]}
    could_go = [w for w in same if w < undone and n + w in made_by]
    could_stay = [u for u in same if u >= undone and (pairs[u] < n + undone).all()]
    return any(made_by[n + w] != u for w in could_go for u in could_stay)
