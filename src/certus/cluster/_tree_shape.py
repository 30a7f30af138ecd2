"""Where the leaves of a tree stand, and what its merges join. No recursion.

    merge t makes cluster n + t of clusters a and b, each made before: a, b < n + t

A cluster's leaves stand side by side in the dendrogram, and a merge number larger than all others
between two leaves is the merge that joins them. So every cut is a set of gaps between leaves, and
the height at which leaves i < j are joined is that of the largest merge number in gaps i … j − 1.
"""

from typing import NamedTuple

import numpy as np

from ..text.format import count, listed, number

AS_EQUAL = 8 * np.finfo(float).eps  # heights that differ by less are a tie: rounding made them so


def checked_merges(merges: object, leaf_sizes: np.ndarray | None = None) -> np.ndarray:
    """SciPy's layout as float64 (n − 1, 4), or an error that names the merge."""
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


class Shape(NamedTuple):
    """Where leaves stand, from left to right."""

    order: np.ndarray  # (n,) the leaf at every place
    start: np.ndarray  # (2n − 1,) the first place of every cluster
    leaves: np.ndarray  # (2n − 1,) how many places it takes
    gaps: np.ndarray  # (n − 1,) the merge that joins places g and g + 1


def shape_of(merges: np.ndarray) -> Shape:
    """The first cluster of a merge to the left: SciPy's order of leaves."""
    n = len(merges) + 1
    pairs = merges[:, :2].astype(np.intp).tolist()
    leaves = [1] * n + [0] * (n - 1)
    for t, (a, b) in enumerate(pairs):
        leaves[n + t] = leaves[a] + leaves[b]
    start, gaps = [0] * (2 * n - 1), [0] * (n - 1)
    for t in range(n - 2, -1, -1):
        a, b = pairs[t]
        start[a] = start[n + t]
        start[b] = start[a] + leaves[a]
        gaps[start[b] - 1] = t
    order = np.empty(n, dtype=np.intp)
    order[start[:n]] = np.arange(n)
    return Shape(order, *(np.array(values, dtype=np.intp) for values in (start, leaves, gaps)))


def below(merges: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The larger of ``values`` (of merges; 0 of leaves) at the two parts of every merge."""
    n = len(merges) + 1
    each = np.concatenate([np.zeros(n), values])
    largest: np.ndarray = each[merges[:, :2].astype(np.intp)].max(axis=1, initial=0.0)
    return largest


def formed_at(merges: np.ndarray) -> np.ndarray:
    """The highest merge inside every cluster, itself included: heights, where none falls."""
    heights = merges[:, 2]
    if not (heights < below(merges, heights)).any():
        return heights
    n = len(merges) + 1
    formed = [0.0] * n + heights.tolist()
    for t, (a, b) in enumerate(merges[:, :2].astype(np.intp).tolist()):
        formed[n + t] = max(formed[n + t], formed[a], formed[b])
    return np.array(formed[n:])


def runs(shape: Shape, undone: np.ndarray) -> np.ndarray:
    """The cluster of every leaf, 0, 1, … from left to right, when merges are undone."""
    n = len(shape.order)
    labels = np.empty(n, dtype=np.intp)
    labels[shape.order] = np.concatenate([[0], np.cumsum(undone[shape.gaps])])
    return labels


def by_first_row(labels: np.ndarray) -> np.ndarray:
    """The same clusters, numbered in the order of their first rows."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    numbered: np.ndarray = rank[inverse]
    return numbered


def joined_at(shape: Shape, heights: np.ndarray, rows: np.ndarray | None) -> np.ndarray:
    """The height that joins rows i < j, condensed. O(n) memory beside the answer."""
    order, gaps = shape.order, shape.gaps
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    places = place if rows is None else place[rows]
    n, each = len(places), np.concatenate([heights, [0.0]])
    found = np.empty(n * (n - 1) // 2)
    joined = np.empty(len(order), dtype=np.intp)
    done = 0
    for i in range(n - 1):
        at = places[i]
        joined[at] = -1  # itself: the 0 at the end
        joined[at + 1 :] = np.maximum.accumulate(gaps[at:])
        joined[:at] = np.maximum.accumulate(gaps[:at][::-1])[::-1]
        found[done : done + n - 1 - i] = each[joined[places[i + 1 :]]]
        done += n - 1 - i
    return found


def leaves(n: int) -> str:
    return "1 leaf" if n == 1 else f"{n:,} leaves"


def tie_at(merges: np.ndarray, n_clusters: int, from_above: bool) -> str | None:
    """Why the cut into so many clusters is arbitrary, if it is.

    A tree made from below could have made any of several equal merges first. One made from above
    could have undone another first only if that was not a part of what it undid.
    """
    heights, n = merges[:, 2], len(merges) + 1
    undone = n - n_clusters  # the first merge that is undone
    if n_clusters in (1, n):
        return None
    low, high = heights[undone - 1], heights[undone]
    same = np.flatnonzero(np.abs(heights - high) <= AS_EQUAL * high)
    if abs(high - low) > AS_EQUAL * max(high, low) or (
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
    """Could one of these merges stay in place of another?"""
    n, pairs = len(merges) + 1, merges[:, :2].astype(np.intp)
    made_by = {int(part): t for t in range(undone, n - 1) for part in pairs[t]}
    could_go = [w for w in same if w < undone and n + w in made_by]
    could_stay = [u for u in same if u >= undone and (pairs[u] < n + undone).all()]
    return any(made_by[n + w] != u for w in could_go for u in could_stay)
