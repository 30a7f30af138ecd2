r"""A leg of Newton's method on the logarithms of few weights.

    θ = log W,    ∂F/∂θ = W ∂F/∂W,    ∂²F/∂θ² by differences of that

With L2, F turns within √W_l|Δ_l| ≈ the least distances of the others: a weight of 1e-8 may be as
curved as one of 10 is flat, and L-BFGS-B goes back and forth between them. On θ one step sees both.
"""

from collections.abc import Callable

import numpy as np

from .fit import violation
from .lbfgs_run import Heard, Leg
from .problem import Problem

MOST_COLUMNS = 40  # each costs an evaluation a step
STEPS = 30
DIFFERENCE = 1e-5  # of θ
FARTHEST = 2.0  # of θ in a step
FLAT = 1e-12  # curvature, as a share of the largest: less is taken for this
HALVES = 20
POWERS = 10.0 ** np.arange(-11, 1)  # of the largest weight: where one that leaves 0 may begin
TINY = 1e-12  # of the largest weight: less is 0, if F does not fall by it
ROUNDING = 1e-14  # of F


def newton(
    part: Problem, W: np.ndarray, F: float, slope: np.ndarray, tol: float, most: int,
    heard: Heard,
) -> Leg:  # fmt: skip
    """As ``leg.walk``. Weights that are 0 begin where F is largest, or stay."""
    evaluations = 0

    def at(W: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal evaluations
        evaluations += 1
        value = part.value_and_slope(W)
        return value.F, value.slope

    W = W.copy()
    for l in np.flatnonzero((W == 0) & (slope > tol)):
        tried = np.tile(W, (len(POWERS), 1))
        tried[:, l] = POWERS * (W.max() or 1.0)
        found = [part.value(w) for w in tried]
        evaluations += len(POWERS)
        best = int(np.argmax(found))
        if found[best] > F + ROUNDING * abs(F):
            W = tried[best]
            F, slope = at(W)
    for _ in range(min(most, STEPS)):
        violated = violation(W, slope).max()
        if violated <= tol:
            break
        step = _step(at, W, slope)
        for _ in range(HALVES):
            new = W * np.exp(step)
            new_F, new_slope = at(new)
            nearer = violation(new, new_slope).max() < violated
            better = new_F > F or (nearer and new_F >= F - ROUNDING * abs(F))
            if better:
                break
            step = step / 2
        if not better:
            break
        W, F, slope = new, new_F, new_slope
        tiny = (TINY * W.max() > W) & (slope < 0)
        if tiny.any():
            new = np.where(tiny, 0.0, W)
            new_F, new_slope = at(new)
            if new_F >= F:
                W, F, slope = new, new_F, new_slope
        if heard(F, W):
            break
    return Leg(W, F, slope, evaluations, False)


def _step(
    at: Callable[[np.ndarray], tuple[float, np.ndarray]], W: np.ndarray, slope: np.ndarray
) -> np.ndarray:
    """In θ; 0 where W is."""
    A = np.flatnonzero(W)
    g, H = W[A] * slope[A], np.empty((len(A), len(A)))
    for j, l in enumerate(A):
        more = W.copy()
        more[l] *= np.exp(DIFFERENCE)
        H[:, j] = (more[A] * at(more)[1][A] - g) / DIFFERENCE
    if not np.isfinite(H).all():  # a weight so large that F overflows beside it: no step
        return np.zeros(len(W))
    size, Q = np.linalg.eigh((H + H.T) / 2)
    size = np.abs(size)
    d = Q @ (Q.T @ g / np.maximum(size, FLAT * size.max() or 1.0))
    step = np.zeros(len(W))
    step[A] = d * min(1.0, FARTHEST / (np.abs(d).max() or 1.0))
    return step
