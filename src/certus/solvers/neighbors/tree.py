"""Nearest rows by a k-d tree: for few columns."""

from typing import Any

import numpy as np

from ...runtime.pool import run_on_threads
from .lists import Best, Within, joined, lanes

LEAF = 64  # rows of a leaf, at most: distances of that many cost as much as a step down
GROUP = 256  # queries of a task


class Tree:
    """O(n·log n) to build, and memory for one more copy of X in float64.

    X: (n, p) float32 or float64 in C order. ``code``, ``power``: as in ``kernels/neighbors``.
    """

    def __init__(self, X: np.ndarray, code: int, power: float, threads: int):
        from ...kernels.neighbors import kd_tree

        n, p = X.shape
        self.code, self.power, self.threads = code, float(power), threads
        levels = max(0, int(np.ceil(np.log2(max(n, 1) / LEAF))))
        nodes = 2 ** (levels + 1) - 1
        self.leaves = 2**levels - 1  # the first of them
        self.order = np.arange(n, dtype=np.intp)
        self.start, self.stop = np.zeros(nodes, dtype=np.intp), np.zeros(nodes, dtype=np.intp)
        self.low, self.high = np.empty((nodes, p)), np.empty((nodes, p))
        self.stop[0] = n
        rows = np.array(X, dtype=float, order="C")
        arrays = rows, self.order, self.start, self.stop, self.low, self.high
        upper = min((threads - 1).bit_length(), levels)  # a subtree for each thread
        kd_tree.build(*arrays, 0, upper)
        if levels > upper:
            roots = range(2**upper - 1, 2 ** (upper + 1) - 1)
            run_on_threads(
                lambda i: kd_tree.build(*arrays, roots[i], levels - upper), len(roots), threads
            )
        self.largest = int((self.stop - self.start)[self.leaves :].max())
        self.columns = np.ascontiguousarray(rows.T)

    def nearest(self, Q: np.ndarray, k: int) -> Best:
        """The k best of each query, by (value, row)."""
        return self._nearest(Q, k)[0]

    def seen(self, Q: np.ndarray, k: int) -> float:
        """Rows looked at, for one query on average."""
        return self._nearest(Q, k)[1] / max(len(Q), 1)

    def _nearest(self, Q: np.ndarray, k: int) -> tuple[Best, int]:
        from ...kernels.neighbors import kd_tree
        from ...kernels.neighbors.nearest import in_order

        best = Best(
            np.full((len(Q), k), np.inf), np.full((len(Q), k), len(self.order), dtype=np.intp)
        )
        groups = lanes(len(Q), GROUP)
        seen = np.zeros(len(groups), dtype=np.intp)

        def search(i: int) -> None:
            part = groups[i]
            values, rows = best.values[part], best.rows[part]
            seen[i] = kd_tree.nearest(self, self.code, self.power, Q[part], values, rows)
            in_order(values, rows)

        run_on_threads(search, len(groups), self.threads)
        return best, int(seen.sum())

    def within(self, Q: np.ndarray, radius: float) -> Within:
        """All rows whose value is at most ``radius``; those of a query by their numbers."""
        from ...kernels.neighbors import kd_tree

        groups = lanes(len(Q), GROUP)
        parts: list[Any] = [None] * len(groups)
        no_values, no_rows = np.empty(0), np.empty(0, dtype=np.intp)

        def search(i: int) -> None:
            q = Q[groups[i]]
            counts = np.zeros(len(q), dtype=np.intp)
            kd_tree.within(self, self.code, self.power, q, radius, counts, no_values, no_rows)
            at = np.cumsum(counts) - counts
            values, rows = np.empty(counts.sum()), np.empty(counts.sum(), dtype=np.intp)
            if len(values):
                kd_tree.within(self, self.code, self.power, q, radius, at.copy(), values, rows)
            query = np.repeat(np.arange(len(q)), counts)
            order = np.lexsort((rows, query))
            parts[i] = values[order], rows[order], counts

        run_on_threads(search, len(groups), self.threads)
        return joined(parts)
