"""Tiled Cholesky factorisation on threads, with bitwise the same result on any number of them.

    A = RᵀR, R upper triangular.  For k = 0, 1, … tile by tile:

    R_kk            potrf: A_kk = R_kkᵀ R_kk
    R_kj, j > k     trsm:  R_kj = R_kk⁻ᵀ A_kj
    A_ij, k < i ≤ j syrk and gemm: A_ij ← A_ij − R_kiᵀ R_kj

The operations on a tile and their order depend on n alone; threads only share the tiles.
"""

import numpy as np
from scipy.linalg import lapack

from ...runtime.config import effective_threads
from ...runtime.pool import blas_limiter, run_on_threads
from .blas import Submatrix, gemm, potrf, syrk, trsm

MIN_REFINED_CONDITION = (
    1e6  # condition number from which refinement is worth its passes over the data
)
MAX_UNTILED_COLUMNS = 512  # up to which LAPACK's potrf is as fast
MIN_THREADED_WORK = 1 << 21  # multiplications from which threads pay
UPDATE_ROWS = 6144  # rows updated by one product
SOLVE_UPDATE_ROWS = 1024  # … in a solve, which is memory-bound


def tile_columns(n: int) -> int:
    """Width of a tile: the fastest of 128, 192, 256, 320 and 384, by a few per cent."""
    return 192 if n < 3000 else 256 if n < 8000 else 384


def cholesky(A: np.ndarray, *, threads: int | None = None) -> int:
    """Overwrite the upper triangle of A (float64, Fortran order) by R; the lower is not read.

    Returns 0, or the order of the leading minor that is not positive definite. n³/3 operations, no
    memory besides A.
    """
    matrix, n = Submatrix.of(A), len(A)
    if A.shape != (n, n):
        raise ValueError(f"need a square matrix, not {A.shape}")
    with blas_limiter.for_work(A.shape):
        failed = (
            potrf(matrix)
            if n <= MAX_UNTILED_COLUMNS
            else _factor(matrix, n, threads or effective_threads())
        )
    nonfinite = ~np.isfinite(np.diagonal(A))  # some LAPACKs treat NaN as positive
    return int(nonfinite.argmax()) + 1 if not failed and nonfinite.any() else failed


def factor(A: np.ndarray) -> tuple[np.ndarray, float]:
    """Return R and the condition number of A in the 1-norm, infinite if there is no factor.

    A is symmetric, in C order, and overwritten.
    """
    R = A.T  # the same matrix, in Fortran order
    size = lapack.dlange("1", R)
    if cholesky(R) != 0:
        return R, np.inf
    inverse_condition = lapack.dpocon(R, size)[0]
    return R, 1 / inverse_condition if inverse_condition > 0 else np.inf


def _factor(A: Submatrix, n: int, threads: int) -> int:
    width = tile_columns(n)
    failed = potrf(A[0:width, 0:width])
    for k in range(0, n, width):
        if failed:
            return k + failed
        k_end = min(k + width, n)
        _panel(A, k, k_end, n, threads)
        failed = _trailing(A, k, k_end, n, threads)
    return 0


def _panel(A: Submatrix, k: int, k_end: int, n: int, threads: int) -> None:
    R = A[k:k_end, k:k_end]
    edges = _edges(k_end, n, tile_columns(n))
    if edges:
        run_on_threads(lambda t: trsm(R, A[k:k_end, slice(*edges[t])], True), len(edges), threads)


def _trailing(A: Submatrix, k: int, k_end: int, n: int, threads: int) -> int:
    """Update the trailing tiles, and factor the next diagonal tile ahead of the others' updates, so
    that no thread waits for it."""
    edges = _edges(k_end, n, tile_columns(n))
    # the tallest columns come first, so that threads finish at about the same time
    tasks = [
        (i, i_end, j, j_end)
        for j, j_end in reversed(edges)
        for i, i_end in [*_edges(k_end, j, UPDATE_ROWS), (j, j_end)]
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
    """(RᵀR)⁻¹B for B (n×k) and R from ``cholesky``. 2n²k operations."""
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
    """R⁻¹B or R⁻ᵀB, tile by tile: each solved block of B is eliminated from the others."""
    X = B if overwrite else np.array(B, dtype=float, order="F")
    matrix, right, n = Submatrix.of(R), Submatrix.of(X), len(R)
    threads = threads or effective_threads()
    if n * n * X.shape[1] < MIN_THREADED_WORK:
        threads = 1
    columns = slice(0, X.shape[1])
    steps = _edges(0, n, tile_columns(n))
    with blas_limiter.for_work(R.shape):
        for k, k_end in steps if transposed else reversed(steps):
            trsm(matrix[k:k_end, k:k_end], right[k:k_end, columns], transposed)
            remaining = (
                _edges(k_end, n, SOLVE_UPDATE_ROWS)
                if transposed
                else _edges(0, k, SOLVE_UPDATE_ROWS)
            )

            def update(
                t: int, k: int = k, k_end: int = k_end, remaining: list[tuple[int, int]] = remaining
            ) -> None:
                i, i_end = remaining[t]
                A = matrix[k:k_end, i:i_end] if transposed else matrix[i:i_end, k:k_end]
                gemm(A, right[k:k_end, columns], right[i:i_end, columns], transposed)

            if remaining:
                run_on_threads(update, len(remaining), threads)
    return X


def _edges(start: int, stop: int, width: int) -> list[tuple[int, int]]:
    return [(i, min(i + width, stop)) for i in range(start, stop, width)]
