"""Centred sums of products of the columns, in one pass over the rows.

    S = Σ s,  x̄ = Σ s x/S,  G = Σ s (x − x̄)(x − x̄)ᵀ,  and likewise X with y

The sums are of x − c with c the mean of a few rows, so that nothing cancels, and are corrected to x̄
afterwards: G = G_c − S(x̄ − c)(x̄ − c)ᵀ. If c is far from x̄ (or squares overflow) a second pass uses
the exact mean and a power of two for each column.
"""

from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows
from ...kernels import compiled_or
from ...runtime.pool import give_up_if_stopped

MAX_CALL_WORK = 1 << 32  # n·p² of one kernel call, about 50 ms: Ctrl-C is handled in between
KERNEL_WORK = 1 << 27  # n·p² from which the compiled kernel is worth loading Numba
SAFE_MAGNITUDE = 2.0**200  # squares and products of columns between 1/2²⁰⁰ and 2²⁰⁰ do not overflow
MAX_CANCELLATION = 100.0  # largest S(x̄ − c)² relative to the centred Σ s (x − x̄)²


class NonFiniteError(ValueError):
    """The sums are not finite: the data hold NaN or infinity, or their squares overflow."""

    def __init__(self) -> None:
        super().__init__(
            "the squares of some columns overflow or underflow: divide columns with values above "
            "1e150, or multiply columns with values below 1e-150, by a power of 10"
        )


class GramSums(NamedTuple):
    S: float
    sx: np.ndarray
    sy: np.ndarray
    G: np.ndarray
    Xy: np.ndarray
    yy: np.ndarray


class Gram(NamedTuple):
    """Sums in columns x∘q; G, Xy and yy are about the means, or about 0 without an intercept."""

    S: float
    mean: np.ndarray  # (p,), of x∘q
    mean_y: np.ndarray  # (k,)
    G: np.ndarray  # (p, p)
    Xy: np.ndarray  # (p, k)
    yy: np.ndarray  # (k,)
    size: np.ndarray  # (p,): √Σ s x², not centred
    q: np.ndarray | None


def gram(rows: Rows, fit_intercept: bool) -> Gram:
    """Compute the sums in one pass: O(n·p²) operations, O(p²) memory per thread."""
    if rows.sparse:
        from .sparse_sums import sparse_gram

        pair_sums = sparse_gram(rows, fit_intercept)
        if pair_sums is not None:
            return pair_sums
        rows = rows.dense()
    X, y, s = rows.sample_block(256)
    assert y is not None
    if s is not None and s.any():
        X, y = X[s > 0], y[s > 0]  # rows of weight 0 must not determine c
    p, k = rows.shape[1], y.shape[1]
    c, c_y = np.zeros(p), np.zeros(k)
    if fit_intercept:
        c, c_y = X.mean(axis=0, dtype=float), y.mean(axis=0, dtype=float)
    q = power_of_two(np.abs(X).max(axis=0).astype(float))
    with np.errstate(over="ignore", invalid="ignore"):
        sums = _pass(rows, c, c_y, q)
        if not _finite(sums):
            # rows outside the sample are larger, or are not finite
            (largest,) = rows.reduce(_largest, combine=_maximum)
            q = power_of_two(largest)
            sums = _pass(rows, c, c_y, q)
            if not _finite(sums):
                raise NonFiniteError
        S = float(sums.S)
        offset = sums.sx / S
        square = np.diagonal(sums.G)
        centered_square = square - S * offset**2
        is_far = (S * offset**2 > MAX_CANCELLATION * centered_square) & (
            np.abs(offset) > 1e-12 * np.abs(c)
        )
        if fit_intercept and is_far.any():
            c, c_y = c + offset / (1 if q is None else q), c_y + sums.sy / S
            sums = _pass(rows, c, c_y, q)
            offset = sums.sx / S
    G, Xy, yy = sums.G, sums.Xy, sums.yy
    c_q = c if q is None else c * q
    size = np.sqrt(np.maximum(np.diagonal(G) + 2 * c_q * sums.sx + S * c_q**2, 0.0))
    if not fit_intercept:
        return Gram(S, np.zeros(p), np.zeros(k), G, Xy, yy, size, q)
    offset_y = sums.sy / S
    for i in range(0, p, 64):  # in cache
        G[i : i + 64] -= np.multiply.outer(S * offset[i : i + 64], offset)
    Xy -= S * np.multiply.outer(offset, offset_y)
    return Gram(S, c_q + offset, c_y + offset_y, G, Xy, yy - S * offset_y**2, size, q)


def _finite(sums: GramSums) -> bool:
    # no product overflows before the squares on the diagonal
    return bool(np.isfinite(np.diagonal(sums.G)).all() and np.isfinite(sums.yy).all())


def power_of_two(largest: np.ndarray) -> np.ndarray | None:
    """q that scales each column so that its squares do not overflow; None if none would."""
    out_of_range = (largest > SAFE_MAGNITUDE) | ((largest < 1 / SAFE_MAGNITUDE) & (largest > 0))
    if not out_of_range.any() or not np.isfinite(largest).all():
        return None
    exponent = np.log2(np.where(out_of_range, largest, 1.0))
    q: np.ndarray = np.exp2(np.clip(np.round(-exponent + 200 * np.sign(exponent)), -530, 500))
    return q


def _largest(X: np.ndarray, y: np.ndarray, s: np.ndarray) -> tuple[Any]:
    return (np.abs(X).max(axis=0).astype(float),)


def _maximum(centered_square: tuple[Any], right: tuple[Any]) -> tuple[Any]:
    return (np.maximum(centered_square[0], right[0]),)


def gram_block_rows(rows: Rows, columns: int | None = None) -> int:
    """Rows per block: enough to make adding p×p sums cheap, few enough to balance threads.

    ``columns``: of what is made of each block, if not those of X.
    """
    n, p = rows.shape[0], columns or rows.shape[1]
    return max(5 * p // 2, rows.block_rows(columns=p), min(8192, n // 64))


def _pass(rows: Rows, c: np.ndarray, c_y: np.ndarray, q: np.ndarray | None) -> GramSums:
    n, p = rows.shape
    large = q is None and n * p * p >= KERNEL_WORK
    one_pass = compiled_or(_compiled_pass, _numpy_pass) if large else _numpy_pass
    sums: GramSums = one_pass(rows, c, c_y, q)
    return sums


def _numpy_pass(rows: Rows, c: np.ndarray, c_y: np.ndarray, q: np.ndarray | None) -> GramSums:
    sums: GramSums = rows.reduce(_block, c, c_y, q, block_rows=gram_block_rows(rows), square=True)
    return sums


def _compiled_pass(rows: Rows, c: np.ndarray, c_y: np.ndarray, _q: None) -> GramSums:
    from ...kernels.gram.weighted import mirror

    sums: GramSums = rows.reduce(
        _compiled_block, c, c_y, block_rows=gram_block_rows(rows), square=True
    )
    mirror(sums.G)
    return sums


def _block(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    c: np.ndarray,
    c_y: np.ndarray,
    q: np.ndarray | None,
) -> GramSums:
    X = np.subtract(X, c, dtype=float)
    if q is not None:
        X *= q
    y = y - c_y
    weight = np.ones(len(y)) if s is None else s
    # sums as BLAS products: NumPy's column sums are slow for few columns
    sX, sy = (X, y) if s is None else (s[:, None] * X, s[:, None] * y)
    G = np.dot(X.T, X) if s is None else X.T @ sX
    return GramSums(weight.sum(), weight @ X, weight @ y, G, X.T @ sy, np.einsum("ij,ij->j", sy, y))


def _compiled_block(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, c: np.ndarray, c_y: np.ndarray
) -> GramSums:
    from ...kernels.gram.weighted import gram_sums

    p, k = X.shape[1], y.shape[1]
    S = float(len(y)) if s is None else s.sum()
    sums = GramSums(S, np.zeros(p), np.zeros(k), np.zeros((p, p)), np.zeros((p, k)), np.zeros(k))
    step = max(256, MAX_CALL_WORK // p**2)
    for start in range(0, len(y), step):
        give_up_if_stopped()
        part = slice(start, start + step)
        weight = np.empty(0) if s is None else s[part]
        gram_sums(X[part], y[part], weight, c, c_y, *_outputs(sums))
    return sums


def _outputs(sums: GramSums) -> tuple[Any, ...]:
    return sums.G, sums.sx, sums.sy, sums.Xy, sums.yy
