"""Losses of left-out rows for all k: one at a time, by folds, and by the bootstrap.

    leave-one-out   l_i = l(y_i, the k nearest other rows)
    folds           the mean over the test rows of each fold
    bootstrap       l_i = mean of l(y_i, the k nearest draws) over the resamples without row i

Memory is that of a block of rows; blocks depend on the numbers of rows and k only, and sums are
taken in a fixed order, so that the result is the same bit for bit on any number of threads.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.types import Metric
from ..runtime.pool import run_on_threads
from ._averages import RowAverage
from ._left_out_neighbors import NeighborSearch, blocks, nearest_draws, probable_length
from ._losses import NeighborLosses

CHUNK_RESAMPLES = 8  # whose losses are held at a time, before they are added in order


@dataclass(frozen=True, eq=False)
class LeftOutProblem:
    """Data, metric and losses of an error estimate on left-out rows."""

    X: np.ndarray
    metric: Metric
    metric_params: dict[str, Any] | None
    losses: NeighborLosses
    ks: np.ndarray  # ascending
    s: np.ndarray  # (n,): the weight of a row's loss
    group: np.ndarray  # (n,): 0, or the row's class
    threads: int
    progress: Callable[[int, int], None]

    @property
    def K(self) -> int:
        """The largest k."""
        return int(self.ks[-1])

    @property
    def width(self) -> int:
        """Number of floats held for a row."""
        return max(self.K, self.losses.width)

    def search(self, train: np.ndarray | None = None) -> NeighborSearch:
        return NeighborSearch(self.X, self.metric, self.metric_params, self.threads, train)

    def average(self) -> RowAverage:
        return RowAverage(int(self.group.max()) + 1, len(self.ks))

    def add(self, average: RowAverage, rows: np.ndarray, losses: np.ndarray) -> None:
        average.add(losses, self.s[rows], self.group[rows])


def leave_one_out(problem: LeftOutProblem) -> tuple[RowAverage, int]:
    """Return the average and the number of rows with another at distance 0."""
    search, average, n_duplicated = problem.search(), problem.average(), 0
    pieces = blocks(np.arange(len(problem.X)), problem.width)
    for b, rows in enumerate(pieces):
        d, j = search.others(rows, problem.K)
        n_duplicated += int(np.count_nonzero(d[:, 0] == 0))
        problem.add(average, rows, problem.losses(rows, d, j, problem.ks))
        problem.progress(b + 1, len(pieces))
    return average, n_duplicated


def folds(problem: LeftOutProblem, splits: list[tuple[np.ndarray, np.ndarray]]) -> list[RowAverage]:
    """Return an average for each fold."""
    averages = []
    for f, (train, test) in enumerate(splits):
        search, average = problem.search(train), problem.average()
        for rows in blocks(test, problem.width):
            d, j = search.nearest(rows, problem.K)
            problem.add(average, rows, problem.losses(rows, d, j, problem.ks))
        averages.append(average)
        problem.progress(f + 1, len(splits))
    return averages


def bootstrap(
    problem: LeftOutProblem, drawn: np.ndarray
) -> tuple[RowAverage, list[RowAverage], int]:
    """Return (average over rows, one for each resample, rows with another at distance 0).

    ``drawn`` (B, n): how often each row is in each resample.
    """
    B, n = drawn.shape
    search, average, n_duplicated = problem.search(), problem.average(), 0
    each = [problem.average() for _ in range(B)]
    length = probable_length(problem.K, n)
    pieces = blocks(np.arange(n), max(length, problem.width))
    for piece, rows in enumerate(pieces):
        d, j = search.others(rows, length)
        n_duplicated += int(np.count_nonzero(d[:, 0] == 0))
        sums, times = np.zeros((len(rows), len(problem.ks))), np.zeros(len(rows))
        for start in range(0, B, CHUNK_RESAMPLES):
            stop = min(start + CHUNK_RESAMPLES, B)
            for b, (out, losses) in enumerate(
                _chunk(problem, search, rows, d, j, drawn[start:stop]), start
            ):
                sums[out] += losses
                times[out] += 1
                problem.add(each[b], rows[out], losses)
            problem.progress(piece * B + stop, len(pieces) * B)
        left_out = np.flatnonzero(times)  # a row that is in every resample has no loss
        problem.add(average, rows[left_out], sums[left_out] / times[left_out, None])
    return average, each, n_duplicated


def _chunk(
    problem: LeftOutProblem,
    search: NeighborSearch,
    rows: np.ndarray,
    d: np.ndarray,
    j: np.ndarray,
    drawn: np.ndarray,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return, for each resample, the positions of the rows it left out and their losses."""
    out = [np.flatnonzero(times[rows] == 0) for times in drawn]
    losses = [np.empty((len(left), len(problem.ks))) for left in out]
    pending = [np.arange(len(left)) for left in out]  # positions in out[b] and losses[b]
    listed = np.arange(len(rows))  # rows whose lists are d, j

    def task(b: int) -> None:
        positions = np.searchsorted(listed, out[b][pending[b]])
        enough, distances, neighbors = nearest_draws(
            d[positions], j[positions], drawn[b], problem.K
        )
        done = pending[b][enough]
        losses[b][done] = problem.losses(rows[out[b][done]], distances, neighbors, problem.ks)
        pending[b] = np.delete(pending[b], enough)

    while True:
        run_on_threads(task, len(drawn), problem.threads)
        listed = np.unique(np.concatenate([out[b][pending[b]] for b in range(len(drawn))]))
        if not len(listed):
            return list(zip(out, losses, strict=True))
        assert j.shape[1] < len(problem.X) - 1, "all others hold all draws"
        # the lists of these rows hold fewer than K draws: search again for longer ones
        d, j = search.others(rows[listed], min(len(problem.X) - 1, 2 * j.shape[1]))
