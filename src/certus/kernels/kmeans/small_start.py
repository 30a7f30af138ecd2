r"""Greedy k-means++ for few rows in one call.

    a row is drawn with probability s_i d_i / Σ s d,    d_i = min over centres of ‖x_i − μ‖²

Of several rows drawn at once, the one that leaves the least Σ s min(d, ‖x − y‖²) becomes a centre.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel


@kernel
def _squared(X, i, t, scale):
    total = 0.0
    for j in range(X.shape[1]):
        z = (X[i, j] - X[t, j]) * scale
        total += z * z
    return total


@kernel
def _drawn(at, weights, d):
    """Return the first row at which the cumulative sum of s·d reaches ``at``."""
    total = 0.0
    for i in range(len(d)):
        total += d[i] * (weights[i] if len(weights) else 1.0)
        if total >= at:
            return i
    return len(d) - 1


@kernel
def _plus_plus(X, weights, scale, uniform, rows, d, trial, best):
    n, trials = len(X), uniform.shape[1]
    first, pot = rows[0], 0.0
    for i in range(n):
        d[i] = _squared(X, i, first, scale)
        pot += d[i] * (weights[i] if len(weights) else 1.0)
    for number in range(1, len(rows)):
        least = np.inf
        for t in range(trials):
            y = _drawn(uniform[number - 1, t] * pot, weights, d)
            total = 0.0
            for i in range(n):
                trial[i] = min(d[i], _squared(X, i, y, scale))
                total += trial[i] * (weights[i] if len(weights) else 1.0)
            if total < least:
                least, rows[number] = total, y
                for i in range(n):
                    best[i] = trial[i]
        pot = least
        for i in range(n):
            d[i] = best[i]


@cache
def _compiled(number):
    real = types.float64
    line, table = (types.Array(real, d, "C", readonly=True) for d in (1, 2))
    X = types.Array(float_type(number), 2, "C", readonly=True)
    lines = real[::1], real[::1], real[::1]
    return _plus_plus.compile(types.void(X, line, real, table, types.intp[::1], *lines))


def small_plus_plus(X, weights, scale, uniform, rows) -> None:
    """Fill rows (k,), whose first entry is given, using uniform numbers (k − 1, trials)."""
    if len(weights) not in (0, len(X)) or len(uniform) != len(rows) - 1:
        raise ValueError(f"X {X.shape}, weights {weights.shape}, rows {rows.shape} do not match")
    if not 0 <= rows[0] < len(X):
        raise ValueError(f"row {rows[0]} is not one of the {len(X)} rows")
    d, trial, best = (np.empty(len(X)) for _ in range(3))
    _compiled(X.dtype)(X, weights, scale, uniform, rows, d, trial, best)


def warm() -> None:
    """Compile the kernel for each dtype, or load it from disk."""
    for number in (np.float32, np.float64):
        _compiled(np.dtype(number))
