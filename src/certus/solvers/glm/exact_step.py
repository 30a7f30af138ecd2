"""Exact line search for piecewise quadratic losses.

The curvature of the squared hinge and of Huber's loss jumps, and a full Newton step may cross many
jumps. Along θ + tδ the scores are z + t·ż, and the slope of F is

    φ'(t) = Σ s ℓ'(y, z + t·ż)·ż + l2·⟨q²∘(u + t·δ), δ⟩

which rises with t. Xθ and Xδ are computed in one pass; Newton's method on φ' within a bracket then
finds its zero without another one, in O(n) operations a step.
"""

from collections.abc import Callable

import numpy as np

from ...data.rows import Rows
from ...losses import Loss
from ..linalg.orthogonal_columns import ColumnCoordinates
from ..problem import Problem

MAX_SLOPE_EVALUATIONS = 60  # of φ'
SLOPE_TOL = 1e-3  # relative to φ'(0): a more exact t gains nothing that matters
BRACKET_TOL = 1e-9  # relative to t: a bracket this narrow contains a jump
MAX_STEP_LENGTH = 1e6  # in Newton steps


@np.errstate(over="ignore", invalid="ignore")  # a slope that is not finite is beyond the zero
def exact_step(
    problem: Problem, at: ColumnCoordinates, theta: np.ndarray, delta: np.ndarray
) -> float:
    """Return an approximate minimiser t > 0 of F(θ + tδ); θ and δ are (p + 1, 1), β the last."""
    penalty = problem.l2 * np.broadcast_to(at.scale, (len(theta) - 1,)) ** 2 * delta[:-1, 0]
    linear, quadratic = float(penalty @ theta[:-1, 0]), float(penalty @ delta[:-1, 0])

    if problem.rows.streamed:
        rows = _rows_of_scores(problem, at, np.hstack([theta, delta]))

        def slope_of_blocks(t: float) -> tuple[float, float]:
            first, second = rows.reduce_targets(_slopes, problem.loss, t)
            return float(first) + linear + t * quadratic, float(second) + quadratic

        return zero_of_slope(slope_of_blocks)
    z, dz = _scores(problem, at, np.hstack([theta, delta])).T
    y, s, loss = problem.y, problem.rows.s, problem.loss
    weighted = dz if s is None else s * dz

    def slope(t: float) -> tuple[float, float]:
        _, g, d = loss.evaluate(y, z + t * dz)
        curvature = float((weighted * d) @ dz) + quadratic
        return float(weighted @ g) + linear + t * quadratic, curvature

    return zero_of_slope(slope)


def _rows_of_scores(problem: Problem, at: ColumnCoordinates, V: np.ndarray) -> Rows:
    """Return streamed rows whose targets are y, z and ż, (n, 3), kept out of memory."""
    if "line search" not in problem.cache:
        problem.cache["line search"] = problem.rows.allocate((3,))
    kept, c = problem.cache["line search"], at.correction
    beta = V[-1] if c is None else V[-1] - c @ V[:-1]
    problem.rows.reduce(_fill_scores, at, V[:-1], beta, beside=(kept,))
    return problem.rows.with_targets(kept, problem.rows.s)


def _fill_scores(
    X: np.ndarray,
    y: np.ndarray,
    _s: np.ndarray | None,
    kept: np.ndarray,
    at: ColumnCoordinates,
    V: np.ndarray,
    beta: np.ndarray,
) -> tuple[()]:
    kept[:, 0], kept[:, 1:] = y[:, 0], at.block(X) @ V + beta
    return ()


def _slopes(kept: np.ndarray, s: np.ndarray | None, loss: Loss, t: float) -> tuple[float, float]:
    """Return Σ s ℓ'·ż and Σ s ℓ''·ż² of one block at z + t·ż."""
    y, z, dz = kept.T
    _, g, d = loss.evaluate(np.ascontiguousarray(y), z + t * dz)
    weighted = dz if s is None else s * dz
    return float(weighted @ g), float((weighted * d) @ dz)


def exact_step_from_scores(
    problem: Problem, w: np.ndarray, delta: np.ndarray, z: np.ndarray, dz: np.ndarray
) -> float:
    """Return the step length from known scores z + t·ż, with l1·‖w‖₁ + l2/2·‖w‖² on w + tδ."""
    y, s, loss = problem.y, problem.rows.s, problem.loss
    z, dz = z[:, 0], dz[:, 0]
    weighted = dz if s is None else s * dz
    w, delta = w[delta != 0], delta[delta != 0]
    longest = MAX_STEP_LENGTH
    if problem.positive and (delta < 0).any():
        longest = float(np.min(w[delta < 0] / -delta[delta < 0]))

    def slope(t: float) -> tuple[float, float]:
        _, g, d = loss.evaluate(y, z + t * dz)
        moved = w + t * delta
        penalty_slope = problem.l1 * np.sign(moved) + problem.l2 * moved
        curvature = float((weighted * d) @ dz) + problem.l2 * float(delta @ delta)
        return float(weighted @ g) + float(penalty_slope @ delta), curvature

    return zero_of_slope(slope, longest)


@np.errstate(over="ignore", invalid="ignore")
def zero_of_slope(
    slope: Callable[[float], tuple[float, float]], longest: float = MAX_STEP_LENGTH
) -> float:
    """Return an approximate zero t in (0, longest] of an increasing function.

    ``slope``: t → its value and derivative; a one-sided derivative where it jumps.
    """
    tolerance = SLOPE_TOL * abs(slope(0.0)[0])
    low, high, t = 0.0, np.inf, min(1.0, longest)
    for _ in range(MAX_SLOPE_EVALUATIONS):
        value, curvature = slope(t)
        if abs(value) <= tolerance:
            return t
        if value < 0:
            low = t
        else:  # also where it is NaN
            high = t
        if low >= longest or (high < np.inf and high - low <= BRACKET_TOL * high):
            break
        new = t - value / curvature if curvature > 0 else np.nan
        if not low < new < high:
            new = 4 * t if high == np.inf else (low + high) / 2
        t = min(new, longest)
    return low or t


def _scores(problem: Problem, at: ColumnCoordinates, V: np.ndarray) -> np.ndarray:
    """Return the scores (n, k) of parameters (p + 1, k) in the coordinates ``at``."""
    rows = problem.rows
    c = at.correction
    beta = V[-1] if c is None else V[-1] - c @ V[:-1]
    out = np.empty((rows.shape[0], V.shape[1]))
    return rows.map(lambda X, y, s: at.block(X) @ V[:-1] + beta, out)
