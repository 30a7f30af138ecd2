"""Centred sums over sparse rows, by correction, since X − 1x̄ᵀ is dense.

    G = Σ s (x − x̄)(x − x̄)ᵀ = Σ s x xᵀ − S x̄ x̄ᵀ

The difference loses digits if a column is many deviations from 0, which is rare for sparse columns;
then dense blocks are summed instead (``gram.py``).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...data.csr import SparseMatrix
from ...data.rows import Rows
from ...kernels import compiled_or
from .gram import Gram, NonFiniteError

KERNEL_ENTRIES = 1 << 20  # from which the compiled kernels are worth loading Numba
MAX_CANCELLATION = 1e4  # largest S x̄² relative to the centred Σ s (x − x̄)²
MAX_SPARSE_DENSITY = 0.1  # above, BLAS on dense blocks is faster than pairs of entries
NO_WEIGHTS = np.empty(0)

Statistic = Callable[..., tuple[Any, ...]]  # of one block


class ColumnSums(NamedTuple):
    """Sums over all rows, about the means, or about 0 without an intercept."""

    S: float
    mean: np.ndarray  # (p,)
    mean_y: np.ndarray  # (k,)
    square: np.ndarray  # (p,): Σ s (x − x̄)², set to 0 where it is rounding
    size: np.ndarray  # (p,): √Σ s x²
    Xy: np.ndarray  # (p, k)
    yy: np.ndarray  # (k,)


def centered_column_sums(rows: Rows, fit_intercept: bool) -> ColumnSums:
    """Compute the sums in one pass over the entries, O(entries·k) operations."""
    y, s = rows.y, rows.s
    assert y is not None
    S = float(len(y)) if s is None else float(s.sum())
    share = np.full(len(y), 1 / S) if s is None else s / S
    mean_y = share @ y if fit_intercept else np.zeros(y.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        sx, sxx, Xy = rows.reduce(
            _implementation(rows, _column_sums, _column_sums_compiled), mean_y
        )
        if not np.isfinite(sxx).all():
            raise NonFiniteError
        mean = sx / S if fit_intercept else np.zeros(len(sx))
        square = sxx - S * mean**2
    noise = (64 * np.finfo(float).eps) ** 2 * sxx + 8 * np.finfo(float).eps * S * mean**2
    centered = y - mean_y
    weighted = centered if s is None else s[:, None] * centered
    return ColumnSums(
        S=S,
        mean=mean,
        mean_y=mean_y,
        square=np.where(square > noise, square, 0.0),
        size=np.sqrt(sxx),
        Xy=Xy - np.multiply.outer(mean, weighted.sum(axis=0)),
        yy=np.einsum("ij,ij->j", weighted, centered),
    )


def normal_product(
    rows: Rows, u: np.ndarray, c: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Xᵀ(s∘t), Σ s t and Σ s t² of t = Xu − c, in one pass. c: (1, k), or the shape of y."""
    if len(c) > 1:  # passed as targets, so that blocks get their part
        rows = rows.with_targets(c, rows.s)
        return rows.reduce(
            _implementation(rows, _normal_product, _normal_product_compiled), u, None
        )
    return rows.reduce(_implementation(rows, _normal_product, _normal_product_compiled), u, c)


def sparse_gram(rows: Rows, fit_intercept: bool) -> Gram | None:
    """Gram sums from pairs of entries; None if dense blocks are faster or more accurate.

    O(entries²/n) operations for rows of about equal length, O(p²) memory per thread.
    """
    if rows.X.density > MAX_SPARSE_DENSITY:
        return None
    sums = centered_column_sums(rows, fit_intercept)
    if np.any(sums.S * sums.mean**2 > MAX_CANCELLATION * sums.square):
        return None
    # few blocks, since each has its own p×p sums
    block_rows = max(rows.block_rows(), -(-rows.shape[0] // 16))
    pairs = _implementation(rows, _pairs, _pairs_compiled)
    (G,) = rows.reduce(pairs, block_rows=block_rows, square=True)
    upper = np.triu(G, 1)
    G = np.triu(G)
    G += upper.T
    G -= np.multiply.outer(sums.S * sums.mean, sums.mean)
    return Gram(sums.S, sums.mean, sums.mean_y, G, sums.Xy, sums.yy, sums.size, None)


# --- one block: by SciPy, or compiled -------------------------------------------------------------


def _implementation(rows: Rows, plain: Statistic, compiled: Statistic) -> Statistic:
    return plain if rows.X.entries < KERNEL_ENTRIES else compiled_or(compiled, plain)


def _column_sums(
    X: SparseMatrix, y: np.ndarray, s: np.ndarray | None, mean_y: np.ndarray
) -> tuple[Any, ...]:
    s = np.ones(len(y)) if s is None else s
    return X.T @ s, X.astype(float).power(2).T @ s, X.T @ (s[:, None] * (y - mean_y))


def _column_sums_compiled(
    X: SparseMatrix, y: np.ndarray, s: np.ndarray | None, mean_y: np.ndarray
) -> tuple[Any, ...]:
    from ...kernels.glm.csr import column_sums

    p = X.shape[1]
    sums = np.zeros(p), np.zeros(p), np.zeros((p, y.shape[1]))
    column_sums(X, y, NO_WEIGHTS if s is None else s, mean_y, *sums)
    return sums


def _normal_product(
    X: SparseMatrix,
    c_of_rows: np.ndarray,
    s: np.ndarray | None,
    u: np.ndarray,
    c: np.ndarray | None,
) -> tuple[Any, ...]:
    t = X @ u - (c_of_rows if c is None else c)
    st = t if s is None else s[:, None] * t
    return X.T @ st, st.sum(axis=0), np.einsum("ij,ij->j", st, t)


def _normal_product_compiled(
    X: SparseMatrix,
    c_of_rows: np.ndarray,
    s: np.ndarray | None,
    u: np.ndarray,
    c: np.ndarray | None,
) -> tuple[Any, ...]:
    from ...kernels.glm.csr import twice

    p, k = u.shape
    Xt, st, stt = np.zeros((k, p)), np.zeros(k), np.zeros(k)
    twice(X, NO_WEIGHTS if s is None else s, u.T, (c_of_rows if c is None else c).T, Xt, st, stt)
    return Xt.T, st, stt


def _pairs(X: SparseMatrix, _y: np.ndarray, s: np.ndarray | None) -> tuple[Any]:
    sX = X.astype(float)
    if s is not None:
        sX = sX.multiply(s[:, None]).tocsr()
    return ((X.T @ sX).toarray(),)


def _pairs_compiled(X: SparseMatrix, _y: np.ndarray, s: np.ndarray | None) -> tuple[Any]:
    from ...kernels.glm.csr import pair_sums

    G = np.zeros((X.shape[1], X.shape[1]))
    pair_sums(X, NO_WEIGHTS if s is None else s, G)
    return (G,)
