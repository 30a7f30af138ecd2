"""The optimum of an audited objective, by Newton's method from the printed coefficients.

With the coefficients that are not 0 and their signs σ fixed, F is smooth, and a step solves

    (H + λ₂ P) e = g + λ₁ σ + λ₂ P v,      v ← v − t e.

A coefficient that would change its sign becomes 0; one at 0 whose slope exceeds λ₁ becomes free.
Where H is singular, the step is the one that leaves the printed numbers least, in units of h. No
claim relies on this: the result is certified as any model is.
"""

from typing import NamedTuple

import numpy as np

from .objective import EPS, Objective

MAX_STEPS = 100
MAX_HALVINGS = 40
MAX_RISE = 1e3  # of the objective over that of coefficients 0, up to which these are a start
RANK_RTOL = 1e-11  # of eigenvalues of the scaled curvature
SLOPE_SLACK = 1e-9  # of λ₁: a coefficient at 0 whose slope is λ₁ stays there


class NoOptimumError(Exception):
    """Raised where Newton's method finds no finite optimum."""


class Optimum(NamedTuple):
    """Coefficients at the optimum, and by how much rounding may have moved each."""

    v: np.ndarray
    error: np.ndarray
    singular: bool


def minimize(
    objective: Objective, l1: float, l2: float, start: np.ndarray, h: np.ndarray | None = None
) -> Optimum:
    """Return the optimum of F at these penalties; ``h``: units in which a step is to be short."""
    v = start.astype(float)
    pen = objective.penalized
    h = np.ones(len(v)) if h is None else h
    free = (v != 0) | ~pen if l1 > 0 else np.ones(len(v), dtype=bool)
    value = objective.value(v, l1, l2)
    at_zero = objective.value(np.zeros(len(v)), l1, l2)
    if not value <= MAX_RISE * at_zero:  # Newton's steps from there would be of no use
        v, value = np.zeros(len(v)), at_zero
        free = ~pen if l1 > 0 else free
    for _ in range(MAX_STEPS):
        sums = objective.sums(v)
        sign = np.where(pen, np.sign(v), 0.0)
        right = sums.slope + l1 * sign + l2 * pen * v
        A = np.ix_(free, free)
        step = np.zeros(len(v))
        step[free], singular = solve(
            sums.curvature[A] + l2 * np.diag(pen[free]), right[free], h[free]
        )
        if not np.isfinite(step).all():
            raise NoOptimumError("the curvature is not finite")
        moved, better = _line_search(objective, l1, l2, v, step, value, pen, sign)
        gained, value = value - better, better
        crossed = free & pen & (moved == 0) & (l1 > 0)
        free = free & ~crossed
        done = gained <= 4 * EPS * abs(value) and _short(step, sums, v)
        v = moved
        if done and not crossed.any():
            if l1 == 0:
                break
            slope = objective.sums(v).slope
            over = np.where(~free & pen, np.abs(slope) - l1 * (1 + SLOPE_SLACK), -np.inf)
            worst = int(np.argmax(over))
            if over[worst] <= objective.slope_errors(v)[worst]:
                break
            free[worst] = True
            # a first step off 0, in the direction in which F falls
            M = objective.sums(v).curvature[worst, worst] + l2
            v = v.copy()
            v[worst] = -np.sign(slope[worst]) * over[worst] / M * 0.5
            value = objective.value(v, l1, l2)
    else:
        raise NoOptimumError("Newton's method did not end: there may be no finite optimum")
    return Optimum(v, _errors(objective, l1, l2, v, free, h), singular)


def _short(step: np.ndarray, sums: object, v: np.ndarray) -> bool:
    scale = np.abs(v).max(initial=0.0) + 1e-300
    return bool(np.abs(step).max(initial=0.0) <= 1e-9 * scale) or bool(
        np.abs(step).max(initial=0.0) < 1e-300
    )


def _line_search(
    objective: Objective, l1: float, l2: float, v: np.ndarray, step: np.ndarray, value: float,
    pen: np.ndarray, sign: np.ndarray,
) -> tuple[np.ndarray, float]:  # fmt: skip
    t = 1.0
    for _ in range(MAX_HALVINGS):
        moved = v - t * step
        if l1 > 0:
            moved = np.where(pen & (sign != 0) & (moved * sign < 0), 0.0, moved)
        new = objective.value(moved, l1, l2)
        if new <= value + 4 * EPS * abs(value):
            return moved, new
        t /= 2
    return v, value


def solve(M: np.ndarray, right: np.ndarray, h: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return e with M e = right, shortest in units of h where M is singular; and whether it is."""
    q = np.sqrt(np.maximum(np.diag(M), 0.0))
    q = np.where(q > 0, q, 1.0)
    scaled = M / np.outer(q, q)
    if not np.isfinite(scaled).all():
        return np.full(right.shape, np.nan), False
    values, vectors = np.linalg.eigh(scaled)
    keep = values > RANK_RTOL * max(values.max(initial=0.0), 1e-300)
    inverse = (vectors[:, keep] / values[keep]) @ vectors[:, keep].T
    scale = q if right.ndim == 1 else q[:, None]
    e = inverse @ (right / scale) / scale
    if keep.all() or right.ndim > 1:
        return e, not keep.all()
    null = vectors[:, ~keep] / q[:, None]
    along = np.linalg.lstsq(null / h[:, None], -e / h, rcond=None)[0]
    return e + null @ along, True


def _errors(
    objective: Objective, l1: float, l2: float, v: np.ndarray, free: np.ndarray, h: np.ndarray
) -> np.ndarray:
    """Return |M⁻¹| times the rounding errors of the slopes: how well v is known."""
    sums = objective.sums(v)
    pen = objective.penalized
    M = sums.curvature[np.ix_(free, free)] + l2 * np.diag(pen[free])
    inverse, _ = solve(M, np.eye(int(free.sum())), h[free])
    error = np.zeros(len(v))
    error[free] = np.abs(inverse) @ objective.slope_errors(v)[free] + 4 * EPS * np.abs(v[free])
    return error
