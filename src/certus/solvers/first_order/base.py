"""F and its gradient in the user's own coordinates, for methods that take X as it is.

    Q = F/S,   ∂Q/∂w = Σ s_i ∂ℓ_i x_iᵀ/S + (l2/S) w,   ∂Q/∂b = Σ s_i ∂ℓ_i/S,   S = Σ s

Steps are of Q, so that they do not depend on how many rows there are. Q is evaluated about the
columns' mean, which keeps digits far from 0; the gradient is then moved back.
"""

from typing import NamedTuple

import numpy as np

from ...data.types import Seed
from ..glm.coordinates import Coordinates
from ..glm.passes import curvature_scale
from ..linalg.gram import NonFiniteError
from ..loop import State
from ..problem import Problem
from .proximal_gradient import LossEvaluation, bound_at, evaluate_loss, initial_step
from .repr_as_called import ReprAsCalled

MAX_OBJECTIVE = 1e250  # larger F: the terms of F and of its gradient overflow
ZERO, RANDOM = STARTS = ("zero", "random")


class Evaluation(NamedTuple):
    """F and ∇Q at a point θ = (w, b), stacked by rows."""

    theta: np.ndarray  # (p + 1, K)
    F: float
    gradient: np.ndarray  # (p + 1, K)
    point: LossEvaluation

    @property
    def w(self) -> np.ndarray:
        return self.theta[:-1]

    @property
    def b(self) -> np.ndarray:
        b: np.ndarray = self.theta[-1]
        return b

    @np.errstate(over="ignore", invalid="ignore")
    def along(self, V: np.ndarray) -> float:
        """⟨∇Q, V⟩."""
        return float(np.sum(self.gradient * V))


@np.errstate(over="ignore", invalid="ignore")  # a step may be too long: the caller checks F
def evaluate(problem: Problem, at: Coordinates, theta: np.ndarray) -> Evaluation:
    """Evaluate F and ∇Q at θ, in one pass over X."""
    S = problem.rows.S
    w, b = theta[:-1], theta[-1]
    point = evaluate_loss(problem, at, *at.to_internal(w, b))
    g = point.g + np.multiply.outer(at.c, point.g_b) + problem.l2 * w
    F = point.f + problem.penalty.value(w)
    return Evaluation(theta, F, np.vstack([g, point.g_b]) / S, point)


def evaluate_start(
    problem: Problem, w: np.ndarray, b: np.ndarray
) -> tuple[Coordinates, Evaluation]:
    """Return the coordinates and the evaluation at the start; raise if F is not finite there."""
    at, _, _ = initial_step(problem)
    current = evaluate(problem, at, np.vstack([w, b]))
    if not np.isfinite(current.F):
        raise NonFiniteError
    return at, current


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # a bound that overflows is None
def state_of(
    problem: Problem, at: Coordinates, current: Evaluation, passes: float, solver_state: object
) -> State:
    """Return the solver's state; its excess comes from the duality bound.

    Where there is no bound, the excess is estimated by the decrease of a diagonal Newton step.
    """
    bound = bound_at(problem, current.point, current.F)
    if bound is None or not np.isfinite(bound):
        bound = None
        kappa = curvature_scale(problem, current.point.d)
        d = np.multiply.outer(at.variance, kappa)
        gain = np.divide(current.point.g**2, d, out=np.zeros_like(d), where=d > 0)
        excess = float(gain.sum() + np.sum(current.point.g_b**2 / kappa))
    else:
        excess = max(current.F - bound, 0.0)
    return State(
        current.w, current.b, current.F, excess, bound, passes=passes, solver_state=solver_state
    )


def diverged(state: State, passes: float) -> State:
    """Mark the last finite state as stalled, once F can no longer be evaluated."""
    state.stalled, state.passes = True, passes
    state.message = "F grew without limit: give a smaller step"
    return state


class FirstOrderSolver(ReprAsCalled):
    """Base of the methods that take X as it is: the parameters ``start`` and ``change``.

    ``start`` chooses the first iterate; ``change`` is a stopping rule beside the duality gap.
    """

    start: str
    change: float | None
    random_state: Seed

    def set_start(self, start: str, change: float | None, random_state: Seed) -> None:
        if start not in STARTS:
            raise ValueError(f"start={start!r}: give one of {', '.join(map(repr, STARTS))}")
        if change is not None and not 0 <= change < np.inf:
            raise ValueError(f"change={change!r}: give a number that is not negative, or None")
        self.start, self.change, self.random_state = start, change, random_state

    def begin(self, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
        """Return the first iterate (w, b): 0, or drawn from N(0, 1)."""
        shape = problem.rows.shape[1] + 1, problem.outputs
        theta = np.zeros(shape)
        if self.start == RANDOM:
            theta = np.random.default_rng(self.random_state).normal(size=shape)
        b = theta[-1] if problem.fit_intercept else np.zeros(problem.outputs)
        return theta[:-1], b

    def stop_if_unchanged(self, state: State, before: np.ndarray, after: np.ndarray) -> State:
        """Mark the state as stalled if no coefficient changed by ``change`` or more."""
        if self.change is not None and float(np.abs(after - before).max()) < self.change:
            state.stalled = True
            state.message = f"No coefficient changed by as much as change={self.change!r}: lower it"
        return state


def number_above_zero(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise ValueError(f"{name}={value!r}: give a finite number above 0")
    if not 0 < float(value) < np.inf:
        raise ValueError(f"{name}={value!r}: give a finite number above 0")
    return float(value)


def share_below_one(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise ValueError(f"{name}={value!r}: give a number from 0 to below 1")
    if not 0 <= float(value) < 1:
        raise ValueError(f"{name}={value!r}: give a number from 0 to below 1")
    return float(value)
