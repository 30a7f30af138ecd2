"""The logistic loss of dense rows and its derivatives, each row read once.

    z = xᵀu + c,  m = yz,  e = e^{−|z|}:   log(1 + e^{−m}) = [−m]₊ + log(1 + e),
    slope g = −y·(e if m > 0 else 1)/(1 + e),   curvature d = e/(1 + e)²,   Σ s g x and Σ s d x

Four rows at a time, which stay near the core between their two products.
"""

import math
from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import kernel

LARGE = 2.0**500


@kernel
def _gradient(X, y, s, u, c, XG, d, sums):
    n, p = X.shape
    curved = len(d) > 0
    z, g, h = np.empty(4), np.empty(4), np.empty(4)
    f, total, bent, right, factors = 0.0, 0.0, 0.0, 0.0, 1.0
    for i in range(0, n, 4):
        four = min(4, n - i)
        # a row past the last is the last once more, of weight 0
        x0, x1 = X[i], X[min(i + 1, n - 1)]
        x2, x3 = X[min(i + 2, n - 1)], X[min(i + 3, n - 1)]
        t0, t1, t2, t3 = c, c, c, c
        for j in range(p):
            t0 += x0[j] * u[j]
            t1 += x1[j] * u[j]
            t2 += x2[j] * u[j]
            t3 += x3[j] * u[j]
        z[0], z[1], z[2], z[3] = t0, t1, t2, t3
        for r in range(4):
            g[r], h[r] = 0.0, 0.0
        for r in range(four):
            weight = s[i + r] if len(s) > 0 else 1.0
            e = math.exp(-abs(z[r]))
            m = y[i + r] * z[r]
            if len(s) > 0:
                f += weight * (math.log1p(e) - min(m, 0.0))
            else:  # a logarithm of many factors, each from 1 to 2, instead of many logarithms
                f -= min(m, 0.0)
                factors *= 1.0 + e
            g[r] = -weight * y[i + r] * (e if m > 0 else 1.0) / (1.0 + e)
            h[r] = weight * e / (1.0 + e) / (1.0 + e)
            total += g[r]
            bent += h[r]
            right += 1.0 if m > 0 or weight == 0 else 0.0
        if factors > LARGE:
            f += math.log(factors)
            factors = 1.0
        g0, g1, g2, g3 = g[0], g[1], g[2], g[3]
        Xg = XG[0]
        for j in range(p):
            Xg[j] += g0 * x0[j] + g1 * x1[j] + g2 * x2[j] + g3 * x3[j]
        if curved:
            for r in range(four):
                d[i + r] = h[r]
            h0, h1, h2, h3 = h[0], h[1], h[2], h[3]
            Xd = XG[1]
            for j in range(p):
                Xd[j] += h0 * x0[j] + h1 * x1[j] + h2 * x2[j] + h3 * x3[j]
    sums[0] += f + math.log(factors)
    sums[1] += total
    sums[2] += bent
    sums[3] += right


def gradient(X, y, s, u, c, d=None) -> tuple[np.ndarray, np.ndarray]:
    """(Σ s ℓ, Σ s g, Σ s d, rows of m > 0 or weight 0) of one block, and XG.

    X: C order; y = ±1 (n,); s (n,), or None for ones. ``d`` (n,) is filled with s·d if given; XG is
    then (2, p), Σ s g x and Σ s d x, else (1, p).
    """
    if not (X.flags.c_contiguous and X.flags.aligned):
        X = np.ascontiguousarray(X)
    s = np.empty(0) if s is None else s
    y, s, u = (np.ascontiguousarray(a, dtype=np.float64) for a in (y, s, u))
    n, p = X.shape
    out = np.empty(0) if d is None else d
    if y.shape != (n,) or s.shape not in ((n,), (0,)) or u.shape != (p,):
        raise ValueError(f"X {X.shape}, y {y.shape}, s {s.shape}, u {u.shape} do not match")
    if out.shape not in ((n,), (0,)) or out.dtype != np.float64 or not out.flags.carray:
        raise ValueError(f"need a writable float64 d of {n} rows")
    XG, sums = np.zeros((1 if d is None else 2, p)), np.zeros(4)
    if n:
        _compiled(X.dtype)(X, y, s, u, float(c), XG, out, sums)
    return sums, XG


@cache
def _compiled(dtype):
    """The machine code for float32 and float64 rows, which may be read-only."""
    if dtype not in (np.float32, np.float64):
        raise TypeError(f"X must be float32 or float64, not {dtype}")
    scalar = types.float32 if dtype == np.float32 else types.float64
    x = types.Array(scalar, 2, "C", readonly=True)
    vector = types.Array(types.float64, 1, "C", readonly=True)
    v, m = types.float64[::1], types.float64[:, ::1]
    return _gradient.compile(types.void(x, vector, vector, vector, types.float64, m, v, v))


def warm() -> None:
    """Compile every kind, or load it from disk."""
    for dtype in (np.float32, np.float64):
        _compiled(np.dtype(dtype))
