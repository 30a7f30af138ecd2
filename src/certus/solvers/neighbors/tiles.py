"""Nearest rows by any distance, from tiles of the matrix of all pairs.

A distance that is not a number (nothing can be compared) is no neighbour: lists that are not full
end in rows of −1 at a distance of infinity.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...data.csr import Block
from ...runtime.pool import give_up_if_stopped, run_on_threads
from .lists import Best, Within, empty, joined, lanes

TILE = 1 << 18  # distances of a tile

Pairwise = Callable[[Any, Any], np.ndarray]  # queries, rows → their distances


class Tiles:
    """O(n) distances a query; memory for a tile of them on each thread."""

    def __init__(self, X: Block, pairwise: Pairwise, threads: int):
        self.X, self.pairwise, self.n, self.threads = X, pairwise, X.shape[0], threads

    def nearest(self, Q: np.ndarray, k: int) -> Best:
        from ...kernels.neighbors.nearest import in_order, scan

        best, groups = empty(Q.shape[0], k), lanes(Q.shape[0])

        def search(i: int) -> None:
            part = groups[i]
            values, rows = best.values[part], best.rows[part]
            worst = np.full(len(values), np.inf)
            for a, b in self._edges(len(values)):
                give_up_if_stopped()
                T = np.ascontiguousarray(self.pairwise(Q[part], self.X[a:b]).T, dtype=float)
                scan(T, np.zeros(b - a), a, worst, values, rows)
            unfilled = rows < 0  # last, whatever their number: they are at infinity
            rows[unfilled] = self.n
            in_order(values, rows)
            rows[rows == self.n] = -1

        run_on_threads(search, len(groups), self.threads)
        return best

    def within(self, Q: np.ndarray, radius: float) -> Within:
        groups = lanes(Q.shape[0])
        parts: list[Any] = [None] * len(groups)

        def search(i: int) -> None:
            m = groups[i].stop - groups[i].start
            found = []
            for a, b in self._edges(m):
                give_up_if_stopped()
                D = np.asarray(self.pairwise(Q[groups[i]], self.X[a:b]), dtype=float)
                query, row = np.nonzero(radius >= D)
                found.append((D[query, row], query, row + a))
            values, query, row = (np.concatenate(part) for part in zip(*found, strict=True))
            order = np.lexsort((row, query))
            parts[i] = values[order], row[order], np.bincount(query, minlength=m)

        run_on_threads(search, len(groups), self.threads)
        return joined(parts)

    def _edges(self, queries: int) -> list[tuple[int, int]]:
        step = max(64, TILE // max(queries, 1))
        return [(a, min(a + step, self.n)) for a in range(0, self.n, step)]
