"""Subgradient descent: the simplest method for a non-smooth penalty.

    θ_{k+1} = θ_k − t_k ξ_k,   ξ_k = ∇f(θ_k) + any subgradient of pen at w_k

    t_k = c/(L√(k+1))                    step="sqrt"; L ≥ the curvature of f
    t_k = (F(θ_k) − F_low)/‖ξ_k‖²        step="polyak" (Polyak 1969), F_low the duality bound so far

A step may raise F, so the best iterate is kept. F − F* falls like 1/√k and no faster: four more
digits cost 10⁸ times the steps. No coefficient becomes exactly 0. It is offered for comparison;
prefer proximal gradient or coordinate descent.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...penalties import Penalty
from ..glm.coordinates import Coordinates
from ..loop import State
from ..problem import Problem
from .proximal_gradient import (
    LossEvaluation,
    bound_at,
    evaluate_loss,
    initial_state,
    initial_step,
    larger_bound,
)
from .repr_as_called import ReprAsCalled

RULES = ("sqrt", "polyak")


class SubgradientState(NamedTuple):
    at: Coordinates
    point: LossEvaluation
    objective: float  # F at ``point``; State.objective is the best so far
    steps: int
    unit: float  # 1/L
    ratio: float


class Subgradient(ReprAsCalled):
    """Subgradient descent, which rarely reaches tol.

    O(n·p·K) operations a step, O(n·K + p·K) memory.

    Parameters
    ----------
    step : {"sqrt", "polyak"}
        The step-length rule. "polyak" needs a penalty that has a conjugate, and falls back to
        "sqrt" where no bound is known yet.
    c : float, default=1.0
        Constant of the rule "sqrt".
    """

    name = "subgradient"

    def __init__(self, step: str = "sqrt", c: float = 1.0):
        if step not in RULES:
            raise ValueError(f"step={step!r}: give one of {', '.join(map(repr, RULES))}")
        if not 0 < c < np.inf:
            raise ValueError(f"c={c!r}: give a finite number above 0")
        self.rule, self.c = step, float(c)

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        require_subgradient(problem.penalty)
        at, unit, ratio = initial_step(problem)
        point = evaluate_loss(problem, at, *at.to_internal(w, b))
        state = initial_state(problem, point, w, b)
        state.passes = 0.0
        state.solver_state = SubgradientState(at, point, state.objective, 0, unit, ratio)
        return state

    def step(self, problem: Problem, state: State) -> State:
        current: SubgradientState = state.solver_state
        point, r = current.point, current.ratio
        xi = point.g + require_subgradient(problem.penalty)(point.u)
        size2 = float(np.sum(xi**2) + r * np.sum(point.g_b**2))
        if size2 == 0:
            state.stalled, state.excess = True, 0.0
            return state
        t = self.c * current.unit / np.sqrt(current.steps + 1)
        if self.rule == "polyak" and state.bound is not None:
            t = (current.objective - state.bound) / size2
        u, beta = point.u - t * xi, point.beta - t * r * point.g_b
        new = evaluate_loss(problem, current.at, u, beta)
        w, b = current.at.to_user(u, beta)
        objective = new.f + problem.penalty.value(w)
        bound = larger_bound(state.bound, bound_at(problem, new, objective))
        current = current._replace(point=new, objective=objective, steps=current.steps + 1)
        if not objective < state.objective:
            w, b, objective = state.w, state.b, state.objective
        excess = np.inf if bound is None else max(objective - bound, 0.0)
        return State(w, b, objective, excess, bound, passes=current.steps, solver_state=current)


def require_subgradient(penalty: Penalty) -> Callable[[np.ndarray], np.ndarray]:
    """Return the penalty's subgradient; raise ValueError where it is not defined everywhere."""
    finite = not getattr(penalty, "positive", False)
    subgradient: Callable[[np.ndarray], np.ndarray] | None = getattr(penalty, "subgradient", None)
    if not finite or not callable(subgradient):
        raise ValueError(
            f"solver='subgradient' needs a penalty with a subgradient everywhere, and {penalty!r} "
            "has none: use solver='proximal-gradient'"
        )
    return subgradient
