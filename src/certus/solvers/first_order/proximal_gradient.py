"""Proximal gradient, with momentum or without, for any penalty that has a prox.

    v = θ_k + μ_k(θ_k − θ_{k−1})                                   (μ = 0: no momentum)
    w_{k+1} = prox_{t·pen}(v_w − t ∇_w f(v)),   b_{k+1} = v_b − t r ∇_b f(v)

f is the sum of losses, about the columns' mean, so that the intercept has a step of its own:
r = Σ_j var x_j. The step t is shortened until f lies below its quadratic model, and the momentum is
dropped where F rises (O'Donoghue and Candès 2015). Columns are not scaled: the prox is in the
user's units.

When to stop: by the duality gap where the penalty has a conjugate (``glm/duality.py``). Else by

    ξ = (v − θ)/t − ∇f(v) + ∇f(θ) ∈ ∂F(θ),   F(θ) − F* ≤ ⟨ξ, θ − θ*⟩,

with ‖θ‖ for ‖θ − θ*‖: how far θ* is, nobody knows.
"""

from typing import NamedTuple

import numpy as np

from ..glm.coordinates import Coordinates, coordinates
from ..glm.duality import dual_bound
from ..glm.passes import first_order, scale_of
from ..linalg.gram import NonFiniteError
from ..loop import NO_LOWER, State
from ..problem import Problem
from .repr_as_called import AsTyped

LONGER = 1.2  # a step is first tried so much longer than the last one
SHORTENINGS = 60
ROUNDING = 1e-14  # of f
COUPLED = 10.0  # times less is the curvature along β, where the other coefficients follow


class Point(NamedTuple):
    """θ, and f there."""

    u: np.ndarray  # (p, K)
    beta: np.ndarray  # (K,): the intercept about the columns' mean
    f: float
    g: np.ndarray  # ∂f/∂u
    g_b: np.ndarray  # ∂f/∂β; 0 without an intercept
    d: np.ndarray  # (K,): curvature along β


class _Here(NamedTuple):
    at: Coordinates
    now: Point
    before: Point
    momentum: float
    step: float
    ratio: float  # r
    bound: float | None


class ProximalGradient(AsTyped):
    """O(n·p·K) operations a pass, two passes a step with momentum and one without; O(n·K + p·K)
    memory. Slow where columns differ much in scale.

    Parameters
    ----------
    accelerated : bool, default=True
        With momentum (FISTA), or without (ISTA), where no step raises F. A penalty that is not
        convex is minimised without.
    """

    def __init__(self, accelerated: bool = True):
        if not isinstance(accelerated, (bool, np.bool_)):
            raise ValueError(f"accelerated={accelerated!r}: give True or False")
        self.accelerated = accelerated
        self.name = "proximal gradient" if accelerated else "proximal gradient without momentum"

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        at, step, ratio = first_step(problem)
        if not problem.penalty.value(w) < np.inf:
            w = problem.penalty.prox(w, step)
        now = point_at(problem, at, *at.inside(w, b))
        state = first_state(problem, now, w, b)
        state.passes = 1.0
        state.solver_state = _Here(at, now, now, 1.0, step, ratio, state.bound)
        return state

    def step(self, problem: Problem, state: State) -> State:
        here: _Here = state.solver_state
        at, penalty, r = here.at, problem.penalty, here.ratio
        momentum = 1.0
        if self.accelerated and getattr(penalty, "convex", True):
            momentum = (1 + np.sqrt(1 + 4 * here.momentum**2)) / 2
        v, share = here.now, (here.momentum - 1) / momentum
        passes = (state.passes or 0.0) + (share > 0)
        if share > 0:
            beyond = _beyond(here.now.u, here.before.u, share)
            v = point_at(problem, at, beyond, _beyond(here.now.beta, here.before.beta, share))
        t = here.step * LONGER
        for _ in range(SHORTENINGS):
            u, beta = penalty.prox(v.u - t * v.g, t), v.beta - t * r * v.g_b
            new = point_at(problem, at, u, beta)
            passes += 1
            d, d_b = u - v.u, beta - v.beta
            length2 = float(np.sum(d**2) + np.sum(d_b**2) / r)
            model = v.f + float(np.sum(v.g * d) + np.sum(v.g_b * d_b)) + length2 / (2 * t)
            if new.f <= model + ROUNDING * abs(v.f):
                break
            t /= 2
        w, b = at.outside(new.u, new.beta)
        objective = new.f + penalty.value(w)
        rounding = ROUNDING * abs(state.objective)
        if not objective <= state.objective + rounding:
            state.stalled, state.passes = share == 0, passes  # not even a plain step lowers F
            state.message = NO_LOWER if state.stalled else ""
            state.solver_state = here._replace(before=here.now, momentum=1.0, step=t)
            return state
        found = bound_at(problem, new, objective)
        bound = larger(here.bound, found)
        if bound is None or found is None:
            xi, xi_b = new.g - v.g - d / t, new.g_b - v.g_b - d_b / (t * r)
            size = float(np.sqrt(np.sum(xi**2) + r * np.sum(xi_b**2)))
            excess = size * max(float(np.linalg.norm(w)), float(np.sqrt(length2)))
        else:
            bound = min(bound, objective)
            excess = objective - bound
        if length2 < 100 * t * rounding:  # rounding hides whether a longer step would do
            t /= LONGER
        more = here._replace(now=new, before=here.now, momentum=momentum, step=t, bound=bound)
        return State(
            w, b, objective, excess, bound, stalled=length2 == 0, passes=passes, solver_state=more
        )


def _beyond(now: np.ndarray, before: np.ndarray, share: float) -> np.ndarray:
    return now + share * (now - before)


# --- what methods of first order share ------------------------------------------------------------


def first_step(problem: Problem) -> tuple[Coordinates, float, float]:
    """Coordinates in the user's units, 1/L with L ≥ the curvature of f, and the ratio r."""
    at = coordinates(problem.rows, problem.fit_intercept)._replace(q=None)
    variance = float(at.variance.sum()) or 1.0
    return at, 1.0 / (problem.loss.curvature_bound * problem.rows.S * variance), variance


def point_at(problem: Problem, at: Coordinates, u: np.ndarray, beta: np.ndarray) -> Point:
    with np.errstate(over="ignore", invalid="ignore"):
        sums = first_order(problem.rows, problem.loss, at, u, beta, None)
    c = at.correction
    g = sums.Xg if c is None else sums.Xg - np.multiply.outer(c, sums.g)
    g_b = sums.g if problem.fit_intercept else np.zeros_like(sums.g)
    return Point(u, beta, float(sums.f), g, g_b, sums.d)


def first_state(problem: Problem, now: Point, w: np.ndarray, b: np.ndarray) -> State:
    objective = now.f + problem.penalty.value(w)
    if not np.isfinite(objective):
        raise NonFiniteError
    bound = bound_at(problem, now, objective)
    excess = np.inf if bound is None else max(objective - bound, 0.0)
    return State(w, b, objective, excess, bound)


def bound_at(problem: Problem, point: Point, objective: float) -> float | None:
    """The duality bound. Before the optimum Σ s a = ∇_β f is not 0, which costs it ∇_β(β* − β); as
    κ/2·(β* − β)² ≤ F − F* = E with a curvature κ,

        E ≤ e + |∇_β|√(2E/κ),   e the gap without that cost."""
    bound = dual_bound(problem, point.f, float(np.sum(point.g * point.u)), point.g)
    if bound is None or not point.g_b.any():
        return bound
    kappa = scale_of(problem, point.d) / COUPLED
    q = float(np.sqrt(2 * np.sum(point.g_b**2 / kappa)))
    return objective - ((q + np.sqrt(q**2 + 4 * max(objective - bound, 0.0))) / 2) ** 2


def larger(a: float | None, b: float | None) -> float | None:
    known = [bound for bound in (a, b) if bound is not None]
    return max(known) if known else None
