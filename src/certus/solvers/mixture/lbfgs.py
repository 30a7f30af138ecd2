r"""L-BFGS on the likelihood, as an alternative to EM.

    max_x  L(θ(x)) + log prior(θ(x)),        x unconstrained parameters around the start

The gradient comes from the statistics of EM (Fisher's identity), so that a step costs one pass over
the rows, as in EM. L-BFGS learns the curvature from gradients and needs fewer passes where
components overlap. EM finishes the fit, so that the result is a fixed point of both.
"""

from typing import Any

import numpy as np
from scipy.optimize import minimize

from ..progress import OnStep, Step, ignore
from .em import MIN_GAIN_PER_ROW, Collapsed, Family, MixtureResult, em, largest_decrease

LBFGS_MEMORY = 10  # pairs of steps and gradient changes
MAX_EVALUATIONS_PER_STEP = 3  # on average
EVALUATION_CACHE_SIZE = 20  # points tried by one line search, and more


class _Stop(Exception):
    """Raised to leave SciPy's loop: the callback stopped the fit, or a step gained too little."""


class _Ascent:
    """Objective and callback handed to L-BFGS, with the iterate reached."""

    def __init__(self, family: Any, parametrization: Any, on_step: OnStep, min_gain: float):
        self.family, self.parametrization = family, parametrization
        self.on_step, self.min_gain = on_step, min_gain
        self.trace: list[float] = []
        self.theta: Any = None
        self.evaluated: dict[bytes, tuple[float, Any]] = {}
        self.stopped = False

    def value(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        try:
            theta = self.parametrization.theta(x)
            evaluation = self.family.evaluate(theta)
            F = evaluation.F + self.family.log_prior(theta)
            slope = self.parametrization.slope(x, theta, evaluation.statistics)
        except (Collapsed, np.linalg.LinAlgError):
            F, slope, theta = -np.inf, np.zeros_like(x), None
        if not np.isfinite(F):
            return np.inf, np.zeros_like(x)
        recent = list(self.evaluated.items())[:EVALUATION_CACHE_SIZE]
        self.evaluated = {x.tobytes(): (F, theta), **dict(recent)}
        return -F / self.family.mass, -slope / self.family.mass

    def step(self, x: np.ndarray) -> None:
        F, self.theta = self.evaluated[x.tobytes()]
        self.trace.append(F)
        theta = self.theta
        self.stopped = self.on_step(Step(len(self.trace) - 1, F, None, lambda: theta))
        converged = len(self.trace) > 1 and F - self.trace[-2] <= self.min_gain * self.family.mass
        if self.stopped or converged:
            raise _Stop


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def ascend(
    family: Family,
    theta: Any,
    *,
    max_iter: int = 1000,
    tol: float = 1e-3,
    on_step: OnStep = ignore,
) -> MixtureResult:
    """Run L-BFGS from theta until a step gains next to nothing, then EM."""
    parametrization = family.parametrization(theta)
    ascent = _Ascent(family, parametrization, on_step, min(tol, MIN_GAIN_PER_ROW))
    ascent.value(parametrization.start)
    try:
        ascent.step(parametrization.start)
        minimize(
            ascent.value,
            parametrization.start,
            jac=True,
            method="L-BFGS-B",
            callback=ascent.step,
            options={
                "maxiter": max_iter,
                "maxfun": MAX_EVALUATIONS_PER_STEP * max_iter,
                "maxcor": LBFGS_MEMORY,
                "ftol": 0.0,
                "gtol": 0.0,
            },
        )
    except _Stop:
        pass
    done = len(ascent.trace) - 1
    if ascent.stopped or done >= max_iter:
        decrease = largest_decrease(ascent.trace) / family.mass
        return MixtureResult(ascent.theta, ascent.trace[-1], done, False, ascent.trace, decrease)

    def on_em_step(step: Step) -> bool:
        return step.iteration > 0 and on_step(step._replace(iteration=done + step.iteration))

    refined = em(family, ascent.theta, max_iter=max_iter - done, tol=tol, on_step=on_em_step)
    trace = [*ascent.trace, *refined.trace[1:]]
    decrease = largest_decrease(trace) / family.mass
    return refined._replace(n_iter=done + refined.n_iter, trace=trace, largest_decrease=decrease)
