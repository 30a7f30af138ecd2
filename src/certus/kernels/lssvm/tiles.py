"""Loops of kernel machines that would take NumPy several passes.

T_ij ← exp(min(T_ij, 0))                             a tile of an RBF kernel
Σ_k z_k²/d_k,  z_k = q_k − l_k z_{k−1}               diagonals of Q(LDLᵀ)⁻¹Qᵀ, for several L and D
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import kernel
from certus.kernels._elementary import exp_below

LANES = 128  # rows of Q at a time: their z for ten L stay in L1


@kernel
def _exp_of_nonpositive(T):
    for i in range(len(T)):
        line = T[i]
        for j in range(len(line)):
            line[j] = exp_below(min(line[j], 0.0))


@kernel
def _sums_along(q, l, inverse_d, sums):
    n, z = q.shape[1], np.empty((len(l), LANES))
    for first in range(0, n, LANES):
        last = min(first + LANES, n)
        z[:] = 0.0
        for k in range(len(q)):
            q_k = q[k, first:last]
            for c in range(len(l)):
                below, share, z_c, sum_c = l[c, k], inverse_d[c, k], z[c], sums[c, first:last]
                for i in range(len(q_k)):
                    t = q_k[i] - below * z_c[i]
                    z_c[i] = t
                    sum_c[i] += share * t * t


@cache
def _compiled(function):
    matrix = types.float64[:, ::1]
    read = types.Array(types.float64, 2, "C", readonly=True)
    signatures = {
        _exp_of_nonpositive: types.void(matrix),
        _sums_along: types.void(read, read, read, matrix),
    }
    return function.compile(signatures[function])


def exp_of_nonpositive(T: np.ndarray) -> None:
    """Replace T (float64, C order) by exp(T); entries that rounding made positive count as 0."""
    _compiled(_exp_of_nonpositive)(T)


def sums_along_tridiagonals(q: np.ndarray, l: np.ndarray, inverse_d: np.ndarray) -> np.ndarray:
    """Return the sums, (c, n), for the rows q_k of q (n, n) and l, 1/d (c, n); l_0 is unused."""
    sums = np.zeros((len(l), q.shape[1]))
    _compiled(_sums_along)(q, l, inverse_d, sums)
    return sums


def warm() -> None:
    """Compile the kernels, or load them from disk."""
    _compiled(_exp_of_nonpositive)
    _compiled(_sums_along)
