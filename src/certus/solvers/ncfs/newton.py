r"""One run of Newton's method on the logarithms of a few weights.

    θ = log W,    ∂F/∂θ = W ∂F/∂W,    ∂²F/∂θ² by differences of that

With L2, F changes direction over √W_l|Δ_l| ≈ the smallest distances: it may be as curved in a
weight of 1e-8 as it is flat in one of 10, and L-BFGS-B oscillates between them. In θ both have one
scale.
"""

from collections.abc import Callable

import numpy as np

from .fit import violation
from .lbfgs_run import IterationCallback, RunResult
from .objective import NCFSObjective

MAX_NEWTON_COLUMNS = 40  # each costs one evaluation in every step
MAX_STEPS = 30
DIFFERENCE_STEP = 1e-5  # of θ
MAX_LOG_STEP = 2.0  # of θ in one step
MIN_CURVATURE_RATIO = 1e-12  # to the largest; smaller ones are raised to it
MAX_HALVINGS = 20  # of a step
START_RATIOS = 10.0 ** np.arange(-11, 1)  # to the largest weight: candidates for a weight at 0
ZERO_WEIGHT_RATIO = 1e-12  # to the largest weight; smaller ones become 0 if F does not decrease
F_ROUNDING_RATIO = 1e-14  # relative rounding error of F


def newton(
    part: NCFSObjective, W: np.ndarray, F: float, slope: np.ndarray, tol: float, max_iter: int,
    on_iteration: IterationCallback,
) -> RunResult:  # fmt: skip
    """Run Newton's method from W, with the arguments of ``run_lbfgs``.

    Weights of 0 start at the candidate with the largest F, or stay 0.
    """
    evaluations = 0

    def evaluate(W: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal evaluations
        evaluations += 1
        value = part.value_and_slope(W)
        return value.F, value.slope

    W = W.copy()
    for l in np.flatnonzero((W == 0) & (slope > tol)):
        candidates = np.tile(W, (len(START_RATIOS), 1))
        candidates[:, l] = START_RATIOS * (W.max() or 1.0)
        values = [part.value(w) for w in candidates]
        evaluations += len(START_RATIOS)
        best = int(np.argmax(values))
        if values[best] > F + F_ROUNDING_RATIO * abs(F):
            W = candidates[best]
            F, slope = evaluate(W)
    for _ in range(min(max_iter, MAX_STEPS)):
        largest_violation = violation(W, slope).max()
        if largest_violation <= tol:
            break
        step = _step(evaluate, W, slope)
        for _ in range(MAX_HALVINGS):
            new = W * np.exp(step)
            new_F, new_slope = evaluate(new)
            less_violated = violation(new, new_slope).max() < largest_violation
            accepted = new_F > F or (less_violated and new_F >= F - F_ROUNDING_RATIO * abs(F))
            if accepted:
                break
            step = step / 2
        if not accepted:
            break
        W, F, slope = new, new_F, new_slope
        tiny = (ZERO_WEIGHT_RATIO * W.max() > W) & (slope < 0)
        if tiny.any():
            new = np.where(tiny, 0.0, W)
            new_F, new_slope = evaluate(new)
            if new_F >= F:
                W, F, slope = new, new_F, new_slope
        if on_iteration(F, W):
            break
    return RunResult(W, F, slope, evaluations, False)


def _step(
    evaluate: Callable[[np.ndarray], tuple[float, np.ndarray]], W: np.ndarray, slope: np.ndarray
) -> np.ndarray:
    """Newton step in θ, 0 where W is 0."""
    A = np.flatnonzero(W)
    g, H = W[A] * slope[A], np.empty((len(A), len(A)))
    for j, l in enumerate(A):
        shifted = W.copy()
        shifted[l] *= np.exp(DIFFERENCE_STEP)
        H[:, j] = (shifted[A] * evaluate(shifted)[1][A] - g) / DIFFERENCE_STEP
    if not np.isfinite(H).all():  # a weight is so large that F overflows next to it
        return np.zeros(len(W))
    size, Q = np.linalg.eigh((H + H.T) / 2)
    size = np.abs(size)
    d = Q @ (Q.T @ g / np.maximum(size, MIN_CURVATURE_RATIO * size.max() or 1.0))
    step = np.zeros(len(W))
    step[A] = d * min(1.0, MAX_LOG_STEP / (np.abs(d).max() or 1.0))
    return step
