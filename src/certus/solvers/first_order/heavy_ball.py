"""Accelerated gradient descent as the slides have it: the heavy ball (Polyak 1964).

    v_{t+1} = βv_t + ∇Q(θ_t),   θ_{t+1} = θ_t − αv_{t+1}            Q = F/S

Steps that agree add up: along a straight way the step becomes α/(1 − β). A step may raise Q.
"""

from typing import Any, NamedTuple

import numpy as np

from ...data.types import Seed
from ..glm.coordinates import Coordinates
from ..loop import State
from ..problem import Problem
from .base import MOST, FromZero, Here, diverged, first_look, look, share_below_one, state_of
from .step_rules import Fixed, Lipschitz, largest_curvature, step_rule


class _More(NamedTuple):
    at: Coordinates
    here: Here
    v: np.ndarray  # (p + 1, K)


class HeavyBall(FromZero):
    """O(n·p·K) operations and one pass a step; O(n·K + p·K) memory.

    Parameters
    ----------
    step : float, "lipschitz" or step rule, default="lipschitz"
        α, or 1/L. A search has no at here: v need not go down. Steps are of the mean F/S.
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
        self.step_rule: Any = step_rule(step, ("lipschitz",))
        self.beta = share_below_one("beta", beta)
        self.set_start(start, change, random_state)

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        at, here = first_look(problem, w, b)
        return state_of(problem, at, here, 0.0, _More(at, here, np.zeros_like(here.theta)))

    def step(self, problem: Problem, state: State) -> State:
        at, here, v = state.solver_state
        assert state.passes is not None
        passes = state.passes + 1
        v = self.beta * v + here.gradient
        alpha = length(self.step_rule, problem)
        there = look(problem, at, here.theta - alpha * v)
        if not there.F < MOST:
            return diverged(state, passes)
        new = state_of(problem, at, there, passes, _More(at, there, v))
        return self.enough(new, here.theta, there.theta)


def length(rule: Fixed | Lipschitz, problem: Problem) -> float:
    """Of a step whose rule does not search."""
    if isinstance(rule, Fixed):
        return rule.alpha
    return rule.share / largest_curvature(problem)
