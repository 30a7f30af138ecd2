r"""Linear systems of proximal steps: (Σ h x̂x̂ᵀ + diag ridge) d = g over rows near their margin.

By the Gram matrix of the rows where they are fewer than the columns, else by that of the columns;
by QR where its condition loses the digits, by conjugate gradients where neither can be factored.
``near``: the rows, whose target (m, 1) is h.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from scipy.linalg import solve_triangular

from ...data.rows import Rows
from ..linalg.cholesky import cholesky_solve, factor

MAX_CONDITION = 1e8  # of a scaled matrix; beyond it the rows are factored by QR instead
MAX_FACTORED_SIZE = 3000  # rows and columns above which nothing is factored
MAX_CG_ITERATIONS, CG_RESIDUAL_SHARE = 300, 1e-4  # then; the share of g (squared) that may be left


class NearRows(Protocol):
    """Rows near their margin, in memory or of a table."""

    def reduce(self, statistic: Callable[..., Any], *args: Any, **options: Any) -> Any:
        """Combine statistic(X_b, h_b, None, *args) over blocks."""


def solve_near(near: Rows, c: float, q: np.ndarray, ridge: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return (Σ h x̂x̂ᵀ + diag ridge)⁻¹g over rows in memory."""
    n = near.shape[0]
    if min(n, len(g)) > MAX_FACTORED_SIZE:
        return by_conjugate_gradients(near, c, q, ridge, g)
    near = near.dense()
    if 2 * n <= len(g):
        X, h, _ = near.block(0, n)
        assert h is not None
        Z = np.hstack([X, np.full((n, 1), c)]) * q
        Zr = Z / ridge
        K = np.dot(Zr, Z.T)
        K.flat[:: len(K) + 1] += 1 / h[:, 0]
        x = _by_cholesky(K, Zr @ g)
        if x is not None:
            return np.asarray(g / ridge - Zr.T @ x)
        return _by_triangle(near, c, q, ridge, g)
    (H,) = near.reduce(outer, c, q, square=True, block_rows=max(256, len(g)))
    return solve_summed(H, near, c, q, ridge, g)


def solve_summed(
    H: np.ndarray, near: NearRows, c: float, q: np.ndarray, ridge: np.ndarray, g: np.ndarray
) -> np.ndarray:
    """Return (H + diag ridge)⁻¹g, H = Σ h x̂x̂ᵀ over ``near``, which it overwrites."""
    H.flat[:: len(H) + 1] += ridge
    x = _by_cholesky(H, g)
    return _by_triangle(near, c, q, ridge, g) if x is None else x


def weighted(X: np.ndarray, h: np.ndarray, c: float, q: np.ndarray) -> np.ndarray:
    """Return the rows √h x̂∘q."""
    Z = np.empty((len(X), len(q)))
    Z[:, :-1], Z[:, -1] = X, c
    Z *= q
    Z *= np.sqrt(h)
    return Z


def outer(X: np.ndarray, h: np.ndarray, _s: object, c: float, q: np.ndarray) -> tuple[Any]:
    Z = weighted(X, h, c, q)
    return (np.dot(Z.T, Z),)


def _times(
    X: np.ndarray, h: np.ndarray, _s: np.ndarray, c: float, q: np.ndarray, d: np.ndarray
) -> tuple[Any]:
    """Return Σ h x̂x̂ᵀd."""
    u = q * d
    z = h[:, 0] * (X @ u[:-1] + c * u[-1])
    return (q * np.append(X.T @ z, c * z.sum()),)


def _squares(X: np.ndarray, h: np.ndarray, _s: np.ndarray, c: float, q: np.ndarray) -> tuple[Any]:
    """Return Σ h x̂²."""
    square = np.square(X, dtype=float) if isinstance(X, np.ndarray) else X.power(2)
    return (q**2 * np.append(square.T @ h[:, 0], c * c * h.sum()),)


def _by_cholesky(A: np.ndarray, g: np.ndarray) -> np.ndarray | None:
    """Return A⁻¹g, computed on a unit diagonal; None where A is too ill-conditioned."""
    d = 1 / np.sqrt(np.maximum(A.diagonal(), np.finfo(float).tiny))
    A = A * d * d[:, None]
    A.flat[:: len(A) + 1] = 1.0
    R, condition = factor(A)
    if not condition < MAX_CONDITION:
        return None
    return np.asarray(cholesky_solve(R, (g * d)[:, None])[:, 0] * d)


def _by_triangle(
    near: NearRows, c: float, q: np.ndarray, ridge: np.ndarray, g: np.ndarray
) -> np.ndarray:
    """Solve RᵀRd = g with R the QR factor of the rows, and refine d twice.

    R keeps the digits that the squares in H lose.
    """
    (R,) = near.reduce(
        _triangle, c, q, combine=_merge_triangles, square=True, block_rows=max(256, len(q))
    )
    R = np.linalg.qr(np.vstack([R, np.diag(np.sqrt(ridge))]), mode="r")
    d, r = np.zeros_like(g), g
    for _ in range(3):
        d = d + solve_triangular(R, solve_triangular(R, r, trans="T"))
        r = g - ridge * d - near.reduce(_times, c, q, d)[0]
    return np.asarray(d)


def _triangle(X: np.ndarray, h: np.ndarray, _s: np.ndarray, c: float, q: np.ndarray) -> tuple[Any]:
    return (np.linalg.qr(weighted(X, h, c, q), mode="r"),)


def _merge_triangles(left: tuple[Any], right: tuple[Any]) -> tuple[Any]:
    return (np.linalg.qr(np.vstack([left[0], right[0]]), mode="r"),)


def by_conjugate_gradients(
    near: NearRows, c: float, q: np.ndarray, ridge: np.ndarray, g: np.ndarray
) -> np.ndarray:
    diagonal = ridge + near.reduce(_squares, c, q)[0]
    d, r = np.zeros_like(g), g.copy()
    z = r / diagonal
    p, rz = z.copy(), float(r @ z)
    first = rz
    for _ in range(MAX_CG_ITERATIONS):
        Hp = ridge * p + near.reduce(_times, c, q, p)[0]
        step = rz / float(p @ Hp)
        d += step * p
        r -= step * Hp
        z = r / diagonal
        rz, before = float(r @ z), rz
        if not rz > CG_RESIDUAL_SHARE * first:
            break
        p = z + rz / before * p
    return d
