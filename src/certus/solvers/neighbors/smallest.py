"""The k smallest of each row of a matrix of distances, ties to the smallest column.

order of (D_ij, j) ascending; NaN is farther than any number
"""

import numpy as np


def smallest(D: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(distances, columns), both (m, k)."""
    m, n = D.shape
    far = np.where(np.isnan(D), np.inf, D)
    if k < n:
        kth = np.partition(far, k - 1, axis=1)[:, k - 1 : k]
        nearer = far < kth
        level = far == kth
        # of those as far as the kth, the first so many that k are taken
        room = k - np.count_nonzero(nearer, axis=1)
        level &= np.cumsum(level, axis=1) <= room[:, None]
        columns = np.nonzero(nearer | level)[1].reshape(m, k)
    else:
        columns = np.broadcast_to(np.arange(n), (m, n))
    order = np.argsort(np.take_along_axis(far, columns, axis=1), axis=1, kind="stable")
    columns = np.take_along_axis(columns, order, axis=1)
    return np.take_along_axis(D, columns, axis=1), columns


def within(D: np.ndarray, r: float, *, sort: bool) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Of each row the distances of at most r and their columns, ascending by column or distance."""
    near = r >= D
    columns = [np.flatnonzero(row) for row in near]
    distances = [row[j] for row, j in zip(D, columns, strict=True)]
    if sort:
        orders = [np.argsort(d, kind="stable") for d in distances]
        distances = [d[order] for d, order in zip(distances, orders, strict=True)]
        columns = [j[order] for j, order in zip(columns, orders, strict=True)]
    return distances, columns


def without_itself(D: np.ndarray, first: int) -> np.ndarray:
    """(m, n − 1): row i of D belongs to column first + i, which is left out."""
    m, n = D.shape
    keep = np.ones((m, n), dtype=bool)
    keep[np.arange(m), first + np.arange(m)] = False
    return D[keep].reshape(m, n - 1)


def with_itself(columns: np.ndarray, row: np.ndarray | int) -> np.ndarray:
    """Columns of ``without_itself`` as columns of the whole."""
    return columns + (columns >= row)
