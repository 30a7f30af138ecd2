r"""Weighted L1 distances of all pairs of rows, and what they pass back to the weights.

    D_ij = Σ_l W_l |x_il − x_jl|            g_l = Σ_ij C_ij |x_il − x_jl|

Sixteen pairs of four and four rows at a time, so that each number of X is loaded for four pairs; at
most 1,024 columns at a time, so that rows stay in cache. Sums over these are in the precision of X,
others in float64.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel

COLUMNS = 1024  # at a time
ROWS = 64  # rows of the other side, at a time


@kernel
def _four_by_four(X, Y, W, i, j, first, last, D, at):
    """Add columns first … last of rows i … i + 3 and j … j + 3 of Y to D[at …, j …]."""
    x0, x1 = X[i, first:last], X[i + 1, first:last]
    x2, x3 = X[i + 2, first:last], X[i + 3, first:last]
    y0, y1 = Y[j, first:last], Y[j + 1, first:last]
    y2, y3 = Y[j + 2, first:last], Y[j + 3, first:last]
    weights, zero = W[first:last], X.dtype.type(0)
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = zero
    c0 = c1 = c2 = c3 = d0 = d1 = d2 = d3 = zero
    for l in range(len(weights)):
        w, u0, u1, u2, u3 = weights[l], x0[l], x1[l], x2[l], x3[l]
        v0, v1, v2, v3 = y0[l], y1[l], y2[l], y3[l]
        a0 += w * abs(u0 - v0)
        a1 += w * abs(u0 - v1)
        a2 += w * abs(u0 - v2)
        a3 += w * abs(u0 - v3)
        b0 += w * abs(u1 - v0)
        b1 += w * abs(u1 - v1)
        b2 += w * abs(u1 - v2)
        b3 += w * abs(u1 - v3)
        c0 += w * abs(u2 - v0)
        c1 += w * abs(u2 - v1)
        c2 += w * abs(u2 - v2)
        c3 += w * abs(u2 - v3)
        d0 += w * abs(u3 - v0)
        d1 += w * abs(u3 - v1)
        d2 += w * abs(u3 - v2)
        d3 += w * abs(u3 - v3)
    for line, s0, s1, s2, s3 in (
        (D[at], a0, a1, a2, a3),
        (D[at + 1], b0, b1, b2, b3),
        (D[at + 2], c0, c1, c2, c3),
        (D[at + 3], d0, d1, d2, d3),
    ):
        line[j] += s0
        line[j + 1] += s1
        line[j + 2] += s2
        line[j + 3] += s3


@kernel
def _one(X, Y, W, i, j, first, last):
    x, y, w, total = X[i, first:last], Y[j, first:last], W[first:last], X.dtype.type(0)
    for l in range(len(w)):
        total += w[l] * abs(x[l] - y[l])
    return total


@kernel
def _distances(X, Y, W, start, stop, above, D):
    """Rows start … stop of X with all of Y, or with those above (j > i, and some others)."""
    n, p = Y.shape
    for first in range(0, p, COLUMNS):
        last = min(first + COLUMNS, p)
        for tile in range(start // 4 * 4 if above else 0, n, ROWS):
            end = min(tile + ROWS, n)
            whole = tile + (end - tile) // 4 * 4
            for i in range(start, stop - 3, 4):
                for j in range(tile, whole, 4):
                    if not above or j + 3 > i:
                        _four_by_four(X, Y, W, i, j, first, last, D, i - start)
                for q in range(i, i + 4):
                    for j in range(whole, end):
                        D[q - start, j] += _one(X, Y, W, q, j, first, last)
            for i in range(start + (stop - start) // 4 * 4, stop):
                for j in range(tile, end):
                    D[i - start, j] += _one(X, Y, W, i, j, first, last)


@kernel
def _slope(X, rows, C, least, first, last, above, part, near, g):
    """Columns first … last of g; C (rows, n). Pairs with |C_ij| ≤ least are left out."""
    n, m = len(X), last - first
    for tile in range(0, n, ROWS):
        end = min(tile + ROWS, n)
        for l in range(m):
            part[l] = 0
        for r in range(len(rows)):
            i, line, count = rows[r], C[r], 0
            for j in range(max(tile, i + 1) if above else tile, end):
                near[count] = j
                count += abs(line[j]) > least
            x = X[i, first:last]
            for t in range(0, count - 3, 4):
                j0, j1, j2, j3 = near[t], near[t + 1], near[t + 2], near[t + 3]
                y0, y1, y2, y3 = (
                    X[j0, first:last], X[j1, first:last], X[j2, first:last], X[j3, first:last],
                )  # fmt: skip
                kind = X.dtype.type
                c0, c1, c2, c3 = kind(line[j0]), kind(line[j1]), kind(line[j2]), kind(line[j3])
                for l in range(m):
                    u = x[l]
                    part[l] += (c0 * abs(u - y0[l]) + c1 * abs(u - y1[l])) + (
                        c2 * abs(u - y2[l]) + c3 * abs(u - y3[l])
                    )
            for t in range(count // 4 * 4, count):
                y, c = X[near[t], first:last], X.dtype.type(line[near[t]])
                for l in range(m):
                    part[l] += c * abs(x[l] - y[l])
        for l in range(m):
            g[first + l] += part[l]


@cache
def _compiled(name, number):
    real, whole, kind = types.float64, types.intp, float_type(number)
    X, W = types.Array(kind, 2, "C", readonly=True), types.Array(kind, 1, "C", readonly=True)
    table = real[:, ::1]
    if name == "distances":
        return _distances.compile((X, X, W, whole, whole, types.boolean, table))
    rows, flag = types.Array(whole, 1, "C", readonly=True), types.boolean
    C = types.Array(real, 2, "C", readonly=True)
    return _slope.compile((X, rows, C, real, whole, whole, flag, kind[::1], whole[::1], real[::1]))


def distances(X, Y, W, start, stop, above, D) -> None:
    """D (stop − start, n) of rows start … stop of X and all of Y (n, p); above: those with j > i at
    least, others 0."""
    n, p = Y.shape
    if D.shape != (stop - start, n) or not X.shape[1] == len(W) == p or X.dtype != Y.dtype:
        raise ValueError(f"X {X.shape}, Y {Y.shape}, W {W.shape}, D {D.shape} do not match")
    if not 0 <= start <= stop <= len(X):
        raise ValueError(f"rows {start} to {stop} of {len(X)}")
    D[...] = 0
    _compiled("distances", X.dtype)(X, Y, W, start, stop, above, D)


def slope(X, rows, C, least, first, last, above, g) -> None:
    """Add to columns first … last of g what the pairs of ``rows`` with all rows (above: with later
    ones) pass back; C (rows, n)."""
    n, p = X.shape
    if C.shape != (len(rows), n) or len(g) != p or not 0 <= first <= last <= p:
        raise ValueError(f"X {X.shape}, C {C.shape}, g {g.shape} do not match")
    if len(rows) and not 0 <= rows.min() <= rows.max() < n:
        raise ValueError("rows that X does not have")
    part, near = np.empty(last - first, dtype=X.dtype), np.empty(ROWS + 1, dtype=np.intp)
    _compiled("slope", X.dtype)(X, rows, C, least, first, last, above, part, near, g)


def warm() -> None:
    """Compile every kind, or load it from disk."""
    for number in (np.float32, np.float64):
        for name in ("distances", "slope"):
            _compiled(name, np.dtype(number))
