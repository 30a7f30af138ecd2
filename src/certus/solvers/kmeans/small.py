"""Few rows: all steps in one compiled call, told one by one afterwards."""

from functools import partial
from typing import Any

import numpy as np

from ...data.rows import Rows
from ..progress import OnStep, Step
from .fit import GAIN, Fit, owners

FLOATS = np.dtype(np.float32), np.dtype(np.float64)
WORK = 1 << 16  # n·k·p up to which bounds and blocks cost more than they save


def is_small(rows: Rows, k: int) -> bool:
    n, p = rows.shape
    return isinstance(rows.X, np.ndarray) and n * k * p <= WORK and rows.X.dtype in FLOATS


def small(rows: Rows, start: np.ndarray, max_iter: int, tol: float, on_step: OnStep) -> Fit | None:
    """As ``lloyd``; None where a cluster is empty on the way."""
    from ...kernels.kmeans.small import EMPTY, SAME, SHORT, small_assign

    X, s = np.ascontiguousarray(rows.X), np.empty(0) if rows.s is None else rows.s
    weights = np.ones(len(X)) if rows.s is None else rows.s
    run = partial(_run, X, s, start, tol * _mean_variance(X, weights))
    J = np.empty(max_iter)
    C, labels, ended, steps = run(J, max_iter)
    if ended == EMPTY:
        return None
    for step in range(1, steps + 1):
        now = (C, labels) if step == steps else None
        if on_step(Step(step, float(J[step - 1]), None, partial(_at, run, step, now))):
            C, labels, ended, steps = run(J, step)
            break
    objective = small_assign(X, s, C, labels)
    rises = np.diff(J[:steps], prepend=J[0])
    total = float((weights[:, None] * (X - X.mean(axis=0, dtype=float)) ** 2).sum())
    rose = max(0.0, float(rises.max()) / total) if total > 0 else 0.0
    converged = ended in (SAME, SHORT)
    return Fit(C, labels, objective, steps, converged, 0, owners(rows, labels), rose)


def _run(
    X: np.ndarray, s: np.ndarray, start: np.ndarray, shift: float, J: np.ndarray, steps: int
) -> tuple[np.ndarray, np.ndarray, int, int]:
    from ...kernels.kmeans.small import small_lloyd

    C, labels = np.array(start, dtype=float, order="C"), np.full(len(X), -1, dtype=np.int32)
    ended, steps = small_lloyd(X, s, C, steps, shift, GAIN, labels, J)
    return C, labels, ended, steps


def _at(run: Any, step: int, now: Any) -> tuple[np.ndarray, np.ndarray]:
    """Centres and labels after so many steps: they are taken again."""
    if now is not None:
        return now[0], now[1]
    C, labels, _, _ = run(np.empty(step), step)
    return C, labels


def _mean_variance(X: np.ndarray, weights: np.ndarray) -> float:
    mean = weights @ X / weights.sum()
    return float((weights @ (X - mean) ** 2).mean() / weights.sum())
