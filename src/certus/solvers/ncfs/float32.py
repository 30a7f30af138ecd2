r"""L-BFGS for float32 rows, refined in float64 on the active columns.

    active = {l : W_l > 0  or  ∂F/∂W_l > −SLOPE_MARGIN·λ}

The other columns stay at 0, as their slopes require. Sums in float32 give ∂F/∂W to about 1e-4 λ. So
few columns are active at the end that a copy of them in float64 is small compared with X.
"""

from collections.abc import Callable

import numpy as np

from ..progress import OnStep, Step, ignore
from .fit import NCFSFit
from .lbfgs_solver import lbfgs
from .problem import NCFSProblem

FLOAT32_TOL = 1e-3  # tol of the fit in float32
SLOPE_MARGIN = 0.01  # relative to λ: more than the rounding of a slope in float32
MAX_ROUNDS = 5  # of fits in float64


def lbfgs_float32(
    problem: NCFSProblem,
    W: np.ndarray,
    exact: Callable[[np.ndarray], np.ndarray],
    *,
    max_iter: int = 1000,
    tol: float = 1e-6,
    on_step: OnStep = ignore,
) -> NCFSFit:
    """Maximise F from W; ``exact(columns)`` returns columns of the problem in float64."""
    stopped = False

    def on_any_step(step: Step) -> bool:
        nonlocal stopped
        stopped = on_step(step)
        return stopped

    fit = lbfgs(problem, W, max_iter=max_iter, tol=max(tol, FLOAT32_TOL), on_step=on_any_step)
    active, unit = np.zeros(len(W), dtype=bool), problem.slope_scale()
    for _ in range(MAX_ROUNDS):
        if stopped or fit.n_iter >= max_iter:
            return fit._replace(converged=False)
        may_rise = fit.slope > -SLOPE_MARGIN * unit
        missing = (may_rise | (fit.W > 0)) & ~active
        if not missing.any():
            break
        active |= missing
        columns = np.flatnonzero(active)
        on_part_step = _expand_steps(on_any_step, len(W), columns, fit.n_iter)
        remaining = max_iter - fit.n_iter
        part = with_X(problem, exact(columns))
        start = fit.W[columns]
        part_fit = lbfgs(part, start, max_iter=remaining, tol=tol, on_step=on_part_step)
        fit = _expand(problem, columns, part_fit, fit)
    return fit


def with_X(problem: NCFSProblem, X: np.ndarray) -> NCFSProblem:
    """Return the same problem with another matrix X."""
    return NCFSProblem(
        X, problem.G, problem.a, problem.sigma, problem.alpha, problem.metric, problem.threads
    )


def _expand(problem: NCFSProblem, columns: np.ndarray, part: NCFSFit, before: NCFSFit) -> NCFSFit:
    """Expand a fit of some columns to all; the other slopes are computed in float32."""
    W = np.zeros(len(before.W))
    W[columns] = part.W
    slope = problem.value_and_slope(W).slope
    slope[columns] = part.slope
    return NCFSFit(
        W, part.objective, slope, part.q, before.n_iter + part.n_iter,
        before.n_evaluations + part.n_evaluations + 1, part.converged,
        max(before.largest_decrease, part.largest_decrease),
    )  # fmt: skip


def _expand_steps(on_step: OnStep, p: int, columns: np.ndarray, before: int) -> OnStep:
    """Callback for a fit of some columns that reports steps in all columns."""

    def on_part_step(step: Step) -> bool:
        def parameters() -> np.ndarray:
            W = np.zeros(p)
            W[columns] = step.parameters()
            return W

        later = step._replace(iteration=before + step.iteration, parameters=parameters)
        return step.iteration > 0 and on_step(later)

    return on_part_step
