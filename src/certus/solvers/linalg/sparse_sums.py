"""Sums over sparse rows that centre by correction, because X − 1x̄ᵀ has no zeros left.

    G = Σ s (x − x̄)(x − x̄)ᵀ = Σ s x xᵀ − S x̄ x̄ᵀ

The difference loses digits where a column lies many deviations from 0, which sparse columns seldom
do; where one does, dense blocks are summed instead (``gram.py``).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...data.csr import SparseMatrix
from ...data.rows import Rows
from ...kernels import compiled_or
from .gram import Gram, NonFiniteError

KERNEL_ENTRIES = 1 << 20  # above which the compiled sums pay for loading their compiler
CANCELLED = 1e4  # times that S x̄² may exceed what is left of Σ s x²
DENSE_ABOVE = 0.1  # density from which BLAS on dense blocks is faster than pairs of entries
NONE = np.empty(0)

Statistic = Callable[..., tuple[Any, ...]]  # of one block


class Columns(NamedTuple):
    """Of all rows; about the means, or about 0 without an intercept."""

    S: float
    mean: np.ndarray  # (p,)
    mean_y: np.ndarray  # (k,)
    square: np.ndarray  # (p,): Σ s (x − x̄)², 0 where that is rounding
    size: np.ndarray  # (p,): √Σ s x²
    Xy: np.ndarray  # (p, k)
    yy: np.ndarray  # (k,)


def columns(rows: Rows, fit_intercept: bool) -> Columns:
    """One pass over the entries, O(entries·k) operations."""
    y, s = rows.y, rows.s
    assert y is not None
    S = float(len(y)) if s is None else float(s.sum())
    share = np.full(len(y), 1 / S) if s is None else s / S
    mean_y = share @ y if fit_intercept else np.zeros(y.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        sx, sxx, Xy = rows.reduce(_block_of(rows, _columns, _columns_compiled), mean_y)
        if not np.isfinite(sxx).all():
            raise NonFiniteError
        mean = sx / S if fit_intercept else np.zeros(len(sx))
        square = sxx - S * mean**2
    noise = (64 * np.finfo(float).eps) ** 2 * sxx + 8 * np.finfo(float).eps * S * mean**2
    centred = y - mean_y
    weighted = centred if s is None else s[:, None] * centred
    return Columns(
        S=S,
        mean=mean,
        mean_y=mean_y,
        square=np.where(square > noise, square, 0.0),
        size=np.sqrt(sxx),
        Xy=Xy - np.multiply.outer(mean, weighted.sum(axis=0)),
        yy=np.einsum("ij,ij->j", weighted, centred),
    )


def twice(rows: Rows, u: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Xᵀ(s∘t), Σ s t, Σ s t² of t = Xu − c: each entry is read once. c: (1, k), or y's shape."""
    if len(c) > 1:  # travels with its rows
        rows = rows.with_targets(c, rows.s)
        return rows.reduce(_block_of(rows, _twice, _twice_compiled), u, None)
    return rows.reduce(_block_of(rows, _twice, _twice_compiled), u, c)


def sparse_gram(rows: Rows, fit_intercept: bool) -> Gram | None:
    """Gram sums from pairs of entries; None where dense blocks are faster or keep more digits.

    O(entries²/n) operations for rows of about equal length, O(p²) memory a thread.
    """
    if rows.X.density > DENSE_ABOVE:
        return None
    of = columns(rows, fit_intercept)
    if np.any(of.S * of.mean**2 > CANCELLED * of.square):
        return None
    # few blocks, for each has a p×p sum of its own
    block_rows = max(rows.block_rows(), -(-rows.shape[0] // 16))
    pairs = _block_of(rows, _pairs, _pairs_compiled)
    (G,) = rows.reduce(pairs, block_rows=block_rows, square=True)
    upper = np.triu(G, 1)
    G = np.triu(G)
    G += upper.T
    G -= np.multiply.outer(of.S * of.mean, of.mean)
    return Gram(of.S, of.mean, of.mean_y, G, of.Xy, of.yy, of.size, None)


# --- one block: by SciPy, or compiled -------------------------------------------------------------


def _block_of(rows: Rows, plain: Statistic, compiled: Statistic) -> Statistic:
    return plain if rows.X.entries < KERNEL_ENTRIES else compiled_or(compiled, plain)


def _columns(
    X: SparseMatrix, y: np.ndarray, s: np.ndarray | None, mean_y: np.ndarray
) -> tuple[Any, ...]:
    s = np.ones(len(y)) if s is None else s
    return X.T @ s, X.astype(float).power(2).T @ s, X.T @ (s[:, None] * (y - mean_y))


def _columns_compiled(
    X: SparseMatrix, y: np.ndarray, s: np.ndarray | None, mean_y: np.ndarray
) -> tuple[Any, ...]:
    from ...kernels.glm.csr import column_sums

    p = X.shape[1]
    sums = np.zeros(p), np.zeros(p), np.zeros((p, y.shape[1]))
    column_sums(X, y, NONE if s is None else s, mean_y, *sums)
    return sums


def _twice(
    X: SparseMatrix,
    c_of_rows: np.ndarray,
    s: np.ndarray | None,
    u: np.ndarray,
    c: np.ndarray | None,
) -> tuple[Any, ...]:
    t = X @ u - (c_of_rows if c is None else c)
    st = t if s is None else s[:, None] * t
    return X.T @ st, st.sum(axis=0), np.einsum("ij,ij->j", st, t)


def _twice_compiled(
    X: SparseMatrix,
    c_of_rows: np.ndarray,
    s: np.ndarray | None,
    u: np.ndarray,
    c: np.ndarray | None,
) -> tuple[Any, ...]:
    from ...kernels.glm.csr import twice

    p, k = u.shape
    Xt, st, stt = np.zeros((k, p)), np.zeros(k), np.zeros(k)
    twice(X, NONE if s is None else s, u.T, (c_of_rows if c is None else c).T, Xt, st, stt)
    return Xt.T, st, stt


def _pairs(X: SparseMatrix, _y: np.ndarray, s: np.ndarray | None) -> tuple[Any]:
    sX = X.astype(float)
    if s is not None:
        sX = sX.multiply(s[:, None]).tocsr()
    return ((X.T @ sX).toarray(),)


def _pairs_compiled(X: SparseMatrix, _y: np.ndarray, s: np.ndarray | None) -> tuple[Any]:
    from ...kernels.glm.csr import pair_sums

    G = np.zeros((X.shape[1], X.shape[1]))
    pair_sums(X, NONE if s is None else s, G)
    return (G,)
