"""Stochastic gradient descent over rows in the given order, with a step after each batch.

    g = (1/B) Σ_{i in batch} s_i ∂ℓ/∂z_i x_i + λw
    w ← w − αg                           without momentum
    v ← βv + g,   w ← w − αv             with it
    T ← T + w                            for averages

The intercept is the coefficient of a constant 1, without λ.

For sparse rows only the stored entries are touched. Without momentum w = a·W with one factor a for
all columns: λ changes only a, and T = A·W + U, where A sums a. With momentum every column follows
the same recurrence,

    (v, w, T) ← M (v, w, T) + (1, −α, −α)·γ,   γ the losses' part of g,

so (v, w, T) = Π (V, W, U) with Π the product of the M so far, and γ enters as Π⁻¹(1, −α, −α)γ.
det Π = β^t falls: before that costs digits, Π is multiplied out and reset to the identity.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel, kernel_in_order
from certus.kernels._slopes import check_scores, slope, slopes

MIN_SCALE = 1e-4  # of a and det Π; below it, they are multiplied out before digits are lost


@kernel
def _dense(X, y, s, alphas, batch, code, delta, lam, beta, free, W, b, V, vb, T, tb, G):
    """Make one pass over dense rows. W, V, T: (K, p)."""
    K, p = W.shape
    n, averaged = len(X), len(T) > 0
    for t in range(len(alphas)):
        alpha, first, last = alphas[t], t * batch, min(n, (t + 1) * batch)
        for i in range(first, last):
            x, g = X[i], G[i - first]
            for k in range(K):
                w, z = W[k], b[k]
                for j in range(p):
                    z += x[j] * w[j]
                g[k] = z
            slopes(code, delta, y[i], g)
            weight = (s[i] if len(s) > 0 else 1.0) / (last - first)
            for k in range(K):
                g[k] *= weight
        for k in range(K):
            w, v, total = W[k], V[k], 0.0
            for i in range(first, last):
                x, g = X[i], G[i - first, k]
                total += g
                if beta == 0:
                    shrink, step = 1.0 - alpha * lam if i == first else 1.0, alpha * g
                    for j in range(p):
                        w[j] = shrink * w[j] - step * x[j]
                elif i == first:
                    for j in range(p):
                        v[j] = beta * v[j] + lam * w[j] + g * x[j]
                else:
                    for j in range(p):
                        v[j] += g * x[j]
            if beta != 0:
                for j in range(p):
                    w[j] -= alpha * v[j]
            vb[k] = beta * vb[k] + total
            b[k] -= free * alpha * vb[k]
            if averaged:
                tb[k] += b[k]
                for j in range(p):
                    T[k, j] += w[j]


@kernel_in_order
def _score(data, indices, start, stop, W, k):
    z = 0.0
    for e in range(start, stop):
        z += data[e] * W[np.uint64(indices[e]), k]
    return z


@kernel_in_order
def _sparse(
    data, indices, indptr, y, s, alphas, batch, code, delta, lam, free, W, b, T, tb, G
):  # fmt: skip
    """Make one pass over sparse rows, without momentum. W, T: (p, K)."""
    K, n, averaged = W.shape[1], len(indptr) - 1, len(T) > 0
    a, A = 1.0, 0.0
    for t in range(len(alphas)):
        alpha, first, last = alphas[t], t * batch, min(n, (t + 1) * batch)
        for i in range(first, last):
            g = G[i - first]
            start, stop = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
            for k in range(K):
                g[k] = a * _score(data, indices, start, stop, W, k) + b[k]
            slopes(code, delta, y[i], g)
            weight = (s[i] if len(s) > 0 else 1.0) / (last - first)
            for k in range(K):
                g[k] *= weight
        a *= 1.0 - alpha * lam
        if abs(a) < MIN_SCALE:
            if averaged:
                T += A * W
                A = 0.0
            W *= a
            a = 1.0
        for i in range(first, last):
            start, stop = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
            for k in range(K):
                g = G[i - first, k]
                step = alpha * g / a
                b[k] -= free * alpha * g
                for e in range(start, stop):
                    W[np.uint64(indices[e]), k] -= step * data[e]
                if averaged:
                    for e in range(start, stop):
                        T[np.uint64(indices[e]), k] += A * step * data[e]
        if averaged:
            A += a
            tb += b
    if averaged:
        T += A * W
    W *= a


@kernel_in_order
def _sparse_plain(data, indices, indptr, y, s, alphas, code, delta, lam, free, W, b):
    """``_sparse`` for one score and batches of one row, without averages: W is (p,)."""
    a, c = 1.0, b[0]
    for i in range(len(alphas)):
        alpha = alphas[i]
        start, stop = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        z = 0.0
        for e in range(start, stop):
            z += data[e] * W[np.uint64(indices[e])]
        g = slope(code, delta, y[i], a * z + c)
        g *= s[i] if len(s) > 0 else 1.0
        a *= 1.0 - alpha * lam
        if abs(a) < MIN_SCALE:
            W *= a
            a = 1.0
        step = alpha * g / a
        c -= free * alpha * g
        for e in range(start, stop):
            W[np.uint64(indices[e])] -= step * data[e]
    W *= a
    b[0] = c


@kernel_in_order
def _sparse_momentum(
    data, indices, indptr, y, s, alphas, batch, code, delta, lam, beta, free,
    W, b, V, vb, T, tb, G,
):  # fmt: skip
    """Make one pass over sparse rows, with momentum. W, V, T: (p, K)."""
    K, n, averaged = W.shape[1], len(indptr) - 1, len(T) > 0
    # Π = [[vv, vw, 0], [wv, ww, 0], [tv, tw, 1]]
    vv, vw, wv, ww, tv, tw, det = 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0
    for t in range(len(alphas)):
        alpha, first, last = alphas[t], t * batch, min(n, (t + 1) * batch)
        for i in range(first, last):
            g = G[i - first]
            start, stop = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
            for k in range(K):
                of_v = _score(data, indices, start, stop, V, k)
                g[k] = wv * of_v + ww * _score(data, indices, start, stop, W, k) + b[k]
            slopes(code, delta, y[i], g)
            weight = (s[i] if len(s) > 0 else 1.0) / (last - first)
            for k in range(K):
                g[k] *= weight
        if abs(det * beta) < MIN_SCALE:
            _multiply_out(vv, vw, wv, ww, tv, tw, V, W, T)
            vv, vw, wv, ww, tv, tw, det = 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0
        vv, vw = beta * vv + lam * wv, beta * vw + lam * ww
        wv, ww = wv - alpha * vv, ww - alpha * vw
        tv, tw, det = tv + wv, tw + ww, det * beta
        # Π⁻¹(1, −α, −α)
        q0 = (ww + alpha * vw) / det
        q1 = (-wv - alpha * vv) / det
        q2 = -alpha - tv * q0 - tw * q1
        for k in range(K):
            vb[k] *= beta
        for i in range(first, last):
            start, stop = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
            for k in range(K):
                g = G[i - first, k]
                vb[k] += g
                for e in range(start, stop):
                    j, gx = np.uint64(indices[e]), g * data[e]
                    V[j, k] += q0 * gx
                    W[j, k] += q1 * gx
                    if averaged:
                        T[j, k] += q2 * gx
        for k in range(K):
            b[k] -= free * alpha * vb[k]
            if averaged:
                tb[k] += b[k]
    _multiply_out(vv, vw, wv, ww, tv, tw, V, W, T)


@kernel_in_order
def _multiply_out(vv, vw, wv, ww, tv, tw, V, W, T):
    for j in range(len(W)):
        for k in range(W.shape[1]):
            v, w = V[j, k], W[j, k]
            V[j, k], W[j, k] = vv * v + vw * w, wv * v + ww * w
            if len(T) > 0:
                T[j, k] += tv * v + tw * w


def descend(X, y, s, alphas, batch, loss, lam, beta, free, theta, velocity, total) -> None:
    """Make one pass over the rows, and update theta = (W, b), velocity and total in place.

    X: C order, or sparse in CSR. W is (K, p) for dense rows and (p, K) for sparse ones. ``alphas``:
    a step length for each batch. ``loss``: (code, δ). ``total``: None if no average is needed.
    """
    n, p = X.shape
    dense = isinstance(X, np.ndarray)
    (W, b), (V, vb) = theta, velocity
    K = W.shape[0 if dense else 1]
    T, tb = (np.empty((0, W.shape[1])), np.empty(0)) if total is None else total
    s = np.empty(0) if s is None else s
    shape = (K, p) if dense else (p, K)
    if W.shape != shape or V.shape != shape or len(b) != K or len(vb) != K:
        raise ValueError(f"X {X.shape}, W {W.shape}, V {V.shape}, b {b.shape} do not match")
    if total is not None and (T.shape != shape or len(tb) != K):
        raise ValueError(f"W {W.shape} and its sum {T.shape} do not match")
    if len(y) != n or len(s) not in (0, n) or batch < 1 or len(alphas) != -(-n // batch):
        raise ValueError(
            f"{n} rows, {len(y)} targets, {len(s)} weights, {len(alphas)} steps of batches of "
            f"{batch} do not match"
        )
    code, delta = loss
    check_scores(code, y, K)
    G = np.empty((min(batch, max(n, 1)), K))
    settings = batch, code, float(delta), float(lam)
    if dense:
        run = _compiled("dense", X.dtype, None)
        run(X, y, s, alphas, *settings, float(beta), float(free), W, b, V, vb, T, tb, G)
        return
    entries = X.data, X.indices, X.indptr
    if K == 1 and batch == 1 and not beta and total is None:
        run = _compiled("plain", X.data.dtype, X.indices.dtype)
        run(*entries, y, s, alphas, code, float(delta), float(lam), float(free), W[:, 0], b)
        return
    name = "momentum" if beta else "sparse"
    run = _compiled(name, X.data.dtype, X.indices.dtype)
    if beta:
        run(*entries, y, s, alphas, *settings, float(beta), float(free), W, b, V, vb, T, tb, G)
    else:
        run(*entries, y, s, alphas, *settings, float(free), W, b, T, tb, G)


_KERNELS = {"dense": _dense, "sparse": _sparse, "momentum": _sparse_momentum}


@cache
def _compiled(name, number, index):
    scalar, f = float_type(number), types.float64

    def read(of, d):
        return types.Array(of, d, "C", readonly=True)

    vector, v, m = read(f, 1), f[::1], f[:, ::1]
    beside = vector, vector, vector, types.intp, types.intp, f, f
    state = {"sparse": (m, v, m, v, m)}.get(name, (m, v, m, v, m, v, m))
    if name == "dense":
        return _dense.compile(types.void(read(scalar, 2), *beside, f, f, *state))
    whole = types.int32 if index == np.int32 else types.int64
    entries = read(scalar, 1), read(whole, 1), read(whole, 1)
    if name == "plain":
        return _sparse_plain.compile(
            types.void(*entries, vector, vector, vector, types.intp, f, f, f, v, v)
        )
    extra = (f, f) if name == "momentum" else (f,)
    return _KERNELS[name].compile(types.void(*entries, *beside, *extra, *state))


def warm() -> None:
    """Compile every variant, or load it from disk."""
    for number in (np.float32, np.float64):
        _compiled("dense", np.dtype(number), None)
        for index in (np.int32, np.int64):
            for name in ("plain", "sparse", "momentum"):
                _compiled(name, np.dtype(number), np.dtype(index))
