"""Brute-force search by coordinate differences: exact for every Minkowski distance.

The origin of the data does not matter, since coordinates are subtracted before any sum.
"""

from typing import Any

import numpy as np

from ...runtime.pool import give_up_if_stopped, run_on_threads
from .lists import NearestLists, RadiusLists, empty_lists, even_slices, join_groups

MAX_LANES = 64  # queries of a group: their sums, in float64, take 512 bytes
STEP_MULTIPLICATIONS = 1 << 22  # between two checks for an interrupt
TILE_DISTANCES = 1 << 18  # distances held at a time by a radius search


class Differences:
    """Brute-force engine: O(n·p) for each query, no memory besides the result."""

    def __init__(self, X: np.ndarray, code: int, power: float, threads: int):
        self.X, self.code, self.power, self.threads = X, code, float(power), threads

    def nearest(self, Q: np.ndarray, k: int) -> NearestLists:
        """Return the k nearest rows of each query, by (value, row)."""
        from ...kernels.neighbors.nearest import direct, in_order

        (n, p), best = self.X.shape, empty_lists(len(Q), k)
        # with few queries, occupy all threads rather than fill the lanes
        size = max(8, min(MAX_LANES, -(-len(Q) // (4 * self.threads))))
        groups, step = even_slices(len(Q), size), max(1, STEP_MULTIPLICATIONS // max(1, p * size))

        def search(i: int) -> None:
            part = groups[i]
            values, rows = best.values[part], best.rows[part]
            worst, columns = np.full(len(values), np.inf), np.ascontiguousarray(Q[part].T)
            for a in range(0, n, step):
                give_up_if_stopped()
                X = self.X[a : a + step]
                direct(X, columns, self.code, self.power, a, worst, values, rows)
            in_order(values, rows)

        run_on_threads(search, len(groups), self.threads)
        return best

    def within(self, Q: np.ndarray, radius: float) -> RadiusLists:
        """Return all rows whose value is at most ``radius``."""
        from ...kernels.neighbors.nearest import pairs

        n = len(self.X)
        groups = even_slices(len(Q), max(1, TILE_DISTANCES // max(n, 1)))
        parts: list[Any] = [None] * len(groups)

        def search(i: int) -> None:
            q = Q[groups[i]]
            rows = np.tile(np.arange(n), (len(q), 1))
            values = np.empty(rows.shape)
            pairs(self.X, q, self.code, self.power, rows, values)
            inside = values <= radius
            parts[i] = values[inside], rows[inside], inside.sum(axis=1)

        run_on_threads(search, len(groups), self.threads)
        return join_groups(parts)
