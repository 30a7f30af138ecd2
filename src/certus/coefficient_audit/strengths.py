"""The strengths λ at which the optimum is nearest to the printed coefficients, in units of h.

At coefficients v̂ that are not 0 (signs σ), and near them, the optimum is v̂ − e(λ) with

    e(λ) = (H + λ₂ P)⁻¹ (g + λ₁ σ + λ₂ P v̂),   ∂e/∂λ₁ = M⁻¹σ,   ∂e/∂λ₂ = M⁻¹P(v̂ − e),

and a coefficient that is 0 stays there while |g − H e| ≤ λ₁. The λ ≥ 0 with the smallest
max |eⱼ|/hⱼ solve a linear programme, which is repeated at the λ found. That is the metric of
rounding: with hⱼ half a unit of the last digit, max |eⱼ|/hⱼ ≤ 1 says that the printed numbers are
the rounded optimum. The same constraints give the least and the greatest λ that do.
"""

from typing import NamedTuple

import numpy as np

from .objective import Objective
from .optimum import solve
from .presets import Shape

MAX_ROUNDS = 12
ROUND_RTOL = 1e-9  # of λ: a further round changes nothing
# where two rounds leave more than both, no strength brings the optimum near
HOPELESS_RATIO, HOPELESS_SHARE = 1e3, 1e-2


class StrengthEstimate(NamedTuple):
    """λ with the distance of the optimum, as predicted from the printed coefficients."""

    l1: float
    l2: float
    ratio: float  # max |e|/h
    excess: float  # ½ eᵀMe: what the printed coefficients miss of the optimum, about


class Local(NamedTuple):
    """The optimum as a function of λ near a point: e + J δ, on the free coefficients."""

    free: np.ndarray
    e: np.ndarray
    J: np.ndarray  # columns of the λ that vary
    M: np.ndarray
    others: np.ndarray  # slopes of the coefficients at 0
    others_J: np.ndarray
    slack: np.ndarray  # by which a slope may change for h of its coefficient


def varying(shape: Shape) -> tuple[bool, bool]:
    """Return which of λ₁ and λ₂ a shape has."""
    return shape in ("l1", "elastic_net"), shape in ("l2", "elastic_net")


def local(
    objective: Objective, at: np.ndarray, printed: np.ndarray, h: np.ndarray, l1: float, l2: float,
    shape: Shape,
) -> Local:  # fmt: skip
    """Return the linear model of printed − optimum, from sums at ``at``."""
    first, second = varying(shape)
    pen, sums = objective.penalized, objective.sums(at)
    free = (at != 0) | ~pen if first else np.ones(len(at), dtype=bool)
    sign = np.where(pen, np.sign(at), 0.0)[free]
    H, P = sums.curvature[np.ix_(free, free)], pen[free].astype(float)
    M = H + l2 * np.diag(P)
    e, _ = solve(M, sums.slope[free] + l1 * sign + l2 * P * at[free], h[free])
    J = np.column_stack([sign, P * (at[free] - e)])[:, [first, second]]
    J, _ = solve(M, J, h[free])
    cross = sums.curvature[np.ix_(~free, free)]
    slopes = sums.slope[~free] - cross @ e
    slack = np.diag(sums.curvature)[~free] * h[~free]
    return Local(free, e + (printed - at)[free], J, M, slopes, -cross @ J, slack)


def estimate(
    objective: Objective, printed: np.ndarray, h: np.ndarray, shape: Shape
) -> StrengthEstimate:
    """Return the λ at which the optimum is nearest to the printed coefficients."""
    l1, l2 = _start(objective, printed, shape)
    which = varying(shape)
    for number in range(MAX_ROUNDS if shape != "none" else 0):
        near = local(objective, printed, printed, h, l1, l2, shape)
        if number >= 2 and _hopeless(near, h, objective):
            break
        delta = _minimax(near, h, np.array([l1, l2])[list(which)], which)
        if delta is None:
            break
        moved = np.zeros(2)
        moved[list(which)] = delta
        before = l1, l2
        l1, l2 = max(l1 + moved[0], 0.0), max(l2 + moved[1], 0.0)
        if abs(l1 - before[0]) <= ROUND_RTOL * l1 and abs(l2 - before[1]) <= ROUND_RTOL * l2:
            break
    near = local(objective, printed, printed, h, l1, l2, shape)
    over = np.maximum(np.abs(near.others) - l1, 0.0)
    beside = np.divide(over, near.slack, out=np.zeros_like(over), where=near.slack > 0)
    ratio = max(np.abs(near.e / h[near.free]).max(initial=0.0), beside.max(initial=0.0))
    curved = np.diag(objective.sums(printed).curvature)[~near.free]
    excess = 0.5 * near.e @ near.M @ near.e
    excess += 0.5 * np.sum(np.divide(over**2, curved, out=np.zeros_like(over), where=curved > 0))
    return StrengthEstimate(float(l1), float(l2), float(ratio), float(excess))


def _hopeless(near: Local, h: np.ndarray, objective: Objective) -> bool:
    excess = 0.5 * near.e @ near.M @ near.e
    far = np.abs(near.e / h[near.free]).max(initial=0.0) > HOPELESS_RATIO
    return bool(far and excess > HOPELESS_SHARE * objective.null_value)


def improved(
    objective: Objective, optimum: np.ndarray, printed: np.ndarray, h: np.ndarray, l1: float,
    l2: float, shape: Shape,
) -> tuple[float, float]:  # fmt: skip
    """Return λ by the linear model at an optimum near the printed coefficients."""
    which = varying(shape)
    near = local(objective, optimum, printed, h, l1, l2, shape)
    delta = _minimax(near, h, np.array([l1, l2])[list(which)], which)
    moved = np.zeros(2)
    if delta is not None:
        moved[list(which)] = delta
    return max(l1 + moved[0], 0.0), max(l2 + moved[1], 0.0)


def extremes(
    objective: Objective, optimum: np.ndarray, printed: np.ndarray, h: np.ndarray, l1: float,
    l2: float, shape: Shape, ratio: float,
) -> list[tuple[float, float]]:  # fmt: skip
    """Return the (λ₁, λ₂) farthest apart at which the optimum is within ``ratio`` units of h."""
    which = varying(shape)
    near = local(objective, optimum, printed, h, l1, l2, shape)
    now, found = np.array([l1, l2]), []
    for k in np.flatnonzero(which):
        for sign in (1.0, -1.0):
            delta = _programme(near, h, now[list(which)], which, int(k), sign, ratio)
            moved = np.zeros(2)
            if delta is not None:
                moved[list(which)] = delta
            found.append((max(l1 + moved[0], 0.0), max(l2 + moved[1], 0.0)))
    return found or [(l1, l2)]


def _start(objective: Objective, v: np.ndarray, shape: Shape) -> tuple[float, float]:
    """Return λ ≥ 0 by least squares of −g on λ₁ σ + λ₂ v."""
    from scipy.optimize import nnls

    first, second = varying(shape)
    sums, use = objective.sums(v), objective.penalized & (v != 0)
    if shape == "none" or not use.any():
        return 0.0, 0.0
    scale = np.sqrt(np.maximum(np.diag(sums.curvature)[use], 1e-300))
    columns = np.column_stack([np.sign(v[use]), v[use]])[:, [first, second]] / scale[:, None]
    if not np.isfinite(sums.slope).all():
        return 0.0, 0.0
    found, _ = nnls(columns, -sums.slope[use] / scale)
    out = np.zeros(2)
    out[[first, second]] = found
    return float(out[0]), float(out[1])


def _minimax(
    near: Local, h: np.ndarray, now: np.ndarray, which: tuple[bool, bool]
) -> np.ndarray | None:
    """Return δ ≥ −λ with the least max |e + J δ|/h; None where there is nothing to choose."""
    return _programme(near, h, now, which, None, 1.0, 0.0)


def _programme(
    near: Local, h: np.ndarray, now: np.ndarray, which: tuple[bool, bool], toward: int | None,
    sign: float, ratio: float,
) -> np.ndarray | None:  # fmt: skip
    """Solve for (δ, t): the least t, or at t = ratio the extreme of one λ (``toward``)."""
    from scipy.optimize import linprog

    m = near.J.shape[1]
    if not m or not (np.isfinite(near.e).all() and np.isfinite(near.J).all()):
        return None
    e, J = near.e / h[near.free], near.J / h[near.free][:, None]
    unit = max(np.abs(e).max(initial=0.0), ratio, 1e-300)  # t is measured in it
    size = np.maximum(np.abs(J).max(axis=0, initial=0.0), 1e-300) / unit  # and δ in 1/size
    rows = [np.column_stack([J / size / unit, -np.ones(len(e))])]
    rows.append(np.column_stack([-J / size / unit, -np.ones(len(e))]))
    right = [-e / unit, e / unit]
    if which[0] and len(near.others):  # |g − …| ≤ λ₁ + t·slack
        scale = np.maximum(np.abs(near.others), 1e-300)
        for side in (1.0, -1.0):
            of_delta = side * near.others_J / size
            of_delta[:, 0] -= 1 / size[0]
            rows.append(np.column_stack([of_delta, -near.slack * unit]) / scale[:, None])
            right.append((now[0] - side * near.others) / scale)
    cost = np.zeros(m + 1)
    bounds = [(-now[k] * size[k], None) for k in range(m)] + [(0.0, None)]
    if toward is None:
        cost[-1] = 1.0
    else:
        k = toward if all(which) else 0
        cost[k] = -sign
        bounds[-1] = (ratio / unit, ratio / unit)
        limit = 1e6
        bounds[k] = (bounds[k][0], max(limit, 1e3 * now[k] * size[k]))
    A, b = np.vstack(rows), np.concatenate(right)
    if not (np.isfinite(A).all() and np.isfinite(b).all()):
        return None
    result = linprog(cost, A, b, bounds=bounds, method="highs")
    return None if result.x is None else result.x[:m] / size
