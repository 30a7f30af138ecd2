"""Subgradient descent: the plainest method for a penalty that has corners.

    θ_{k+1} = θ_k − t_k ξ_k,   ξ_k = ∇f(θ_k) + any subgradient of pen at w_k

    t_k = c/(L√(k+1))                    step="sqrt"; L ≥ the curvature of f
    t_k = (F(θ_k) − F_low)/‖ξ_k‖²        step="polyak" (Polyak 1969), F_low the duality bound so far

A step may raise F, so the best iterate is kept. F − F* falls like 1/√k and no faster: four times
the digits that one wants cost 10⁸ times the steps. No coefficient becomes exactly 0. It is here to
be compared with; proximal gradient and coordinate descent are what to use.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...penalties import Penalty
from ..glm.coordinates import Coordinates
from ..loop import State
from ..problem import Problem
from .proximal_gradient import Point, bound_at, first_state, first_step, larger, point_at
from .repr_as_called import AsTyped

RULES = ("sqrt", "polyak")


class _Here(NamedTuple):
    at: Coordinates
    now: Point
    objective: float  # at now; the state's is the best
    steps: int
    unit: float  # 1/L
    ratio: float


class Subgradient(AsTyped):
    """O(n·p·K) operations a step, O(n·K + p·K) memory; slow, and it does not reach tol as a rule.

    Parameters
    ----------
    step : {"sqrt", "polyak"}
        The rule for the length of a step. "polyak" needs a penalty that has a conjugate, and falls
        back to "sqrt" where no bound is known yet.
    c : float, default=1.0
        Of the rule "sqrt".
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
        at, unit, ratio = first_step(problem)
        now = point_at(problem, at, *at.inside(w, b))
        state = first_state(problem, now, w, b)
        state.passes = 0.0
        state.solver_state = _Here(at, now, state.objective, 0, unit, ratio)
        return state

    def step(self, problem: Problem, state: State) -> State:
        here: _Here = state.solver_state
        now, r = here.now, here.ratio
        xi = now.g + require_subgradient(problem.penalty)(now.u)
        size2 = float(np.sum(xi**2) + r * np.sum(now.g_b**2))
        if size2 == 0:
            state.stalled, state.excess = True, 0.0
            return state
        t = self.c * here.unit / np.sqrt(here.steps + 1)
        if self.rule == "polyak" and state.bound is not None:
            t = (here.objective - state.bound) / size2
        u, beta = now.u - t * xi, now.beta - t * r * now.g_b
        new = point_at(problem, here.at, u, beta)
        w, b = here.at.outside(u, beta)
        objective = new.f + problem.penalty.value(w)
        bound = larger(state.bound, bound_at(problem, new, objective))
        here = here._replace(now=new, objective=objective, steps=here.steps + 1)
        if not objective < state.objective:
            w, b, objective = state.w, state.b, state.objective
        excess = np.inf if bound is None else max(objective - bound, 0.0)
        return State(w, b, objective, excess, bound, passes=here.steps, solver_state=here)


def require_subgradient(penalty: Penalty) -> Callable[[np.ndarray], np.ndarray]:
    """The penalty's subgradient; ValueError where it has none everywhere."""
    finite = not getattr(penalty, "positive", False)
    subgradient: Callable[[np.ndarray], np.ndarray] | None = getattr(penalty, "subgradient", None)
    if not finite or not callable(subgradient):
        raise ValueError(
            f"solver='subgradient' needs a penalty with a subgradient everywhere, and {penalty!r} "
            "has none: use solver='proximal-gradient'"
        )
    return subgradient
