"""Squares of columns solved for, without holding them: what leave-one-out needs of an inverse.

    A = RᵀR:   (A⁻¹)_ii = Σ_j (R⁻¹)_ij²,     g_iᵀA⁻¹g_i = ‖R⁻ᵀg_i‖²

A block of columns at a time for each thread; the first sum takes n³/3 operations, as column j of
R⁻¹ has j numbers.
"""

import numpy as np

from ...runtime.config import effective_threads
from ...runtime.pool import blas_limiter, run_on_threads
from ..linalg.blas import Submatrix, trsm

WIDTH = 128  # columns at a time


def inverse_diagonal(R: np.ndarray, threads: int | None = None) -> np.ndarray:
    """diag (RᵀR)⁻¹, R upper triangular in Fortran order."""
    n, whole = len(R), Submatrix.of(R)
    starts = list(range(0, n, WIDTH))[::-1]  # the longest columns first
    sums = np.zeros((len(starts), n))

    def block(k: int) -> None:
        j, j_end = starts[k], min(starts[k] + WIDTH, n)
        E = np.zeros((j_end, j_end - j), order="F")
        E[j:] = np.eye(j_end - j)
        trsm(whole[0:j_end, 0:j_end], Submatrix.of(E), False)
        sums[k, :j_end] = np.einsum("ij,ij->i", E, E)

    with blas_limiter.for_work(R.shape):
        run_on_threads(block, len(starts), threads or effective_threads())
    return sums.sum(axis=0)


def squared_lengths(R: np.ndarray, G: np.ndarray, threads: int | None = None) -> np.ndarray:
    """g_iᵀ(RᵀR)⁻¹g_i of the rows of G."""
    n, whole = len(R), Submatrix.of(R)
    found = np.empty(len(G))

    def block(k: int) -> None:
        rows = slice(k * WIDTH, (k + 1) * WIDTH)
        E = np.array(G[rows].T, order="F")
        trsm(whole[0:n, 0:n], Submatrix.of(E), True)
        found[rows] = np.einsum("ij,ij->j", E, E)

    with blas_limiter.for_work(R.shape):
        run_on_threads(block, -(-len(G) // WIDTH), threads or effective_threads())
    return found
