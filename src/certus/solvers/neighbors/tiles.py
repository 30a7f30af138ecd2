"""Brute-force search by any distance, over tiles of the matrix of all pairs.

A pair whose distance is NaN (no common feature) is never a neighbour: lists that are not full end
with row −1 at infinity.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...data.csr import Block
from ...runtime.pool import give_up_if_stopped, run_on_threads
from .lists import NearestLists, RadiusLists, empty_lists, even_slices, join_groups

TILE_DISTANCES = 1 << 18  # held at a time on each thread

Pairwise = Callable[[Any, Any], np.ndarray]  # queries, rows → their distances


class Tiles:
    """Brute-force engine: n distances for each query, memory for one tile on each thread."""

    def __init__(self, X: Block, pairwise: Pairwise, threads: int):
        self.X, self.pairwise, self.n, self.threads = X, pairwise, X.shape[0], threads

    def nearest(self, Q: np.ndarray, k: int) -> NearestLists:
        """Return the k nearest rows of each query, by (distance, row)."""
        from ...kernels.neighbors.nearest import in_order, scan

        best, groups = empty_lists(Q.shape[0], k), even_slices(Q.shape[0])

        def search(i: int) -> None:
            part = groups[i]
            values, rows = best.values[part], best.rows[part]
            worst = np.full(len(values), np.inf)
            for a, b in self._edges(len(values)):
                give_up_if_stopped()
                T = np.ascontiguousarray(self.pairwise(Q[part], self.X[a:b]).T, dtype=float)
                scan(T, np.zeros(b - a), a, worst, values, rows)
            rows[rows < 0] = self.n  # unfilled places sort last among values of infinity
            in_order(values, rows)
            rows[rows == self.n] = -1

        run_on_threads(search, len(groups), self.threads)
        return best

    def within(self, Q: np.ndarray, radius: float) -> RadiusLists:
        """Return all rows at a distance of at most ``radius``."""
        groups = even_slices(Q.shape[0])
        parts: list[Any] = [None] * len(groups)

        def search(i: int) -> None:
            m = groups[i].stop - groups[i].start
            parts_found = []
            for a, b in self._edges(m):
                give_up_if_stopped()
                D = np.asarray(self.pairwise(Q[groups[i]], self.X[a:b]), dtype=float)
                query, row = np.nonzero(radius >= D)
                parts_found.append((D[query, row], query, row + a))
            values, query, row = (np.concatenate(part) for part in zip(*parts_found, strict=True))
            order = np.lexsort((row, query))
            parts[i] = values[order], row[order], np.bincount(query, minlength=m)

        run_on_threads(search, len(groups), self.threads)
        return join_groups(parts)

    def _edges(self, queries: int) -> list[tuple[int, int]]:
        """Return (first, last) rows of the tiles for a group of queries."""
        step = max(64, TILE_DISTANCES // max(queries, 1))
        return [(a, min(a + step, self.n)) for a in range(0, self.n, step)]
