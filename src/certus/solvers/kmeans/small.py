"""Small problems: all steps in one compiled call, reported to callbacks one by one afterwards."""

from functools import partial

import numpy as np

from ...data.rows import Rows
from ..progress import OnStep, Step
from .fit import MIN_RELATIVE_GAIN, KMeansFit, center_dtype
from .label_sums import count_nonempty
from .single_moves import move_single_rows, weights_of_points

FLOAT_DTYPES = np.dtype(np.float32), np.dtype(np.float64)
# n·k·p; up to here bounds and blocks took 1.3 to 7 times as long (five fits of 10,000 × 2 uniform
# rows, k = 10: 72 ms of CPU time, and 25 ms in one call); from 2¹⁹ on less for 30,000 × 2
MAX_SMALL_WORK = 1 << 18


def is_small(rows: Rows, k: int) -> bool:
    """Whether one compiled call is faster than bounds and blocks."""
    n, p = rows.shape
    return rows.stored and n * k * p <= MAX_SMALL_WORK and rows.X.dtype in FLOAT_DTYPES


def small(
    rows: Rows,
    start: np.ndarray,
    max_iter: int,
    tol: float,
    on_step: OnStep,
    least_gain: float | None = None,
) -> KMeansFit | None:
    """Run ``lloyd`` in one call, or return None if a cluster becomes empty.

    ``least_gain``: the share of J that moves of single rows must gain; None: there are none. The
    steps after such moves are another call.
    """
    from ...kernels.kmeans.small import EMPTY_CLUSTER, LABELS_REPEAT, SMALL_STEP, small_assign

    few, _, given = rows.block(0, rows.shape[0])
    X, s = np.ascontiguousarray(few), np.empty(0) if given is None else given
    weights = np.ones(len(X)) if given is None else given
    shift = tol * _mean_variance(X, weights)
    J, all_J, done, settled = np.empty(max_iter), np.empty(0), 0, np.inf
    kept, points = rows.allocate(dtype=np.int32), None
    while True:
        run = partial(_run, X, s, start, shift)
        C, labels, ended, steps = run(J, max_iter - done)
        if ended == EMPTY_CLUSTER:
            return None
        stopped, iterates = False, _Iterates(X, s, start, shift)
        for step in range(1, steps + 1):
            last = (C, labels) if step == steps else None
            parameters = partial(iterates.at, step, last)
            if on_step(Step(done + step, float(J[step - 1]), None, parameters)):
                C, labels, ended, steps = run(J, step)
                stopped = True
                break
        all_J = np.concatenate([all_J, J[:steps]])
        done += steps
        objective = small_assign(X, s, C, labels)
        kept[:] = labels
        converged = ended in (LABELS_REPEAT, SMALL_STEP)
        if least_gain is None or stopped or not converged or done >= max_iter:
            break
        if not objective < settled:
            break
        points = weights_of_points(rows) if settled == np.inf else points
        settled = objective
        mass = np.bincount(labels, weights, len(C))
        moved = move_single_rows(rows, points, C, kept, mass, len(X), least_gain * objective)
        if moved is None:
            break
        start = moved.astype(center_dtype(rows)).astype(float)
    rises = np.diff(all_J, prepend=all_J[0])
    total = float((weights[:, None] * (X - X.mean(axis=0, dtype=float)) ** 2).sum())
    rose = max(0.0, float(rises.max()) / total) if total > 0 else 0.0
    effective = count_nonempty(rows, kept, len(C))
    return KMeansFit(C, kept, objective, done, converged, 0, effective, rose)


def _run(
    X: np.ndarray, s: np.ndarray, start: np.ndarray, shift: float, J: np.ndarray, steps: int
) -> tuple[np.ndarray, np.ndarray, int, int]:
    from ...kernels.kmeans.small import small_lloyd

    C, labels = np.array(start, dtype=float, order="C"), np.full(len(X), -1, dtype=np.int32)
    ended, steps = small_lloyd(X, s, C, steps, shift, MIN_RELATIVE_GAIN, labels, J)
    return C, labels, ended, steps


class _Iterates:
    """(centres, labels) after some steps, repeated from the last that was requested."""

    def __init__(self, X: np.ndarray, s: np.ndarray, start: np.ndarray, shift: float):
        self.X, self.s, self.start, self.shift = X, s, start, shift
        self.step, self.C, self.labels = 0, start, np.empty(0, dtype=np.int32)

    def at(
        self, step: int, last: tuple[np.ndarray, np.ndarray] | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the iterate after ``step`` steps, which is ``last`` if that is given."""
        if last is not None:
            return last
        if step < self.step:
            self.step, self.C = 0, self.start
        if step > self.step:
            more = step - self.step
            self.C, self.labels, *_ = _run(self.X, self.s, self.C, self.shift, np.empty(more), more)
            self.step = step
        return self.C.copy(), self.labels.copy()


def _mean_variance(X: np.ndarray, weights: np.ndarray) -> float:
    mean = weights @ X / weights.sum()
    return float((weights @ (X - mean) ** 2).mean() / weights.sum())
