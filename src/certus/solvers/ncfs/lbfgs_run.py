r"""One run of L-BFGS-B on some columns, and single projected gradient steps.

A run ends when KKT holds for its columns, or when few of them have weight. It begins with the
projected step slope/L, L = λ. As ∂F/∂W = g − λ with g the slope of Σ a_i q_i, from W = 1 this leads
to W = g/λ, and to 0 where g is negative. L-BFGS-B first tries a step of length 1, so W is scaled
such that this step has length 1:

    v = W/u,   f = −F/(L u²),   ∂f/∂v = −(∂F/∂W)/(L u),   u = ‖max(slope/L, −W)‖

(Otherwise four of the first five evaluations, which are those in all columns, are spent on making
the step longer.) A gradient step is that step alone, reduced until F rises.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from ...runtime.pool import blas_limiter
from .objective import NCFSObjective

MAX_ACTIVE_SHARE = 0.5  # when no larger share of the columns has weight, the others are left out
LBFGS_MEMORY = 10  # pairs of steps and gradient changes
MAX_EVALUATIONS_PER_ITERATION = 20  # on average
STEP_REDUCTION, MAX_STEP_REDUCTIONS = 0.25, 6  # of a gradient step
SUFFICIENT_INCREASE = 1e-4  # of F, relative to the increase that the slope predicts


IterationCallback = Callable[[float, np.ndarray], bool]  # takes F and W; True ends the run


class RunResult(NamedTuple):
    """Where a run on some columns ended."""

    W: np.ndarray  # of the columns
    F: float
    slope: np.ndarray
    evaluations: int
    shrunk: bool  # whether it ended because few columns have weight


RunFunction = Callable[
    [NCFSObjective, np.ndarray, float, np.ndarray, float, int, IterationCallback], RunResult
]


def run_lbfgs(
    part: NCFSObjective, W: np.ndarray, F: float, slope: np.ndarray, tol: float, max_iter: int,
    on_iteration: IterationCallback,
) -> RunResult:  # fmt: skip
    """Run L-BFGS-B from W, where F and its slope are known.

    ``on_iteration`` is called with F and W after each iteration, and ends the run if it is true.
    """
    L = part.alpha or float(np.abs(slope).max()) or 1.0
    u = float(np.linalg.norm(np.maximum(slope / L, -W))) or 1.0
    start, evaluations, shrunk = [(F, slope)], 0, False

    def f(v: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal evaluations
        if start:  # F and its slope at the start are known
            F, slope = start.pop()
        else:
            F, slope, _ = part.value_and_slope(v * u)
            evaluations += 1
        return -F / (L * u * u), -slope / (L * u)

    def callback(intermediate_result: OptimizeResult) -> None:
        nonlocal shrunk
        v = intermediate_result.x
        shrunk = bool(np.count_nonzero(v) <= MAX_ACTIVE_SHARE * len(v))
        if on_iteration(-float(intermediate_result.fun) * (L * u * u), v * u) or shrunk:
            raise StopIteration

    with blas_limiter:  # for products this small, BLAS threads took as long as all evaluations
        result = minimize(
            f, W / u, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * len(W),
            callback=callback,
            options={
                "maxiter": max_iter, "maxcor": LBFGS_MEMORY, "gtol": tol / (L * u), "ftol": 0.0,
                "maxfun": MAX_EVALUATIONS_PER_ITERATION * max_iter,
            },
        )  # fmt: skip
    F = -float(result.fun) * (L * u * u)
    return RunResult(result.x * u, F, -result.jac * (L * u), evaluations, shrunk)


def gradient_step(
    part: NCFSObjective, W: np.ndarray, F: float, slope: np.ndarray,
    on_iteration: IterationCallback,
) -> RunResult | None:  # fmt: skip
    """Take one projected gradient step; return None if F did not rise."""
    t = 1 / (part.alpha or float(np.abs(slope).max()) or 1.0)
    for reductions in range(MAX_STEP_REDUCTIONS):
        new = np.maximum(W + t * slope, 0.0)
        value = part.value_and_slope(new)
        increase = value.F - F
        if increase > SUFFICIENT_INCREASE * float(np.dot(slope, new - W)):
            on_iteration(value.F, new)
            return RunResult(new, value.F, value.slope, reductions + 1, True)
        t *= STEP_REDUCTION
    return None
