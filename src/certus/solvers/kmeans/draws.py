"""Rows by their weights: the j-th of those with a weight above 0, and draws in proportion.

    first i with s_0 + … + s_i > u·S        u in [0, 1)

Cumulative sums of streamed rows are in a temporary file, eight bytes a row; X is not read.
"""

import copy
from collections.abc import Callable

import numpy as np

from ...data.rows import Rows, spread
from ...data.streamed import SpilledState
from .label_sums import count_weighted

CHUNK_ROWS = 1 << 18  # weights read at a time
SEARCHED_ROWS = 1 << 12  # between two sums that are in memory
POOL_ELEMENTS = 1 << 22  # of X in batches that are read at once
START_ROWS, START_ELEMENTS = 1 << 16, 1 << 23  # of streamed rows, for starts: the smaller of both
START_ROWS_PER_CENTER = 32  # but at least so many


class Cumulative:
    """Cumulative sums of a number ≥ 0 of each row: an array, or for streamed rows a file.

    ``of(s)`` gives the numbers of weights; ``shares``: the sums are divided by the last one.
    """

    def __init__(self, rows: Rows, of: Callable[[np.ndarray], np.ndarray], *, shares: bool = False):
        n = rows.shape[0]
        if not rows.streamed:
            self.sums: np.ndarray | SpilledState = np.cumsum(of(rows.s), dtype=float)
            if shares:
                self.sums /= self.sums[-1]
            return
        self.sums = SpilledState((n,), float)
        total = 0.0
        for start in range(0, n, CHUNK_ROWS):
            stop = min(n, start + CHUNK_ROWS)
            numbers = np.asarray(of(rows.s[start:stop]), dtype=float)
            chunk = np.cumsum(np.concatenate([[total], numbers]))[1:]  # the bits of one array
            self.sums[start:stop] = chunk
            total = float(chunk[-1])
        self.edges = np.append(np.arange(0, n, SEARCHED_ROWS), n)
        self.unit = total if shares else 1.0
        self.heads = self.sums[self.edges[1:] - 1] / self.unit

    def search(self, values: np.ndarray) -> np.ndarray:
        """Return, for each value, the first row whose sum is above it."""
        if isinstance(self.sums, np.ndarray):
            return self.sums.searchsorted(values, side="right")
        found = np.empty(len(values), dtype=np.intp)
        part = np.searchsorted(self.heads, values, side="right")
        for i in np.unique(part).tolist():
            at, start, stop = part == i, int(self.edges[i]), int(self.edges[i + 1])
            sums = self.sums[start:stop] / self.unit
            found[at] = start + np.searchsorted(sums, values[at], side="right")
        return found


class PooledBatches:
    """Batches of streamed rows, of which several are read at once.

    The random numbers of the next batches are foreseen. If others are drawn, since centres were
    reassigned in between, the rows are read again: one batch first, then twice as many each time.
    """

    def __init__(self, rows: Rows, numbers_of: Callable[[np.ndarray], np.ndarray]):
        self.rows, self.numbers_of = rows, numbers_of
        self.foreseen: list[np.ndarray] = []  # random numbers of the batches in the pool
        self.next, self.batches = 0, 1

    def draw(self, random_state: np.random.RandomState, count: int) -> Rows:
        """Return ``count`` rows, drawn by as many random numbers."""
        u = random_state.random_sample(count)
        if self.next == len(self.foreseen):
            most = max(1, POOL_ELEMENTS // (count * self.rows.shape[1]))
            self._read(u, random_state, min(2 * self.batches, most))
        elif not np.array_equal(u, self.foreseen[self.next]):
            self._read(u, random_state, 1)
        at = self.next * count
        self.next += 1
        return Rows(self.X[at : at + count], threads=self.rows.threads)

    def _read(self, u: np.ndarray, random_state: np.random.RandomState, batches: int) -> None:
        ahead = copy.deepcopy(random_state)
        self.foreseen = [u, *(ahead.random_sample(len(u)) for _ in range(batches - 1))]
        self.X = self.rows.take(self.numbers_of(np.concatenate(self.foreseen))).X
        self.next, self.batches = 0, batches


def weighted_rows(rows: Rows) -> Callable[[np.ndarray], np.ndarray]:
    """Return a function that gives the j-th row of positive weight, for an array of j."""
    if rows.s is None or count_weighted(rows) == rows.shape[0]:
        return _same
    if not rows.streamed:
        return np.flatnonzero(rows.s).__getitem__
    return Cumulative(rows, _is_positive).search


def _same(numbers: np.ndarray) -> np.ndarray:
    return numbers


def _is_positive(s: np.ndarray) -> np.ndarray:
    return s > 0


def itself(s: np.ndarray) -> np.ndarray:
    return s


def start_rows(rows: Rows, k: int) -> Rows:
    """Return the rows that starts are drawn from: all if they are in memory.

    Streamed rows: an array of at most START_ROWS of positive weight, or START_ROWS_PER_CENTER·k,
    spread over all.
    """
    if not rows.streamed:
        return rows
    n, p = rows.shape
    most = max(min(START_ROWS, START_ELEMENTS // p), START_ROWS_PER_CENTER * k)
    if n <= most:
        X, _, s = rows.block(0, n)
        return Rows(X, None, s, threads=rows.threads)
    counted = count_weighted(rows)
    i = weighted_rows(rows)(spread(counted, min(counted, most)))
    return rows.with_targets(None, rows.s).take(i)
