"""From targets to problems, one for each, and from a problem to the solver that fits it.

F(w, b) = Σ_i s_i ℓ(y_i, x_iᵀw + b) + pen(w)
"""

from typing import Any

import numpy as np

from ..losses import Loss
from ..rows import Rows
from . import logistic
from .loop import Fit, Solver
from .problem import Problem
from .proximal_gradient import ProximalGradient
from .steps import OnStep, Step
from .working_sets import WorkingSets


def targets(rows: Rows, loss: Loss, penalty: Any, fit_intercept: bool) -> list[Problem]:
    """What a solver finds out about X, it finds out once for all."""
    assert rows.y is not None
    kept: dict[str, Any] = {}
    columns = np.ascontiguousarray(rows.y.T)[:, :, None]
    return [Problem(rows.but(y, rows.s), loss, penalty, fit_intercept, kept=kept) for y in columns]


def choose(problem: Problem) -> Solver:
    """Smooth: Newton's method, by factors or by conjugate gradients as the shape asks for. An L1
    part: coordinate descent. Anything else: proximal gradient, without momentum where the penalty
    is not convex."""
    if WorkingSets.fits(problem):
        return WorkingSets()
    if not getattr(problem.penalty, "convex", True):
        return ProximalGradient(accelerated=False)
    return logistic.choose(problem)


class Together:
    """The fits of all targets as one: what is done, what is being done, and b alone for the rest.

    As ``on_step`` of each target's solver it tells ``on_step`` of the whole.
    """

    def __init__(self, problems: list[Problem], on_step: OnStep):
        self.on_step, self.k = on_step, 0
        self.fits = [Fit(problem.null_w, problem.null[0], "", 0) for problem in problems]
        self.objectives = [problem.null[1] for problem in problems]
        self.bounds: list[float | None] = [None] * len(problems)
        self.passes: list[float | None] = [0.0] * len(problems)

    def __call__(self, step: Step) -> bool:
        k = self.k
        self.objectives[k], self.bounds[k] = step.objective, step.bound
        self.passes[k] = step.passes
        if k > 0 and step.iteration == 0:
            return False  # the whole has begun already
        done = sum(fit.n_iter for at, fit in enumerate(self.fits) if at != k)
        bounds = [bound for bound in self.bounds if bound is not None]
        passes = [count for count in self.passes if count is not None]
        whole = Step(
            done + step.iteration,
            sum(self.objectives),
            sum(bounds) if len(bounds) == len(self.bounds) else None,
            lambda: self.fit(step.parameters()),
            sum(passes) if len(passes) == len(self.passes) else None,
        )
        return self.on_step(whole)

    def fit(self, current: Fit | None = None) -> Fit:
        """``current``: in place of the target that is being fitted."""
        fits = list(self.fits)
        if current is not None:
            fits[self.k] = current
        stopped = [fit.stopped_at for fit in fits if fit.stopped_at is not None]
        return Fit(
            w=np.hstack([fit.w for fit in fits]),
            b=np.concatenate([fit.b for fit in fits]),
            solver=next(fit.solver for fit in fits if fit.solver),
            n_iter=max(fit.n_iter for fit in fits),
            stopped_at=stopped[0] if stopped else None,
            arrived=all(fit.arrived for fit in fits),
            said=next((fit.said for fit in fits if fit.said), ""),
        )
