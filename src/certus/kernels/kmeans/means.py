"""Distances of rows to the centres of their labels, and residual sums, which are 0 at the means.

d_i² = Σ_j (x_ij − μ_aj)²,     residual_a = Σ s_i (x_i − μ_a)
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel


@kernel
def _own_distances(X, weights, C, scale, labels, d2, residual_sums):
    """Fill d2 with squared distances, add Σ s(x − μ) to the residual sums, and return Σ s d2."""
    total = 0.0
    for i in range(len(X)):
        a, s, square = labels[i], weights[i] if len(weights) else 1.0, 0.0
        for j in range(C.shape[1]):
            z = (X[i, j] - C[a, j]) * scale
            square += z * z
            residual_sums[a, j] += s * z
        d2[i] = square
        total += s * square
    return total


@cache
def _compiled(number):
    real = types.float64
    line, table = (types.Array(real, d, "C", readonly=True) for d in (1, 2))
    X = types.Array(float_type(number), 2, "C", readonly=True)
    return _own_distances.compile((X, line, table, real, types.int32[::1], real[::1], real[:, ::1]))


def own_distances(X, weights, C, scale, labels, d2, residual_sums) -> float:
    """Measure rows against the centres of their labels, and return Σ s d2.

    Fills d2 (n,) with squared distances times scale²; adds Σ s(x − μ) of each cluster, times scale,
    to residual_sums (k, p).
    """
    if (
        not len(labels) == len(d2) == len(X)
        or residual_sums.shape != C.shape
        or C.shape[1] != X.shape[1]
    ):
        raise ValueError(f"X {X.shape}, centres {C.shape}, labels {labels.shape} do not match")
    return _compiled(X.dtype)(X, weights, C, scale, labels, d2, residual_sums)


def warm() -> None:
    """Compile the kernel for each dtype, or load it from disk."""
    for number in (np.float32, np.float64):
        _compiled(np.dtype(number))
