"""Search among sparse rows: all distances, from dense blocks of queries and of rows.

    best(i) ← the k smallest of best(i) and d(q_i, x_j) over the block's j, in order of (d, j)

A block is held with its zeros for as long as it is looked at, so memory does not grow with n·p.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.sparse import issparse

from .smallest import smallest, within

BLOCK = 1 << 21  # elements of a dense block of rows
QUERIES = 256  # at a time: their distances to a block stay small


class SparseIndex:
    """Rows of a sparse fit. The interface is ``Index``'s."""

    algorithm = "brute"

    def __init__(self, X: Any, distance: Any):
        self.X, self.distance = X, distance

    def kneighbors(
        self, Q: Any, k: int, *, threads: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        if Q is None:
            return without_own(*self.kneighbors(self.X, k + 1, threads=threads))
        distances = np.empty((Q.shape[0], k))
        indices = np.empty((Q.shape[0], k), dtype=np.intp)
        for queries, A in _dense(Q, QUERIES):
            best, number = np.empty((len(A), 0)), np.empty((len(A), 0), dtype=np.intp)
            for rows, B in _dense(self.X, self._rows):
                D = self.distance.pairwise(A, B, threads=threads)
                j = np.broadcast_to(np.arange(rows.start, rows.stop), D.shape)
                # rows come in ascending order, so of equal ones the first column is the first row
                best, number = np.hstack([best, D]), np.hstack([number, j])
                best, at = smallest(best, min(k, best.shape[1]))
                number = np.take_along_axis(number, at, axis=1)
            distances[queries], indices[queries] = best, number
        return distances, indices

    def radius(
        self, Q: Any, r: float, *, sort: bool = False, threads: int | None = None
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        own = Q is None
        Q = self.X if own else Q
        distances: list[np.ndarray] = []
        indices: list[np.ndarray] = []
        for queries, A in _dense(Q, QUERIES):
            found: list[list[np.ndarray]] = [[] for _ in A]
            where: list[list[np.ndarray]] = [[] for _ in A]
            for rows, B in _dense(self.X, self._rows):
                D = self.distance.pairwise(A, B, threads=threads)
                for i, (d, j) in enumerate(zip(*within(D, r, sort=False), strict=True)):
                    other = j + rows.start != queries.start + i if own else slice(None)
                    found[i].append(d[other])
                    where[i].append(j[other] + rows.start)
            for d_parts, j_parts in zip(found, where, strict=True):
                d, j = np.concatenate(d_parts), np.concatenate(j_parts)
                order = np.argsort(d, kind="stable") if sort else slice(None)
                distances.append(d[order])
                indices.append(j[order])
        return distances, indices

    @property
    def _rows(self) -> int:
        return max(1, BLOCK // max(1, self.X.shape[1]))


def _dense(X: Any, step: int) -> Iterator[tuple[slice, np.ndarray]]:
    n = X.shape[0]
    step = min(step, max(1, BLOCK // max(1, X.shape[1])))
    for first in range(0, n, step):
        rows = slice(first, min(n, first + step))
        block = X[rows]
        yield rows, block.toarray() if issparse(block) else block


def without_own(distances: np.ndarray, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The k + 1 nearest of each row without itself: the k nearest others."""
    m, k = indices.shape[0], indices.shape[1] - 1
    keep = indices != np.arange(m)[:, None]
    keep[keep.all(axis=1), k] = False  # more than k others are as near as the row itself
    return distances[keep].reshape(m, k), indices[keep].reshape(m, k)
