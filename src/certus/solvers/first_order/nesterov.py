"""Nesterov's accelerated gradient (1983): the gradient is taken at the extrapolated point.

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
from .base import (
    MAX_OBJECTIVE,
    Evaluation,
    FirstOrderSolver,
    diverged,
    evaluate,
    evaluate_start,
    share_below_one,
    state_of,
)
from .heavy_ball import step_length_for
from .step_rules import Backtracking, make_step_rule

OBJECTIVE_ROUNDING = 1e-14  # relative: a difference of F below this is rounding
MAX_SHORTENINGS = 60  # halvings of one step: a factor of 1e-18


class NesterovState(NamedTuple):
    at: Coordinates
    current: Evaluation
    before: np.ndarray  # θ_{t−1}
    tau: float
    last: float  # step length that the last search found


class Nesterov(FirstOrderSolver):
    """Nesterov's accelerated gradient method, on X as it is.

    O(n·p·K) operations a pass and one pass a step; one more for the objective after it, which only
    the trace and the gap need. O(n·K + p·K) memory.

    Parameters
    ----------
    step : float, {"lipschitz", "backtracking"} or step rule, default="lipschitz"
        α; or 1/L; or, for "backtracking", twice the last step halved until
        Q(θ) ≤ Q(y) − α/2·‖∇Q(y)‖². Steps are taken on the mean F/S.
    beta : float, optional
        Constant β. If Q is μ-strongly convex, (1 − √(μ/L))/(1 + √(μ/L)) is optimal.
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
        self.step_rule: Any = make_step_rule(step, ("lipschitz", "backtracking"))
        self.beta = None if beta is None else share_below_one("beta", beta)
        self.set_start(start, change, random_state)

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        at, current = evaluate_start(problem, w, b)
        return state_of(
            problem, at, current, 0.0, NesterovState(at, current, current.theta, 1.0, 1.0)
        )

    def step(self, problem: Problem, state: State) -> State:
        at, current, before, tau, last = state.solver_state
        assert state.passes is not None
        passes = state.passes + 1
        following = (1 + np.sqrt(1 + 4 * tau**2)) / 2
        beta = (tau - 1) / following if self.beta is None else self.beta
        y = current
        if beta > 0 and current.theta is not before:
            y = evaluate(problem, at, current.theta + beta * (current.theta - before))
        if not y.F < MAX_OBJECTIVE:
            return diverged(state, passes)
        if isinstance(self.step_rule, Backtracking):
            candidate, last, trials = _search(problem, at, y, last, self.step_rule.shrink)
            passes += trials
        else:
            candidate = evaluate(
                problem, at, y.theta - step_length_for(self.step_rule, problem) * y.gradient
            )
        if not candidate.F < MAX_OBJECTIVE:
            return diverged(state, passes)
        solver_state = NesterovState(at, candidate, current.theta, following, last)
        new = state_of(problem, at, candidate, passes, solver_state)
        return self.stop_if_unchanged(new, current.theta, candidate.theta)


def _search(
    problem: Problem, at: Coordinates, y: Evaluation, last: float, shrink: float
) -> tuple[Evaluation, float, int]:
    """Return the first candidate with sufficient decrease, its step length and the trials made."""
    size2, t, trials = float(np.sum(y.gradient**2)), last / shrink, 0
    while True:
        candidate = evaluate(problem, at, y.theta - t * y.gradient)
        trials += 1
        promised = problem.rows.S * t / 2 * size2
        if (
            y.F - promised + OBJECTIVE_ROUNDING * abs(y.F) >= candidate.F
            or trials == MAX_SHORTENINGS
        ):
            return candidate, t, trials
        t *= shrink
