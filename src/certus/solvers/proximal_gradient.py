"""Proximal gradient with momentum, for any penalty that has a prox.

    v = θ_k + μ_k(θ_k − θ_{k−1})
    w_{k+1} = prox_{t·pen}(v_w − t ∇_w f(v)),   b_{k+1} = v_b − t r ∇_b f(v)

f is the sum of losses, about the columns' mean, so that the intercept has a step of its own:
r = Σ_j var x_j. The step t is shortened until f lies below its quadratic model, and the momentum is
dropped where F rises (O'Donoghue and Candès 2015). Columns are not scaled: the prox is in the
user's units.
"""

from typing import Any, NamedTuple

import numpy as np

from .coordinates import Coordinates, coordinates
from .gram import NonFiniteError
from .loop import State
from .problem import Problem
from .products import first_order, room_for_states

LONGER = 1.2  # a step is first tried so much longer than the last one
SHORTENINGS = 60
ROUNDING = 1e-14  # of f


class _Point(NamedTuple):
    u: np.ndarray  # (p, K)
    beta: np.ndarray  # (K,): the intercept about the columns' mean


class _Here(NamedTuple):
    at: Coordinates
    now: _Point
    before: _Point
    momentum: float
    step: float
    ratio: float  # r
    room: np.ndarray


class ProximalGradient:
    """Two passes of O(n·p·K) operations a step, O(n·K + p·K) memory. Slow where columns differ
    much in scale; asks of a penalty its value and prox alone."""

    name = "proximal gradient"

    def init(self, problem: Problem, w: np.ndarray, b: np.ndarray) -> State:
        at = coordinates(problem.rows, problem.fit_intercept)._replace(q=None)
        variance = float(at.variance.sum()) or 1.0
        s = problem.rows.s
        total = problem.rows.shape[0] if s is None else float(s.sum())
        step = 1.0 / (problem.loss.curvature_bound * total * variance)
        point, room = _Point(*at.inside(w, b)), room_for_states(problem)
        f, _, _ = _gradient(problem, at, point, room)
        objective = f + problem.penalty.value(w)
        if not np.isfinite(objective):
            raise NonFiniteError
        here = _Here(at, point, point, 1.0, step, variance, room)
        return State(w, b, objective, np.inf, more=here)

    def step(self, problem: Problem, state: State) -> State:
        here: _Here = state.more
        momentum = (1 + np.sqrt(1 + 4 * here.momentum**2)) / 2
        v = _beyond(here.now, here.before, (here.momentum - 1) / momentum)
        f_v, g, g_b = _gradient(problem, here.at, v, here.room)
        t = here.step * LONGER
        for _ in range(SHORTENINGS):
            new = _Point(problem.penalty.prox(v.u - t * g, t), v.beta - t * here.ratio * g_b)
            d, d_b = new.u - v.u, new.beta - v.beta
            length2 = float(np.sum(d**2) + np.sum(d_b**2) / here.ratio)
            f, _, _ = _gradient(problem, here.at, new, here.room)
            model = f_v + float(np.sum(g * d) + np.sum(g_b * d_b)) + length2 / (2 * t)
            if f <= model + ROUNDING * abs(f_v):
                break
            t /= 2
        w, b = here.at.outside(*new)
        objective = f + problem.penalty.value(w)
        rounding = ROUNDING * abs(state.objective)
        if not objective <= state.objective + rounding:
            state.stuck = here.momentum == 1.0  # not even a plain step lowers F
            state.more = here._replace(before=here.now, momentum=1.0, step=t)
            return state
        # F − F* ≤ ⟨mapping, θ − θ*⟩: how far θ* is, nobody knows; about as far as 0
        length = np.sqrt(length2)
        excess = length / t * max(float(np.linalg.norm(w)), length)
        if length2 < 100 * t * rounding:  # rounding hides whether a longer step would do
            t /= LONGER
        more = here._replace(now=new, before=here.now, momentum=momentum, step=t)
        return State(w, b, objective, float(excess), stuck=length2 == 0, more=more)


def _beyond(now: _Point, before: _Point, share: float) -> _Point:
    return _Point(now.u + share * (now.u - before.u), now.beta + share * (now.beta - before.beta))


def _gradient(
    problem: Problem, at: Coordinates, point: _Point, room: np.ndarray
) -> tuple[float, Any, Any]:
    """f without the penalty, and its gradient in u and β."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = first_order(problem.rows, problem.loss, at, point.u, point.beta, room)
    c = at.correction
    g = sums.Xg if c is None else sums.Xg - np.multiply.outer(c, sums.g)
    return float(sums.f), g, sums.g if problem.fit_intercept else np.zeros_like(sums.g)
