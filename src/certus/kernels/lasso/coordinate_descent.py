"""Cyclic coordinate descent on a quadratic model plus a separable penalty.

    v_j ← argmin_u ½h_j u² − a u + pen_j(u),   a = h_j v_j − q_j

    L1_L2        l1|u| + l2/2·u²:   S(a, l1)/(h + l2),   S(a, t) = sign(a)[|a| − t]₊
    NON_NEGATIVE the same over u ≥ 0:   [a − l1]₊/(h + l2)
    MCP          slope l1 − u/γ up to γl1, 0 beyond
    SCAD         slope l1 up to l1, (γl1 − u)/(γ − 1) up to γl1, 0 beyond

h_j is the model's curvature along coordinate j and q its slope at v, updated in one of three ways:
from the matrix H of the model (``gram_epochs``), or from the scores U = X v of the rows, with X
dense (``dense_epoch``) or sparse (``sparse_epoch``). There

    q_jk = Σ_i x_ij (R_ik + T_ik (U_ik + β_k − M_i)),    M_i = Σ_l P_il U_il   (0 for one score)

for feature j and class k: R are slopes of the rows, T∘(I − 1Pᵀ) their curvature. β is the response
of the intercept to a move of v: −mean, the T-weighted mean of the column.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import kernel, kernel_in_order

L1_L2, NON_NEGATIVE, MCP, SCAD = range(4)


@kernel_in_order
def _minimizer(a, h, l1, l2, code, gamma):
    """Return argmin_u ½hu² − au + pen(u); of two equal minimisers the smaller."""
    size = a if code == NON_NEGATIVE else abs(a)
    if not size > l1 and code != MCP and code != SCAD:
        return 0.0
    u = (size - l1) / (h + l2)
    if code == MCP:
        u = _minimizer_mcp(size, h, l1, gamma)
    elif code == SCAD:
        u = _minimizer_scad(size, h, l1, gamma)
    return -u if a < 0.0 else u


@kernel_in_order
def _minimizer_mcp(a, h, l, gamma):
    flat = max(a / h, gamma * l)  # minimiser where the penalty is constant
    if h * gamma > 1.0:
        if a <= l:
            return 0.0
        return a / h if a > gamma * l * h else (a - l) / (h - 1.0 / gamma)
    # concave in between: the minimum is at one of the ends
    return flat if h / 2.0 * flat * flat - a * flat + gamma * l * l / 2.0 < 0.0 else 0.0


@kernel_in_order
def _minimizer_scad(a, h, l, gamma):
    best, least = 0.0, 0.0
    inner = min(max((a - l) / h, 0.0), l)  # minimiser where the slope is l
    value = h / 2.0 * inner * inner - (a - l) * inner
    if value < least:
        best, least = inner, value
    bend = h - 1.0 / (gamma - 1.0)
    if bend > 0.0:
        u = (a - gamma * l / (gamma - 1.0)) / bend
        if l < u <= gamma * l:
            pen = (2.0 * gamma * l * u - u * u - l * l) / (2.0 * (gamma - 1.0))
            value = h / 2.0 * u * u - a * u + pen
            if value < least:
                best, least = u, value
    flat = max(a / h, gamma * l)  # … and where it is 0
    value = h / 2.0 * flat * flat - a * flat + l * l * (gamma + 1.0) / 2.0
    return flat if value < least else best


@kernel
def _gram_epochs(H, q, v, order, l1, l2, code, gamma, epochs, gain_tol):
    gain = 0.0
    for _ in range(epochs):
        gain = 0.0
        for j in order:
            h = H[j, j]
            if not h > 0.0:
                continue
            new = _minimizer(h * v[j] - q[j], h, l1[j], l2[j], code, gamma)
            step = new - v[j]
            if step != 0.0:
                v[j] = new
                gain = max(gain, step * step * (h + l2[j]))
                H_j = H[j]
                for i in range(len(q)):
                    q[i] += step * H_j[i]
        if gain <= gain_tol:
            break
    return gain


@kernel_in_order
def _square(H, at, out):
    for i in range(len(at)):
        H_i, out_i = H[at[i]], out[i]
        for j in range(len(at)):
            out_i[j] = H_i[at[j]]


@kernel
def _dense_epoch(X, column, of_class, mean, h, order, R, T, P, U, M, beta, v, l1, l2, code, gamma):
    gain = 0.0
    coupled = len(R) > 1
    for t in order:
        if not h[t] > 0.0:
            continue
        k = of_class[t]
        x, R_k, T_k, P_k, U_k = X[column[t]], R[k], T[k], P[k], U[k]
        shift, q = beta[k], 0.0
        for i in range(len(x)):
            q += x[i] * (R_k[i] + T_k[i] * (U_k[i] + shift - M[i]))
        new = _minimizer(h[t] * v[t] - q, h[t], l1[t], l2[t], code, gamma)
        step = new - v[t]
        if step != 0.0:
            v[t] = new
            gain = max(gain, step * step * (h[t] + l2[t]))
            beta[k] -= step * mean[t]
            for i in range(len(x)):
                U_k[i] += step * x[i]
            if coupled:
                for i in range(len(x)):
                    M[i] += step * x[i] * P_k[i]
    return gain


@kernel_in_order
def _sparse_epoch(
    data,
    indices,
    indptr,
    column,
    of_class,
    mean,
    h,
    order,
    R,
    T,
    P,
    U,
    M,
    beta,
    v,
    l1,
    l2,
    code,
    gamma,
):
    gain = 0.0
    coupled = len(R) > 1
    for t in order:
        if not h[t] > 0.0:
            continue
        j, k = column[t], of_class[t]
        start, stop = np.uint64(indptr[j]), np.uint64(indptr[j + 1])
        R_k, T_k, P_k, U_k = R[k], T[k], P[k], U[k]
        shift, q = beta[k], 0.0
        for e in range(start, stop):
            i = np.uint64(indices[e])
            q += data[e] * (R_k[i] + T_k[i] * (U_k[i] + shift - M[i]))
        new = _minimizer(h[t] * v[t] - q, h[t], l1[t], l2[t], code, gamma)
        step = new - v[t]
        if step != 0.0:
            v[t] = new
            gain = max(gain, step * step * (h[t] + l2[t]))
            beta[k] -= step * mean[t]
            for e in range(start, stop):
                i = np.uint64(indices[e])
                U_k[i] += step * data[e]
                if coupled:
                    M[i] += step * data[e] * P_k[i]
    return gain


def gram_epochs(H, q, v, order, l1, l2, epochs, gain_tol, code=L1_L2, gamma=0.0) -> float:
    """Do up to ``epochs`` rounds over ``order``, updating v and q (the slope at v) in place.

    Returns the largest gain h·step² of the last round; a gain of at most ``gain_tol`` ends them.
    """
    m = len(v)
    if H.shape != (m, m) or not q.shape == l1.shape == l2.shape == (m,):
        raise ValueError(f"H {H.shape}, q {q.shape}, v {v.shape} do not match")
    _check_indices(order, m)
    return _compiled("gram")(
        H, q, v, order, l1, l2, int(code), float(gamma), int(epochs), float(gain_tol)
    )


def square(H, at) -> np.ndarray:
    """Return a copy of H[at, at]."""
    _check_indices(at, min(H.shape))
    out = np.empty((len(at), len(at)))
    _compiled("square")(H, at, out)
    return out


def dense_epoch(
    X, column, of_class, mean, h, order, R, T, P, U, M, beta, v, l1, l2, code=L1_L2, gamma=0.0
) -> float:
    """Do one round over ``order`` from X, (f, n): one row for each feature."""
    _check(*X.shape, column, of_class, mean, h, order, R, T, P, U, M, beta, v, l1, l2)
    return _compiled("dense")(
        X, column, of_class, mean, h, order, R, T, P, U, M, beta, v, l1, l2, int(code), float(gamma)
    )


def sparse_epoch(
    X, column, of_class, mean, h, order, R, T, P, U, M, beta, v, l1, l2, code=L1_L2, gamma=0.0
) -> float:
    """Do one round over ``order`` from X, (n, f), in CSC: float64, valid int32 indices."""
    n, f = X.shape
    _check(f, n, column, of_class, mean, h, order, R, T, P, U, M, beta, v, l1, l2)
    return _compiled("sparse")(
        X.data, X.indices, X.indptr,
        column, of_class, mean, h, order, R, T, P, U, M, beta, v, l1, l2, int(code), float(gamma),
    )  # fmt: skip


def _check(f, n, column, of_class, mean, h, order, R, T, P, U, M, beta, v, l1, l2) -> None:
    K, m = len(R), len(v)
    _check_indices(column, f)
    _check_indices(of_class, K)
    _check_indices(order, m)
    matrices = all(a.shape == (K, n) for a in (R, T, P, U))
    vectors = all(a.shape == (m,) for a in (column, of_class, mean, h, l1, l2))
    if not matrices or not vectors or M.shape != (n,) or beta.shape != (K,):
        raise ValueError(f"arrays of {n} rows, {K} classes, {m} coordinates do not match")


def _check_indices(index, size) -> None:
    if len(index) and (index.min() < 0 or index.max() >= size):
        raise ValueError(f"an index is outside 0 … {size - 1}")


_KERNELS = {"gram": _gram_epochs, "square": _square, "dense": _dense_epoch, "sparse": _sparse_epoch}


@cache
def _compiled(name):
    """Compile a kernel for its only signature: working sets are C-order float64 copies."""
    real, whole = types.float64, types.intp
    v, m = real[::1], real[:, ::1]
    read = types.Array(whole, 1, "C", readonly=True)
    entry = types.Array(types.int32, 1, "C", readonly=True)
    pairs = (read, read, v, v, read, m, m, m, m, v, v, v, v, v, whole, real)
    signature = {
        "gram": (m, v, v, read, v, v, whole, real, whole, real),
        "square": (m, read, m),
        "dense": (m, *pairs),
        "sparse": (v, entry, entry, *pairs),
    }[name]
    returned = types.none if name == "square" else real
    return _KERNELS[name].compile(returned(*signature))


def warm() -> None:
    """Compile every kernel, or load it from disk."""
    for name in _KERNELS:
        _compiled(name)
