"""Exact leave-one-out errors of ridge for a path of penalties, from one factorisation.

    r_i(α) / (1 − h_ii(α)),   h_ii = s_i/S + s_i Σ_k z_ik²/(λ_k + α),   z = Vᵀx̃

n > p: G = X̃ᵀSX̃ = VΛVᵀ, then one pass over the rows for all α. n ≤ p: K = X̃X̃ᵀ = UΛUᵀ, where
residuals retain the share α/(λ + α) of each direction. If squaring would lose digits relative to α,
the singular values of X̃ are used.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows
from ..glm.linear_problem import scaled
from ..linalg.gram import gram
from .dual import CenteredRows
from .least_squares import qr_of_rows


class LeaveOneOutPath(NamedTuple):
    """Leave-one-out errors of rows multiplied by √s."""

    errors: np.ndarray | None  # (n, k, A), if requested
    squares: np.ndarray  # (A, k): Σ s e²


def leave_one_out(
    rows: Rows, alphas: np.ndarray, fit_intercept: bool, keep_errors: bool
) -> LeaveOneOutPath:
    """Compute leave-one-out errors: O(n·p² + n·p·A·k) time and O(p²) memory for n > p, O(n²·p +
    n²·A·k) and O(n²) for n ≤ p."""
    n, p = rows.shape
    if n <= p:
        return _few_rows(rows.dense(), alphas, fit_intercept, keep_errors)
    return _many_rows(rows, alphas, fit_intercept, keep_errors)


def _many_rows(
    rows: Rows, alphas: np.ndarray, fit_intercept: bool, keep_errors: bool
) -> LeaveOneOutPath:
    sums = gram(rows, fit_intercept)
    problem = scaled(sums, fit_intercept)
    p, k = sums.Xy.shape
    q = np.ones(p) if sums.q is None else sums.q
    lam, V = np.linalg.eigh(sums.G / q / q[:, None])
    Vy = V.T @ (sums.Xy / q[:, None])
    if _square_loses_digits(lam, lam[0], alphas):
        R, z = qr_of_rows(rows.dense(), problem)
        U, sigma, Vt = np.linalg.svd(R / problem.unscale)
        lam, V, Vy = sigma**2, Vt.T, sigma[:, None] * (U.T @ z)
    shrink = 1 / (np.maximum(lam, 0.0)[:, None] + alphas)  # (p, A)
    W = (Vy[:, :, None] * shrink[:, None, :]).reshape(p, -1)
    share = 1 / sums.S if fit_intercept else 0.0
    args = problem.mean, sums.mean_y, V, W, shrink, share
    # three arrays of A·k or p numbers per row are in use at once
    block_rows = max(256, (1 << 18) // (3 * max(p, len(alphas) * k)))
    if not keep_errors:
        (squares,) = rows.reduce(_squares, *args, block_rows=block_rows, square=True)
        return LeaveOneOutPath(None, squares)
    out = np.empty((rows.shape[0], k, len(alphas)))
    errors = rows.map(_errors, out, *args, block_rows=block_rows if rows.sparse else None)
    return LeaveOneOutPath(errors, np.einsum("ika,ika->ak", errors, errors))


def _square_loses_digits(lam: np.ndarray, least: float, alphas: np.ndarray) -> bool:
    """Return whether ε·λ_max, the error of eigenvalues, matters relative to the smallest λ + α."""
    rounding = len(lam) * np.finfo(float).eps * lam[-1]
    return bool(rounding > 1e-9 * (max(least - rounding, 0.0) + alphas.min()))


def _errors(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    mean: np.ndarray,
    mean_y: np.ndarray,
    V: np.ndarray,
    W: np.ndarray,
    shrink: np.ndarray,
    share: float,
) -> Any:
    """√s e of a block, (n, k, A)."""
    if isinstance(X, np.ndarray):
        Z = np.subtract(X, mean, dtype=float) @ V
    else:  # sparse rows are centred after the product
        Z = X @ V
        Z -= mean @ V
    e = (y - mean_y)[:, :, None] - (Z @ W).reshape(*y.shape, -1)
    Z *= Z
    remaining = Z @ shrink
    remaining += share
    if s is not None:
        remaining *= s[:, None]
        e *= np.sqrt(s)[:, None, None]
    np.subtract(1.0, remaining, out=remaining)
    e /= remaining[:, None, :]
    return e


def _squares(X: np.ndarray, y: np.ndarray, s: np.ndarray, *args: Any) -> tuple[Any]:
    e = _errors(X, y, s, *args)
    e *= e
    return (e.sum(axis=0).T.copy(),)


def _few_rows(
    rows: Rows, alphas: np.ndarray, fit_intercept: bool, keep_errors: bool
) -> LeaveOneOutPath:
    centered = CenteredRows(rows, fit_intercept)
    K, basis = centered.kernel(), None
    if fit_intercept:
        # I − H = M − uuᵀ, M = α(K + αI)⁻¹, u = √(s/S), Mu = u: M on the complement of u
        s = np.ones(len(K)) if rows.s is None else rows.s[: len(K)]
        basis = _complement(np.sqrt(s / s.sum()))
        K = basis.T @ K @ basis
    lam, U = np.linalg.eigh(K)
    if len(lam) and _square_loses_digits(lam, lam[0], alphas):
        Z = centered.array() if basis is None else basis.T @ centered.array()
        U, sigma, _ = np.linalg.svd(Z, full_matrices=False)
        lam = sigma**2
    U = U if basis is None else basis @ U
    remaining = alphas / (np.maximum(lam, 0.0)[:, None] + alphas)  # (n or n − 1, A)
    diagonal = (U * U) @ remaining
    Uy = U.T @ centered.y
    errors = np.empty((*centered.y.shape, len(alphas)))
    for t, e in enumerate(_by_target(errors)):
        np.divide(U @ (remaining * Uy[:, [t]]), diagonal, out=e)
    return LeaveOneOutPath(
        errors if keep_errors else None, np.einsum("ika,ika->ak", errors, errors)
    )


def _complement(u: np.ndarray) -> np.ndarray:
    """Orthonormal basis of the complement of u, ‖u‖ = 1: the other columns of a reflection that has
    u as a column."""
    v = u.copy()
    j = int(np.argmax(np.abs(u)))
    v[j] += np.copysign(1.0, u[j])
    reflection = np.eye(len(u)) - np.multiply.outer(v, v) * (2 / (v @ v))
    return np.delete(reflection, j, axis=1)


def _by_target(errors: np.ndarray) -> Iterator[np.ndarray]:
    return (errors[:, t] for t in range(errors.shape[1]))
