"""Nesterov's accelerated gradient (1983): the gradient is taken where the momentum leads.

    y_t = θ_t + β_t(θ_t − θ_{t−1}),   θ_{t+1} = y_t − α∇Q(y_t)                Q = F/S
    β_t = (τ_t − 1)/τ_{t+1},   τ_{t+1} = (1 + √(1 + 4τ_t²))/2,   τ_0 = 1;  or β_t = β

With α = 1/L the excess falls like 2L‖θ_0 − θ*‖²/(t + 1)². A step may raise Q.
"""

from typing import Any, NamedTuple

import numpy as np

from ...data.types import Seed
from ..glm.coordinates import Coordinates
from ..loop import State
from ..problem import Problem
from .base import MOST, FromZero, Here, diverged, first_look, look, share_below_one, state_of
from .heavy_ball import length
from .step_rules import Backtracking, step_rule

ROUNDING = 1e-14  # of F
SHORTENINGS = 60


class _More(NamedTuple):
    at: Coordinates
    here: Here
    before: np.ndarray  # θ_{t−1}
    tau: float
    last: float  # the last step of a search


class Nesterov(FromZero):
    """O(n·p·K) operations a pass and one pass a step; one more for the objective after it, which
    only the trace and the gap need. O(n·K + p·K) memory.

    Parameters
    ----------
    step : float, {"lipschitz", "backtracking"} or step rule, default="lipschitz"
        α; 1/L; or halved until Q(θ) ≤ Q(y) − α/2·‖∇Q(y)‖², beginning at twice the last. Steps are
        of the mean F/S.
    beta : float, optional
        β for every step: (1 − √(μ/L))/(1 + √(μ/L)) is best where Q curves by μ at least.
    start, change, random_state
        As in ``GradientDescent``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from certus.linear_model import LogisticRegression
    >>> from certus.solvers import Nesterov
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegression(solver=Nesterov(), max_iter=2000).fit(scale(X), y)
    >>> model.certificate_.certified
    True
    """

    name = "nesterov"

    def __init__(
        self,
        step: object = "lipschitz",
        beta: float | None = None,
        *,
        start: str = "zero",
        change: float | None = None,
        random_state: Seed = 0,
    ):
        self.step_rule: Any = step_rule(step, ("lipschitz", "backtracking"))
        self.beta = None if beta is None else share_below_one("beta", beta)
        self.set_start(start, change, random_state)

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        at, here = first_look(problem, w, b)
        return state_of(problem, at, here, 0.0, _More(at, here, here.theta, 1.0, 1.0))

    def step(self, problem: Problem, state: State) -> State:
        at, here, before, tau, last = state.solver_state
        assert state.passes is not None
        passes = state.passes + 1
        following = (1 + np.sqrt(1 + 4 * tau**2)) / 2
        beta = (tau - 1) / following if self.beta is None else self.beta
        y = here
        if beta > 0 and here.theta is not before:
            y = look(problem, at, here.theta + beta * (here.theta - before))
        if not y.F < MOST:
            return diverged(state, passes)
        if isinstance(self.step_rule, Backtracking):
            there, last, trials = _search(problem, at, y, last, self.step_rule.shrink)
            passes += trials
        else:
            there = look(problem, at, y.theta - length(self.step_rule, problem) * y.gradient)
        if not there.F < MOST:
            return diverged(state, passes)
        more = _More(at, there, here.theta, following, last)
        new = state_of(problem, at, there, passes, more)
        return self.enough(new, here.theta, there.theta)


def _search(
    problem: Problem, at: Coordinates, y: Here, last: float, shrink: float
) -> tuple[Here, float, int]:
    size2, t, trials = float(np.sum(y.gradient**2)), last / shrink, 0
    while True:
        there = look(problem, at, y.theta - t * y.gradient)
        trials += 1
        promised = problem.rows.S * t / 2 * size2
        if y.F - promised + ROUNDING * abs(y.F) >= there.F or trials == SHORTENINGS:
            return there, t, trials
        t *= shrink
