"""The logistic loss of dense rows and its gradient, each row read once.

    z = xᵀu + c,  m = yz,  e = e^{−|z|}:   log(1 + e^{−m}) = [−m]₊ + log(1 + e),
    slope −y·σ(−m),  σ(−m) = (e if m > 0 else 1)/(1 + e),        XG += Σ s·slope·x

Four rows at a time, which stay near the core between their two products.
"""

import math
from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import kernel


@kernel
def _gradient(X, y, s, u, c, Xg, sums):
    n, p = X.shape
    f, total = 0.0, 0.0
    whole = n - n % 4
    z, g = np.empty(4), np.empty(4)
    for i in range(0, whole, 4):
        x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
        t0, t1, t2, t3 = c, c, c, c
        for j in range(p):
            t0 += x0[j] * u[j]
            t1 += x1[j] * u[j]
            t2 += x2[j] * u[j]
            t3 += x3[j] * u[j]
        z[0], z[1], z[2], z[3] = t0, t1, t2, t3
        for r in range(4):
            weight = s[i + r] if len(s) > 0 else 1.0
            e = math.exp(-abs(z[r]))
            m = y[i + r] * z[r]
            f += weight * (math.log1p(e) - min(m, 0.0))
            g[r] = -weight * y[i + r] * (e if m > 0 else 1.0) / (1.0 + e)
            total += g[r]
        g0, g1, g2, g3 = g[0], g[1], g[2], g[3]
        for j in range(p):
            Xg[j] += g0 * x0[j] + g1 * x1[j] + g2 * x2[j] + g3 * x3[j]
    for i in range(whole, n):
        t = c
        for j in range(p):
            t += X[i, j] * u[j]
        weight = s[i] if len(s) > 0 else 1.0
        e = math.exp(-abs(t))
        m = y[i] * t
        f += weight * (math.log1p(e) - min(m, 0.0))
        slope = -weight * y[i] * (e if m > 0 else 1.0) / (1.0 + e)
        total += slope
        for j in range(p):
            Xg[j] += slope * X[i, j]
    sums[0] += f
    sums[1] += total


def gradient(X, y, s, u, c) -> tuple[float, np.ndarray]:
    """(Σ s ℓ, Σ s·slope·(x, 1)) of one block. X: C order; y = ±1 (n,); s (n,), or None for ones."""
    if not (X.flags.c_contiguous and X.flags.aligned):
        X = np.ascontiguousarray(X)
    s = np.empty(0) if s is None else s
    y, s, u = (np.ascontiguousarray(a, dtype=np.float64) for a in (y, s, u))
    n, p = X.shape
    if y.shape != (n,) or s.shape not in ((n,), (0,)) or u.shape != (p,):
        raise ValueError(f"X {X.shape}, y {y.shape}, s {s.shape}, u {u.shape} do not match")
    Xg, sums = np.zeros(p), np.zeros(2)
    _compiled(X.dtype)(X, y, s, u, float(c), Xg, sums)
    return sums[0], np.append(Xg, sums[1])


@cache
def _compiled(dtype):
    """The machine code for float32 and float64 rows, which may be read-only."""
    if dtype not in (np.float32, np.float64):
        raise TypeError(f"X must be float32 or float64, not {dtype}")
    scalar = types.float32 if dtype == np.float32 else types.float64
    x = types.Array(scalar, 2, "C", readonly=True)
    vector, out = types.Array(types.float64, 1, "C", readonly=True), types.float64[::1]
    return _gradient.compile(types.void(x, vector, vector, vector, types.float64, out, out))


def warm() -> None:
    """Compile every kind, or load it from disk."""
    for dtype in (np.float32, np.float64):
        _compiled(np.dtype(dtype))
