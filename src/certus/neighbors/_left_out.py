"""Losses of rows left out, for all k: one at a time, by folds, and by the bootstrap.

    leave-one-out   l_i = l(y_i, the k nearest other rows)
    folds           the mean over the test rows of each fold
    bootstrap       l_i = mean of l(y_i, the k nearest draws) over the resamples without row i

Memory is that of a block of rows; blocks depend on the numbers of rows and k only, and sums are
taken in one order, so that the answer has the same bits on any number of threads.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.types import Metric
from ..runtime.pool import run_on_threads
from ._averages import RowAverage
from ._left_out_neighbors import Searching, blocks, nearest_draws, probable_length
from ._losses import Losses

CHUNK = 8  # resamples whose losses are held before they are added, in order


@dataclass(frozen=True, eq=False)
class Problem:
    """What is asked of rows left out."""

    X: np.ndarray
    metric: Metric
    metric_params: dict[str, Any] | None
    losses: Losses
    ks: np.ndarray  # ascending
    s: np.ndarray  # (n,): what a row's loss weighs
    group: np.ndarray  # (n,): 0, or its class
    threads: int
    progress: Callable[[int, int], None]

    @property
    def K(self) -> int:
        return int(self.ks[-1])

    @property
    def width(self) -> int:
        """Numbers that a row needs."""
        return max(self.K, self.losses.width)

    def searching(self, train: np.ndarray | None = None) -> Searching:
        return Searching(self.X, self.metric, self.metric_params, self.threads, train)

    def average(self) -> RowAverage:
        return RowAverage(int(self.group.max()) + 1, len(self.ks))

    def add(self, average: RowAverage, rows: np.ndarray, losses: np.ndarray) -> None:
        average.add(losses, self.s[rows], self.group[rows])


def leave_one_out(problem: Problem) -> tuple[RowAverage, int]:
    """(average, rows with another at distance 0)."""
    searching, average, twins = problem.searching(), problem.average(), 0
    pieces = blocks(np.arange(len(problem.X)), problem.width)
    for b, rows in enumerate(pieces):
        d, j = searching.others(rows, problem.K)
        twins += int(np.count_nonzero(d[:, 0] == 0))
        problem.add(average, rows, problem.losses(rows, d, j, problem.ks))
        problem.progress(b + 1, len(pieces))
    return average, twins


def folds(problem: Problem, splits: list[tuple[np.ndarray, np.ndarray]]) -> list[RowAverage]:
    """An average for each fold."""
    averages = []
    for f, (train, test) in enumerate(splits):
        searching, average = problem.searching(train), problem.average()
        for rows in blocks(test, problem.width):
            d, j = searching.nearest(rows, problem.K)
            problem.add(average, rows, problem.losses(rows, d, j, problem.ks))
        averages.append(average)
        problem.progress(f + 1, len(splits))
    return averages


def bootstrap(problem: Problem, drawn: np.ndarray) -> tuple[RowAverage, list[RowAverage], int]:
    """(average over rows, one for each resample, rows with another at distance 0).

    ``drawn`` (B, n): how often each row is in each resample.
    """
    B, n = drawn.shape
    searching, average, twins = problem.searching(), problem.average(), 0
    each = [problem.average() for _ in range(B)]
    length = probable_length(problem.K, n)
    pieces = blocks(np.arange(n), max(length, problem.width))
    for piece, rows in enumerate(pieces):
        d, j = searching.others(rows, length)
        twins += int(np.count_nonzero(d[:, 0] == 0))
        sums, times = np.zeros((len(rows), len(problem.ks))), np.zeros(len(rows))
        for start in range(0, B, CHUNK):
            stop = min(start + CHUNK, B)
            for b, (out, losses) in enumerate(
                _chunk(problem, searching, rows, d, j, drawn[start:stop]), start
            ):
                sums[out] += losses
                times[out] += 1
                problem.add(each[b], rows[out], losses)
            problem.progress(piece * B + stop, len(pieces) * B)
        seen = np.flatnonzero(times)  # a row can be in every resample
        problem.add(average, rows[seen], sums[seen] / times[seen, None])
    return average, each, twins


def _chunk(
    problem: Problem,
    searching: Searching,
    rows: np.ndarray,
    d: np.ndarray,
    j: np.ndarray,
    drawn: np.ndarray,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each resample: which of the rows it left out, and their losses."""
    out = [np.flatnonzero(times[rows] == 0) for times in drawn]
    found = [np.empty((len(left), len(problem.ks))) for left in out]
    todo = [np.arange(len(left)) for left in out]  # places in out[b], found[b]
    known = np.arange(len(rows))  # rows whose lists are d, j

    def task(b: int) -> None:
        asked = np.searchsorted(known, out[b][todo[b]])
        enough, near, whose = nearest_draws(d[asked], j[asked], drawn[b], problem.K)
        done = todo[b][enough]
        found[b][done] = problem.losses(rows[out[b][done]], near, whose, problem.ks)
        todo[b] = np.delete(todo[b], enough)

    while True:
        run_on_threads(task, len(drawn), problem.threads)
        known = np.unique(np.concatenate([out[b][todo[b]] for b in range(len(drawn))]))
        if not len(known):
            return list(zip(out, found, strict=True))
        assert j.shape[1] < len(problem.X) - 1, "all others hold all draws"
        # the lists of these hold too few draws: longer ones
        d, j = searching.others(rows[known], min(len(problem.X) - 1, 2 * j.shape[1]))
