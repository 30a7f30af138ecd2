"""H = LDLᵀ for kernels that are not positive semidefinite (sigmoid, a user's).

D has blocks of order 1 and 2; by Sylvester's law H has as many negative eigenvalues as D. LAPACK
does it on one thread, so that bits do not depend on how many there are.
"""

import numpy as np
from scipy.linalg import lapack

from ..._pool import blas_limiter


class Indefinite:
    """A factor of the symmetric H, whose upper triangle is overwritten."""

    def __init__(self, H: np.ndarray, threads: int | None):
        self.threads = threads
        upper = np.abs(np.triu(H))
        size = float((upper.sum(axis=0) + upper.sum(axis=1) - np.diagonal(upper)).max())
        with blas_limiter:
            self.factor, self.pivots, info = lapack.dsytrf(H, overwrite_a=True)
            if info > 0:
                raise ValueError(
                    "−1/C is an eigenvalue of the kernel's matrix, which is indefinite: the system "
                    "has no solution. Change C"
                )
            inverse = lapack.dsycon(self.factor, self.pivots, size)[0]
        self.condition = 1 / inverse if inverse > 0 else np.inf
        self.negative = negative_eigenvalues(self.factor, self.pivots)

    def solve(self, B: np.ndarray) -> np.ndarray:
        with blas_limiter:
            return lapack.dsytrs(self.factor, self.pivots, B)[0]

    def inverse_diagonal(self) -> np.ndarray:
        with blas_limiter:
            inverse, _ = lapack.dsytri(self.factor, self.pivots)
        return np.array(np.diagonal(inverse))


def negative_eigenvalues(factor: np.ndarray, pivots: np.ndarray) -> int:
    """Of D: a block of order 2 (its pivots are negative) has one of either sign."""
    single = pivots > 0
    return int((np.diagonal(factor)[single] < 0).sum() + (~single).sum() // 2)
