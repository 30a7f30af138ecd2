"""The softmax loss of dense rows and its derivatives, each row read once.

    z = Ux + c,  P = softmax(z):   value log Σ_k exp(z_k) − z_y,   slope P − e_y,
    curvature·t = P∘(t − Pᵀt) for t = Ux + c

and Σ s g xᵀ of what comes out, class by class. Four rows at a time stay near the core between their
two products. For a few dozen classes: beyond, BLAS is faster.
"""

import math
from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import kernel

LOG2 = math.log(2.0)


@kernel
def _products(x0, x1, x2, x3, U, c, T):
    for k in range(len(U)):
        u = U[k]
        t0, t1, t2, t3 = c[k], c[k], c[k], c[k]
        for j in range(len(u)):
            t0 += x0[j] * u[j]
            t1 += x1[j] * u[j]
            t2 += x2[j] * u[j]
            t3 += x3[j] * u[j]
        T[0, k], T[1, k], T[2, k], T[3, k] = t0, t1, t2, t3


@kernel
def _add(x0, x1, x2, x3, T, XG):
    for k in range(len(XG)):
        g, t0, t1, t2, t3 = XG[k], T[0, k], T[1, k], T[2, k], T[3, k]
        for j in range(len(g)):
            g[j] += t0 * x0[j] + t1 * x1[j] + t2 * x2[j] + t3 * x3[j]


@kernel
def _first(X, y, s, U, c, P, XG, sums):
    n, K = P.shape
    T, D = np.zeros((4, K + 1)), np.zeros((4, K))
    f, right = 0.0, 0.0
    for i in range(0, n, 4):
        # a row past the last is the last once more, and counts for nothing
        x0, x1 = X[i], X[min(i + 1, n - 1)]
        x2, x3 = X[min(i + 2, n - 1)], X[min(i + 3, n - 1)]
        _products(x0, x1, x2, x3, U, c, T)
        for r in range(4):
            if i + r >= n:
                T[r] = 0.0
                D[r] = 0.0
                continue
            p, t, d, own = P[i + r], T[r], D[r], np.intp(y[i + r])
            largest = t[0]
            for k in range(1, K):
                largest = max(largest, t[k])
            at, total = t[own] - largest, 0.0
            for k in range(K):
                p[k] = math.exp(t[k] - largest)
                total += p[k]
            value = math.log(total) - at
            weight = s[i + r] if len(s) > 0 else 1.0
            f += weight * value
            right += 1.0 if value < LOG2 or weight == 0 else 0.0
            trace, share = 0.0, 1.0 / total
            for k in range(K):
                p[k] *= share
                t[k] = weight * p[k]
                d[k] = t[k] * (1.0 - p[k])
                trace += d[k]
            t[own] -= weight
            t[K] = trace
        for k in range(K):
            sums[2 + k] += T[0, k] + T[1, k] + T[2, k] + T[3, k]
            sums[2 + K + k] += D[0, k] + D[1, k] + D[2, k] + D[3, k]
        _add(x0, x1, x2, x3, T, XG)
    sums[0] += f
    sums[1] += right


@kernel
def _curve(X, s, P, U, c, XG, sums):
    n, K = P.shape
    T = np.zeros((4, K))
    for i in range(0, n, 4):
        x0, x1 = X[i], X[min(i + 1, n - 1)]
        x2, x3 = X[min(i + 2, n - 1)], X[min(i + 3, n - 1)]
        _products(x0, x1, x2, x3, U, c, T)
        for r in range(4):
            if i + r >= n:
                T[r] = 0.0
                continue
            p, t, mean = P[i + r], T[r], 0.0
            for k in range(K):
                mean += p[k] * t[k]
            weight = s[i + r] if len(s) > 0 else 1.0
            for k in range(K):
                t[k] = weight * p[k] * (t[k] - mean)
        for k in range(K):
            sums[k] += T[0, k] + T[1, k] + T[2, k] + T[3, k]
        _add(x0, x1, x2, x3, T, XG)


def first(X, y, s, U, c, P) -> tuple[np.ndarray, np.ndarray]:
    """Fill P (n, K), and return sums and XG of one block.

    X: C order; y: class numbers (n,); s (n,), or None; U (K, p), c (K,). Sums, in one array:
    Σ s value, rows of value below log 2 or weight 0, Σ s slope (K,), Σ s d (K,). XG (K + 1, p):
    Σ s slope xᵀ, and last that of the curvature's trace.
    """
    X, y, s, U, c = _checked(X, y, s, U, c, P)
    K, p = U.shape
    if len(y) and not 0 <= y.min() <= y.max() < K:
        raise ValueError(f"y holds a class that is not below {K}")
    XG, sums = np.zeros((K + 1, p)), np.zeros(2 + 2 * K)
    if len(X):
        _compiled("first", X.dtype)(X, y, s, U, c, P, XG, sums)
    return sums, XG


def curve(X, s, U, c, P) -> tuple[np.ndarray, np.ndarray]:
    """Σ s·curvature·t (K,) and Σ s·curvature·t xᵀ (K, p), t = Ux + c."""
    X, _, s, U, c = _checked(X, np.empty(len(X)), s, U, c, P)
    XG, sums = np.zeros(U.shape), np.zeros(len(U))
    if len(X):
        _compiled("curve", X.dtype)(X, s, P, U, c, XG, sums)
    return sums, XG


def _checked(X, y, s, U, c, P):
    if not (X.flags.c_contiguous and X.flags.aligned):
        X = np.ascontiguousarray(X)
    s = np.empty(0) if s is None else s
    y, s, U, c = (np.ascontiguousarray(a, dtype=np.float64) for a in (y, s, U, c))
    (n, p), K = X.shape, len(c)
    good = P.shape == (n, K) and P.dtype == np.float64 and P.flags.carray
    if y.shape != (n,) or s.shape not in ((n,), (0,)) or U.shape != (K, p) or not good:
        raise ValueError(f"X {X.shape}, y {y.shape}, s {s.shape}, U {U.shape}, P {P.shape} differ")
    return X, y, s, U, c


_KERNELS = {"first": _first, "curve": _curve}


@cache
def _compiled(name, dtype):
    """The machine code for float32 and float64 rows, which may be read-only."""
    if dtype not in (np.float32, np.float64):
        raise TypeError(f"X must be float32 or float64, not {dtype}")
    scalar = types.float32 if dtype == np.float32 else types.float64
    x = types.Array(scalar, 2, "C", readonly=True)
    vector, matrix = (types.Array(types.float64, d, "C", readonly=True) for d in (1, 2))
    v, m = types.float64[::1], types.float64[:, ::1]
    arguments = {
        "first": (x, vector, vector, matrix, vector, m, m, v),
        "curve": (x, vector, matrix, matrix, vector, m, v),
    }[name]
    return _KERNELS[name].compile(types.void(*arguments))


def warm() -> None:
    """Compile every kind, or load it from disk."""
    for name in _KERNELS:
        for dtype in (np.float32, np.float64):
            _compiled(name, np.dtype(dtype))
