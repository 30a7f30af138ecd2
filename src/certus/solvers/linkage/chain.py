"""Complete, average, weighted and Ward linkage of distances: the nearest-neighbour chain.

O(n²) time. The matrix is square, n² numbers, though half of it would suffice: reading and writing
whole rows from left to right is several times as fast as half a row and half a column.
"""

from collections.abc import Iterator

import numpy as np

from ...runtime.pool import run_on_threads
from .merging import Merges

CODES = {"complete": 0, "average": 1, "weighted": 2, "ward": 3}
MIN_ALIVE_SHARE = 0.7  # of slots, below which the matrix is compacted; 0.5 to 0.8 are equally fast
TASK_ROWS = 64  # rows of one task


class Chain:
    """State of the chain: d(i, j) = D[place[i], j] of slots i and j, if row i is up to date."""

    def __init__(self, D: np.ndarray):
        n = len(D)
        np.fill_diagonal(D, np.inf)
        self.D = D
        # of each slot: its row of D, and one row of the data in it
        self.place, self.row = np.arange(n), np.arange(n)
        self.size, self.height = np.ones(n), np.zeros(n)
        self.chain, self.on = np.empty(n + 1, dtype=np.intp), np.zeros(n, dtype=bool)
        self.reset(n, 0)

    def reset(self, slots: int, length: int) -> None:
        """Start an empty log: all rows are up to date."""
        self.alive = np.ones(slots, dtype=bool)
        self.done = np.zeros(slots, dtype=np.intp)  # number of logged merges that a row has applied
        most = slots - int(MIN_ALIVE_SHARE * slots) + 1
        self.log, self.h = np.empty((most, 2), dtype=np.intp), np.empty((most, 3))
        self.state = np.array([length, 0, 0, slots])

    def compact(self, code: int, threads: int) -> None:
        """Remove the dead slots."""
        from ...kernels.linkage import chain as kernel

        kept = np.flatnonzero(self.alive)
        m, length = len(kept), int(self.state[0])
        run_on_threads(
            lambda i: kernel.compact(self, code, kept, i * TASK_ROWS, min((i + 1) * TASK_ROWS, m)),
            -(-m // TASK_ROWS),
            threads,
        )
        self.chain[:length] = np.searchsorted(kept, self.chain[:length])
        self.place, self.row = self.place[kept], self.row[kept]
        self.size, self.height, self.on = self.size[kept], self.height[kept], self.on[kept]
        self.reset(m, length)


def merges_of_matrix(D: np.ndarray, method: str, steps: int, threads: int) -> Iterator[Merges]:
    """Yield the merges of D, which is overwritten, ``steps`` at a time and in no order.

    A merge is given by a row of either side and its height.
    """
    from ...kernels.linkage import chain as kernel

    M, code, left = Chain(D), CODES[method], len(D) - 1
    while left > 0:
        slots = len(M.alive)
        count = min(steps, left, left + 1 - int(MIN_ALIVE_SHARE * slots))
        pairs, heights = np.empty((count, 2), dtype=np.intp), np.empty(count)
        kernel.chain(M, code, count, pairs, heights)
        yield pairs, heights
        left -= count
        if left > 0 and left + 1 <= MIN_ALIVE_SHARE * slots:
            M.compact(code, threads)
