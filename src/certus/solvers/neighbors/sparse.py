"""Search among sparse rows: by products for Euclidean distances, else by all distances.

    best(i) ← the k smallest of best(i) and d(q_i, x_j) over a block's j, in order of (d, j)

For other distances, one block of queries and one of rows are dense at a time, so that memory does
not grow with n·p.
"""

from collections.abc import Iterator
from typing import TypeGuard

import numpy as np

from ...data.csr import CSR
from ...distances import Distance
from .lists import NearestLists, RadiusLists, within_radius, without_self
from .smallest import join_queries, smallest, within
from .sparse_products import SparseProducts, embedded

MAX_BLOCK_ELEMENTS = 1 << 21  # of a dense block of rows
MAX_BLOCK_QUERIES = 256  # so that their distances to a block of rows stay small
PRODUCT_METRICS = ("euclidean", "sqeuclidean", "cosine")
MAX_SQUARABLE = 1e150  # sums of squares of larger numbers could overflow


class SparseIndex:
    """An ``Index`` of sparse rows."""

    algorithm = "brute"

    def __init__(self, X: CSR, distance: Distance, threads: int):
        self.X, self.distance, self.threads = X, distance, threads
        is_euclidean = distance.name in PRODUCT_METRICS and vars(distance).get("w") is None
        self.products = None
        if is_euclidean and _in_range(X) and not (distance.name == "cosine" and _has_zero_rows(X)):
            self.products = SparseProducts(embedded(X, distance.name), threads)

    def kneighbors(self, Q: np.ndarray | CSR | None, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (distances, rows), each (m, k). Q None: the rows, each without itself."""
        if Q is None:
            return without_self(*self.kneighbors(self.X, k + 1))
        if self._by_products(Q):
            assert self.products is not None
            best = self.products.nearest(embedded(Q, self.distance.name), k)
            return self._rooted(best.values), best.rows
        parts = [self._nearest(A, k) for _, A in _dense(Q, MAX_BLOCK_QUERIES)]
        values = np.concatenate([best.values for best in parts])
        return values, np.concatenate([best.rows for best in parts])

    def _nearest(self, A: np.ndarray, k: int) -> NearestLists:
        best = NearestLists(np.empty((len(A), 0)), np.empty((len(A), 0), dtype=np.intp))
        for rows, D in self._distances(A):
            j = np.broadcast_to(np.arange(rows.start, rows.stop), D.shape)
            # blocks come in ascending order, so ties to the first column are ties to the first row
            values, j = np.hstack([best.values, D]), np.hstack([best.rows, j])
            values, at = smallest(values, min(k, values.shape[1]))
            best = NearestLists(values, np.where(at < 0, -1, np.take_along_axis(j, at, axis=1)))
        return best

    def radius(self, Q: np.ndarray | CSR | None, r: float) -> RadiusLists:
        """Return all rows at a distance of at most r, ascending by row for each query."""
        is_self = Q is None
        Q = self.X if Q is None else Q
        if self._by_products(Q):
            return self._within_by_products(Q, r, is_self)
        lists = []
        for queries, A in _dense(Q, MAX_BLOCK_QUERIES):
            D = np.hstack([D for _, D in self._distances(A)])
            lists.append(within(D, r, queries.start if is_self else None))
        return join_queries(lists)

    def _within_by_products(self, Q: CSR, r: float, is_self: bool) -> RadiusLists:
        assert self.products is not None
        square = r * r if self.distance.name == "euclidean" else r
        # the square of r is rounded: search slightly farther, then filter by distance
        lists = self.products.within(embedded(Q, self.distance.name), square * (1 + 1e-14))
        return within_radius(lists, self._rooted(lists.values), r, is_self)

    def _by_products(self, Q: np.ndarray | CSR) -> TypeGuard[CSR]:
        if self.products is None or isinstance(Q, np.ndarray) or not _in_range(Q):
            return False
        return not (self.distance.name == "cosine" and _has_zero_rows(Q))

    def _rooted(self, square: np.ndarray) -> np.ndarray:
        return np.sqrt(square) if self.distance.name == "euclidean" else square

    def _distances(self, A: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        for rows, B in _dense(self.X, self.X.shape[0]):
            yield rows, self.distance.pairwise(A, B, threads=self.threads)


def _in_range(X: CSR) -> bool:
    largest = float(np.abs(X.values).max(initial=0.0))
    return largest == 0 or 1 / MAX_SQUARABLE < largest < MAX_SQUARABLE


def _has_zero_rows(X: CSR) -> bool:
    """Return whether a row is all zeros, stored or not: cosine distances need a direction."""
    n_nonzero = np.add.reduceat(np.append(X.data != 0, False), X.indptr[:-1])
    return bool((n_nonzero[: X.shape[0]] == 0).any() or (np.diff(X.indptr) == 0).any())


def _dense(X: np.ndarray | CSR, max_rows: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield dense blocks of at most ``max_rows`` rows."""
    n = X.shape[0]
    step = min(max_rows, max(1, MAX_BLOCK_ELEMENTS // max(1, X.shape[1])))
    for first in range(0, n, step):
        rows = slice(first, min(n, first + step))
        block = X[rows]
        yield rows, block if isinstance(block, np.ndarray) else block.toarray()
