"""Rows and their own centres: distances, and what is left of the means.

d_i² = Σ_j (x_ij − μ_aj)²,     rest_a = Σ s_i (x_i − μ_a)
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel


@kernel
def _own(X, weights, C, scale, labels, d2, rest):
    """Squared distances to the rows' own centres, their weighted sum, and Σ s(x − μ)."""
    total = 0.0
    for i in range(len(X)):
        a, s, square = labels[i], weights[i] if len(weights) else 1.0, 0.0
        for j in range(C.shape[1]):
            z = (X[i, j] - C[a, j]) * scale
            square += z * z
            rest[a, j] += s * z
        d2[i] = square
        total += s * square
    return total


@cache
def _compiled(number):
    real = types.float64
    line, table = (types.Array(real, d, "C", readonly=True) for d in (1, 2))
    X = types.Array(float_type(number), 2, "C", readonly=True)
    return _own.compile((X, line, table, real, types.int32[::1], real[::1], real[:, ::1]))


def own_distances(X, weights, C, scale, labels, d2, rest) -> float:
    """Fill d2 (n,) with squared distances to the rows' own centres, times scale²; add Σ s(x − μ) of
    each centre, times scale, to rest (k, p). Σ s d2."""
    if not len(labels) == len(d2) == len(X) or rest.shape != C.shape or C.shape[1] != X.shape[1]:
        raise ValueError(f"X {X.shape}, centres {C.shape}, labels {labels.shape} do not match")
    return _compiled(X.dtype)(X, weights, C, scale, labels, d2, rest)


def warm() -> None:
    """Compile every kind, or load it from disk."""
    for number in (np.float32, np.float64):
        _compiled(np.dtype(number))
