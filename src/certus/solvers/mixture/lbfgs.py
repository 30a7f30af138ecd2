r"""The likelihood climbed by its slope, as an alternative to EM.

    max_x  L(θ(x)) + log prior(θ(x)),        x free numbers around the start

The slope comes from the statistics of EM (Fisher's identity): a step costs a look at the rows, as
there. L-BFGS learns curvature from slopes and needs fewer looks where components overlap. EM ends
it, so that what is returned is a fixed point of both.
"""

from typing import Any

import numpy as np
from scipy.optimize import minimize

from ..progress import OnStep, Step, ignore
from .em import GAIN, Collapsed, Family, Found, em, fall

MEMORY = 10  # pairs
TRIALS = 3  # looks a step, at most on average


class _Stop(Exception):
    """A listener said so, or a step gained next to nothing."""


class _Climb:
    """What L-BFGS asks for, and where it is."""

    def __init__(self, family: Any, chart: Any, on_step: OnStep, enough: float):
        self.family, self.chart, self.on_step, self.enough = family, chart, on_step, enough
        self.trace: list[float] = []
        self.theta: Any = None
        self.tried: dict[bytes, tuple[float, Any]] = {}
        self.stopped = False

    def value(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        try:
            theta = self.chart.theta(x)
            look = self.family.look(theta)
            F = look.F + self.family.log_prior(theta)
            slope = self.chart.slope(x, theta, look.statistics)
        except (Collapsed, np.linalg.LinAlgError):
            F, slope, theta = -np.inf, np.zeros_like(x), None
        if not np.isfinite(F):
            return np.inf, np.zeros_like(x)
        self.tried = {x.tobytes(): (F, theta), **dict(list(self.tried.items())[:20])}
        return -F / self.family.mass, -slope / self.family.mass

    def step(self, x: np.ndarray) -> None:
        F, self.theta = self.tried[x.tobytes()]
        self.trace.append(F)
        theta = self.theta
        self.stopped = self.on_step(Step(len(self.trace) - 1, F, None, lambda: theta))
        small = len(self.trace) > 1 and F - self.trace[-2] <= self.enough * self.family.mass
        if self.stopped or small:
            raise _Stop


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def ascend(
    family: Family,
    theta: Any,
    *,
    max_iter: int = 1000,
    tol: float = 1e-3,
    on_step: OnStep = ignore,
) -> Found:
    """L-BFGS from theta until a step gains next to nothing, then EM."""
    chart = family.chart(theta)
    climb = _Climb(family, chart, on_step, min(tol, GAIN))
    climb.value(chart.start)
    try:
        climb.step(chart.start)
        minimize(
            climb.value,
            chart.start,
            jac=True,
            method="L-BFGS-B",
            callback=climb.step,
            options={
                "maxiter": max_iter,
                "maxfun": TRIALS * max_iter,
                "maxcor": MEMORY,
                "ftol": 0.0,
                "gtol": 0.0,
            },
        )
    except _Stop:
        pass
    done = len(climb.trace) - 1
    if climb.stopped or done >= max_iter:
        fell = fall(climb.trace) / family.mass
        return Found(climb.theta, climb.trace[-1], done, False, climb.trace, fell)

    def told(step: Step) -> bool:
        return step.iteration > 0 and on_step(step._replace(iteration=done + step.iteration))

    ended = em(family, climb.theta, max_iter=max_iter - done, tol=tol, on_step=told)
    trace = [*climb.trace, *ended.trace[1:]]
    fell = fall(trace) / family.mass
    return ended._replace(n_iter=done + ended.n_iter, trace=trace, fell=fell)
