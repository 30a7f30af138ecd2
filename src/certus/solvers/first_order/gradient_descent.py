"""Gradient descent, on X as it is.

    θ_{t+1} = θ_t − α ∇Q(θ_t),   Q = F/S = (1/S)(Σ s_i ℓ_i + pen),   S = Σ s

All coefficients change together. With α = 1/L the excess falls like L‖θ_0 − θ*‖²/2t, and like
(1 − μ/L)^t where Q curves by μ at least.
"""

from typing import NamedTuple

import numpy as np

from ...data.types import Seed
from ..glm.coordinates import Coordinates
from ..loop import NO_LOWER, State
from ..problem import Problem
from .base import MOST, FromZero, Here, diverged, first_look, look, state_of
from .step_rules import Line, StepRule, Trial, largest_curvature, step_rule


class _More(NamedTuple):
    at: Coordinates
    here: Here
    last: float  # the last step


class GradientDescent(FromZero):
    """O(n·p·K) operations a pass, one pass a step (a search: one for each trial); O(n·K + p·K)
    memory.

    Parameters
    ----------
    step : float, {"lipschitz", "backtracking", "wolfe"} or step rule, default="lipschitz"
        α, or how it is found: ``Fixed``, ``Lipschitz``, ``Backtracking``, ``Wolfe``. Steps are of
        the mean F/S, whatever the number of rows.
    start : {"zero", "random"}, default="zero"
        w and b at first: 0, or drawn from N(0, 1).
    change : float, optional
        Stop also where no coefficient changes by as much in a step. The certificate says how good
        that was.
    random_state : int, default=0
        Of the random start.

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
        self.step_rule: StepRule = step_rule(step)
        self.set_start(start, change, random_state)

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        at, here = first_look(problem, w, b)
        passes = 1.0 if self.step_rule.searches else 0.0
        return state_of(problem, at, here, passes, _More(at, here, 1.0))

    def step(self, problem: Problem, state: State) -> State:
        at, here, last = state.solver_state
        passes, V = state.passes or 0.0, -here.gradient

        def trial(t: float) -> Trial:
            nonlocal passes
            passes += 1
            there = look(problem, at, here.theta + t * V)
            return Trial(there.F / problem.rows.S, there.along(V), there)

        line = Line(
            here.F / problem.rows.S, here.along(V), last, trial, lambda: largest_curvature(problem)
        )
        found = self.step_rule.find(line)
        if found is None or line.slope == 0:
            state.stalled, state.message, state.passes = True, NO_LOWER, passes
            return state
        t, (_, _, there) = found
        if not there.F < MOST:
            return diverged(state, passes)
        new = state_of(problem, at, there, passes, _More(at, there, t))
        return self.enough(new, here.theta, there.theta)
