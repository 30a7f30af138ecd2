"""Build one problem for each target of a regression, and choose its solver.

F(w, b) = Σ_i s_i ℓ(y_i, x_iᵀw + b) + pen(w)
"""

from typing import Any

import numpy as np

from ...data.rows import Rows
from ...losses import Loss
from ...penalties import Penalty
from ..first_order.proximal_gradient import ProximalGradient
from ..lasso.squares_first import NonNegativeSquares, ReweightedSquares
from ..lasso.working_sets import WorkingSets
from ..loop import Fit, Solver
from ..problem import Problem
from ..progress import OnStep, Step
from . import dispatch

MAX_TARGET_MEAN_TO_DEVIATION = 1e3  # beyond which y is centred


def target_problems(
    rows: Rows, loss: Loss, penalty: Penalty, fit_intercept: bool, center: bool = False
) -> list[Problem]:
    """Return a problem for each target; they share one cache of what solvers compute from X.

    ``center``: centre targets far from 0 where there is an intercept, since F would lose its
    digits to their mean.
    """
    assert rows.y is not None
    cache: dict[str, Any] = {}
    problems = []
    for y in np.ascontiguousarray(rows.y.T)[:, :, None]:
        shift = 0.0
        if center and fit_intercept and loss.name in ("squared", "huber"):
            mean = float(np.average(y[:, 0], weights=rows.s))
            shift = mean if abs(mean) > MAX_TARGET_MEAN_TO_DEVIATION * float(y.std()) else 0.0
        y = y - shift if shift else y
        one = rows.with_targets(y, rows.s)
        problems.append(Problem(one, loss, penalty, fit_intercept, 1, shift, cache=cache))
    return problems


def choose(problem: Problem) -> Solver:
    """Return the solver that suits the loss, the penalty and the shape.

    Smooth problems: Newton's method with a factored Hessian or by conjugate gradients. An L1 part:
    coordinate descent. Only w ≥ 0: an active set. Anything else: proximal gradient, without
    momentum where the penalty is not convex, and started by reweighted least squares where Huber's
    loss has targets far beyond δ.
    """
    if WorkingSets.fits(problem):
        return WorkingSets()
    if NonNegativeSquares.fits(problem):
        return NonNegativeSquares()
    if not getattr(problem.penalty, "convex", True):
        return ProximalGradient(accelerated=False)
    solver = dispatch.choose(problem)
    if isinstance(solver, ProximalGradient) and ReweightedSquares.fits(problem):
        return ReweightedSquares()
    return solver


class MultiTargetFit:
    """Combined fit of all targets: finished ones, the current one, null models for the others.

    Its b includes the shifts of the targets. It is the ``on_step`` of each target's solver, and
    calls the ``on_step`` of the whole fit.
    """

    def __init__(self, problems: list[Problem], on_step: OnStep):
        self.on_step, self.k = on_step, 0
        self.shift = np.array([problem.shift for problem in problems])
        self.fits = [Fit(problem.null_w, problem.null[0], "", 0) for problem in problems]
        self.objectives = [problem.null[1] for problem in problems]
        self.bounds: list[float | None] = [None] * len(problems)
        self.passes: list[float | None] = [0.0] * len(problems)

    def __call__(self, step: Step) -> bool:
        k = self.k
        self.objectives[k], self.bounds[k] = step.objective, step.bound
        self.passes[k] = step.passes
        if k > 0 and step.iteration == 0:
            return False  # iteration 0 of the whole fit has been reported already
        done = sum(fit.n_iter for at, fit in enumerate(self.fits) if at != k)
        bounds = [bound for bound in self.bounds if bound is not None]
        passes = [count for count in self.passes if count is not None]
        combined = Step(
            done + step.iteration,
            sum(self.objectives),
            sum(bounds) if len(bounds) == len(self.bounds) else None,
            lambda: self.fit(step.parameters()),
            sum(passes) if len(passes) == len(self.passes) else None,
        )
        return self.on_step(combined)

    def fit(self, current: Fit | None = None) -> Fit:
        """Return the combined fit, with ``current`` for the target that is being fitted."""
        fits = list(self.fits)
        if current is not None:
            fits[self.k] = current
        stopped = [fit.stopped_at for fit in fits if fit.stopped_at is not None]
        return Fit(
            w=np.hstack([fit.w for fit in fits]),
            b=np.concatenate([fit.b for fit in fits]) + self.shift,
            solver=next(fit.solver for fit in fits if fit.solver),
            n_iter=max(fit.n_iter for fit in fits),
            stopped_at=stopped[0] if stopped else None,
            converged=all(fit.converged for fit in fits),
            message=next((fit.message for fit in fits if fit.message), ""),
        )
