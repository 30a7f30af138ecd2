r"""Passes over the rows for least squares: sums over one block, and factors of it.

    G = Σ_i s_i x_i x_iᵀ        C = Σ_i s_i (x_i − x̄)(x_i − x̄)ᵀ        √s∘(X − x̄)D⁻¹ = QR

X is viewed (shifted and scaled); D are the columns' scales.
"""

from typing import Any

import numpy as np

from certus.proofs.linalg.linear_sums import View, is_sparse
from certus.proofs.types import Matrix


def sparse_gram(X: Matrix, y: np.ndarray, s: np.ndarray | None, view: View) -> tuple[Any]:
    """Σ s x xᵀ of one block, (p, p)."""
    if not is_sparse(X):
        X = view.of(X)
        return (X.T @ (X if s is None else s[:, None] * X),)
    X = view.of_sparse(X)
    return ((X.T @ (X if s is None else X.multiply(s[:, None]))).toarray(),)


def squares(
    X: Matrix, y: np.ndarray, s: np.ndarray | None, u: np.ndarray, c: np.ndarray, view: View
) -> tuple[Any]:
    """Σ s (xᵀu − c)² of one block, (k,)."""
    t = (view.of_sparse(X) if is_sparse(X) else view.of(X)) @ u - c
    return (np.einsum("ij,ij->j", t if s is None else s[:, None] * t, t),)


def column_sums(X: Matrix, y: np.ndarray, s: np.ndarray | None, view: View) -> tuple[Any, Any]:
    X = view.of(X)
    s = np.ones(len(X)) if s is None else s
    return s.sum(), s @ X


def centered_gram(
    X: Matrix, y: np.ndarray, s: np.ndarray | None, view: View, mean: np.ndarray
) -> tuple[Any, Any]:
    """C = Σ s (x − mean)(x − mean)ᵀ of one block, and t = Σ s (x − mean)."""
    A = scaled_block(X, s, view, mean, None)
    return np.dot(A.T, A), A.sum(axis=0) if s is None else np.dot(np.sqrt(s), A)


def scaled_block(
    X: Matrix, s: np.ndarray | None, view: View, mean: np.ndarray, scale: np.ndarray | None
) -> Any:
    """√s∘(X − mean)·D⁻¹ of one viewed block."""
    A = view.of(X) - mean
    if scale is not None:
        A /= scale
    if s is not None:
        A *= np.sqrt(s)[:, None]
    return A


def factor(
    X: Matrix,
    y: np.ndarray,
    s: np.ndarray | None,
    view: View,
    mean: np.ndarray,
    scale: np.ndarray,
    fit_intercept: bool,
) -> tuple[Any]:
    """R of QR = A, the scaled and centred block, or of [√s A] if there is an intercept.

    The mean is rounded, so columns far from the origin retain a part of it, which looks like
    curvature. The column √s absorbs it: below its row, R is the factor of exactly centred columns.
    """
    A = scaled_block(X, s, view, mean, scale)
    if fit_intercept:
        root = np.ones(len(A)) if s is None else np.sqrt(s)
        A = np.hstack([root[:, None], A])
    return (np.linalg.qr(A, mode="r"),)


def merge(left: tuple[Any], right: tuple[Any]) -> tuple[Any]:
    """R of two blocks stacked."""
    return (np.linalg.qr(np.vstack([left[0], right[0]]), mode="r"),)
