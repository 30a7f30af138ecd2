"""The diagonal of an inverse, from a Cholesky factor.

    H = RᵀR:   (H⁻¹)_ii = Σ_j (R⁻¹)_ij²

Columns of R⁻¹ are found a block at a time, each from the leading part of R: n³/3 operations, and
memory for one block of columns for each thread.
"""

import numpy as np

from ..._config import effective_threads
from ..._pool import blas_limiter, run_on_threads
from .._blas import Part, trsm

WIDTH = 128  # columns of the inverse at a time


def inverse_diagonal(R: np.ndarray, threads: int | None = None) -> np.ndarray:
    """diag (RᵀR)⁻¹, R upper triangular in Fortran order."""
    n, whole = len(R), Part.whole(R)
    starts = list(range(0, n, WIDTH))[::-1]  # the longest columns first
    sums = np.zeros((len(starts), n))

    def block(k: int) -> None:
        j, j_end = starts[k], min(starts[k] + WIDTH, n)
        E = np.zeros((j_end, j_end - j), order="F")
        E[j:] = np.eye(j_end - j)
        trsm(whole[0:j_end, 0:j_end], Part.whole(E), False)
        sums[k, :j_end] = np.einsum("ij,ij->i", E, E)

    with blas_limiter.for_work(R.shape):
        run_on_threads(block, len(starts), threads or effective_threads())
    return sums.sum(axis=0)
