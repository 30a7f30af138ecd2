"""Gradient descent, on X as it is.

    θ_{t+1} = θ_t − α ∇Q(θ_t),   Q = F/S = (1/S)(Σ s_i ℓ_i + pen),   S = Σ s

All coefficients change together. With α = 1/L the excess falls like L‖θ_0 − θ*‖²/2t, and like
(1 − μ/L)^t where Q curves by μ at least.
"""

from typing import NamedTuple

import numpy as np

from ...data.types import Seed
from ..glm.coordinates import Coordinates
from ..loop import NO_DESCENT_MESSAGE, State
from ..problem import Problem
from .base import (
    MAX_OBJECTIVE,
    Evaluation,
    FirstOrderSolver,
    diverged,
    evaluate,
    evaluate_start,
    state_of,
)
from .step_rules import Line, StepRule, Trial, largest_curvature, make_step_rule


class GradientDescentState(NamedTuple):
    at: Coordinates
    current: Evaluation
    last: float  # length of the last step


class GradientDescent(FirstOrderSolver):
    """Gradient descent on X as it is.

    O(n·p·K) operations a pass, one pass a step (with a search: one for each trial); O(n·K + p·K)
    memory.

    Parameters
    ----------
    step : float, {"lipschitz", "backtracking", "wolfe"} or step rule, default="lipschitz"
        α, or the rule that chooses it: ``Fixed``, ``Lipschitz``, ``Backtracking``, ``Wolfe``. A
        step is taken on the mean F/S, so α does not depend on the number of rows.
    start : {"zero", "random"}, default="zero"
        First iterate: w = 0 and b = 0, or both drawn from N(0, 1).
    change : float, optional
        Also stop once no coefficient changes by this much in a step. The certificate says how good
        the result is.
    random_state : int, default=0
        Seed of the random start.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from certus.linear_model import LogisticRegression
    >>> from certus.solvers import GradientDescent
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegression(solver=GradientDescent(step="wolfe"), max_iter=2000)
    >>> model.fit(scale(X), y).certificate_
    Certificate(optimal: objective ..., at most ... above the best possible;
    coefficients known only to ±0.02)
    """

    name = "gd"

    def __init__(
        self,
        step: object = "lipschitz",
        *,
        start: str = "zero",
        change: float | None = None,
        random_state: Seed = 0,
    ):
        self.step_rule: StepRule = make_step_rule(step)
        self.set_start(start, change, random_state)

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        at, current = evaluate_start(problem, w, b)
        passes = 1.0 if self.step_rule.searches else 0.0
        return state_of(problem, at, current, passes, GradientDescentState(at, current, 1.0))

    def step(self, problem: Problem, state: State) -> State:
        at, current, last = state.solver_state
        passes, V = state.passes or 0.0, -current.gradient

        def trial(t: float) -> Trial:
            nonlocal passes
            passes += 1
            candidate = evaluate(problem, at, current.theta + t * V)
            return Trial(candidate.F / problem.rows.S, candidate.along(V), candidate)

        line = Line(
            current.F / problem.rows.S,
            current.along(V),
            last,
            trial,
            lambda: largest_curvature(problem),
        )
        result = self.step_rule.find(line)
        if result is None or line.slope == 0:
            state.stalled, state.message, state.passes = True, NO_DESCENT_MESSAGE, passes
            return state
        t, (_, _, candidate) = result
        if not candidate.F < MAX_OBJECTIVE:
            return diverged(state, passes)
        new = state_of(problem, at, candidate, passes, GradientDescentState(at, candidate, t))
        return self.stop_if_unchanged(new, current.theta, candidate.theta)
