"""Newton's direction from a QR factor, where the Hessian itself has lost the penalty's digits.

For one score, with slopes g and curvatures d of the losses (weights in both) and l2 > 0,

    δ = argmin ½‖√d∘(X̂₁δ) + g/√d‖² + ½l2·‖q∘(u + δ_u)‖² + hᵀδ

is −H⁻¹∇, but H is never formed: a penalty below eps·‖X̂ᵀDX̂‖ is lost in H, but not next to √d∘X̂. h
is the gradient of the rows that have a slope but hardly any curvature.
"""

from typing import Any

import numpy as np
from scipy import linalg

from ...losses import Loss
from ..linalg.orthogonal_columns import ColumnCoordinates
from ..problem import Problem

MAX_QR_WORK = 1 << 32  # (n + p)·p² of one factor
MIN_CURVATURE_SHARE = 1e-10  # of the largest curvature of a row: below it a loss counts as linear


def direction_by_qr(
    problem: Problem, at: ColumnCoordinates, u: np.ndarray, beta: np.ndarray
) -> np.ndarray | None:
    """Return δ (p + 1, 1) at (u, β); None where it would be too much work, or fails."""
    (n, p), rows = problem.rows.shape, problem.rows.dense()
    if problem.outputs != 1 or not problem.l2 > 0 or (n + p) * p * p > MAX_QR_WORK:
        return None
    at_point = problem.loss, at, u, beta
    (largest,) = rows.reduce(_largest_curvature, *at_point, combine=_larger)
    q = np.sqrt(problem.l2) * np.broadcast_to(at.scale, (p,))
    k = p + bool(problem.fit_intercept)
    curved, h = rows.reduce(
        _factor_of_block, *at_point, MIN_CURVATURE_SHARE * largest, k, combine=_stacked,
        square=True, block_rows=max(2 * k, rows.block_rows()),
    )  # fmt: skip
    M = np.zeros((len(curved) + p, k + 1))
    M[: len(curved)] = curved
    M[len(curved) + np.arange(p), np.arange(p)] = q
    M[len(curved) :, k] = -q * u[:, 0]
    (R,) = linalg.qr(M, mode="r", overwrite_a=True, check_finite=False)
    if len(R) < k:  # no row is curved
        return None
    delta = np.zeros((p + 1, 1))
    try:
        side = R[:k, k]
        if h.any():
            side = side - linalg.solve_triangular(R[:k, :k], h, trans="T", check_finite=False)
        delta[:k, 0] = linalg.solve_triangular(R[:k, :k], side, check_finite=False)
    except linalg.LinAlgError:
        return None
    return delta if np.isfinite(delta).all() else None


# --- passes ---------------------------------------------------------------------------------------


def _derivatives(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    loss: Loss,
    at: ColumnCoordinates,
    u: np.ndarray,
    beta: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the centred columns, slopes and curvatures of the rows of a block."""
    A, c = at.block(X), at.correction
    A = np.array(A, dtype=float) if c is None else np.subtract(A, c, dtype=float)
    _, g, d = loss.evaluate(y[:, 0], (A @ u + beta)[:, 0])
    return (A, g, d) if s is None else (A, s * g, s * d)


def _largest_curvature(X: np.ndarray, y: np.ndarray, s: np.ndarray | None, *args: Any) -> Any:
    return (float(_derivatives(X, y, s, *args)[2].max()),)


def _larger(left: tuple[float], right: tuple[float]) -> tuple[float]:
    return (max(left[0], right[0]),)


def _factor_of_block(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    loss: Loss,
    at: ColumnCoordinates,
    u: np.ndarray,
    beta: np.ndarray,
    least: float,
    k: int,
) -> tuple[Any, Any]:
    """Return R of the curved rows (√d∘X̂₁, −g/√d), and Σ g x̂₁ of the others."""
    A, g, d = _derivatives(X, y, s, loss, at, u, beta)
    is_curved, p = d > least, A.shape[1]
    root = np.sqrt(d[is_curved])
    M = np.empty((len(root), k + 1))
    M[:, :p] = root[:, None] * A[is_curved]
    M[:, p:k] = root[:, None]
    M[:, k] = -g[is_curved] / root
    A, g = A[~is_curved], g[~is_curved]
    return np.linalg.qr(M, mode="r"), np.append(g @ A, g.sum())[:k]


def _stacked(left: tuple[Any, Any], right: tuple[Any, Any]) -> tuple[Any, Any]:
    return np.linalg.qr(np.vstack([left[0], right[0]]), mode="r"), left[1] + right[1]
