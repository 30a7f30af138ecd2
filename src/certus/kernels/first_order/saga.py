"""SAGA: steps by one row's gradient, corrected by the stored gradients of all rows.

    d = s_i (∂ℓ/∂z_i − g_i),  g_i ← ∂ℓ/∂z_i        g_i: the slope when row i was last drawn
    w ← (1 − γλ)w − γ(d x_i + A),   A ← A + d x_i/n        A = (1/n) Σ s_i g_i x_i

For sparse rows only the stored entries are touched: w = a·W with one factor a for all columns,
which λ changes, and a column that was not touched for some steps is updated by A times the sum of
γ/a over them (Schmidt, Le Roux and Bach 2017, section 4).
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel, kernel_in_order
from certus.kernels._slopes import check_scores, slopes

MIN_SCALE = 1e-6  # of a; below it, a is multiplied into W before more digits are lost


@kernel
def _dense(X, y, s, rows, gamma, code, delta, lam, free, W, b, A, ab, table, g):
    """Make one pass over dense rows. W, A: (K, p); row r of X is rows[r] of ``table`` (n, K)."""
    K, p = W.shape
    n, shrink = len(table), 1.0 - gamma * lam
    for r in range(len(X)):
        x, stored_slope = X[r], table[rows[r]]
        weight = s[r] if len(s) > 0 else 1.0
        for k in range(K):
            w, z = W[k], b[k]
            for j in range(p):
                z += x[j] * w[j]
            g[k] = z
        slopes(code, delta, y[r], g)
        for k in range(K):
            d = weight * (g[k] - stored_slope[k])
            stored_slope[k] = g[k]
            w, mean, share = W[k], A[k], d / n
            for j in range(p):
                w[j] = shrink * w[j] - gamma * (d * x[j] + mean[j])
                mean[j] += share * x[j]
            b[k] -= free * gamma * (d + ab[k])
            ab[k] += share


@kernel_in_order
def _sparse(
    data, indices, indptr, y, s, rows, gamma, code, delta, lam, free, W, b, A, ab, table, g, last
):  # fmt: skip
    """Make one pass over sparse rows. W, A: (p, K).

    ``last`` (p,): the sum of γ/a when a column was last touched; 0 initially.
    """
    K, n, shrink = W.shape[1], len(table), 1.0 - gamma * lam
    a, c = 1.0, 0.0
    for r in range(len(rows)):
        stored_slope = table[rows[r]]
        start, stop = np.uint64(indptr[r]), np.uint64(indptr[r + 1])
        weight = s[r] if len(s) > 0 else 1.0
        if a * shrink < MIN_SCALE:
            for j in range(len(last)):
                for k in range(K):
                    W[j, k] = a * (W[j, k] - (c - last[j]) * A[j, k])
            last[:] = 0.0
            a, c = 1.0, 0.0
        for k in range(K):
            z = 0.0
            for e in range(start, stop):
                j = np.uint64(indices[e])
                w = W[j, k] - (c - last[j]) * A[j, k]
                W[j, k] = w
                z += data[e] * w
            g[k] = a * z + b[k]
        slopes(code, delta, y[r], g)
        a *= shrink
        step = gamma / a
        c += step
        for k in range(K):
            d = weight * (g[k] - stored_slope[k])
            stored_slope[k] = g[k]
            share = d / n
            for e in range(start, stop):
                j, x = np.uint64(indices[e]), data[e]
                W[j, k] -= step * (A[j, k] + d * x)
                A[j, k] += share * x
                last[j] = c
            b[k] -= free * gamma * (d + ab[k])
            ab[k] += share
    for j in range(len(last)):
        for k in range(K):
            W[j, k] = a * (W[j, k] - (c - last[j]) * A[j, k])


def descend(X, y, s, rows, gamma, loss, lam, free, theta, mean, table) -> None:
    """Make one pass over the rows; update theta = (W, b), mean = (A, A of b) and table in place.

    X: C order, or sparse in CSR, with row r being row rows[r] of ``table``. W and A are (K, p) for
    dense rows and (p, K) for sparse ones. ``loss``: (code, δ). γλ must be below 1.
    """
    n, p = X.shape
    dense = isinstance(X, np.ndarray)
    (W, b), (A, ab) = theta, mean
    K = W.shape[0 if dense else 1]
    shape = (K, p) if dense else (p, K)
    s = np.empty(0) if s is None else s
    if W.shape != shape or A.shape != shape or len(b) != K or len(ab) != K or table.shape[1] != K:
        raise ValueError(f"X {X.shape}, W {W.shape}, A {A.shape}, table {table.shape} do not match")
    if len(y) != n or len(s) not in (0, n) or len(rows) != n:
        raise ValueError(
            f"{n} rows, {len(y)} targets, {len(s)} weights, {len(rows)} numbers do not match"
        )
    if n and not 0 <= rows.min() <= rows.max() < len(table):
        raise ValueError(f"row indices beyond the {len(table)} rows of the table")
    if not gamma * lam < 1:
        raise ValueError(f"a step of {gamma} is too long for λ = {lam}")
    code, delta = loss
    check_scores(code, y, K)
    settings = float(gamma), code, float(delta), float(lam), float(free)
    state = W, b, A, ab, table, np.empty(K)
    if dense:
        _compiled("dense", X.dtype, None)(X, y, s, rows, *settings, *state)
        return
    run = _compiled("sparse", X.data.dtype, X.indices.dtype)
    run(X.data, X.indices, X.indptr, y, s, rows, *settings, *state, np.zeros(p))


@cache
def _compiled(name, number, index):
    scalar, f = float_type(number), types.float64

    def read(of, d):
        return types.Array(of, d, "C", readonly=True)

    v, m = f[::1], f[:, ::1]
    beside = read(f, 1), read(f, 1), read(types.intp, 1), f, types.intp, f, f, f, m, v, m, v, m, v
    if name == "dense":
        return _dense.compile(types.void(read(scalar, 2), *beside))
    whole = types.int32 if index == np.int32 else types.int64
    entries = read(scalar, 1), read(whole, 1), read(whole, 1)
    return _sparse.compile(types.void(*entries, *beside, v))


def warm() -> None:
    """Compile every variant, or load it from disk."""
    for number in (np.float32, np.float64):
        _compiled("dense", np.dtype(number), None)
        for index in (np.int32, np.int64):
            _compiled("sparse", np.dtype(number), np.dtype(index))
