"""A symmetric matrix as QTQᵀ, T tridiagonal: then inverses of A + I/C take n² operations each.

    T + I/C = LDLᵀ,  L with ones on its diagonal and l_k below them
    (A + I/C)⁻¹B = Q (T + I/C)⁻¹ QᵀB
    diagonal:  Σ_k z_k²/d_k,   z_k = q_k − l_{k−1} z_{k−1},   q_k column k of Q

Eigenvectors are found by way of T too, and cost as much again. LAPACK is called without Python's
lock, so that several matrices are reduced at once.
"""

import ctypes
from collections.abc import Sequence

import numpy as np
from scipy.linalg import cython_lapack, lapack

from ...kernels import compiled_or
from ..linalg.blas import Submatrix, _char, _int, _routine
from .kernel import COMPILED_FROM

WORK = 64  # columns that LAPACK's blocked code may put aside

_sytrd = _routine(cython_lapack, "dsytrd", 10)
_orgtr = _routine(cython_lapack, "dorgtr", 8)


class Tridiagonal:
    """Of a positive semidefinite A (Fortran order, upper triangle), which Q overwrites."""

    def __init__(self, A: np.ndarray):
        n, part, info = len(A), Submatrix.of(A), ctypes.c_int()
        self.Q, self.d, self.e = A, np.empty(n), np.empty(n - 1)
        tau, work = np.empty(max(n - 1, 1)), np.empty(WORK * n)
        head = _char(b"U"), _int(n), part.address, _int(part.ld)
        rest = tau.ctypes.data, work.ctypes.data, _int(len(work)), ctypes.byref(info)
        _sytrd(*head, self.d.ctypes.data, self.e.ctypes.data, *rest)
        _orgtr(*head, *rest)

    def inverses(self, Cs: Sequence[float], B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(Cs, n): diagonals of (A + I/C)⁻¹; (Cs, n, k): (A + I/C)⁻¹B."""
        QB = np.dot(self.Q.T, B)
        solved = np.empty((len(Cs), *QB.shape))
        inverse_d, l = np.empty((len(Cs), len(self.d))), np.zeros((len(Cs), len(self.d)))
        for c, C in enumerate(Cs):
            d, l[c, 1:], _ = lapack.dpttrf(self.d + 1 / C, self.e)
            solved[c] = lapack.dpttrs(d, l[c, 1:], QB)[0]
            inverse_d[c] = 1 / d
        large = len(Cs) * self.Q.size >= COMPILED_FROM
        sums = compiled_or(_compiled_sums, _sums) if large else _sums
        flat = np.dot(self.Q, solved.transpose(1, 0, 2).reshape(len(self.d), -1))
        parts = flat.reshape(len(self.d), len(Cs), -1).transpose(1, 0, 2)
        return sums(self.Q.T, l, inverse_d), parts


class Eigenvectors:
    """The same of any symmetric A. ``semidefinite``: negative eigenvalues are rounding's."""

    def __init__(self, A: np.ndarray, semidefinite: bool):
        values, self.U = np.linalg.eigh(A, UPLO="U")
        self.values = np.maximum(values, 0.0) if semidefinite else values

    def inverses(self, Cs: Sequence[float], B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(Cs, n): diagonals of (A + I/C)⁻¹; (Cs, n, k): (A + I/C)⁻¹B."""
        UB, inverse = np.dot(self.U.T, B), 1 / (self.values + 1 / np.asarray(Cs)[:, None])
        solved = np.stack([np.dot(self.U, d[:, None] * UB) for d in inverse])
        self.U **= 2
        return np.dot(inverse, self.U.T), solved


def _compiled_sums(q: np.ndarray, l: np.ndarray, inverse_d: np.ndarray) -> np.ndarray:
    from ...kernels.lssvm.tiles import sums_along_tridiagonals

    found: np.ndarray = sums_along_tridiagonals(q, l, inverse_d)
    return found


def _sums(q: np.ndarray, l: np.ndarray, inverse_d: np.ndarray) -> np.ndarray:
    """Σ_k z_k²/d_k for each row of l and 1/d; q_k are the rows of q."""
    z, found = np.zeros((len(l), q.shape[1])), np.zeros((len(l), q.shape[1]))
    for k, q_k in enumerate(q):
        z *= -l[:, k, None]
        z += q_k
        found += z**2 * inverse_d[:, k, None]
    return found
