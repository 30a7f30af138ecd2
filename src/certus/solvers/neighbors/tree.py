"""Search by a k-d tree, for few columns."""

from typing import Any

import numpy as np

from ...runtime.pool import run_on_threads
from .lists import NearestLists, RadiusLists, even_slices, join_groups

MAX_LEAF_ROWS = 64  # this many distances cost about as much as one more level of the tree
TASK_QUERIES = 256  # queries that one task of the thread pool searches


class KDTree:
    """K-d tree engine: O(n·log n) to build, memory for one copy of X in float64.

    X: (n, p) float32 or float64 in C order. ``code``, ``power``: as in ``kernels/neighbors``.
    """

    def __init__(self, X: np.ndarray, code: int, power: float, threads: int):
        from ...kernels.neighbors import kd_tree

        n, p = X.shape
        self.code, self.power, self.threads = code, float(power), threads
        levels = max(0, int(np.ceil(np.log2(max(n, 1) / MAX_LEAF_ROWS))))
        nodes = 2 ** (levels + 1) - 1
        self.leaves = 2**levels - 1  # node number of the first leaf
        self.order = np.arange(n, dtype=np.intp)
        self.start, self.stop = np.zeros(nodes, dtype=np.intp), np.zeros(nodes, dtype=np.intp)
        self.low, self.high = np.empty((nodes, p)), np.empty((nodes, p))
        self.stop[0] = n
        rows = np.array(X, dtype=float, order="C")
        arrays = rows, self.order, self.start, self.stop, self.low, self.high
        upper = min((threads - 1).bit_length(), levels)  # levels above one subtree per thread
        kd_tree.build(*arrays, 0, upper)
        if levels > upper:
            roots = range(2**upper - 1, 2 ** (upper + 1) - 1)
            run_on_threads(
                lambda i: kd_tree.build(*arrays, roots[i], levels - upper), len(roots), threads
            )
        self.max_leaf_rows = int((self.stop - self.start)[self.leaves :].max())
        self.columns = np.ascontiguousarray(rows.T)

    def nearest(self, Q: np.ndarray, k: int) -> NearestLists:
        """Return the k nearest rows of each query, by (value, row)."""
        return self._nearest(Q, k)[0]

    def mean_visited_rows(self, Q: np.ndarray, k: int) -> float:
        """Return how many rows a search compares with a query, on average."""
        return self._nearest(Q, k)[1] / max(len(Q), 1)

    def _nearest(self, Q: np.ndarray, k: int) -> tuple[NearestLists, int]:
        from ...kernels.neighbors import kd_tree
        from ...kernels.neighbors.nearest import in_order

        best = NearestLists(
            np.full((len(Q), k), np.inf), np.full((len(Q), k), len(self.order), dtype=np.intp)
        )
        groups = even_slices(len(Q), TASK_QUERIES)
        visited = np.zeros(len(groups), dtype=np.intp)

        def search(i: int) -> None:
            part = groups[i]
            values, rows = best.values[part], best.rows[part]
            visited[i] = kd_tree.nearest(self, self.code, self.power, Q[part], values, rows)
            in_order(values, rows)

        run_on_threads(search, len(groups), self.threads)
        return best, int(visited.sum())

    def within(self, Q: np.ndarray, radius: float) -> RadiusLists:
        """Return all rows whose value is at most ``radius``, ascending by row for each query."""
        from ...kernels.neighbors import kd_tree

        groups = even_slices(len(Q), TASK_QUERIES)
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
        return join_groups(parts)
