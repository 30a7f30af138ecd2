"""Centred sums of products of the columns, in one pass over the rows.

    S = Σ s,  x̄ = Σ s x/S,  G = Σ s (x − x̄)(x − x̄)ᵀ,  and the same of X with y

The pass runs on x − c with c the mean of a few rows, so that nothing cancels, and is corrected to
x̄ afterwards: G = G_c − S(x̄ − c)(x̄ − c)ᵀ. Where the few rows misled (or squares overflow) it runs
once more, with the exact mean and a power of two for each column.
"""

from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows
from ...kernels import compiled_or
from ...runtime.pool import give_up_if_stopped

PART_WORK = 1 << 32  # n·p² of one call of the kernel, some 50 ms: Ctrl-C is heard in between
KERNEL_WORK = 1 << 27  # n·p² above which the compiled product pays for loading its compiler
SAFE = 2.0**200  # columns between 1/SAFE and SAFE have squares and products in range
CANCELLED = 100.0  # times that S(x̄ − c)² may exceed what is left of Σ s (x − c)²


class NonFiniteError(ValueError):
    """The sums are not finite: the data hold NaN or infinity, or their squares overflow."""

    def __init__(self) -> None:
        super().__init__(
            "the squares of some columns overflow or vanish: divide those that reach beyond 1e150, "
            "or multiply those within 1e-150, by a power of 10"
        )


class Sums(NamedTuple):
    S: float
    sx: np.ndarray
    sy: np.ndarray
    G: np.ndarray
    Xy: np.ndarray
    yy: np.ndarray


class Gram(NamedTuple):
    """Everything in columns x∘q; G, Xy and yy about the means, or about 0 without an intercept."""

    S: float
    mean: np.ndarray  # (p,), of x∘q
    mean_y: np.ndarray  # (k,)
    G: np.ndarray  # (p, p)
    Xy: np.ndarray  # (p, k)
    yy: np.ndarray  # (k,)
    size: np.ndarray  # (p,): √Σ s x², of the columns as they came
    q: np.ndarray | None


def gram(rows: Rows, fit_intercept: bool) -> Gram:
    """One pass, O(n·p²) operations, O(p²) memory a thread."""
    if rows.sparse:
        from .sparse_sums import sparse_gram

        sums_of_pairs = sparse_gram(rows, fit_intercept)
        if sums_of_pairs is not None:
            return sums_of_pairs
        rows = rows.dense()
    X, y, s = rows.sample_block(256)
    assert y is not None
    if s is not None and s.any():
        X, y = X[s > 0], y[s > 0]  # a row that does not count must not say where the data lie
    p, k = rows.shape[1], y.shape[1]
    c, c_y = np.zeros(p), np.zeros(k)
    if fit_intercept:
        c, c_y = X.mean(axis=0, dtype=float), y.mean(axis=0, dtype=float)
    q = power_of_two(np.abs(X).max(axis=0).astype(float))
    with np.errstate(over="ignore", invalid="ignore"):
        sums = _pass(rows, c, c_y, q)
        if not _finite(sums):
            # rows outside the sample are larger than those in it, or are not numbers
            (largest,) = rows.reduce(_largest, combine=_maximum)
            q = power_of_two(largest)
            sums = _pass(rows, c, c_y, q)
            if not _finite(sums):
                raise NonFiniteError
        S = float(sums.S)
        offset = sums.sx / S
        square = np.diagonal(sums.G)
        left = square - S * offset**2
        misled = (S * offset**2 > CANCELLED * left) & (np.abs(offset) > 1e-12 * np.abs(c))
        if fit_intercept and misled.any():
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


def _finite(sums: Sums) -> bool:
    # a product overflows no sooner than the squares on the diagonal
    return bool(np.isfinite(np.diagonal(sums.G)).all() and np.isfinite(sums.yy).all())


def power_of_two(largest: np.ndarray) -> np.ndarray | None:
    """q that brings each column within reach of squares; None where all are."""
    odd = (largest > SAFE) | ((largest < 1 / SAFE) & (largest > 0))
    if not odd.any() or not np.isfinite(largest).all():
        return None
    exponent = np.log2(np.where(odd, largest, 1.0))
    q: np.ndarray = np.exp2(np.clip(np.round(-exponent + 200 * np.sign(exponent)), -530, 500))
    return q


def _largest(X: np.ndarray, y: np.ndarray, s: np.ndarray) -> tuple[Any]:
    return (np.abs(X).max(axis=0).astype(float),)


def _maximum(left: tuple[Any], right: tuple[Any]) -> tuple[Any]:
    return (np.maximum(left[0], right[0]),)


def gram_block_rows(rows: Rows) -> int:
    """Enough rows that p×p partial sums cost little, enough blocks that threads share evenly."""
    n, p = rows.shape
    return max(5 * p // 2, rows.block_rows(), min(8192, n // 64))


def _pass(rows: Rows, c: np.ndarray, c_y: np.ndarray, q: np.ndarray | None) -> Sums:
    n, p = rows.shape
    large = q is None and n * p * p >= KERNEL_WORK
    one_pass = compiled_or(_compiled_pass, _numpy_pass) if large else _numpy_pass
    sums: Sums = one_pass(rows, c, c_y, q)
    return sums


def _numpy_pass(rows: Rows, c: np.ndarray, c_y: np.ndarray, q: np.ndarray | None) -> Sums:
    sums: Sums = rows.reduce(_block, c, c_y, q, block_rows=gram_block_rows(rows), square=True)
    return sums


def _compiled_pass(rows: Rows, c: np.ndarray, c_y: np.ndarray, _q: None) -> Sums:
    from ...kernels.gram.weighted import mirror

    sums: Sums = rows.reduce(_compiled_block, c, c_y, block_rows=gram_block_rows(rows), square=True)
    mirror(sums.G)
    return sums


def _block(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    c: np.ndarray,
    c_y: np.ndarray,
    q: np.ndarray | None,
) -> Sums:
    X = np.subtract(X, c, dtype=float)
    if q is not None:
        X *= q
    y = y - c_y
    weight = np.ones(len(y)) if s is None else s
    # products with BLAS: NumPy's own sums along long columns are slow for few of them
    sX, sy = (X, y) if s is None else (s[:, None] * X, s[:, None] * y)
    G = np.dot(X.T, X) if s is None else X.T @ sX
    return Sums(weight.sum(), weight @ X, weight @ y, G, X.T @ sy, np.einsum("ij,ij->j", sy, y))


def _compiled_block(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, c: np.ndarray, c_y: np.ndarray
) -> Sums:
    from ...kernels.gram.weighted import gram_sums

    p, k = X.shape[1], y.shape[1]
    S = float(len(y)) if s is None else s.sum()
    sums = Sums(S, np.zeros(p), np.zeros(k), np.zeros((p, p)), np.zeros((p, k)), np.zeros(k))
    step = max(256, PART_WORK // p**2)
    for start in range(0, len(y), step):
        give_up_if_stopped()
        part = slice(start, start + step)
        weight = np.empty(0) if s is None else s[part]
        gram_sums(X[part], y[part], weight, c, c_y, *_outputs(sums))
    return sums


def _outputs(sums: Sums) -> tuple[Any, ...]:
    return sums.G, sums.sx, sums.sy, sums.Xy, sums.yy
