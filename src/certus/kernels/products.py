"""Dense rows multiplied from both sides, each read once.

    t_i = x_iᵀu − c,    Xt += Σ_i d_i t_i x_i,    st += Σ_i d_i t_i

and either half of it alone: scores Xu + c, and Xᵀg of several g.

Four rows at a time: so the sums Xt, which are p long, are read and written once for four rows.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import kernel


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


@kernel
def _scores(X, u, c, z):
    n, p = X.shape
    whole = n - n % 4
    for i in range(0, whole, 4):
        x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
        t0, t1, t2, t3 = c, c, c, c
        for j in range(p):
            t0 += x0[j] * u[j]
            t1 += x1[j] * u[j]
            t2 += x2[j] * u[j]
            t3 += x3[j] * u[j]
        z[i], z[i + 1], z[i + 2], z[i + 3] = t0, t1, t2, t3
    for i in range(whole, n):
        t0 = c
        for j in range(p):
            t0 += X[i, j] * u[j]
        z[i] = t0


@kernel
def _collect(X, G, XG):
    n, p = X.shape
    whole = n - n % 4
    for i in range(0, whole, 4):
        x0, x1, x2, x3 = X[i], X[i + 1], X[i + 2], X[i + 3]
        for k in range(len(G)):  # the four rows stay near the core
            g, Xg = G[k], XG[k]
            g0, g1, g2, g3 = g[i], g[i + 1], g[i + 2], g[i + 3]
            for j in range(p):
                Xg[j] += g0 * x0[j] + g1 * x1[j] + g2 * x2[j] + g3 * x3[j]
    for i in range(whole, n):
        for k in range(len(G)):
            for j in range(p):
                XG[k, j] += G[k, i] * X[i, j]


def scores(X, u, c) -> np.ndarray:
    """Xu + c, (n,). X: C order; u (p,), c a number."""
    X, u = _rows(X), np.ascontiguousarray(u, dtype=np.float64)
    if u.shape != X.shape[1:]:
        raise ValueError(f"X {X.shape}, u {u.shape} do not match")
    z = np.empty(len(X))
    _compiled("scores", X.dtype)(X, u, float(c), z)
    return z


def collect(X, G) -> np.ndarray:
    """GX, (k, p). X: C order; G (k, n), vectors side by side."""
    X, G = _rows(X), np.ascontiguousarray(G, dtype=np.float64)
    if G.ndim != 2 or G.shape[1] != len(X):
        raise ValueError(f"X {X.shape}, G {G.shape} do not match")
    XG = np.zeros((len(G), X.shape[1]))
    _compiled("collect", X.dtype)(X, G, XG)
    return XG


def _rows(X):
    return X if X.flags.c_contiguous and X.flags.aligned else np.ascontiguousarray(X)


def twice(X, d, u, c, Xt) -> float:
    """Add a block's sums to Xt (p,), and return Σ d t. X: C order; d (n,), u (p,), c a number."""
    n, p = X.shape
    X = _rows(X)
    d, u = (np.ascontiguousarray(a, dtype=np.float64) for a in (d, u))
    good = Xt.shape == (p,) and Xt.dtype == np.float64 and Xt.flags.carray
    if d.shape != (n,) or u.shape != (p,) or not good:
        raise ValueError(f"X {X.shape}, d {d.shape}, u {u.shape}, Xt {Xt.shape} do not match")
    return _compiled("twice", X.dtype)(X, d, u, float(c), Xt)


_KERNELS = {"twice": _twice, "scores": _scores, "collect": _collect}


@cache
def _compiled(name, dtype):
    """The machine code for float32 and float64 rows, which may be read-only."""
    if dtype not in (np.float32, np.float64):
        raise TypeError(f"X must be float32 or float64, not {dtype}")
    scalar = types.float32 if dtype == np.float32 else types.float64
    x = types.Array(scalar, 2, "C", readonly=True)
    vector, matrix = (types.Array(types.float64, d, "C", readonly=True) for d in (1, 2))
    number, out = types.float64, types.float64[::1]
    signature = {
        "twice": number(x, vector, vector, number, out),
        "scores": types.void(x, vector, number, out),
        "collect": types.void(x, matrix, types.float64[:, ::1]),
    }[name]
    return _KERNELS[name].compile(signature)


def warm() -> None:
    """Compile every kind, or load it from disk."""
    for name in _KERNELS:
        for dtype in (np.float32, np.float64):
            _compiled(name, np.dtype(dtype))
