"""The logistic loss of dense rows and its derivatives, each row read once.

    z = xᵀu + c,  m = yz,  e = e^{−|z|}:   log(1 + e^{−m}) = [−m]₊ + log(1 + e),
    slope g = −y·(e if m > 0 else 1)/(1 + e),   curvature d = e/(1 + e)²,   Σ s g x and Σ s d x

A chunk of rows stays in cache between its two products, and its losses are computed as vectors.
An infinite z acts like 708; NaN gives NaN.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel
from certus.kernels._elementary import exp_below, log1p_to_one

CHUNK_ROWS = 64  # stay in cache between their two products


@kernel
def _gradient(X, y, s, u, c, XG, d, sums):
    n, p = X.shape
    curved, weighted = len(d) > 0, len(s) > 0
    z, v, g, h = (
        np.zeros(CHUNK_ROWS),
        np.zeros(CHUNK_ROWS),
        np.zeros(CHUNK_ROWS),
        np.zeros(CHUNK_ROWS),
    )
    f, total, curvature_sum, n_correct = 0.0, 0.0, 0.0, 0.0
    for i in range(0, n, CHUNK_ROWS):
        rows = min(CHUNK_ROWS, n - i)
        for r in range(0, rows, 4):
            # rows past the end repeat the last row, with weight 0
            x0, x1 = X[i + r], X[min(i + r + 1, n - 1)]
            x2, x3 = X[min(i + r + 2, n - 1)], X[min(i + r + 3, n - 1)]
            t0, t1, t2, t3 = c, c, c, c
            for j in range(p):
                t0 += x0[j] * u[j]
                t1 += x1[j] * u[j]
                t2 += x2[j] * u[j]
                t3 += x3[j] * u[j]
            z[r], z[r + 1], z[r + 2], z[r + 3] = t0, t1, t2, t3
        for r in range(rows):
            m = y[i + r] * z[r]
            e = exp_below(-abs(z[r]))
            share = 1.0 / (1.0 + e)
            v[r] = log1p_to_one(e) - min(m, 0.0)
            g[r] = -y[i + r] * share * (e if m > 0 else 1.0)
            h[r] = e * share * share
            n_correct += 1.0 if m > 0 else 0.0
        if weighted:
            for r in range(rows):
                weight = s[i + r]
                n_correct += 1.0 if weight == 0 and not y[i + r] * z[r] > 0 else 0.0
                v[r], g[r], h[r] = weight * v[r], weight * g[r], weight * h[r]
        for r in range(rows):
            f += v[r]
            total += g[r]
            curvature_sum += h[r]
        g[rows:] = 0.0
        h[rows:] = 0.0
        _add(X, i, rows, g, XG[0])
        if curved:
            d[i : i + rows] = h[:rows]
            _add(X, i, rows, h, XG[1])
    sums[0] += f
    sums[1] += total
    sums[2] += curvature_sum
    sums[3] += n_correct


@kernel
def _add(X, i, rows, g, Xg):
    """Add Σ g x over rows from i on to Xg, four rows at a time to save memory traffic."""
    n, p = X.shape
    for r in range(0, rows, 4):
        x0, x1 = X[i + r], X[min(i + r + 1, n - 1)]
        x2, x3 = X[min(i + r + 2, n - 1)], X[min(i + r + 3, n - 1)]
        g0, g1, g2, g3 = g[r], g[r + 1], g[r + 2], g[r + 3]
        for j in range(p):
            Xg[j] += g0 * x0[j] + g1 * x1[j] + g2 * x2[j] + g3 * x3[j]


def gradient(X, y, s, u, c, d=None) -> tuple[np.ndarray, np.ndarray]:
    """Return (Σ s ℓ, Σ s g, Σ s d, number of rows with m > 0 or weight 0) of one block, and XG.

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
    """Return the machine code for float32 and float64 rows, which may be read-only."""
    scalar = float_type(dtype)
    x = types.Array(scalar, 2, "C", readonly=True)
    vector = types.Array(types.float64, 1, "C", readonly=True)
    v, m = types.float64[::1], types.float64[:, ::1]
    return _gradient.compile(types.void(x, vector, vector, vector, types.float64, m, v, v))


def warm() -> None:
    """Compile every variant, or load it from disk."""
    for dtype in (np.float32, np.float64):
        _compiled(np.dtype(dtype))
