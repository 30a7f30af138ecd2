r"""Lloyd's iteration of few rows in one call, by differences in float64.

a_i = argmin_k ‖x_i − μ_k‖²,   of equal ones the first
rest_k = Σ_{a_i = k} s_i (x_i − μ_k),     n_k = Σ_{a_i = k} s_i
μ_k ← μ_k + δ_k,                          δ_k = rest_k / n_k, as far as centres are stored
J   ← Σ s_i ‖x_i − μ_a‖² + Σ_k n_k ‖δ_k‖² − 2δ_kᵀrest_k
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel

EMPTY, GOING, SHORT, SAME = -1, 0, 1, 2  # how it ended


@kernel
def _assign(X, weights, C, labels, rest, mass):
    """Labels; Σ s(x − μ) and Σ s of each centre. (rows that moved, Σ s d²)."""
    n, p = X.shape
    moved, total = 0, 0.0
    rest[:] = 0.0
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
            rest[label, j] += s * (X[i, j] - C[label, j])
    return moved, total


@kernel
def _lloyd(X, weights, C, single, max_iter, shift, gain, labels, rest, mass, J):
    """Steps until labels repeat; or centres move by at most ``shift`` and J by at most the share
    ``gain``; or a cluster is empty. (how it ended, steps)."""
    k, p = C.shape
    for step in range(max_iter):
        moved, total = _assign(X, weights, C, labels, rest, mass)
        went = 0.0
        for a in range(k):
            if not mass[a] > 0:
                return EMPTY, step
            for j in range(p):
                to = C[a, j] + rest[a, j] / mass[a]
                if single:
                    to = float(np.float32(to))
                d = to - C[a, j]
                went += d * d
                total += mass[a] * d * d - 2 * rest[a, j] * d
                C[a, j] = to
        J[step] = max(total, 0.0)
        if moved == 0:  # what centres still move by is rounding
            return SAME, step + 1
        if step > 0 and went <= shift and J[step - 1] - J[step] <= gain * J[step]:
            return SHORT, step + 1
    return GOING, max_iter


@cache
def _compiled(name, number):
    real, whole = types.float64, types.intp
    line = types.Array(real, 1, "C", readonly=True)
    X = types.Array(float_type(number), 2, "C", readonly=True)
    sums = types.int32[::1], real[:, ::1], real[::1]
    if name == "assign":
        return _assign.compile((X, line, real[:, ::1], *sums))
    how = types.boolean, whole, real, real
    return _lloyd.compile((X, line, real[:, ::1], *how, *sums, real[::1]))


def small_lloyd(X, weights, C, max_iter, shift, gain, labels, J) -> tuple[int, int]:
    """Move C (k, p), fill labels (n,) with those that it was last moved by, and J with objectives.
    weights: (n,), or empty for ones. (how it ended, steps)."""
    _require(X, weights, C, labels)
    if len(J) < max_iter:
        raise ValueError(f"J {J.shape} has no room for {max_iter} steps")
    sums = np.empty(C.shape), np.empty(len(C))
    single = X.dtype == np.float32
    return _compiled("lloyd", X.dtype)(
        X, weights, C, single, max_iter, shift, gain, labels, *sums, J
    )


def small_assign(X, weights, C, labels) -> float:
    """Fill labels (n,) with the nearest of the centres; Σ s d²."""
    _require(X, weights, C, labels)
    found = _compiled("assign", X.dtype)(X, weights, C, labels, np.empty(C.shape), np.empty(len(C)))
    return float(found[1])


def _require(X, weights, C, labels) -> None:
    if C.shape[1] != X.shape[1] or len(labels) != len(X) or len(weights) not in (0, len(X)):
        raise ValueError(f"X {X.shape}, centres {C.shape}, weights {weights.shape} do not match")


def warm() -> None:
    for number in (np.float32, np.float64):
        for name in ("assign", "lloyd"):
            _compiled(name, np.dtype(number))
