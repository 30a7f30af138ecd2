"""Gradient descent with momentum: the heavy-ball method (Polyak 1964).

    v_{t+1} = βv_t + ∇Q(θ_t),   θ_{t+1} = θ_t − αv_{t+1}            Q = F/S

Steps in the same direction add up: the effective step length is then α/(1 − β). A step may raise Q.
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
from .step_rules import Fixed, Lipschitz, largest_curvature, make_step_rule


class HeavyBallState(NamedTuple):
    at: Coordinates
    current: Evaluation
    v: np.ndarray  # (p + 1, K)


class HeavyBall(FirstOrderSolver):
    """Gradient descent with heavy-ball momentum, on X as it is.

    O(n·p·K) operations and one pass a step; O(n·K + p·K) memory.

    Parameters
    ----------
    step : float, "lipschitz" or step rule, default="lipschitz"
        α, or 1/L. Line searches are not offered, since −v need not be a descent direction. Steps
        are taken on the mean F/S.
    beta : float, default=0.9
        β, from 0 (gradient descent) to below 1.
    start, change, random_state
        As in ``GradientDescent``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from certus.linear_model import LogisticRegression
    >>> from certus.solvers import HeavyBall
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegression(solver=HeavyBall(beta=0.95), max_iter=2000).fit(scale(X), y)
    >>> model.certificate_.certified
    True
    """

    name = "agd"

    def __init__(
        self,
        step: object = "lipschitz",
        beta: float = 0.9,
        *,
        start: str = "zero",
        change: float | None = None,
        random_state: Seed = 0,
    ):
        self.step_rule: Any = make_step_rule(step, ("lipschitz",))
        self.beta = share_below_one("beta", beta)
        self.set_start(start, change, random_state)

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        at, current = evaluate_start(problem, w, b)
        return state_of(
            problem, at, current, 0.0, HeavyBallState(at, current, np.zeros_like(current.theta))
        )

    def step(self, problem: Problem, state: State) -> State:
        at, current, v = state.solver_state
        assert state.passes is not None
        passes = state.passes + 1
        v = self.beta * v + current.gradient
        alpha = step_length_for(self.step_rule, problem)
        candidate = evaluate(problem, at, current.theta - alpha * v)
        if not candidate.F < MAX_OBJECTIVE:
            return diverged(state, passes)
        new = state_of(problem, at, candidate, passes, HeavyBallState(at, candidate, v))
        return self.stop_if_unchanged(new, current.theta, candidate.theta)


def step_length_for(rule: Fixed | Lipschitz, problem: Problem) -> float:
    """Return the step length of a rule that does not search."""
    if isinstance(rule, Fixed):
        return rule.alpha
    return rule.share / largest_curvature(problem)
