r"""For many rows: a few of them at a time.

    SGD                   w ← w + η_t ∂F_B/∂w,   η_t = η/(1 + t/T);   the mean of all, weighted by t
    mini-batch L-BFGS     W ← W + ρ_t (W_B − W), ρ_t = 1/(1 + t/T),   W_B after a few steps on F_B

T is the number of batches in a pass over the rows. Passes end when none of the last few gained more
than a small share of all that was gained. In SGD all rows are there to answer and those of
batch B are asked, with the weight of all, so that the slope of F_B is that of F on average. A batch
of L-BFGS is a problem of its own rows.
"""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ...data.types import Seed
from ..progress import OnStep, Step, always, ignore
from .fit import Fit
from .lbfgs import lbfgs
from .problem import Problem, Value

STEPS = 2.0 ** np.arange(-6, 5, 2)  # first steps that are tried, times 1/max|∂F/∂W|
TRIAL = 5  # batches of a trial
INNER = 5  # iterations on a batch
PATIENCE, GAINED = 3, 0.01  # passes, and what one must gain as a share of all


def sgd(
    problem: Problem,
    W: np.ndarray,
    *,
    batch_size: int = 128,
    max_iter: int = 20,
    step: float | None = None,
    random_state: Seed = None,
    on_step: OnStep = ignore,
) -> Fit:
    """``max_iter`` passes over the rows at most. ``step``: η; None: tried on a few batches."""
    rng = check_random_state(random_state)
    w = np.sqrt(np.asarray(W, dtype=float))
    asked = np.flatnonzero(problem.a)  # the others have no say in F
    batches = max(1, len(asked) // batch_size)
    evaluations = 0
    if step is None:
        step, evaluations = _first_step(problem, w, _drawn(asked, batches, rng)[:TRIAL])
    mean, t, plateau = w, 0, _Plateau()
    for n_iter in range(1, max_iter + 1):
        F = 0.0
        for rows in _drawn(asked, batches, rng):
            value = problem.value_and_slope(w * w, rows)
            w = _ascended(w, step / (1 + t / batches), value)
            F, evaluations, t = F + value.F / batches, evaluations + 1, t + 1
            mean = mean + (w - mean) * 2 / (t + 1)
        if on_step(Step(n_iter, F, None, always(mean * mean))) or plateau.reached(F):
            break
    return _finished(problem, mean * mean, n_iter, evaluations, plateau.there)


class _Plateau:
    """Have the last passes gained next to nothing?"""

    def __init__(self) -> None:
        self.first, self.best, self.since = -np.inf, -np.inf, 0
        self.there = False

    def reached(self, F: float) -> bool:
        if not np.isfinite(self.first):
            self.first = self.best = F
            return False
        gain = F - self.best
        self.since = 0 if gain > GAINED * (self.best - self.first) else self.since + 1
        self.best, self.there = max(self.best, F), self.since >= PATIENCE
        return self.there


def _drawn(rows: np.ndarray, batches: int, rng: Any) -> list[np.ndarray]:
    return [np.sort(part) for part in np.array_split(rng.permutation(rows), batches)]


def _ascended(w: np.ndarray, step: float, value: Value) -> np.ndarray:
    """A step in w; none may more than halve or double: what is 0 stays 0, and a batch may err."""
    return np.asarray(w * np.clip(1 + 2 * step * value.slope, 0.5, 2.0))


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
    random_state: Seed = None,
    on_step: OnStep = ignore,
) -> Fit:
    """``max_iter`` passes over the rows at most; each batch is a problem of its own rows."""
    rng = check_random_state(random_state)
    W, n = np.array(W, dtype=float), problem.shape[0]
    batches, evaluations, t, plateau = max(1, n // batch_size), 0, 0, _Plateau()
    for n_iter in range(1, max_iter + 1):
        F = 0.0
        for rows in _drawn(np.arange(n), batches, rng):
            if not problem.a[rows].any():
                continue
            part = lbfgs(problem.take(rows), W, max_iter=INNER)
            W = W + (part.W - W) / (1 + t / batches)
            evaluations, t, F = (
                evaluations + part.n_evaluations,
                t + 1,
                F + part.objective / batches,
            )
        if on_step(Step(n_iter, F, None, always(W))) or plateau.reached(F):
            break
    return _finished(problem, W, n_iter, evaluations, plateau.there)


def _finished(problem: Problem, W: np.ndarray, n_iter: int, evaluations: int, ended: bool) -> Fit:
    if problem.scale_free and W.sum() > 0:
        W = W * (problem.shape[1] / W.sum())
    value = problem.value_and_slope(W)
    return Fit(W, value.F, value.slope, value.q, n_iter, evaluations + 1, ended, 0.0)
