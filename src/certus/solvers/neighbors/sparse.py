"""Search among sparse rows: all distances, from dense blocks of queries and of rows.

    best(i) ← the k smallest of best(i) and d(q_i, x_j) over the block's j, in order of (d, j)

A block is held with its zeros for as long as it is looked at, so memory does not grow with n·p.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .lists import Best, Within
from .smallest import side_by_side, smallest, within, without_own

BLOCK = 1 << 21  # elements of a dense block of rows
QUERIES = 256  # at a time: their distances to a block stay small


class SparseIndex:
    """Rows of a sparse fit. The interface is ``Index``'s."""

    algorithm = "brute"

    def __init__(self, X: Any, distance: Any, threads: int):
        self.X, self.distance, self.threads = X, distance, threads

    def kneighbors(self, Q: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """(distances, rows), each (m, k). Q None: the rows themselves, each without itself."""
        if Q is None:
            return without_own(*self.kneighbors(self.X, k + 1))
        parts = []
        for _, A in _dense(Q, QUERIES):
            best = Best(np.empty((len(A), 0)), np.empty((len(A), 0), dtype=np.intp))
            for rows, D in self._distances(A):
                j = np.broadcast_to(np.arange(rows.start, rows.stop), D.shape)
                # rows come in ascending order, so of equal ones the first column is the first row
                values, j = np.hstack([best.values, D]), np.hstack([best.rows, j])
                values, at = smallest(values, min(k, values.shape[1]))
                best = Best(values, np.where(at < 0, -1, np.take_along_axis(j, at, axis=1)))
            parts.append(best)
        return (
            np.concatenate([best.values for best in parts]),
            np.concatenate([best.rows for best in parts]),
        )

    def radius(self, Q: Any, r: float) -> Within:
        """All rows at a distance of at most r, those of a query by number."""
        own = Q is None
        found = []
        for queries, A in _dense(self.X if own else Q, QUERIES):
            D = np.hstack([D for _, D in self._distances(A)])
            found.append(within(D, r, queries.start if own else None))
        return side_by_side(found)

    def _distances(self, A: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        for rows, B in _dense(self.X, self.X.shape[0]):
            yield rows, self.distance.pairwise(A, B, threads=self.threads)


def _dense(X: Any, most: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Blocks of at most ``most`` rows, with their zeros."""
    n = X.shape[0]
    step = min(most, max(1, BLOCK // max(1, X.shape[1])))
    for first in range(0, n, step):
        rows = slice(first, min(n, first + step))
        block = X[rows]
        yield rows, block.toarray() if issparse(block) else block
