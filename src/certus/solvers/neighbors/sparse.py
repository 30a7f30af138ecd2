"""Search among sparse rows: by products where the distance is Euclid's, else all distances.

    best(i) ← the k smallest of best(i) and d(q_i, x_j) over a block's j, in order of (d, j)

Of other distances, blocks of queries and of rows are held with their zeros for as long as they are
looked at, so memory does not grow with n·p.
"""

from collections.abc import Iterator
from typing import TypeGuard

import numpy as np

from ...data.csr import CSR
from ...distances import Distance
from .lists import Best, Within, those, without_own
from .smallest import side_by_side, smallest, within
from .sparse_products import SparseProducts, embedded

BLOCK = 1 << 21  # elements of a dense block of rows
QUERIES = 256  # at a time: their distances to a block stay small
BY_PRODUCTS = ("euclidean", "sqeuclidean", "cosine")
HUGE = 1e150  # squares of more would overflow


class SparseIndex:
    """Rows of a sparse fit. The interface is ``Index``'s."""

    algorithm = "brute"

    def __init__(self, X: CSR, distance: Distance, threads: int):
        self.X, self.distance, self.threads = X, distance, threads
        plain = distance.name in BY_PRODUCTS and vars(distance).get("w") is None
        self.products = None
        if plain and _in_range(X) and not (distance.name == "cosine" and _has_zero_rows(X)):
            self.products = SparseProducts(embedded(X, distance.name), threads)

    def kneighbors(self, Q: np.ndarray | CSR | None, k: int) -> tuple[np.ndarray, np.ndarray]:
        """(distances, rows), each (m, k). Q None: the rows themselves, each without itself."""
        if Q is None:
            return without_own(*self.kneighbors(self.X, k + 1))
        if self._by_products(Q):
            assert self.products is not None
            best = self.products.nearest(embedded(Q, self.distance.name), k)
            return self._rooted(best.values), best.rows
        parts = [self._nearest(A, k) for _, A in _dense(Q, QUERIES)]
        values = np.concatenate([best.values for best in parts])
        return values, np.concatenate([best.rows for best in parts])

    def _nearest(self, A: np.ndarray, k: int) -> Best:
        best = Best(np.empty((len(A), 0)), np.empty((len(A), 0), dtype=np.intp))
        for rows, D in self._distances(A):
            j = np.broadcast_to(np.arange(rows.start, rows.stop), D.shape)
            # rows come in ascending order, so of equal ones the first column is the first row
            values, j = np.hstack([best.values, D]), np.hstack([best.rows, j])
            values, at = smallest(values, min(k, values.shape[1]))
            best = Best(values, np.where(at < 0, -1, np.take_along_axis(j, at, axis=1)))
        return best

    def radius(self, Q: np.ndarray | CSR | None, r: float) -> Within:
        """All rows at a distance of at most r, those of a query by number."""
        own = Q is None
        Q = self.X if Q is None else Q
        if self._by_products(Q):
            return self._within_by_products(Q, r, own)
        found = []
        for queries, A in _dense(Q, QUERIES):
            D = np.hstack([D for _, D in self._distances(A)])
            found.append(within(D, r, queries.start if own else None))
        return side_by_side(found)

    def _within_by_products(self, Q: CSR, r: float, own: bool) -> Within:
        assert self.products is not None
        square = r * r if self.distance.name == "euclidean" else r
        # the square of r is rounded: look a little farther, then at the distance
        found = self.products.within(embedded(Q, self.distance.name), square * (1 + 1e-14))
        return those(found, self._rooted(found.values), r, own)

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
    return largest == 0 or 1 / HUGE < largest < HUGE


def _has_zero_rows(X: CSR) -> bool:
    """Rows without a direction. Stored zeros are looked at too."""
    there = np.add.reduceat(np.append(X.data != 0, False), X.indptr[:-1])
    return bool((there[: X.shape[0]] == 0).any() or (np.diff(X.indptr) == 0).any())


def _dense(X: np.ndarray | CSR, most: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Blocks of at most ``most`` rows, with their zeros."""
    n = X.shape[0]
    step = min(most, max(1, BLOCK // max(1, X.shape[1])))
    for first in range(0, n, step):
        rows = slice(first, min(n, first + step))
        block = X[rows]
        yield rows, block if isinstance(block, np.ndarray) else block.toarray()
