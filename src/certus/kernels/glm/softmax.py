"""The softmax loss of dense rows and its derivatives, each row read once.

    z = Ux + c,  P = softmax(z):   value log Σ_k exp(z_k) − z_y,   slope P − e_y,
    curvature·t = P∘(t − Pᵀt) for t = Ux + c

and Σ s g xᵀ of the results, for each class. Chunks of rows stay in cache between their two
products. For up to a few dozen classes; beyond, BLAS is faster.
"""

import math
from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel
from certus.kernels._elementary import exp_below

LOG2 = math.log(2.0)


CHUNK_ROWS = 32  # stay in cache between their two products


@kernel
def _scores(X, i, rows, U, c, Z):
    """Set Z = Ux + c of rows from i on, four rows and two classes at a time."""
    n, p = X.shape
    K = len(U)
    for r in range(0, rows, 4):
        # rows past the end repeat the last row, with weight 0
        x0, x1 = X[i + r], X[min(i + r + 1, n - 1)]
        x2, x3 = X[min(i + r + 2, n - 1)], X[min(i + r + 3, n - 1)]
        for k in range(0, K, 2):
            l = min(k + 1, K - 1)
            u, v = U[k], U[l]
            t0, t1, t2, t3 = c[k], c[k], c[k], c[k]
            q0, q1, q2, q3 = c[l], c[l], c[l], c[l]
            for j in range(p):
                t0 += x0[j] * u[j]
                t1 += x1[j] * u[j]
                t2 += x2[j] * u[j]
                t3 += x3[j] * u[j]
                q0 += x0[j] * v[j]
                q1 += x1[j] * v[j]
                q2 += x2[j] * v[j]
                q3 += x3[j] * v[j]
            Z[k, r], Z[k, r + 1], Z[k, r + 2], Z[k, r + 3] = t0, t1, t2, t3
            Z[l, r], Z[l, r + 1], Z[l, r + 2], Z[l, r + 3] = q0, q1, q2, q3


@kernel
def _add(X, i, rows, G, XG):
    """Add Σ g xᵀ to XG."""
    n, p = X.shape
    K = len(XG)
    for r in range(0, rows, 4):
        x0, x1 = X[i + r], X[min(i + r + 1, n - 1)]
        x2, x3 = X[min(i + r + 2, n - 1)], X[min(i + r + 3, n - 1)]
        for k in range(0, K - 1, 2):
            g, h = XG[k], XG[k + 1]
            g0, g1, g2, g3 = G[k, r], G[k, r + 1], G[k, r + 2], G[k, r + 3]
            h0, h1, h2, h3 = G[k + 1, r], G[k + 1, r + 1], G[k + 1, r + 2], G[k + 1, r + 3]
            for j in range(p):
                g[j] += g0 * x0[j] + g1 * x1[j] + g2 * x2[j] + g3 * x3[j]
                h[j] += h0 * x0[j] + h1 * x1[j] + h2 * x2[j] + h3 * x3[j]
        if K % 2 == 1:
            g = XG[K - 1]
            g0, g1, g2, g3 = G[K - 1, r], G[K - 1, r + 1], G[K - 1, r + 2], G[K - 1, r + 3]
            for j in range(p):
                g[j] += g0 * x0[j] + g1 * x1[j] + g2 * x2[j] + g3 * x3[j]


@kernel
def _first_order(X, y, s, U, c, P, XG, sums):
    n, K = P.shape
    Z, E, weight = np.zeros((K + 1, CHUNK_ROWS)), np.zeros((K, CHUNK_ROWS)), np.zeros(CHUNK_ROWS)
    largest, total, trace = np.zeros(CHUNK_ROWS), np.zeros(CHUNK_ROWS), Z[K]
    f, n_correct = 0.0, 0.0
    for i in range(0, n, CHUNK_ROWS):
        rows = min(CHUNK_ROWS, n - i)
        _scores(X, i, rows, U, c, Z)
        largest[:] = Z[0]
        for k in range(1, K):
            z = Z[k]
            for r in range(CHUNK_ROWS):
                largest[r] = max(largest[r], z[r])
        total[:] = 0.0
        trace[:] = 0.0
        for k in range(K):
            z, e = Z[k], E[k]
            for r in range(CHUNK_ROWS):
                e[r] = exp_below(z[r] - largest[r])
                total[r] += e[r]
        for r in range(rows):
            value = math.log(total[r]) - Z[np.intp(y[i + r]), r] + largest[r]
            weight[r] = s[i + r] if len(s) > 0 else 1.0
            f += weight[r] * value
            n_correct += 1.0 if value < LOG2 or weight[r] == 0 else 0.0
        weight[rows:] = 0.0
        for r in range(CHUNK_ROWS):
            total[r] = 1.0 / total[r]
        for k in range(K):
            z, e = Z[k], E[k]
            g, d = 0.0, 0.0
            for r in range(CHUNK_ROWS):
                e[r] *= total[r]
                z[r] = weight[r] * e[r]
                trace[r] += z[r] * (1.0 - e[r])
                g += z[r]
                d += z[r] * (1.0 - e[r])
            sums[2 + k] += g
            sums[2 + K + k] += d
        for r in range(rows):
            label, p = np.intp(y[i + r]), P[i + r]
            Z[label, r] -= weight[r]
            sums[2 + label] -= weight[r]
            for k in range(K):
                p[k] = E[k, r]
        _add(X, i, rows, Z, XG)
    sums[0] += f
    sums[1] += n_correct


@kernel
def _curvature(X, s, P, U, c, XG, sums):
    n, K = P.shape
    Z = np.zeros((K, CHUNK_ROWS))
    for i in range(0, n, CHUNK_ROWS):
        rows = min(CHUNK_ROWS, n - i)
        _scores(X, i, rows, U, c, Z)
        for r in range(rows):
            p, mean = P[i + r], 0.0
            for k in range(K):
                mean += p[k] * Z[k, r]
            weight = s[i + r] if len(s) > 0 else 1.0
            for k in range(K):
                Z[k, r] = weight * p[k] * (Z[k, r] - mean)
        Z[:, rows:] = 0.0
        for k in range(K):
            sums[k] += Z[k].sum()
        _add(X, i, rows, Z, XG)


def first_order(X, y, s, U, c, P) -> tuple[np.ndarray, np.ndarray]:
    """Fill P (n, K), and return sums and XG of one block.

    X: C order; y: class indices (n,); s (n,), or None; U (K, p), c (K,). Sums, in one array:
    Σ s value, number of rows with value below log 2 or weight 0, Σ s slope (K,), Σ s d (K,). XG
    (K + 1, p): Σ s slope xᵀ, and in the last row that of the curvature's trace.
    """
    X, y, s, U, c = _checked(X, y, s, U, c, P)
    K, p = U.shape
    if len(y) and not 0 <= y.min() <= y.max() < K:
        raise ValueError(f"y holds a class that is not below {K}")
    XG, sums = np.zeros((K + 1, p)), np.zeros(2 + 2 * K)
    if len(X):
        _compiled("first", X.dtype)(X, y, s, U, c, P, XG, sums)
    return sums, XG


def curvature(X, s, U, c, P) -> tuple[np.ndarray, np.ndarray]:
    """Return Σ s·curvature·t (K,) and Σ s·curvature·t xᵀ (K, p), t = Ux + c."""
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


_KERNELS = {"first": _first_order, "curve": _curvature}


@cache
def _compiled(name, dtype):
    """Return the machine code for float32 and float64 rows, which may be read-only."""
    scalar = float_type(dtype)
    x = types.Array(scalar, 2, "C", readonly=True)
    vector, matrix = (types.Array(types.float64, d, "C", readonly=True) for d in (1, 2))
    v, m = types.float64[::1], types.float64[:, ::1]
    arguments = {
        "first": (x, vector, vector, matrix, vector, m, m, v),
        "curve": (x, vector, matrix, matrix, vector, m, v),
    }[name]
    return _KERNELS[name].compile(types.void(*arguments))


def warm() -> None:
    """Compile every variant, or load it from disk."""
    for name in _KERNELS:
        for dtype in (np.float32, np.float64):
            _compiled(name, np.dtype(dtype))
