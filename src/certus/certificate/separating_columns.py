"""Name what separates the classes, once it is proven that something does.

    column j separates class k from the rest  ⇔  min x_j over k ≥ max x_j over the rest (or ≤ …)

One column alone is what people can act on, so it is looked for first; else the columns of the
direction that was proven are named, those that move scores most first.
"""

from dataclasses import replace

import numpy as np

from ..data.rows import Rows
from .facts import Combination, OneColumn, Ordering, Separation, SeparationProof

MOST = 1 << 30  # entries, zeros counted, that are looked through: a second or two


def what_separates(rows: Rows, K: int, proof: SeparationProof) -> Separation:
    """The facts that ``explain.separation`` tells. y is the class's index."""
    n, p = rows.shape
    if proof.ordered:
        return _what_orders(rows, K, proof)
    moves = np.abs(np.asarray(proof.direction[0], dtype=float)).reshape(p, -1).max(axis=1)
    if n * p > MOST:
        return Combination(_largest_first(moves))
    rows = rows.dense()
    low, high, counts = rows.reduce(_ranges, K, combine=_wider)
    found = _by_one_column(low, high)
    if found is not None:
        return _counted(rows, found, counts)
    columns = _largest_first(moves * (high.max(axis=0) - low.min(axis=0)))
    if K != 2:
        return Combination(columns)
    return Combination(columns, classes=(1, 0), rows=(int(counts[1]), int(counts[0])))


def _largest_first(moves: np.ndarray) -> tuple[int, ...]:
    """Columns that move scores, by how much."""
    return tuple(int(j) for j in np.argsort(-moves, kind="stable") if moves[j] > 0)


def _what_orders(rows: Rows, K: int, proof: SeparationProof) -> Ordering:
    """Its columns, and whether the first of them rises with the classes."""
    u = np.asarray(proof.direction[0], dtype=float).ravel()
    moves = np.abs(u)
    if rows.shape[0] * rows.shape[1] <= MOST:
        low, high, _ = rows.dense().reduce(_ranges, K, combine=_wider)
        moves = moves * (high.max(axis=0) - low.min(axis=0))
    columns = _largest_first(moves)
    return Ordering(columns, rises=bool(u[columns[0]] > 0))


Ranges = tuple[np.ndarray, np.ndarray, np.ndarray]


def _ranges(X: np.ndarray, y: np.ndarray, s: np.ndarray | None, K: int) -> Ranges:
    """Least and largest entry of each column in each class, (K, p), and its rows that count."""
    k = y[:, 0].astype(np.intp)
    low, high = np.full((K, X.shape[1]), np.inf), np.full((K, X.shape[1]), -np.inf)
    counts = np.zeros(K)
    for c in range(K):
        mine = X[(k == c) & (True if s is None else s > 0)]
        counts[c] = len(mine)
        if len(mine):
            low[c], high[c] = mine.min(axis=0), mine.max(axis=0)
    return low, high, counts


def _wider(left: Ranges, right: Ranges) -> Ranges:
    return np.minimum(left[0], right[0]), np.maximum(left[1], right[1]), left[2] + right[2]


def _by_one_column(low: np.ndarray, high: np.ndarray) -> OneColumn | None:
    """Column, threshold, side and class, of a column that leaves no row in doubt if there is one.

    Of class k the rows on the ``side`` of the threshold are all, or all but those that lie on it.
    """
    K = len(low)
    doubtful = None
    for k in range(K - 1, -1, -1):
        rest = np.arange(K) != k
        below, above = high[rest].max(axis=0), low[rest].min(axis=0)
        for side, edge, own, far in ((">", below, low[k], high[k]), ("<", above, high[k], low[k])):
            sign = 1.0 if side == ">" else -1.0
            clear = np.flatnonzero(sign * own > sign * edge)
            if len(clear):
                j = int(clear[0])
                threshold = _between(*sorted((float(own[j]), float(edge[j]))))
                other = 1 - k if K == 2 else None
                if K == 2 and side == "<":  # the same, said of the rows above
                    side, k, other = ">", 1 - k, k
                return OneColumn(j, threshold, k, side, other=other)
            touching = np.flatnonzero((own == edge) & (sign * far > sign * edge))
            if len(touching) and doubtful is None:
                j = int(touching[0])
                doubtful = OneColumn(j, float(edge[j]), k, side)
    return doubtful


def _between(low: float, high: float) -> float:
    """The shortest number strictly between, near the middle."""
    middle = low + (high - low) / 2
    short = (float(f"{middle:.{digits}g}") for digits in range(1, 17))
    return next((x for x in short if low < x < high), low)


def _counted(rows: Rows, found: OneColumn, counts: np.ndarray) -> OneColumn:
    if found.other is not None:
        other_rows = int(counts[found.other])
        return replace(found, rows=int(counts[found.class_index]), other_rows=other_rows)
    (there,) = rows.reduce(_there, found.column, found.threshold, found.side)
    return replace(found, rows=int(there))


def _there(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, j: int, threshold: float, side: str
) -> tuple[float]:
    there = X[:, j] > threshold if side == ">" else X[:, j] < threshold
    return (float((there & (True if s is None else s > 0)).sum()),)
