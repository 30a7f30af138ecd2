"""Small problems: all steps in one compiled call, reported to callbacks one by one afterwards."""

from functools import partial
from typing import Any

import numpy as np

from ...data.rows import Rows
from ..progress import OnStep, Step
from .fit import MIN_RELATIVE_GAIN, KMeansFit
from .label_sums import count_nonempty

FLOAT_DTYPES = np.dtype(np.float32), np.dtype(np.float64)
MAX_SMALL_WORK = 1 << 16  # n·k·p; up to here bounds and blocks cost more than they save


def is_small(rows: Rows, k: int) -> bool:
    """Whether one compiled call is faster than bounds and blocks."""
    n, p = rows.shape
    return rows.stored and n * k * p <= MAX_SMALL_WORK and rows.X.dtype in FLOAT_DTYPES


def small(
    rows: Rows, start: np.ndarray, max_iter: int, tol: float, on_step: OnStep
) -> KMeansFit | None:
    """Run ``lloyd`` in one call, or return None if a cluster becomes empty."""
    from ...kernels.kmeans.small import EMPTY_CLUSTER, LABELS_REPEAT, SMALL_STEP, small_assign

    few, _, given = rows.block(0, rows.shape[0])
    X, s = np.ascontiguousarray(few), np.empty(0) if given is None else given
    weights = np.ones(len(X)) if given is None else given
    run = partial(_run, X, s, start, tol * _mean_variance(X, weights))
    J = np.empty(max_iter)
    C, labels, ended, steps = run(J, max_iter)
    if ended == EMPTY_CLUSTER:
        return None
    for step in range(1, steps + 1):
        last = (C, labels) if step == steps else None
        if on_step(Step(step, float(J[step - 1]), None, partial(_iterate_at, run, step, last))):
            C, labels, ended, steps = run(J, step)
            break
    objective = small_assign(X, s, C, labels)
    rises = np.diff(J[:steps], prepend=J[0])
    total = float((weights[:, None] * (X - X.mean(axis=0, dtype=float)) ** 2).sum())
    rose = max(0.0, float(rises.max()) / total) if total > 0 else 0.0
    converged = ended in (LABELS_REPEAT, SMALL_STEP)
    kept = rows.allocate(dtype=np.int32)
    kept[:] = labels
    effective = count_nonempty(rows, kept, len(C))
    return KMeansFit(C, kept, objective, steps, converged, 0, effective, rose)


def _run(
    X: np.ndarray, s: np.ndarray, start: np.ndarray, shift: float, J: np.ndarray, steps: int
) -> tuple[np.ndarray, np.ndarray, int, int]:
    from ...kernels.kmeans.small import small_lloyd

    C, labels = np.array(start, dtype=float, order="C"), np.full(len(X), -1, dtype=np.int32)
    ended, steps = small_lloyd(X, s, C, steps, shift, MIN_RELATIVE_GAIN, labels, J)
    return C, labels, ended, steps


def _iterate_at(run: Any, step: int, last: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return (centres, labels) after ``step`` steps, repeating them unless they are the last."""
    if last is not None:
        return last[0], last[1]
    C, labels, _, _ = run(np.empty(step), step)
    return C, labels


def _mean_variance(X: np.ndarray, weights: np.ndarray) -> float:
    mean = weights @ X / weights.sum()
    return float((weights @ (X - mean) ** 2).mean() / weights.sum())
