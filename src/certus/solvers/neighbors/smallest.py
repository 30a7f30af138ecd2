"""The k smallest entries of each row of a matrix of distances, ties to the smallest column.

Entries are ordered by (D_ij, j); NaN comes last, as column −1 at infinity.
"""

import numpy as np

from .lists import NearestLists, RadiusLists


def smallest(D: np.ndarray, k: int) -> NearestLists:
    """Return the k smallest distances of each row and their columns, both (m, k)."""
    m, n = D.shape
    finite_or_inf = np.where(np.isnan(D), np.inf, D)
    if k < n:
        kth = np.partition(finite_or_inf, k - 1, axis=1)[:, k - 1 : k]
        nearer = finite_or_inf < kth
        tied = finite_or_inf == kth
        # of the entries equal to the k-th, only the first that fit are taken
        n_tied = k - np.count_nonzero(nearer, axis=1)
        tied &= np.cumsum(tied, axis=1) <= n_tied[:, None]
        columns = np.nonzero(nearer | tied)[1].reshape(m, k)
    else:
        columns = np.broadcast_to(np.arange(n), (m, n))
    values = np.take_along_axis(finite_or_inf, columns, axis=1)
    order = np.argsort(values, axis=1, kind="stable")
    values = np.take_along_axis(values, order, axis=1)
    columns = np.take_along_axis(columns, order, axis=1)
    return NearestLists(values, np.where(np.isinf(values), -1, columns))


def within(D: np.ndarray, r: float, first_row: int | None = None) -> RadiusLists:
    """Return all entries of at most r.

    ``first_row``: row i of D belongs to column first_row + i, which is left out.
    """
    inside = r >= D
    if first_row is not None:
        inside[np.arange(len(D)), first_row + np.arange(len(D))] = False
    query, column = np.nonzero(inside)
    edges = np.searchsorted(query, np.arange(len(D) + 1)).astype(np.intp)
    return RadiusLists(D[query, column], column.astype(np.intp), edges)


def join_queries(parts: list[RadiusLists]) -> RadiusLists:
    """Concatenate lists of consecutive queries."""
    edges = [np.zeros(1, dtype=np.intp)]
    for part in parts:
        edges.append(part.edges[1:] + edges[-1][-1])
    values = np.concatenate([np.empty(0), *(part.values for part in parts)])
    rows = np.concatenate([np.empty(0, dtype=np.intp), *(part.rows for part in parts)])
    return RadiusLists(values, rows, np.concatenate(edges))
