r"""L-BFGS for float32 rows: the last digits in float64, on the columns that count.

    counted = {l : W_l > 0  or  ∂F/∂W_l > −CLOSE·λ},   the others stay at 0, and their slopes say so

Sums of float32 know ∂F/∂W to about 1e-4 λ. So few columns count at the end that a copy of them in
float64 is small beside X.
"""

from collections.abc import Callable

import numpy as np

from ..progress import OnStep, Step, ignore
from .fit import Fit
from .lbfgs import lbfgs
from .problem import Problem

FIRST_TOL = 1e-3  # of the fit in float32
CLOSE = 0.01  # times λ: as far as rounding may mislead, and more
ROUNDS = 5


def lbfgs_narrow(
    problem: Problem,
    W: np.ndarray,
    exact: Callable[[np.ndarray], np.ndarray],
    *,
    max_iter: int = 1000,
    tol: float = 1e-6,
    on_step: OnStep = ignore,
) -> Fit:
    """``exact(columns)``: those columns of the problem in float64."""
    stopped = False

    def heard(step: Step) -> bool:
        nonlocal stopped
        stopped = on_step(step)
        return stopped

    fit = lbfgs(problem, W, max_iter=max_iter, tol=max(tol, FIRST_TOL), on_step=heard)
    counted, unit = np.zeros(len(W), dtype=bool), problem.size_of_slopes()
    for _ in range(ROUNDS):
        if stopped or fit.n_iter >= max_iter:
            return fit._replace(converged=False)
        close = fit.slope > -CLOSE * unit
        missing = (close | (fit.W > 0)) & ~counted
        if not missing.any():
            break
        counted |= missing
        columns = np.flatnonzero(counted)
        told = _spread_steps(heard, len(W), columns, fit.n_iter)
        left = max_iter - fit.n_iter
        part = in_float64(problem, exact(columns))
        found = lbfgs(part, fit.W[columns], max_iter=left, tol=tol, on_step=told)
        fit = _spread(problem, columns, found, fit)
    return fit


def in_float64(problem: Problem, X: np.ndarray) -> Problem:
    """The same of other columns."""
    return Problem(
        X, problem.G, problem.a, problem.sigma, problem.alpha, problem.metric, problem.threads
    )


def _spread(problem: Problem, columns: np.ndarray, part: Fit, before: Fit) -> Fit:
    """The fit of some columns as one of all; the slopes of the others are those of float32."""
    W = np.zeros(len(before.W))
    W[columns] = part.W
    slope = problem.value_and_slope(W).slope
    slope[columns] = part.slope
    return Fit(
        W, part.objective, slope, part.q, before.n_iter + part.n_iter,
        before.n_evaluations + part.n_evaluations + 1, part.converged, max(before.fell, part.fell),
    )  # fmt: skip


def _spread_steps(on_step: OnStep, p: int, columns: np.ndarray, before: int) -> OnStep:
    def told(step: Step) -> bool:
        def parameters() -> np.ndarray:
            W = np.zeros(p)
            W[columns] = step.parameters()
            return W

        later = step._replace(iteration=before + step.iteration, parameters=parameters)
        return step.iteration > 0 and on_step(later)

    return told
