"""Sums over a block of sparse rows, each entry of X read once.

    columns:  sx += Σ s x     sxx += Σ s x²     Xy += Σ s x (y − cy)ᵀ
    twice:    t = Xu − c,     Xt += Xᵀ(s∘t),    st += Σ s t,    stt += Σ s t²
    pairs:    G += Σ s x xᵀ   (its upper triangle)
    times:    Z = XU
    add:      XG += XᵀG
    take:     rows by index
    count:    entries of each column
    sort:     entries by column

Every sum is float64, in the order of the rows, so that equal inputs give equal bits.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel_in_order

# Numba checks at every access whether a signed index is negative and counts from the end: with
# signed indices these loops took 1.4 to 2.3 times as long.


@kernel_in_order
def _columns(data, indices, indptr, y, s, cy, sx, sxx, Xy):
    k = y.shape[1]
    for i in range(len(indptr) - 1):
        start, stop = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        weight = s[i] if len(s) else 1.0
        target = y[i, 0] - cy[0]
        for e in range(start, stop):
            j, x = np.uint64(indices[e]), float(data[e])
            wx = weight * x
            sx[j] += wx
            sxx[j] += wx * x
            Xy[j, 0] += wx * target
        for m in range(1, k):
            target = y[i, m] - cy[m]
            for e in range(start, stop):
                Xy[np.uint64(indices[e]), m] += weight * float(data[e]) * target


@kernel_in_order
def _twice(data, indices, indptr, s, u, c, Xt, st, stt):
    step = np.uint64(1 if c.shape[1] > 1 else 0)  # one c for all rows, or one for each
    for m in range(len(u)):
        u_m, c_m, Xt_m = u[m], c[m], Xt[m]
        sum_t, sum_tt = 0.0, 0.0
        for i in range(np.uint64(len(indptr) - 1)):
            start, stop = np.uint64(indptr[i]), np.uint64(indptr[i + np.uint64(1)])
            t = -c_m[i * step]
            for e in range(start, stop):
                t += float(data[e]) * u_m[np.uint64(indices[e])]
            weighted = s[i] * t if len(s) > 0 else t
            sum_t += weighted
            sum_tt += weighted * t
            for e in range(start, stop):
                Xt_m[np.uint64(indices[e])] += weighted * float(data[e])
        st[m] += sum_t
        stt[m] += sum_tt


@kernel_in_order
def _pairs(data, indices, indptr, s, G):
    for i in range(len(indptr) - 1):
        start, stop = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        weight = s[i] if len(s) else 1.0
        for a in range(start, stop):
            row, wx = np.uint64(indices[a]), weight * float(data[a])
            for b in range(a, stop):
                G[row, np.uint64(indices[b])] += wx * float(data[b])


@kernel_in_order
def _times(data, indices, indptr, U, Z):
    for i in range(np.uint64(len(indptr) - 1)):
        start, stop = np.uint64(indptr[i]), np.uint64(indptr[i + np.uint64(1)])
        for k in range(U.shape[1]):
            z = 0.0
            for e in range(start, stop):
                z += float(data[e]) * U[np.uint64(indices[e]), k]
            Z[i, k] = z


@kernel_in_order
def _add(data, indices, indptr, G, XG):
    for i in range(np.uint64(len(indptr) - 1)):
        start, stop = np.uint64(indptr[i]), np.uint64(indptr[i + np.uint64(1)])
        pairs = G.shape[1] // 2 * 2
        for k in range(0, pairs, 2):  # two sums of a column are adjacent in memory
            g, h = G[i, k], G[i, k + 1]
            for e in range(start, stop):
                j, x = np.uint64(indices[e]), float(data[e])
                XG[j, k] += g * x
                XG[j, k + 1] += h * x
        for k in range(pairs, G.shape[1]):
            g = G[i, k]
            for e in range(start, stop):
                XG[np.uint64(indices[e]), k] += g * float(data[e])


@kernel_in_order
def _take(data, indices, indptr, rows, to_data, to_indices, to_indptr):
    at = np.uint64(0)
    for r in range(len(rows)):
        i = np.uint64(rows[r])
        to_indptr[r] = at
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + np.uint64(1)])):
            to_data[at], to_indices[at] = data[e], indices[e]
            at += np.uint64(1)
    to_indptr[len(rows)] = at


@kernel_in_order
def _count(data, indices, indptr, counts):
    for e in range(np.uint64(indptr[0]), np.uint64(indptr[-1])):
        counts[np.uint64(indices[e])] += 1


@kernel_in_order
def _sort(data, indices, indptr, first, place, values, rows):
    for i in range(np.uint64(len(indptr) - 1)):
        start, stop = np.uint64(indptr[i]), np.uint64(indptr[i + np.uint64(1)])
        for e in range(start, stop):
            j = np.uint64(indices[e])
            at = np.uint64(place[j])
            values[at], rows[at] = data[e], first + i
            place[j] += 1


def column_sums(X, y, s, cy, sx, sxx, Xy) -> None:
    """Add a block's ``columns`` to sx, sxx (p,) and Xy (p, k). s: (n,), or empty for ones."""
    _check(X, (y, s), ((sx, 1), (sxx, 1), (Xy, 2)))
    _compiled("columns", X.data.dtype, X.indices.dtype)(
        X.data, X.indices, X.indptr, y, s, cy, sx, sxx, Xy
    )


def twice(X, s, u, c, Xt, st, stt) -> None:
    """Add a block's ``twice`` to Xt (k, p), st and stt (k,), for u (k, p) and c (k, n or 1).

    Arrays are (k, …), so that the inner loops are contiguous.
    """
    if u.shape != Xt.shape or len(c) != len(u) or c.shape[1] not in (1, X.shape[0]):
        raise ValueError(f"u {u.shape}, c {c.shape}, Xt {Xt.shape} do not match")
    _check(X, (s,), ((Xt.T, 2),))
    u, c = np.ascontiguousarray(u), np.ascontiguousarray(c)
    _compiled("twice", X.data.dtype, X.indices.dtype)(
        X.data, X.indices, X.indptr, s, u, c, Xt, st, stt
    )


def times(X, U) -> np.ndarray:
    """Return XU (n, K) for U (p, K)."""
    U = np.ascontiguousarray(U, dtype=np.float64)
    if len(U) != X.shape[1]:
        raise ValueError(f"X {X.shape} and U {U.shape} do not match")
    Z = np.empty((X.shape[0], U.shape[1]))
    _compiled("times", X.data.dtype, X.indices.dtype)(X.data, X.indices, X.indptr, U, Z)
    return Z


def add_transposed(X, G, XG) -> None:
    """Add XᵀG to XG (p, K), for G (n, K)."""
    if G.shape != (X.shape[0], XG.shape[1]) or not XG.flags.c_contiguous:
        raise ValueError(f"X {X.shape}, G {G.shape}, XG {XG.shape} do not match")
    _check(X, (), ((XG, 2),))
    G = np.ascontiguousarray(G, dtype=np.float64)
    _compiled("add", X.data.dtype, X.indices.dtype)(X.data, X.indices, X.indptr, G, XG)


def take(X, rows, buffers=None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (data, indices, indptr) of rows of X by index, repeated as often as they are listed.

    ``buffers``: a list, initially empty, whose arrays are reused by the next call; the result of
    the previous call is then overwritten.
    """
    n, rows = X.shape[0], np.ascontiguousarray(rows, dtype=np.intp)
    if len(rows) and not 0 <= rows.min() <= rows.max() < n:
        raise ValueError(f"row indices beyond the {n} rows of X")
    entries = int((X.indptr[1:][rows] - X.indptr[rows]).sum())
    buffers = [] if buffers is None else buffers
    if not buffers or len(buffers[0]) < entries:
        most = entries + entries // 8  # the next call needs about as many
        buffers[:] = np.empty(most, dtype=X.data.dtype), np.empty(most, dtype=X.indices.dtype)
    data, indices = (array[:entries] for array in buffers)
    indptr = np.empty(len(rows) + 1, dtype=X.indptr.dtype)
    _compiled("take", X.data.dtype, X.indices.dtype)(
        X.data, X.indices, X.indptr, rows, data, indices, indptr
    )
    return data, indices, indptr


def pair_sums(X, s, G) -> None:
    """Add a block's ``pairs`` to the upper triangle of G (p, p). Columns ascend in every row."""
    _check(X, (s,), ((G, 2),))
    _compiled("pairs", X.data.dtype, X.indices.dtype)(X.data, X.indices, X.indptr, s, G)


def count_columns(X, counts) -> None:
    """Add the number of a block's entries in each column to counts (int64)."""
    _compiled("count", X.data.dtype, X.indices.dtype)(X.data, X.indices, X.indptr, counts)


def sort_by_columns(X, first, place, values, rows) -> None:
    """Write the entries of a block, whose first row is ``first``, after those of earlier blocks.

    Entries of column j are written from place[j] (int64) on, which advances. The caller ensures
    that they fit into ``values``.
    """
    _compiled("sort", X.data.dtype, X.indices.dtype)(
        X.data, X.indices, X.indptr, first, place, values, rows
    )


def _check(X, of_rows, outputs) -> None:
    """Check shapes, once per block; ``CSR`` has checked the column indices."""
    n, p = X.shape
    for a in of_rows:
        if len(a) not in (0, n):
            raise ValueError(f"X has {n} rows, an array beside it {len(a)}")
    for a, d in outputs:
        in_order = a.flags.c_contiguous or a.flags.f_contiguous
        good = in_order and a.flags.writeable and a.dtype == np.float64
        if not good or a.ndim != d or len(a) != p:
            raise ValueError(
                f"need a writable contiguous float64 output for {p} columns, not {a.shape}"
            )


_KERNELS = {
    "columns": _columns, "twice": _twice, "times": _times, "add": _add, "take": _take,
    "pairs": _pairs, "count": _count, "sort": _sort,
}  # fmt: skip


@cache
def _compiled(name, number, index):
    """Return the machine code for {float32, float64} × {int32, int64} entries."""
    scalar = float_type(number)
    whole = types.int32 if index == np.int32 else types.int64

    def read(of, d):
        return types.Array(of, d, "C", readonly=True)

    entries = read(scalar, 1), read(whole, 1), read(whole, 1)
    vector, matrix = read(types.float64, 1), read(types.float64, 2)
    v, m = types.float64[::1], types.float64[:, ::1]
    rest = {
        "columns": (matrix, vector, vector, v, v, m),
        "twice": (vector, matrix, matrix, m, v, v),
        "times": (matrix, m),
        "add": (matrix, m),
        "take": (read(types.intp, 1), scalar[::1], whole[::1], whole[::1]),
        "pairs": (vector, m),
        "count": (types.int64[::1],),
        "sort": (types.int64, types.int64[::1], scalar[::1], whole[::1]),
    }[name]
    return _KERNELS[name].compile(types.void(*entries, *rest))


def warm() -> None:
    """Compile every variant, or load it from disk."""
    for name in _KERNELS:
        for number in (np.float32, np.float64):
            for index in (np.int32, np.int64):
                _compiled(name, np.dtype(number), np.dtype(index))
