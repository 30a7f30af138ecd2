"""Proximal gradient, with momentum or without, for any penalty that has a prox.

    v = θ_k + μ_k(θ_k − θ_{k−1})                                   (μ = 0: no momentum)
    w_{k+1} = prox_{t·pen}(v_w − t ∇_w f(v)),   b_{k+1} = v_b − t r ∇_b f(v)

f is the sum of the losses in columns centred at their mean, and the intercept's step is scaled by
r = Σ_j var x_j. The step t is shortened until f lies below its quadratic model, and the momentum is
reset where F rises (O'Donoghue and Candès 2015). Columns are not scaled: the prox is in the user's
units.

The solver stops by the duality gap where the penalty has a conjugate (``glm/duality.py``), else by

    ξ = (v − θ)/t − ∇f(v) + ∇f(θ) ∈ ∂F(θ),   F(θ) − F* ≤ ⟨ξ, θ − θ*⟩,

with ‖θ‖ in place of the unknown ‖θ − θ*‖.
"""

from typing import NamedTuple

import numpy as np

from ..glm.coordinates import Coordinates, coordinates
from ..glm.duality import dual_bound
from ..glm.passes import curvature_scale, first_order
from ..linalg.gram import NonFiniteError
from ..loop import NO_DESCENT_MESSAGE, State
from ..problem import Problem
from .repr_as_called import ReprAsCalled

STEP_GROWTH = 1.2  # the first trial of a step, relative to the last step
MAX_SHORTENINGS = 60  # halvings of one step: a factor of 1e-18
OBJECTIVE_ROUNDING = 1e-14  # relative: a difference of f below this is rounding
# the curvature along β may be this much lower once the other coefficients adapt to it
INTERCEPT_COUPLING = 10.0


class LossEvaluation(NamedTuple):
    """A point θ, with f and its gradient there."""

    u: np.ndarray  # (p, K)
    beta: np.ndarray  # (K,): the intercept about the columns' mean
    f: float
    g: np.ndarray  # ∂f/∂u
    g_b: np.ndarray  # ∂f/∂β; 0 without an intercept
    d: np.ndarray  # (K,): curvature along β


class ProximalGradientState(NamedTuple):
    at: Coordinates
    point: LossEvaluation
    previous: LossEvaluation
    momentum: float
    step: float
    ratio: float  # r
    bound: float | None


class ProximalGradient(ReprAsCalled):
    """Proximal gradient, with momentum (FISTA) or without (ISTA).

    O(n·p·K) operations a pass, two passes a step with momentum and one without; O(n·K + p·K)
    memory. Slow where columns differ much in scale.

    Parameters
    ----------
    accelerated : bool, default=True
        With momentum (FISTA), or without (ISTA); without it no step raises F. It is never used
        for a penalty that is not convex.
    """

    def __init__(self, accelerated: bool = True):
        if not isinstance(accelerated, (bool, np.bool_)):
            raise ValueError(f"accelerated={accelerated!r}: give True or False")
        self.accelerated = accelerated
        self.name = "proximal gradient" if accelerated else "proximal gradient without momentum"

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        at, step, ratio = initial_step(problem)
        if not problem.penalty.value(w) < np.inf:
            w = problem.penalty.prox(w, step)
        point = evaluate_loss(problem, at, *at.to_internal(w, b))
        state = initial_state(problem, point, w, b)
        state.passes = 1.0
        state.solver_state = ProximalGradientState(at, point, point, 1.0, step, ratio, state.bound)
        return state

    def step(self, problem: Problem, state: State) -> State:
        current: ProximalGradientState = state.solver_state
        at, penalty, r = current.at, problem.penalty, current.ratio
        momentum = 1.0
        if self.accelerated and getattr(penalty, "convex", True):
            momentum = (1 + np.sqrt(1 + 4 * current.momentum**2)) / 2
        v, share = current.point, (current.momentum - 1) / momentum
        passes = (state.passes or 0.0) + (share > 0)
        if share > 0:
            beyond = _beyond(current.point.u, current.previous.u, share)
            v = evaluate_loss(
                problem, at, beyond, _beyond(current.point.beta, current.previous.beta, share)
            )
        t = current.step * STEP_GROWTH
        for _ in range(MAX_SHORTENINGS):
            u, beta = penalty.prox(v.u - t * v.g, t), v.beta - t * r * v.g_b
            new = evaluate_loss(problem, at, u, beta)
            passes += 1
            d, d_b = u - v.u, beta - v.beta
            length2 = float(np.sum(d**2) + np.sum(d_b**2) / r)
            model = v.f + float(np.sum(v.g * d) + np.sum(v.g_b * d_b)) + length2 / (2 * t)
            if new.f <= model + OBJECTIVE_ROUNDING * abs(v.f):
                break
            t /= 2
        w, b = at.to_user(new.u, new.beta)
        objective = new.f + penalty.value(w)
        rounding = OBJECTIVE_ROUNDING * abs(state.objective)
        if not objective <= state.objective + rounding:
            state.stalled, state.passes = share == 0, passes  # no momentum to reset: F is stuck
            state.message = NO_DESCENT_MESSAGE if state.stalled else ""
            state.solver_state = current._replace(previous=current.point, momentum=1.0, step=t)
            return state
        result = bound_at(problem, new, objective)
        bound = larger_bound(current.bound, result)
        if bound is None or result is None:
            xi, xi_b = new.g - v.g - d / t, new.g_b - v.g_b - d_b / (t * r)
            size = float(np.sqrt(np.sum(xi**2) + r * np.sum(xi_b**2)))
            excess = size * max(float(np.linalg.norm(w)), float(np.sqrt(length2)))
        else:
            bound = min(bound, objective)
            excess = objective - bound
        if length2 < 100 * t * rounding:  # rounding hides whether a longer step would be valid
            t /= STEP_GROWTH
        solver_state = current._replace(
            point=new, previous=current.point, momentum=momentum, step=t, bound=bound
        )
        return State(
            w,
            b,
            objective,
            excess,
            bound,
            stalled=length2 == 0,
            passes=passes,
            solver_state=solver_state,
        )


def _beyond(point: np.ndarray, previous: np.ndarray, share: float) -> np.ndarray:
    return point + share * (point - previous)


# --- shared with the other first-order methods ----------------------------------------------------


def initial_step(problem: Problem) -> tuple[Coordinates, float, float]:
    """Return centred coordinates in the user's units, 1/L with L ≥ the curvature of f, and r."""
    at = coordinates(problem.rows, problem.fit_intercept)._replace(q=None)
    variance = float(at.variance.sum()) or 1.0
    return at, 1.0 / (problem.loss.curvature_bound * problem.rows.S * variance), variance


def evaluate_loss(
    problem: Problem, at: Coordinates, u: np.ndarray, beta: np.ndarray
) -> LossEvaluation:
    with np.errstate(over="ignore", invalid="ignore"):
        sums = first_order(problem.rows, problem.loss, at, u, beta, None)
    c = at.correction
    g = sums.Xg if c is None else sums.Xg - np.multiply.outer(c, sums.g)
    g_b = sums.g if problem.fit_intercept else np.zeros_like(sums.g)
    return LossEvaluation(u, beta, float(sums.f), g, g_b, sums.d)


def initial_state(problem: Problem, point: LossEvaluation, w: np.ndarray, b: np.ndarray) -> State:
    objective = point.f + problem.penalty.value(w)
    if not np.isfinite(objective):
        raise NonFiniteError
    bound = bound_at(problem, point, objective)
    excess = np.inf if bound is None else max(objective - bound, 0.0)
    return State(w, b, objective, excess, bound)


def bound_at(problem: Problem, point: LossEvaluation, objective: float) -> float | None:
    """Return the duality bound, corrected for ∇_β f ≠ 0.

    Away from the optimum Σ s a = ∇_β f is not 0, which weakens the bound by ∇_β(β* − β). As
    κ/2·(β* − β)² ≤ F − F* = E with a curvature κ,

        E ≤ e + |∇_β|√(2E/κ),   e the gap without that correction.
    """
    bound = dual_bound(problem, point.f, float(np.sum(point.g * point.u)), point.g)
    if bound is None or not point.g_b.any():
        return bound
    kappa = curvature_scale(problem, point.d) / INTERCEPT_COUPLING
    q = float(np.sqrt(2 * np.sum(point.g_b**2 / kappa)))
    return objective - ((q + np.sqrt(q**2 + 4 * max(objective - bound, 0.0))) / 2) ** 2


def larger_bound(a: float | None, b: float | None) -> float | None:
    known = [bound for bound in (a, b) if bound is not None]
    return max(known) if known else None
