"""Reduction A = QTQᵀ, T tridiagonal, after which the inverse of A + I/C takes n² operations.

    T + I/C = LDLᵀ,  L with ones on its diagonal and l_k below them
    (A + I/C)⁻¹B = Q (T + I/C)⁻¹ QᵀB
    diagonal:  Σ_k z_k²/d_k,   z_k = q_k − l_{k−1} z_{k−1},   q_k column k of Q

Eigenvectors are computed from T too, and cost as much again. LAPACK is called without the GIL, so
that several matrices are reduced at once.
"""

import ctypes
from collections.abc import Sequence

import numpy as np
from scipy.linalg import cython_lapack, lapack

from ...kernels import compiled_or
from ..linalg.blas import Submatrix, _char, _int, _routine
from .kernel import MIN_COMPILED_PAIRS

LAPACK_WORK_COLUMNS = 64  # workspace of LAPACK's blocked code, in columns

_sytrd = _routine(cython_lapack, "dsytrd", 10)
_orgtr = _routine(cython_lapack, "dorgtr", 8)


class Tridiagonal:
    """Reduction of a positive semidefinite A (Fortran order, upper triangle), overwritten by Q."""

    def __init__(self, A: np.ndarray):
        n, part, info = len(A), Submatrix.of(A), ctypes.c_int()
        self.Q, self.d, self.e = A, np.empty(n), np.empty(n - 1)
        tau, work = np.empty(max(n - 1, 1)), np.empty(LAPACK_WORK_COLUMNS * n)
        head = _char(b"U"), _int(n), part.address, _int(part.ld)
        tail = tau.ctypes.data, work.ctypes.data, _int(len(work)), ctypes.byref(info)
        _sytrd(*head, self.d.ctypes.data, self.e.ctypes.data, *tail)
        _orgtr(*head, *tail)

    def inverses(self, Cs: Sequence[float], B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the diagonals of (A + I/C)⁻¹, (Cs, n), and (A + I/C)⁻¹B, (Cs, n, k)."""
        QB = np.dot(self.Q.T, B)
        solved = np.empty((len(Cs), *QB.shape))
        inverse_d, l = np.empty((len(Cs), len(self.d))), np.zeros((len(Cs), len(self.d)))
        for c, C in enumerate(Cs):
            d, l[c, 1:], _ = lapack.dpttrf(self.d + 1 / C, self.e)
            solved[c] = lapack.dpttrs(d, l[c, 1:], QB)[0]
            inverse_d[c] = 1 / d
        large = len(Cs) * self.Q.size >= MIN_COMPILED_PAIRS
        sums = compiled_or(_compiled_sums, _sums) if large else _sums
        flat = np.dot(self.Q, solved.transpose(1, 0, 2).reshape(len(self.d), -1))
        parts = flat.reshape(len(self.d), len(Cs), -1).transpose(1, 0, 2)
        return sums(self.Q.T, l, inverse_d), parts


class Eigenvectors:
    """Eigendecomposition of any symmetric A. ``semidefinite``: negative eigenvalues become 0."""

    def __init__(self, A: np.ndarray, semidefinite: bool):
        values, self.U = np.linalg.eigh(A, UPLO="U")
        self.values = np.maximum(values, 0.0) if semidefinite else values

    def inverses(self, Cs: Sequence[float], B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the diagonals of (A + I/C)⁻¹, (Cs, n), and (A + I/C)⁻¹B, (Cs, n, k)."""
        UB, inverse = np.dot(self.U.T, B), 1 / (self.values + 1 / np.asarray(Cs)[:, None])
        solved = np.stack([np.dot(self.U, d[:, None] * UB) for d in inverse])
        self.U **= 2
        return np.dot(inverse, self.U.T), solved


def _compiled_sums(q: np.ndarray, l: np.ndarray, inverse_d: np.ndarray) -> np.ndarray:
    from ...kernels.lssvm.tiles import sums_along_tridiagonals

    sums: np.ndarray = sums_along_tridiagonals(q, l, inverse_d)
    return sums


def _sums(q: np.ndarray, l: np.ndarray, inverse_d: np.ndarray) -> np.ndarray:
    """Return Σ_k z_k²/d_k for each row of l and 1/d; q_k are the rows of q."""
    z, sums = np.zeros((len(l), q.shape[1])), np.zeros((len(l), q.shape[1]))
    for k, q_k in enumerate(q):
        z *= -l[:, k, None]
        z += q_k
        sums += z**2 * inverse_d[:, k, None]
    return sums
