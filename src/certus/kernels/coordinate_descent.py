"""Coordinate descent on a quadratic model plus Σ l1|v| + l2/2·v², one coordinate after another.

    v_j ← S(h_j v_j − q_j, l1_j)/(h_j + l2_j),     S(a, t) = sign(a)[|a| − t]₊

h_j is the model's curvature along coordinate j and q its slope at v, kept up to date in one of
three ways: by the matrix H of the model (``gram_epochs``), or by the scores U = X v of the rows,
with X dense (``dense_epoch``) or sparse (``sparse_epoch``). There

    q_jk = Σ_i x_ij (R_ik + T_ik (U_ik + β_k − M_i)),    M_i = Σ_l P_il U_il   (0 for one score)

for feature j and class k: R are slopes of the rows, T∘(I − 1Pᵀ) their curvature. β carries what an
intercept answers to a move of v: −mean, the T-weighted mean of the column.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import kernel, kernel_in_order


@kernel
def _gram_epochs(H, q, v, order, l1, l2, epochs, enough):
    moved = 0.0
    for _ in range(epochs):
        moved = 0.0
        for j in order:
            h = H[j, j]
            if not h > 0.0:
                continue
            a = h * v[j] - q[j]
            size = abs(a) - l1[j]
            new = 0.0
            if size > 0.0:
                new = (size if a > 0.0 else -size) / (h + l2[j])
            step = new - v[j]
            if step != 0.0:
                v[j] = new
                moved = max(moved, step * step * (h + l2[j]))
                H_j = H[j]
                for i in range(len(q)):
                    q[i] += step * H_j[i]
        if moved <= enough:
            break
    return moved


@kernel
def _dense_epoch(X, column, of_class, mean, h, order, R, T, P, U, M, beta, v, l1, l2):
    moved = 0.0
    coupled = len(R) > 1
    for t in order:
        if not h[t] > 0.0:
            continue
        k = of_class[t]
        x, R_k, T_k, P_k, U_k = X[column[t]], R[k], T[k], P[k], U[k]
        shift, q = beta[k], 0.0
        for i in range(len(x)):
            q += x[i] * (R_k[i] + T_k[i] * (U_k[i] + shift - M[i]))
        a = h[t] * v[t] - q
        size = abs(a) - l1[t]
        new = 0.0
        if size > 0.0:
            new = (size if a > 0.0 else -size) / (h[t] + l2[t])
        step = new - v[t]
        if step != 0.0:
            v[t] = new
            moved = max(moved, step * step * (h[t] + l2[t]))
            beta[k] -= step * mean[t]
            for i in range(len(x)):
                U_k[i] += step * x[i]
            if coupled:
                for i in range(len(x)):
                    M[i] += step * x[i] * P_k[i]
    return moved


@kernel_in_order
def _sparse_epoch(
    data, indices, indptr, column, of_class, mean, h, order, R, T, P, U, M, beta, v, l1, l2
):
    moved = 0.0
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
        a = h[t] * v[t] - q
        size = abs(a) - l1[t]
        new = 0.0
        if size > 0.0:
            new = (size if a > 0.0 else -size) / (h[t] + l2[t])
        step = new - v[t]
        if step != 0.0:
            v[t] = new
            moved = max(moved, step * step * (h[t] + l2[t]))
            beta[k] -= step * mean[t]
            for e in range(start, stop):
                i = np.uint64(indices[e])
                U_k[i] += step * data[e]
                if coupled:
                    M[i] += step * data[e] * P_k[i]
    return moved


def gram_epochs(H, q, v, order, l1, l2, epochs, enough) -> float:
    """Up to ``epochs`` rounds over the coordinates in ``order``, in place: v, and q = slope at v.

    The largest gain h·step² of the last round is the answer; one below ``enough`` ends them.
    """
    m = len(v)
    if H.shape != (m, m) or not q.shape == l1.shape == l2.shape == (m,):
        raise ValueError(f"H {H.shape}, q {q.shape}, v {v.shape} do not match")
    _inside(order, m)
    return _compiled("gram")(H, q, v, order, l1, l2, int(epochs), float(enough))


def dense_epoch(X, column, of_class, mean, h, order, R, T, P, U, M, beta, v, l1, l2) -> float:
    """One round over ``order`` by the rows of X (f, n): one row for each feature."""
    _check(*X.shape, column, of_class, mean, h, order, R, T, P, U, M, beta, v, l1, l2)
    return _compiled("dense")(X, column, of_class, mean, h, order, R, T, P, U, M, beta, v, l1, l2)


def sparse_epoch(X, column, of_class, mean, h, order, R, T, P, U, M, beta, v, l1, l2) -> float:
    """The same for X (n, f) in CSC: float64, indices int32, none outside."""
    n, f = X.shape
    _check(f, n, column, of_class, mean, h, order, R, T, P, U, M, beta, v, l1, l2)
    return _compiled("sparse")(
        X.data, X.indices, X.indptr,
        column, of_class, mean, h, order, R, T, P, U, M, beta, v, l1, l2,
    )  # fmt: skip


def _check(f, n, column, of_class, mean, h, order, R, T, P, U, M, beta, v, l1, l2) -> None:
    K, m = len(R), len(v)
    _inside(column, f)
    _inside(of_class, K)
    _inside(order, m)
    matrices = all(a.shape == (K, n) for a in (R, T, P, U))
    vectors = all(a.shape == (m,) for a in (column, of_class, mean, h, l1, l2))
    if not matrices or not vectors or M.shape != (n,) or beta.shape != (K,):
        raise ValueError(f"arrays of {n} rows, {K} classes, {m} coordinates do not match")


def _inside(index, size) -> None:
    if len(index) and (index.min() < 0 or index.max() >= size):
        raise ValueError(f"an index is outside 0 … {size - 1}")


_KERNELS = {"gram": _gram_epochs, "dense": _dense_epoch, "sparse": _sparse_epoch}


@cache
def _compiled(name):
    """One kind of machine code each: working sets are copies, float64 and in order."""
    real, whole = types.float64, types.intp
    v, m = real[::1], real[:, ::1]
    read = types.Array(whole, 1, "C", readonly=True)
    entry = types.Array(types.int32, 1, "C", readonly=True)
    pairs = (read, read, v, v, read, m, m, m, m, v, v, v, v, v)
    signature = {
        "gram": (m, v, v, read, v, v, whole, real),
        "dense": (m, *pairs),
        "sparse": (v, entry, entry, *pairs),
    }[name]
    return _KERNELS[name].compile(real(*signature))


def warm() -> None:
    """Compile every kind, or load it from disk."""
    for name in _KERNELS:
        _compiled(name)
