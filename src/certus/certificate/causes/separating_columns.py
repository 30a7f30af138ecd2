"""Name what separates the classes, once it is proven that something does.

    column j separates class k from the rest  ⇔  min x_j over k ≥ max x_j over the rest (or ≤ …)

A single column is the most useful answer, so it is searched for first. Otherwise the columns of the
proven direction are named, by how much they change the scores.
"""

from dataclasses import replace

import numpy as np

from ...data.rows import Rows
from ..facts import Combination, Ordering, SeparatingColumn, Separation, SeparationProof

MAX_ENTRIES = 1 << 30  # entries, zeros included, that are searched: a second or two


def what_separates(rows: Rows, K: int, proof: SeparationProof) -> Separation:
    """The column or columns that separate the classes; y holds class indices."""
    n, p = rows.shape
    if proof.ordered:
        return _what_orders(rows, K, proof)
    moves = np.abs(np.asarray(proof.direction[0], dtype=float)).reshape(p, -1).max(axis=1)
    if n * p > MAX_ENTRIES:
        return Combination(_largest_first(moves))
    rows = rows.dense()
    low, high, counts = rows.reduce(_ranges, K, combine=_wider)
    separating = _by_one_column(low, high)
    if separating is not None:
        return _counted(rows, separating, counts)
    columns = _largest_first(moves * (high.max(axis=0) - low.min(axis=0)))
    if K != 2:
        return Combination(columns)
    return Combination(columns, classes=(1, 0), rows=(int(counts[1]), int(counts[0])))


def _largest_first(moves: np.ndarray) -> tuple[int, ...]:
    """Columns that change the scores, by how much they do."""
    return tuple(int(j) for j in np.argsort(-moves, kind="stable") if moves[j] > 0)


def _what_orders(rows: Rows, K: int, proof: SeparationProof) -> Ordering:
    """The ordering columns, and whether the first of them rises with the classes."""
    u = np.asarray(proof.direction[0], dtype=float).ravel()
    moves = np.abs(u)
    if rows.shape[0] * rows.shape[1] <= MAX_ENTRIES:
        low, high, _ = rows.dense().reduce(_ranges, K, combine=_wider)
        moves = moves * (high.max(axis=0) - low.min(axis=0))
    columns = _largest_first(moves)
    return Ordering(columns, rises=bool(u[columns[0]] > 0))


Ranges = tuple[np.ndarray, np.ndarray, np.ndarray]


def _ranges(X: np.ndarray, y: np.ndarray, s: np.ndarray | None, K: int) -> Ranges:
    """Smallest and largest entry per class and column, (K, p), and rows with weight per class."""
    k = y[:, 0].astype(np.intp)
    low, high = np.full((K, X.shape[1]), np.inf), np.full((K, X.shape[1]), -np.inf)
    counts = np.zeros(K)
    for c in range(K):
        members = X[(k == c) & (True if s is None else s > 0)]
        counts[c] = len(members)
        if len(members):
            low[c], high[c] = members.min(axis=0), members.max(axis=0)
    return low, high, counts


def _wider(left: Ranges, right: Ranges) -> Ranges:
    return np.minimum(left[0], right[0]), np.maximum(left[1], right[1]), left[2] + right[2]


def _by_one_column(low: np.ndarray, high: np.ndarray) -> SeparatingColumn | None:
    """The first column that separates a class from the others, with threshold and side.

    A column without rows on its threshold is preferred. On the ``side`` of the threshold there are
    only rows of class k: all of them, or all but those that lie on it.
    """
    K = len(low)
    doubtful = None
    for k in range(K - 1, -1, -1):
        others = np.arange(K) != k
        below, above = high[others].max(axis=0), low[others].min(axis=0)
        for side, edge, own_edge, far in (
            (">", below, low[k], high[k]),
            ("<", above, high[k], low[k]),
        ):
            sign = 1.0 if side == ">" else -1.0
            clear = np.flatnonzero(sign * own_edge > sign * edge)
            if len(clear):
                j = int(clear[0])
                threshold = _between(*sorted((float(own_edge[j]), float(edge[j]))))
                other = 1 - k if K == 2 else None
                if K == 2 and side == "<":  # stated for the rows above
                    side, k, other = ">", 1 - k, k
                return SeparatingColumn(j, threshold, k, side, other=other)
            touching = np.flatnonzero((own_edge == edge) & (sign * far > sign * edge))
            if len(touching) and doubtful is None:
                j = int(touching[0])
                doubtful = SeparatingColumn(j, float(edge[j]), k, side)
    return doubtful


def _between(low: float, high: float) -> float:
    """The shortest number strictly between, near the middle."""
    middle = low + (high - low) / 2
    short = (float(f"{middle:.{digits}g}") for digits in range(1, 17))
    return next((x for x in short if low < x < high), low)


def _counted(rows: Rows, separating: SeparatingColumn, counts: np.ndarray) -> SeparatingColumn:
    if separating.other is not None:
        other_rows = int(counts[separating.other])
        return replace(separating, rows=int(counts[separating.class_index]), other_rows=other_rows)
    (on_side,) = rows.reduce(_count_side, separating.column, separating.threshold, separating.side)
    return replace(separating, rows=int(on_side))


def _count_side(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, j: int, threshold: float, side: str
) -> tuple[float]:
    on_side = X[:, j] > threshold if side == ">" else X[:, j] < threshold
    return (float((on_side & (True if s is None else s > 0)).sum()),)
