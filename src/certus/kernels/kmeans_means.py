"""Rows and their own centres: distances, what is left of the means, and how far centres are apart.

d_i² = Σ_j (x_ij − μ_aj)²,     rest_a = Σ s_i (x_i − μ_a),     half_a = ½ min_b ‖μ_a − μ_b‖
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel

INFINITE = np.float32(np.inf)
DOWN = np.float32(1 - 2.0**-21)  # more than float32 rounds


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


@kernel
def _separation(C, scale, half):
    """½ min_b ‖μ_a − μ_b‖, rounded down."""
    for a in range(len(C)):
        half[a] = INFINITE
    for a in range(len(C)):
        for b in range(a):
            square = 0.0
            for j in range(C.shape[1]):
                z = (C[a, j] - C[b, j]) * scale
                square += z * z
            d = np.float32(0.5 * np.sqrt(square)) * DOWN
            half[a], half[b] = min(half[a], d), min(half[b], d)


@cache
def _compiled(name, number):
    real, single = types.float64, types.float32
    line, table = (types.Array(real, d, "C", readonly=True) for d in (1, 2))
    if name == "separation":
        return _separation.compile((table, real, single[::1]))
    X = types.Array(float_type(number), 2, "C", readonly=True)
    return _own.compile((X, line, table, real, types.int32[::1], real[::1], real[:, ::1]))


def own_distances(X, weights, C, scale, labels, d2, rest) -> float:
    """Fill d2 (n,) with squared distances to the rows' own centres, times scale²; add Σ s(x − μ) of
    each centre, times scale, to rest (k, p). Σ s d2."""
    if not len(labels) == len(d2) == len(X) or rest.shape != C.shape or C.shape[1] != X.shape[1]:
        raise ValueError(f"X {X.shape}, centres {C.shape}, labels {labels.shape} do not match")
    return _compiled("own", X.dtype)(X, weights, C, scale, labels, d2, rest)


def separation(C, scale) -> np.ndarray:
    """½ of each centre's distance to the nearest other, times scale, as float32, rounded down."""
    half = np.empty(len(C), dtype=np.float32)
    _compiled("separation", np.dtype(float))(C, scale, half)
    return half


def warm() -> None:
    """Compile every kind, or load it from disk."""
    for number in (np.float32, np.float64):
        _compiled("own", np.dtype(number))
    _compiled("separation", np.dtype(float))
