"""H = LDLᵀ for kernels that may be indefinite (sigmoid, a user's).

D has blocks of order 1 and 2. By Sylvester's law H has as many negative eigenvalues as D, and a
block of order 2 has one of either sign. LAPACK runs on one thread, so that results have the same
bits.
"""

import numpy as np
from scipy.linalg import lapack

from ...runtime.pool import blas_limiter

BLOCK_COLUMNS = 512  # whose absolute values are held at a time


class IndefiniteFactor:
    """LDLᵀ factorisation of a symmetric H (Fortran order, upper triangle), which it overwrites."""

    def __init__(self, H: np.ndarray):
        with blas_limiter:
            work = int(lapack.dsytrf_lwork(len(H))[0])
            self.factor, self.pivots, info = lapack.dsytrf(H, lwork=work, overwrite_a=True)
            if info > 0:
                raise ValueError(
                    "the kernel matrix is indefinite and −1/C is one of its eigenvalues (weights "
                    "included), so the equations have no solution: change C"
                )
        is_single = self.pivots > 0
        is_negative = np.diagonal(self.factor)[is_single] < 0
        self.n_negative = int(is_negative.sum() + (~is_single).sum() // 2)

    def condition(self, size: float) -> float:
        """Return ‖H‖₁ ‖H⁻¹‖₁ for ‖H‖₁ = size, the second estimated by LAPACK."""
        with blas_limiter:
            inverse = lapack.dsycon(self.factor, self.pivots, size)[0]
        return float(1 / inverse) if inverse > 0 else np.inf

    def solve(self, B: np.ndarray) -> np.ndarray:
        """Return H⁻¹B."""
        with blas_limiter:
            return lapack.dsytrs(self.factor, self.pivots, B)[0]

    def inverse_diagonal(self) -> np.ndarray:
        """Return diag H⁻¹, overwriting the factor."""
        with blas_limiter:
            inverse, _ = lapack.dsytri(self.factor, self.pivots, overwrite_a=True)
        return np.array(np.diagonal(inverse))


def one_norm(H: np.ndarray) -> float:
    """Return ‖H‖₁ of a symmetric H from its upper triangle."""
    sums = np.zeros(len(H))
    for j in range(0, len(H), BLOCK_COLUMNS):
        stop = min(j + BLOCK_COLUMNS, len(H))
        sizes = np.abs(H[:stop, j:stop])
        sizes[j:] = np.triu(sizes[j:])
        sums[j:stop] += sizes.sum(axis=0)
        sizes[j:][np.diag_indices(stop - j)] = 0.0
        sums[:stop] += sizes.sum(axis=1)
    return float(sums.max(initial=0.0))
