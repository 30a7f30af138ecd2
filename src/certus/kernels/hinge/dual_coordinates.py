"""Coordinate steps and conjugate gradients on the dual of the hinge loss.

    min ½‖θ‖² − Σα,   θ = Σ_i α_i y_i x̂_i,   0 ≤ α_i ≤ u_i        x̂ = (x, c),  q_i = ‖x̂_i‖²

    epoch:  α_i ← clip(α_i − g_i/q_i, 0, u_i),   g_i = y_i x̂_iᵀθ − 1,   and θ is updated
    face:   r −= step·y x̂ᵀv,   z = r/q,   V += Σ y z x̂      (a step of conjugate gradients)

Rows that cannot move are dropped from an epoch: α = 0 and g above the largest projected gradient of
the previous epoch, or α = u and g below the smallest. Each epoch shuffles the rows by xorshift64,
whose state is kept between calls. Every sum is float64.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel, kernel_in_order


@kernel_in_order
def _shuffle(active, state):
    x = state[0]
    for i in range(len(active) - 1, 0, -1):
        x ^= x << np.uint64(13)
        x ^= x >> np.uint64(7)
        x ^= x << np.uint64(17)
        j = np.int64(x % np.uint64(i + 1))
        active[i], active[j] = active[j], active[i]
    state[0] = x


@kernel_in_order
def _is_fixed(alpha, u, g, limits):
    """Return whether a row at a bound cannot move, by the limits of the last epoch."""
    return (alpha <= 0.0 and g > limits[0]) or (alpha >= u and g < limits[1])


@kernel_in_order
def _projected(alpha, u, g):
    if alpha <= 0.0:
        return min(g, 0.0)
    return max(g, 0.0) if alpha >= u else g


@kernel
def _dense_epoch(X, y, u, q, c, alpha, theta, active, state, limits):
    _shuffle(active, state)
    p = X.shape[1]
    n_active, at, largest, least = len(active), 0, 0.0, 0.0
    while at < n_active:
        i = active[at]
        x, z = X[i], c * theta[p]
        for j in range(p):
            z += x[j] * theta[j]
        g = y[i] * z - 1.0
        if _is_fixed(alpha[i], u[i], g, limits):
            n_active -= 1
            active[at], active[n_active] = active[n_active], i
            continue
        projected = _projected(alpha[i], u[i], g)
        largest, least = max(largest, projected), min(least, projected)
        if projected != 0.0:
            new = min(max(alpha[i] - g / q[i], 0.0), u[i])
            step = (new - alpha[i]) * y[i]
            alpha[i] = new
            theta[p] += step * c
            for j in range(p):
                theta[j] += step * x[j]
        at += 1
    limits[0], limits[1] = largest, least
    return n_active


@kernel_in_order
def _sparse_epoch(data, indices, indptr, y, u, q, c, alpha, theta, active, state, limits):
    _shuffle(active, state)
    last = np.uint64(len(theta) - 1)
    n_active, at, largest, least = len(active), 0, 0.0, 0.0
    while at < n_active:
        i = active[at]
        start, stop = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        z = c * theta[last]
        for e in range(start, stop):
            z += float(data[e]) * theta[np.uint64(indices[e])]
        g = y[i] * z - 1.0
        if _is_fixed(alpha[i], u[i], g, limits):
            n_active -= 1
            active[at], active[n_active] = active[n_active], i
            continue
        projected = _projected(alpha[i], u[i], g)
        largest, least = max(largest, projected), min(least, projected)
        if projected != 0.0:
            new = min(max(alpha[i] - g / q[i], 0.0), u[i])
            step = (new - alpha[i]) * y[i]
            alpha[i] = new
            theta[last] += step * c
            for e in range(start, stop):
                theta[np.uint64(indices[e])] += step * float(data[e])
        at += 1
    limits[0], limits[1] = largest, least
    return n_active


@kernel
def _dense_face(X, y, q, c, rows, v, step, r, z, V):
    p, total, rz = X.shape[1], 0.0, 0.0
    for k in range(len(rows)):
        i = rows[k]
        x, t = X[i], c * v[p]
        for j in range(p):
            t += x[j] * v[j]
        r[k] -= step * y[i] * t
        z[k] = r[k] / q[i]
        rz += r[k] * z[k]
        signed = y[i] * z[k]
        total += signed
        for j in range(p):
            V[j] += signed * x[j]
    V[p] += c * total
    return rz


@kernel_in_order
def _sparse_face(data, indices, indptr, y, q, c, rows, v, step, r, z, V):
    last, total, rz = np.uint64(len(v) - 1), 0.0, 0.0
    for k in range(len(rows)):
        i = rows[k]
        start, stop = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        t = c * v[last]
        for e in range(start, stop):
            t += float(data[e]) * v[np.uint64(indices[e])]
        r[k] -= step * y[i] * t
        z[k] = r[k] / q[i]
        rz += r[k] * z[k]
        signed = y[i] * z[k]
        total += signed
        for e in range(start, stop):
            V[np.uint64(indices[e])] += signed * float(data[e])
    V[last] += c * total
    return rz


def epoch(X, y, u, q, c, alpha, theta, active, state, limits) -> int:
    """Make one epoch over ``active`` (int64 row indices), and return how many stay active.

    ``active`` is reordered, with those first. X: C order, or a CSR with data, indices and indptr.
    α (n,), θ (p+1,), ``state`` (uint64, not 0) and ``limits``, the largest and smallest projected
    gradient, are changed.
    """
    n, p = X.shape
    _check(n, y=y, u=u, q=q, alpha=alpha)
    _check(p + 1, theta=theta)
    _check_rows(active, n)
    if state.shape != (1,) or state.dtype != np.uint64 or limits.shape != (2,):
        raise ValueError("need a state of one uint64 and two limits")
    return _compiled("epoch", *_kinds(X))(
        *_parts(X), y, u, q, float(c), alpha, theta, active, state, limits
    )


def face(X, y, q, c, rows, v, step, r, z, V) -> float:
    """Return Σ rz after the step; r and z (one for each of ``rows``) and V (p+1,) are changed."""
    n, p = X.shape
    _check(n, y=y, q=q)
    _check(p + 1, v=v, V=V)
    _check(len(rows), r=r, z=z)
    _check_rows(rows, n)
    return _compiled("face", *_kinds(X))(*_parts(X), y, q, float(c), rows, v, float(step), r, z, V)


def _check(length, **arrays) -> None:
    for name, a in arrays.items():
        if a.shape != (length,) or a.dtype != np.float64 or not a.flags.c_contiguous:
            raise ValueError(f"need {name} of {length} contiguous float64, not {a.shape} {a.dtype}")


def _check_rows(rows, n) -> None:
    good = rows.ndim == 1 and rows.dtype == np.int64 and rows.flags.c_contiguous
    if not good or (len(rows) and not 0 <= rows.min() <= rows.max() < n):
        raise ValueError(f"need int64 indices of {n} rows")


def _parts(X):
    return (X,) if isinstance(X, np.ndarray) else (X.data, X.indices, X.indptr)


def _kinds(X):
    if not isinstance(X, np.ndarray):
        return X.data.dtype, X.indices.dtype
    if not X.flags.c_contiguous:
        raise ValueError("need X in C order")
    return X.dtype, None


_KERNELS = {
    ("epoch", True): _dense_epoch,
    ("epoch", False): _sparse_epoch,
    ("face", True): _dense_face,
    ("face", False): _sparse_face,
}


@cache
def _compiled(name, number, index):
    """Return the machine code for {float32, float64} rows, dense or with {int32, int64} indices."""
    scalar = float_type(number)

    def read(of, d=1):
        return types.Array(of, d, "C", readonly=True)

    if index is None:
        entries = (read(scalar, 2),)
    else:
        whole = types.int32 if index == np.int32 else types.int64
        entries = read(scalar), read(whole), read(whole)
    f, v, vector = types.float64, types.float64[::1], read(types.float64)
    if name == "epoch":
        changed = v, v, types.int64[::1], types.uint64[::1], v
        of = types.int64(*entries, vector, vector, vector, f, *changed)
    else:
        of = f(*entries, vector, vector, f, read(types.int64), vector, f, v, v, v)
    return _KERNELS[name, index is None].compile(of)


def warm() -> None:
    """Compile every variant, or load it from disk."""
    for name, is_dense in _KERNELS:
        for number in (np.float32, np.float64):
            for index in (None,) if is_dense else (np.int32, np.int64):
                _compiled(name, np.dtype(number), None if index is None else np.dtype(index))
