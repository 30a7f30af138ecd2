"""F and its gradient in the user's own coordinates, for methods that take X as it is.

    Q = F/S,   ∂Q/∂w = Σ s_i ∂ℓ_i x_iᵀ/S + (l2/S) w,   ∂Q/∂b = Σ s_i ∂ℓ_i/S,   S = Σ s

Steps are of Q, so that they do not depend on how many rows there are. Q is evaluated about the
columns' mean, which keeps digits far from 0; the gradient is then moved back.
"""

from typing import NamedTuple

import numpy as np

from ...data.types import Seed
from ..glm.coordinates import Coordinates
from ..glm.passes import scale_of
from ..linalg.gram import NonFiniteError
from ..loop import State
from ..problem import Problem
from .proximal_gradient import Point, bound_at, first_step, point_at
from .repr_as_called import AsTyped

MOST = 1e250  # of F: beyond, its parts cannot be evaluated any more
ZERO, RANDOM = STARTS = ("zero", "random")


class Here(NamedTuple):
    """A point θ = (w, b), one row below the other, with F and ∇Q there."""

    theta: np.ndarray  # (p + 1, K)
    F: float
    gradient: np.ndarray  # (p + 1, K)
    point: Point

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


@np.errstate(over="ignore", invalid="ignore")  # a step may be too long: the caller looks at F
def look(problem: Problem, at: Coordinates, theta: np.ndarray) -> Here:
    """One pass over X."""
    S = problem.rows.S
    w, b = theta[:-1], theta[-1]
    point = point_at(problem, at, *at.inside(w, b))
    g = point.g + np.multiply.outer(at.c, point.g_b) + problem.l2 * w
    F = point.f + problem.penalty.value(w)
    return Here(theta, F, np.vstack([g, point.g_b]) / S, point)


def first_look(problem: Problem, w: np.ndarray, b: np.ndarray) -> tuple[Coordinates, Here]:
    """At the start, where F must be a number."""
    at, _, _ = first_step(problem)
    here = look(problem, at, np.vstack([w, b]))
    if not np.isfinite(here.F):
        raise NonFiniteError
    return at, here


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # far away nothing may be known
def state_of(problem: Problem, at: Coordinates, here: Here, passes: float, more: object) -> State:
    """With the duality bound; without a penalty, with what a Newton step by the diagonal gains."""
    bound = bound_at(problem, here.point, here.F)
    if bound is None or not np.isfinite(bound):
        bound = None
        kappa = scale_of(problem, here.point.d)
        d = np.multiply.outer(at.variance, kappa)
        gain = np.divide(here.point.g**2, d, out=np.zeros_like(d), where=d > 0)
        excess = float(gain.sum() + np.sum(here.point.g_b**2 / kappa))
    else:
        excess = max(here.F - bound, 0.0)
    return State(here.w, here.b, here.F, excess, bound, passes=passes, solver_state=more)


def diverged(state: State, passes: float) -> State:
    """F cannot be evaluated any more: the last place where it could is kept."""
    state.stalled, state.passes = True, passes
    state.message = "F grew without limit: give a smaller step"
    return state


class FromZero(AsTyped):
    """Where methods that take X as it is begin, and when they may stop besides by the gap.

    The two are parameters of every such method: ``start`` and ``change``.
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
        """(w, b): 0, or drawn from N(0, 1)."""
        shape = problem.rows.shape[1] + 1, problem.outputs
        theta = np.zeros(shape)
        if self.start == RANDOM:
            theta = np.random.default_rng(self.random_state).normal(size=shape)
        b = theta[-1] if problem.fit_intercept else np.zeros(problem.outputs)
        return theta[:-1], b

    def enough(self, state: State, before: np.ndarray, after: np.ndarray) -> State:
        """Stop where no coefficient has changed by as much as ``change``."""
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
