r"""For many rows: a few of them at a time.

    SGD                   w ← w + η_t ∂F_B/∂w,   η_t = η/(1 + t/T);   the mean of the last half
    mini-batch L-BFGS     W ← W + ρ_t (W_B − W), ρ_t = 1/(1 + t/T),   W_B after a few steps on F_B

T is the number of batches in a pass over the rows. In SGD all rows are there to answer and those of
batch B are asked, with the weight of all, so that the slope of F_B is that of F on average. A batch
of L-BFGS is a problem of its own rows.
"""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..steps import OnStep, Step, ignore
from .fit import Fit, always
from .lbfgs import lbfgs
from .problem import Problem, Value

STEPS = 2.0 ** np.arange(-6, 5, 2)  # first steps that are tried, times 1/max|∂F/∂W|
TRIAL = 5  # batches of a trial
INNER = 5  # iterations on a batch


def sgd(
    problem: Problem,
    W: np.ndarray,
    *,
    batch_size: int = 128,
    max_iter: int = 20,
    step: float | None = None,
    random_state: Any = None,
    on_step: OnStep = ignore,
) -> Fit:
    """``max_iter`` passes over the rows. ``step``: η; None: tried on a few batches."""
    rng = check_random_state(random_state)
    w = np.sqrt(np.asarray(W, dtype=float))
    n = problem.shape[0]
    batches = max(1, n // batch_size)
    evaluations = 0
    if step is None:
        step, evaluations = _first_step(problem, w, _drawn(n, batches, rng)[:TRIAL])
    mean, count, t, stopped, n_iter = np.zeros_like(w), 0, 0, False, 0
    for n_iter in range(1, max_iter + 1):
        for rows in _drawn(n, batches, rng):
            value = problem.value_and_slope(w * w, rows)
            w = _ascended(w, step / (1 + t / batches), value)
            evaluations, t = evaluations + 1, t + 1
            if n_iter > max_iter // 2:
                mean, count = mean + w, count + 1
        at = (mean / count if count else w) ** 2
        stopped = bool(on_step(Step(n_iter, value.F, None, always(at))))
        if stopped:
            break
    return _finished(problem, at, n_iter, evaluations, not stopped)


def _drawn(n: int, batches: int, rng: Any) -> list[np.ndarray]:
    return [np.sort(part) for part in np.array_split(rng.permutation(n), batches)]


def _ascended(w: np.ndarray, step: float, value: Value) -> np.ndarray:
    """A step in w; no weight may change its sign, nor more than double."""
    return np.asarray(w * np.clip(1 + 2 * step * value.slope, 0.0, 2.0))


def _first_step(problem: Problem, w: np.ndarray, batches: list[np.ndarray]) -> tuple[float, int]:
    """Of a few, the step after which the batches are answered best."""
    size = float(np.abs(problem.value_and_slope(w * w, batches[0]).slope).max()) or 1.0
    best, F, evaluations = STEPS[0] / size, -np.inf, 1
    for step in STEPS / size:
        v, total = w, 0.0
        for rows in batches:
            value = problem.value_and_slope(v * v, rows)
            v = _ascended(v, step, value)
        total = float(np.mean([problem.value_and_slope(v * v, rows).F for rows in batches]))
        evaluations += 2 * len(batches)
        if total > F:
            best, F = step, total
    return float(best), evaluations


def minibatch_lbfgs(
    problem: Problem,
    W: np.ndarray,
    *,
    batch_size: int = 1000,
    max_iter: int = 5,
    random_state: Any = None,
    on_step: OnStep = ignore,
) -> Fit:
    """``max_iter`` passes over the rows; each batch is a problem of its own rows."""
    rng = check_random_state(random_state)
    W, n = np.array(W, dtype=float), problem.shape[0]
    batches, evaluations, t, stopped, n_iter = max(1, n // batch_size), 0, 0, False, 0
    for n_iter in range(1, max_iter + 1):
        F = 0.0
        for rows in _drawn(n, batches, rng):
            part = lbfgs(problem.take(rows), W, max_iter=INNER)
            W = W + (part.W - W) / (1 + t / batches)
            evaluations, t, F = (
                evaluations + part.n_evaluations,
                t + 1,
                F + part.objective / batches,
            )
        stopped = bool(on_step(Step(n_iter, F, None, always(W))))
        if stopped:
            break
    return _finished(problem, W, n_iter, evaluations, not stopped)


def _finished(problem: Problem, W: np.ndarray, n_iter: int, evaluations: int, ended: bool) -> Fit:
    if problem.scale_free and W.sum() > 0:
        W = W * (problem.shape[1] / W.sum())
    value = problem.value_and_slope(W)
    return Fit(W, value.F, value.slope, value.q, n_iter, evaluations + 1, ended, 0.0)
