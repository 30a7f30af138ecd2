r"""Lloyd's iteration for few rows in one call, by differences in float64.

a_i = argmin_k ‖x_i − μ_k‖²,   of equal ones the first
r_k = Σ_{a_i = k} s_i (x_i − μ_k),        n_k = Σ_{a_i = k} s_i
μ_k ← μ_k + δ_k,                          δ_k = r_k / n_k, rounded as centres are stored
J   ← Σ s_i ‖x_i − μ_a‖² + Σ_k n_k ‖δ_k‖² − 2δ_kᵀr_k
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel

EMPTY_CLUSTER, MAX_ITER_REACHED, SMALL_STEP, LABELS_REPEAT = -1, 0, 1, 2  # why it stopped


@kernel
def _assign(X, weights, C, labels, residual_sums, mass):
    """Fill labels, Σ s(x − μ) and Σ s of each centre; return (rows that moved, Σ s d²)."""
    n, p = X.shape
    moved, total = 0, 0.0
    residual_sums[:] = 0.0
    mass[:] = 0.0
    for i in range(n):
        label, least = 0, np.inf
        for a in range(len(C)):
            d = 0.0
            for j in range(p):
                z = X[i, j] - C[a, j]
                d += z * z
            if d < least:
                label, least = a, d
        s = weights[i] if len(weights) else 1.0
        moved += labels[i] != label
        labels[i] = label
        mass[label] += s
        total += s * least
        for j in range(p):
            residual_sums[label, j] += s * (X[i, j] - C[label, j])
    return moved, total


@kernel
def _lloyd(X, weights, C, single, max_iter, shift, gain, labels, residual_sums, mass, J):
    """Step until labels repeat, or the squared movement of the centres is at most ``shift`` and the
    relative gain at most ``gain``, or a cluster is empty; return (why it stopped, steps)."""
    k, p = C.shape
    for step in range(max_iter):
        moved, total = _assign(X, weights, C, labels, residual_sums, mass)
        shifted = 0.0
        for a in range(k):
            if not mass[a] > 0:
                return EMPTY_CLUSTER, step
            for j in range(p):
                moved_to = C[a, j] + residual_sums[a, j] / mass[a]
                if single:
                    moved_to = float(np.float32(moved_to))
                d = moved_to - C[a, j]
                shifted += d * d
                total += mass[a] * d * d - 2 * residual_sums[a, j] * d
                C[a, j] = moved_to
        J[step] = max(total, 0.0)
        if moved == 0:  # the centres now move by rounding only
            return LABELS_REPEAT, step + 1
        if step > 0 and shifted <= shift and J[step - 1] - J[step] <= gain * J[step]:
            return SMALL_STEP, step + 1
    return MAX_ITER_REACHED, max_iter


@cache
def _compiled(name, number):
    real, whole = types.float64, types.intp
    line = types.Array(real, 1, "C", readonly=True)
    X = types.Array(float_type(number), 2, "C", readonly=True)
    sums = types.int32[::1], real[:, ::1], real[::1]
    if name == "assign":
        return _assign.compile((X, line, real[:, ::1], *sums))
    settings = types.boolean, whole, real, real
    return _lloyd.compile((X, line, real[:, ::1], *settings, *sums, real[::1]))


def small_lloyd(X, weights, C, max_iter, shift, gain, labels, J) -> tuple[int, int]:
    """Run Lloyd's iteration, and return (why it stopped, number of steps).

    Overwrites C (k, p); fills labels (n,) with those of the last step, and J with the objective of
    every step. weights: (n,), or empty for ones.
    """
    _require(X, weights, C, labels)
    if len(J) < max_iter:
        raise ValueError(f"J {J.shape} has no room for {max_iter} steps")
    sums = np.empty(C.shape), np.empty(len(C))
    single = X.dtype == np.float32
    return _compiled("lloyd", X.dtype)(
        X, weights, C, single, max_iter, shift, gain, labels, *sums, J
    )


def small_assign(X, weights, C, labels) -> float:
    """Fill labels (n,) with the nearest of the centres, and return Σ s d²."""
    _require(X, weights, C, labels)
    result = _compiled("assign", X.dtype)(
        X, weights, C, labels, np.empty(C.shape), np.empty(len(C))
    )
    return float(result[1])


def _require(X, weights, C, labels) -> None:
    if C.shape[1] != X.shape[1] or len(labels) != len(X) or len(weights) not in (0, len(X)):
        raise ValueError(f"X {X.shape}, centres {C.shape}, weights {weights.shape} do not match")


def warm() -> None:
    """Compile both kernels for each dtype, or load them from disk."""
    for number in (np.float32, np.float64):
        for name in ("assign", "lloyd"):
            _compiled(name, np.dtype(number))
