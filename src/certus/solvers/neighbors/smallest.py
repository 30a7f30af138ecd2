"""The k smallest of each row of a matrix of distances, ties to the smallest column.

order of (D_ij, j) ascending; what is no number comes last, as column −1 at infinity
"""

import numpy as np

from .lists import Best, Within


def smallest(D: np.ndarray, k: int) -> Best:
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
    values = np.take_along_axis(far, columns, axis=1)
    order = np.argsort(values, axis=1, kind="stable")
    values = np.take_along_axis(values, order, axis=1)
    columns = np.take_along_axis(columns, order, axis=1)
    return Best(values, np.where(np.isinf(values), -1, columns))


def within(D: np.ndarray, r: float, own: int | None = None) -> Within:
    """All distances of at most r. ``own``: line i of D is that of column own + i, left out."""
    near = r >= D
    if own is not None:
        near[np.arange(len(D)), own + np.arange(len(D))] = False
    query, column = np.nonzero(near)
    edges = np.searchsorted(query, np.arange(len(D) + 1)).astype(np.intp)
    return Within(D[query, column], column.astype(np.intp), edges)


def side_by_side(parts: list[Within]) -> Within:
    """Of queries after one another."""
    edges = [np.zeros(1, dtype=np.intp)]
    for part in parts:
        edges.append(part.edges[1:] + edges[-1][-1])
    values = np.concatenate([np.empty(0), *(part.values for part in parts)])
    rows = np.concatenate([np.empty(0, dtype=np.intp), *(part.rows for part in parts)])
    return Within(values, rows, np.concatenate(edges))
