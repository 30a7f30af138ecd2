"""Diagonals of inverses, as leave-one-out needs them, without forming the inverse.

    A = RᵀR:   (A⁻¹)_ii = Σ_j (R⁻¹)_ij²,     g_iᵀA⁻¹g_i = ‖R⁻ᵀg_i‖²

Each thread solves for a block of columns at a time; the first sum takes n³/3 operations, since
column j of R⁻¹ has j entries.
"""

import numpy as np

from ...runtime.config import effective_threads
from ...runtime.pool import blas_limiter, run_on_threads
from ..linalg.blas import Submatrix, trsm

BLOCK_COLUMNS = 128  # solved for at a time


def inverse_diagonal(R: np.ndarray, threads: int | None = None) -> np.ndarray:
    """Return diag (RᵀR)⁻¹ for R upper triangular in Fortran order."""
    n, whole = len(R), Submatrix.of(R)
    starts = list(range(0, n, BLOCK_COLUMNS))[::-1]  # the longest columns first
    sums = np.zeros((len(starts), n))

    def block(k: int) -> None:
        j, j_end = starts[k], min(starts[k] + BLOCK_COLUMNS, n)
        E = np.zeros((j_end, j_end - j), order="F")
        E[j:] = np.eye(j_end - j)
        trsm(whole[0:j_end, 0:j_end], Submatrix.of(E), False)
        sums[k, :j_end] = np.einsum("ij,ij->i", E, E)

    with blas_limiter.for_work(R.shape):
        run_on_threads(block, len(starts), threads or effective_threads())
    return sums.sum(axis=0)


def squared_lengths(R: np.ndarray, G: np.ndarray, threads: int | None = None) -> np.ndarray:
    """Return g_iᵀ(RᵀR)⁻¹g_i of the rows of G."""
    n, whole = len(R), Submatrix.of(R)
    squares = np.empty(len(G))

    def block(k: int) -> None:
        rows = slice(k * BLOCK_COLUMNS, (k + 1) * BLOCK_COLUMNS)
        E = np.array(G[rows].T, order="F")
        trsm(whole[0:n, 0:n], Submatrix.of(E), True)
        squares[rows] = np.einsum("ij,ij->j", E, E)

    with blas_limiter.for_work(R.shape):
        run_on_threads(block, -(-len(G) // BLOCK_COLUMNS), threads or effective_threads())
    return squares
