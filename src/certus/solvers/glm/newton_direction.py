"""Newton's direction from a QR factor, where the Hessian itself has lost the penalty's digits.

For one score, with slopes g and curvatures d of the losses (weights in both) and l2 > 0,

    δ = argmin ½‖√d∘(X̂₁δ) + g/√d‖² + ½l2·‖q∘(u + δ_u)‖² + hᵀδ

is −H⁻¹∇, but H is never formed: a penalty below eps·‖X̂ᵀDX̂‖ is lost in H, but not next to √d∘X̂. h
is the gradient of the rows that have a slope but hardly any curvature.
"""

import numpy as np
from scipy import linalg

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
    X, _, s = rows.block(0, n)
    A, c = at.block(X), at.correction
    A = np.array(A, dtype=float) if c is None else np.subtract(A, c, dtype=float)
    _, g, d = problem.loss.evaluate(problem.y, (A @ u + beta)[:, 0])
    if s is not None:
        g, d = s * g, s * d
    is_curved = d > MIN_CURVATURE_SHARE * d.max()
    root = np.sqrt(d[is_curved])
    q = np.sqrt(problem.l2) * np.broadcast_to(at.scale, (p,))
    m, k = len(root), p + bool(problem.fit_intercept)
    M = np.zeros((m + p, k + 1))
    M[:m, :p] = root[:, None] * A[is_curved]
    M[:m, p:k] = root[:, None]
    M[:m, k] = -g[is_curved] / root
    M[m + np.arange(p), np.arange(p)] = q
    M[m:, k] = -q * u[:, 0]
    (R,) = linalg.qr(M, mode="r", overwrite_a=True, check_finite=False)
    A, g = A[~is_curved], g[~is_curved]
    h = np.append(g @ A, g.sum())[:k]
    delta = np.zeros((p + 1, 1))
    try:
        side = R[:k, k]
        if h.any():
            side = side - linalg.solve_triangular(R[:k, :k], h, trans="T", check_finite=False)
        delta[:k, 0] = linalg.solve_triangular(R[:k, :k], side, check_finite=False)
    except linalg.LinAlgError:
        return None
    return delta if np.isfinite(delta).all() else None
