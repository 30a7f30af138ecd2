"""Cholesky factorisation by tiles, on threads, with the same bits on any number of them.

    A = RᵀR, R upper triangular.  For k = 0, 1, … tile by tile:

    R_kk            potrf: A_kk = R_kkᵀ R_kk
    R_kj, j > k     trsm:  R_kj = R_kk⁻ᵀ A_kj
    A_ij, k < i ≤ j syrk and gemm: A_ij ← A_ij − R_kiᵀ R_kj

What is done to a tile, and in which order, is fixed by n alone; threads only decide who does it.
"""

import numpy as np
from scipy.linalg import lapack

from ...runtime.config import effective_threads
from ...runtime.pool import blas_limiter, run_on_threads
from .blas import Part, gemm, potrf, syrk, trsm

REFINE_ABOVE = 1e6  # condition from which a step of refinement is worth its passes over the data
SMALL = 512  # up to which LAPACK alone is as fast
SMALL_WORK = 1 << 21  # multiplications below which a thread costs more than it saves
TALL = 6144  # rows which one product updates
SHARE = 1024  # … in a solve, which is bound by memory


def tile(n: int) -> int:
    """Columns of a tile: the fastest of 128, 192, 256, 320 and 384, by some per cent."""
    return 192 if n < 3000 else 256 if n < 8000 else 384


def cholesky(A: np.ndarray, *, threads: int | None = None) -> int:
    """Overwrite the upper triangle of A (float64, Fortran order) by R; below is not read.

    Returns 0, or the order of the leading minor that is not positive definite. n³/3 operations, no
    memory besides A.
    """
    whole, n = Part.whole(A), len(A)
    if A.shape != (n, n):
        raise ValueError(f"need a square matrix, not {A.shape}")
    with blas_limiter.for_work(A.shape):
        failed = potrf(whole) if n <= SMALL else _factor(whole, n, threads or effective_threads())
    lost = ~np.isfinite(np.diagonal(A))  # some LAPACKs take NaN for positive
    return int(lost.argmax()) + 1 if not failed and lost.any() else failed


def factor(A: np.ndarray) -> tuple[np.ndarray, float]:
    """(R, condition number of A in the 1-norm: infinite where there is no factor).

    A is symmetric, in C order, and overwritten.
    """
    R = A.T  # the same matrix by columns
    size = lapack.dlange("1", R)
    if cholesky(R) != 0:
        return R, np.inf
    inverse_condition = lapack.dpocon(R, size)[0]
    return R, 1 / inverse_condition if inverse_condition > 0 else np.inf


def _factor(A: Part, n: int, threads: int) -> int:
    width = tile(n)
    failed = potrf(A[0:width, 0:width])
    for k in range(0, n, width):
        if failed:
            return k + failed
        k_end = min(k + width, n)
        _panel(A, k, k_end, n, threads)
        failed = _trailing(A, k, k_end, n, threads)
    return 0


def _panel(A: Part, k: int, k_end: int, n: int, threads: int) -> None:
    R = A[k:k_end, k:k_end]
    edges = _edges(k_end, n, tile(n))
    if edges:
        run_on_threads(lambda t: trsm(R, A[k:k_end, slice(*edges[t])], True), len(edges), threads)


def _trailing(A: Part, k: int, k_end: int, n: int, threads: int) -> int:
    """Update, and already factor the next tile of the diagonal, for which else all would wait."""
    edges = _edges(k_end, n, tile(n))
    # the tallest columns come first, so that threads end at about the same time
    tasks = [
        (i, i_end, j, j_end)
        for j, j_end in reversed(edges)
        for i, i_end in [*_edges(k_end, j, TALL), (j, j_end)]
    ]
    tasks.sort(key=lambda task: task[2] > k_end)
    failed = 0

    def update(t: int) -> None:
        nonlocal failed
        i, i_end, j, j_end = tasks[t]
        R_i, R_j, C = A[k:k_end, i:i_end], A[k:k_end, j:j_end], A[i:i_end, j:j_end]
        if i == j:
            syrk(R_j, C)
        else:
            gemm(R_i, R_j, C, transposed=True)
        if t == 0:
            failed = potrf(C)

    if tasks:
        run_on_threads(update, len(tasks), threads)
    return failed


def cholesky_solve(R: np.ndarray, B: np.ndarray, *, threads: int | None = None) -> np.ndarray:
    """(RᵀR)⁻¹B for B (n×k), R as ``cholesky`` leaves it. 2n²k operations."""
    X = solve_upper(R, B, transposed=True, threads=threads)
    return solve_upper(R, X, threads=threads, overwrite=True)


def solve_upper(
    R: np.ndarray,
    B: np.ndarray,
    *,
    transposed: bool = False,
    threads: int | None = None,
    overwrite: bool = False,
) -> np.ndarray:
    """R⁻¹B or R⁻ᵀB, tile by tile: the block of B that is known is taken out of the others."""
    X = B if overwrite else np.array(B, dtype=float, order="F")
    whole, right, n = Part.whole(R), Part.whole(X), len(R)
    threads = threads or effective_threads()
    if n * n * X.shape[1] < SMALL_WORK:
        threads = 1
    columns = slice(0, X.shape[1])
    steps = _edges(0, n, tile(n))
    with blas_limiter.for_work(R.shape):
        for k, k_end in steps if transposed else reversed(steps):
            trsm(whole[k:k_end, k:k_end], right[k:k_end, columns], transposed)
            rest = _edges(k_end, n, SHARE) if transposed else _edges(0, k, SHARE)

            def update(
                t: int, k: int = k, k_end: int = k_end, rest: list[tuple[int, int]] = rest
            ) -> None:
                i, i_end = rest[t]
                A = whole[k:k_end, i:i_end] if transposed else whole[i:i_end, k:k_end]
                gemm(A, right[k:k_end, columns], right[i:i_end, columns], transposed)

            if rest:
                run_on_threads(update, len(rest), threads)
    return X


def _edges(start: int, stop: int, width: int) -> list[tuple[int, int]]:
    return [(i, min(i + width, stop)) for i in range(start, stop, width)]
