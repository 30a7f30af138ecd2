"""Complete, average and weighted linkage, and Ward's of any distances: the nearest-neighbour chain.

O(n²) time. The matrix is square, n² numbers, though half of it would do: a row is then read and
written from left to right, which is several times as fast as half a row and half a column.
"""

from collections.abc import Iterator

import numpy as np

from ...runtime.pool import run_on_threads
from .merging import Merges

CODES = {"complete": 0, "average": 1, "weighted": 2, "ward": 3}
KEEP = 0.7  # of the slots alive, below which the columns move together; 0.5 to 0.8 are alike
ROWS = 64  # of a task


class Chain:
    """d(i, j) = D[place[i], j] of the slots i and j, where row i is up to date."""

    def __init__(self, D: np.ndarray):
        n = len(D)
        np.fill_diagonal(D, np.inf)
        self.D = D
        self.place, self.row = np.arange(n), np.arange(n)  # of each slot; row: one of its rows
        self.size, self.height = np.ones(n), np.zeros(n)
        self.chain, self.on = np.empty(n + 1, dtype=np.intp), np.zeros(n, dtype=bool)
        self.renew(n, 0)

    def renew(self, slots: int, length: int) -> None:
        """All rows are up to date."""
        self.alive = np.ones(slots, dtype=bool)
        self.done = np.zeros(slots, dtype=np.intp)  # merges of the log that a row has applied
        most = slots - int(KEEP * slots) + 1
        self.log, self.h = np.empty((most, 2), dtype=np.intp), np.empty((most, 3))
        self.state = np.array([length, 0, 0, slots])

    def compact(self, code: int, threads: int) -> None:
        """Forget the dead slots."""
        from ...kernels.linkage import chain as kernel

        kept = np.flatnonzero(self.alive)
        m, length = len(kept), int(self.state[0])
        run_on_threads(
            lambda i: kernel.compact(self, code, kept, i * ROWS, min((i + 1) * ROWS, m)),
            -(-m // ROWS),
            threads,
        )
        self.chain[:length] = np.searchsorted(kept, self.chain[:length])
        self.place, self.row = self.place[kept], self.row[kept]
        self.size, self.height, self.on = self.size[kept], self.height[kept], self.on[kept]
        self.renew(m, length)


def merges_of_matrix(D: np.ndarray, method: str, steps: int, threads: int) -> Iterator[Merges]:
    """The merges of D, which is used up; a row of either side and the height, in no
    order; ``steps`` of them at a time."""
    from ...kernels.linkage import chain as kernel

    M, code, left = Chain(D), CODES[method], len(D) - 1
    while left > 0:
        slots = len(M.alive)
        count = min(steps, left, left + 1 - int(KEEP * slots))
        pairs, heights = np.empty((count, 2), dtype=np.intp), np.empty(count)
        kernel.chain(M, code, count, pairs, heights)
        yield pairs, heights
        left -= count
        if left > 0 and left + 1 <= KEEP * slots:
            M.compact(code, threads)
