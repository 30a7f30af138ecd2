"""Dense rows multiplied from both sides, each read once.

    t_i = x_iᵀu − c,    Xt += Σ_i d_i t_i x_i,    st += Σ_i d_i t_i

Four rows at a time, so that the p sums Xt are read and written once for four rows.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel


@kernel
def _twice(X, d, u, c, Xt):
    n, p = X.shape
    total = 0.0
    whole = n - n % 4
    for i in range(0, whole, 4):
        x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
        t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
        for j in range(p):
            t0 += x0[j] * u[j]
            t1 += x1[j] * u[j]
            t2 += x2[j] * u[j]
            t3 += x3[j] * u[j]
        t0, t1 = d[i] * (t0 - c), d[i + 1] * (t1 - c)
        t2, t3 = d[i + 2] * (t2 - c), d[i + 3] * (t3 - c)
        total += t0 + t1 + t2 + t3
        for j in range(p):
            Xt[j] += t0 * x0[j] + t1 * x1[j] + t2 * x2[j] + t3 * x3[j]
    for i in range(whole, n):
        x0, t0 = X[i], 0.0
        for j in range(p):
            t0 += x0[j] * u[j]
        t0 = d[i] * (t0 - c)
        total += t0
        for j in range(p):
            Xt[j] += t0 * x0[j]
    return total


def twice(X, d, u, c, Xt) -> float:
    """Add a block's sums to Xt (p,), and return Σ d t. X: C order; d (n,), u (p,), c a number."""
    n, p = X.shape
    if not X.flags.c_contiguous or not X.flags.aligned:
        X = np.ascontiguousarray(X)
    d, u = (np.ascontiguousarray(a, dtype=np.float64) for a in (d, u))
    good = Xt.shape == (p,) and Xt.dtype == np.float64 and Xt.flags.carray
    if d.shape != (n,) or u.shape != (p,) or not good:
        raise ValueError(f"X {X.shape}, d {d.shape}, u {u.shape}, Xt {Xt.shape} do not match")
    return _compiled(X.dtype)(X, d, u, float(c), Xt)


@cache
def _compiled(dtype):
    """Return the machine code for float32 and float64 rows, which may be read-only."""
    scalar = float_type(dtype)
    x = types.Array(scalar, 2, "C", readonly=True)
    vector = types.Array(types.float64, 1, "C", readonly=True)
    return _twice.compile(types.float64(x, vector, vector, types.float64, types.float64[::1]))


def warm() -> None:
    """Compile every variant, or load it from disk."""
    for dtype in (np.float32, np.float64):
        _compiled(np.dtype(dtype))
