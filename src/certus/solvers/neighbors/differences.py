"""Nearest rows by the differences of all pairs: exact for every Minkowski distance, everywhere."""

from typing import Any

import numpy as np

from ...runtime.pool import give_up_if_stopped, run_on_threads
from .lists import Best, Within, empty, joined, lanes

WIDE = 64  # queries in lanes: their sums, in float64, are 512 bytes
PART = 1 << 22  # multiplications between two chances to stop
TILE = 1 << 18  # distances of a tile


class Differences:
    """O(n·p) a query; no memory besides the answer."""

    def __init__(self, X: np.ndarray, code: int, power: float, threads: int):
        self.X, self.code, self.power, self.threads = X, code, float(power), threads

    def nearest(self, Q: np.ndarray, k: int) -> Best:
        from ...kernels.neighbors.nearest import direct, in_order

        (n, p), best = self.X.shape, empty(len(Q), k)
        # few queries: rather more groups than lanes that are full
        size = max(8, min(WIDE, -(-len(Q) // (4 * self.threads))))
        groups, step = lanes(len(Q), size), max(1, PART // max(1, p * size))

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

    def within(self, Q: np.ndarray, radius: float) -> Within:
        from ...kernels.neighbors.nearest import pairs

        n = len(self.X)
        groups = lanes(len(Q), max(1, TILE // max(n, 1)))
        parts: list[Any] = [None] * len(groups)

        def search(i: int) -> None:
            q = Q[groups[i]]
            rows = np.tile(np.arange(n), (len(q), 1))
            values = np.empty(rows.shape)
            pairs(self.X, q, self.code, self.power, rows, values)
            near = values <= radius
            parts[i] = values[near], rows[near], near.sum(axis=1)

        run_on_threads(search, len(groups), self.threads)
        return joined(parts)
