"""Step length along a direction for losses that are quadratic in pieces.

Squared hinge and Huber have a curvature that jumps, and a whole Newton step may end far on the
other side of many jumps. Along θ + tδ the scores are z + t·ż, and the slope of F is

    φ'(t) = Σ s ℓ'(y, z + t·ż)·ż + l2·⟨q²∘(u + t·δ), δ⟩

which rises with t and needs no further pass over X: two products, Xθ and Xδ, are taken together,
and Newton's steps on φ' within a bracket find its zero in O(n) operations each.
"""

from collections.abc import Callable

import numpy as np

from ..linalg.orthogonal_columns import ColumnCoordinates
from ..problem import Problem

MOST_EVALUATIONS = 60  # of φ'
SMALL_SLOPE = 1e-3  # of φ'(0): shorter or longer steps then gain nothing that matters
SMALL_STEP = 1e-9  # of t: a bracket as narrow as this holds a jump
LONGEST = 1e6  # step lengths


@np.errstate(over="ignore", invalid="ignore")  # a slope that is not finite is beyond the zero
def exact_step(
    problem: Problem, at: ColumnCoordinates, theta: np.ndarray, delta: np.ndarray
) -> float:
    """Return the t > 0 at which F(θ + tδ) is least, about; θ and δ are (p + 1, 1), β the last."""
    z, dz = _scores(problem, at, np.hstack([theta, delta])).T
    y, s, loss = problem.y, problem.rows.s, problem.loss
    weighted = dz if s is None else s * dz
    penalty = problem.l2 * np.broadcast_to(at.scale, (len(theta) - 1,)) ** 2 * delta[:-1, 0]
    linear, quadratic = float(penalty @ theta[:-1, 0]), float(penalty @ delta[:-1, 0])

    def slope(t: float) -> tuple[float, float]:
        _, g, d = loss.evaluate(y, z + t * dz)
        curvature = float((weighted * d) @ dz) + quadratic
        return float(weighted @ g) + linear + t * quadratic, curvature

    return zero_of_slope(slope)


def exact_step_of_scores(
    problem: Problem, w: np.ndarray, delta: np.ndarray, z: np.ndarray, dz: np.ndarray
) -> float:
    """The same for scores z + t·ż that are known, and a penalty l1·‖w‖₁ + l2/2·‖w‖² on w + tδ."""
    y, s, loss = problem.y, problem.rows.s, problem.loss
    z, dz = z[:, 0], dz[:, 0]
    weighted = dz if s is None else s * dz
    w, delta = w[delta != 0], delta[delta != 0]
    longest = LONGEST
    if problem.positive and (delta < 0).any():
        longest = float(np.min(w[delta < 0] / -delta[delta < 0]))

    def slope(t: float) -> tuple[float, float]:
        _, g, d = loss.evaluate(y, z + t * dz)
        moved = w + t * delta
        of_penalty = problem.l1 * np.sign(moved) + problem.l2 * moved
        curvature = float((weighted * d) @ dz) + problem.l2 * float(delta @ delta)
        return float(weighted @ g) + float(of_penalty @ delta), curvature

    return zero_of_slope(slope, longest)


@np.errstate(over="ignore", invalid="ignore")
def zero_of_slope(slope: Callable[[float], tuple[float, float]], longest: float = LONGEST) -> float:
    """Return the t in (0, longest] where a rising function is 0, about. ``slope``: t → value and
    derivative of it, or of one side where it jumps."""
    enough = SMALL_SLOPE * abs(slope(0.0)[0])
    low, high, t = 0.0, np.inf, min(1.0, longest)
    for _ in range(MOST_EVALUATIONS):
        value, curvature = slope(t)
        if abs(value) <= enough:
            return t
        if value < 0:
            low = t
        else:  # or not a number
            high = t
        if low >= longest or (high < np.inf and high - low <= SMALL_STEP * high):
            break
        new = t - value / curvature if curvature > 0 else np.nan
        if not low < new < high:
            new = 4 * t if high == np.inf else (low + high) / 2
        t = min(new, longest)
    return low or t


def _scores(problem: Problem, at: ColumnCoordinates, V: np.ndarray) -> np.ndarray:
    """Scores (n, k) of parameters (p + 1, k) in the coordinates ``at``."""
    rows = problem.rows
    c = at.correction
    beta = V[-1] if c is None else V[-1] - c @ V[:-1]
    out = np.empty((rows.shape[0], V.shape[1]))
    return rows.map(lambda X, y, s: at.block(X) @ V[:-1] + beta, out)
