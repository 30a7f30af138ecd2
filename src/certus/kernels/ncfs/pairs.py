r"""Weighted L1 distances of all pairs of rows, and sums for their slopes.

    D_ij = Σ_l W_l |x_il − x_jl|            g_l = Σ_ij C_ij |x_il − x_jl|

Three rows and three others, or four and two, are handled together, so that each number of X is
loaded for several pairs; at most 1,024 columns at a time, so that rows stay in cache. Sums over
these columns are in the precision of X, others in float64.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel

TILE_COLUMNS = 1024  # so that the rows of a tile stay in cache
DISTANCE_TILE_ROWS, SLOPE_TILE_ROWS = 33, 64  # rows j of a tile
CACHE_LINE_NUMBERS = 8  # float64 numbers in a cache line


@kernel
def _three_by_three(X, Y, W, i, j, first, last, D, at):
    """Add columns first … last of rows i … i + 2 and j … j + 2 of Y to D[at …, j …].

    Nine sums, three numbers of X, one of Y, a weight, a difference and its sign mask take the 16
    vector registers of AVX2; with more, some would be spilled to memory.
    """
    x0, x1, x2 = X[i, first:last], X[i + 1, first:last], X[i + 2, first:last]
    y0, y1, y2 = Y[j, first:last], Y[j + 1, first:last], Y[j + 2, first:last]
    weights, zero = W[first:last], X.dtype.type(0)
    a0 = a1 = a2 = b0 = b1 = b2 = c0 = c1 = c2 = zero
    for l in range(len(weights)):
        w, u0, u1, u2 = weights[l], x0[l], x1[l], x2[l]
        v = y0[l]
        a0 += w * abs(u0 - v)
        b0 += w * abs(u1 - v)
        c0 += w * abs(u2 - v)
        v = y1[l]
        a1 += w * abs(u0 - v)
        b1 += w * abs(u1 - v)
        c1 += w * abs(u2 - v)
        v = y2[l]
        a2 += w * abs(u0 - v)
        b2 += w * abs(u1 - v)
        c2 += w * abs(u2 - v)
    for line, s0, s1, s2 in ((D[at], a0, a1, a2), (D[at + 1], b0, b1, b2), (D[at + 2], c0, c1, c2)):
        line[j] += s0
        line[j + 1] += s1
        line[j + 2] += s2


@kernel
def _one_pair(X, Y, W, i, j, first, last):
    """Return the distance of one pair in columns first … last."""
    x, y, w, total = X[i, first:last], Y[j, first:last], W[first:last], X.dtype.type(0)
    for l in range(len(w)):
        total += w[l] * abs(x[l] - y[l])
    return total


@kernel
def _distances(X, Y, W, start, stop, above, D):
    """Fill D (stop − start, n) with the distances of rows start … stop of X to all of Y.

    above: to rows from start on, in D (n, n), of which only columns from start on are written.
    """
    n, p = Y.shape
    top, left = (0, start) if above else (start, 0)
    D[start - top : stop - top, left:] = 0.0
    for first in range(0, p, TILE_COLUMNS):
        last = min(first + TILE_COLUMNS, p)
        for tile in range(left, n, DISTANCE_TILE_ROWS):
            end = min(tile + DISTANCE_TILE_ROWS, n)
            whole = tile + (end - tile) // 3 * 3
            for i in range(start, stop - 2, 3):
                for j in range(tile, whole, 3):
                    if not above or j + 2 > i:
                        _three_by_three(X, Y, W, i, j, first, last, D, i - top)
                for q in range(i, i + 3):
                    for j in range(whole, end):
                        D[q - top, j] += _one_pair(X, Y, W, q, j, first, last)
            for i in range(start + (stop - start) // 3 * 3, stop):
                for j in range(tile, end):
                    D[i - top, j] += _one_pair(X, Y, W, i, j, first, last)


@kernel
def _mirror(D, start, stop):
    """Set D_ji = D_ij for rows start … stop and all j > i."""
    for i in range(start, stop):
        for j in range(i + 1, stop):
            D[j, i] = D[i, j]
    for tile in range(stop, len(D), CACHE_LINE_NUMBERS):
        for j in range(tile, min(tile + CACHE_LINE_NUMBERS, len(D))):
            for i in range(start, stop):
                D[j, i] = D[i, j]


@kernel
def _fold(D, start, stop):
    """Add D_ji to D_ij for rows start … stop and all j > i."""
    for i in range(start, stop):
        for j in range(i + 1, stop):
            D[i, j] += D[j, i]
    for tile in range(stop, len(D), CACHE_LINE_NUMBERS):
        for i in range(start, stop):
            for j in range(tile, min(tile + CACHE_LINE_NUMBERS, len(D))):
                D[i, j] += D[j, i]


@kernel
def _four_rows(X, i, j, C, r, first, last, part):
    """Add C_ij|x_i − x_j| for four rows i (rows r … of C) and one row j."""
    y, kind = X[j, first:last], X.dtype.type
    x0, x1 = X[i[r], first:last], X[i[r + 1], first:last]
    x2, x3 = X[i[r + 2], first:last], X[i[r + 3], first:last]
    c0, c1, c2, c3 = kind(C[r, j]), kind(C[r + 1, j]), kind(C[r + 2, j]), kind(C[r + 3, j])
    for l in range(len(y)):
        v = y[l]
        part[l] += (c0 * abs(x0[l] - v) + c1 * abs(x1[l] - v)) + (
            c2 * abs(x2[l] - v) + c3 * abs(x3[l] - v)
        )


@kernel
def _four_by_two(X, i, j, k, C, r, first, last, part):
    """Add C_ij|x_i − x_j| for four rows i and two rows j and k."""
    y, z, kind = X[j, first:last], X[k, first:last], X.dtype.type
    x0, x1 = X[i[r], first:last], X[i[r + 1], first:last]
    x2, x3 = X[i[r + 2], first:last], X[i[r + 3], first:last]
    c0, c1, c2, c3 = kind(C[r, j]), kind(C[r + 1, j]), kind(C[r + 2, j]), kind(C[r + 3, j])
    d0, d1, d2, d3 = kind(C[r, k]), kind(C[r + 1, k]), kind(C[r + 2, k]), kind(C[r + 3, k])
    for l in range(len(y)):
        u0, u1, u2, u3, v, w = x0[l], x1[l], x2[l], x3[l], y[l], z[l]
        part[l] += (
            (c0 * abs(u0 - v) + c1 * abs(u1 - v)) + (c2 * abs(u2 - v) + c3 * abs(u3 - v))
        ) + ((d0 * abs(u0 - w) + d1 * abs(u1 - w)) + (d2 * abs(u2 - w) + d3 * abs(u3 - w)))


@kernel
def _one_row(X, i, line, min_weight, first, last, start, end, part):
    """Add C_ij|x_i − x_j| for one row i and rows start … end."""
    x = X[i, first:last]
    for j in range(start, end):
        if abs(line[j]) > min_weight:
            y, c = X[j, first:last], X.dtype.type(line[j])
            for l in range(len(x)):
                part[l] += c * abs(x[l] - y[l])


@kernel
def _slope(X, rows, C, min_weight, first, last, above, part, large_pairs, g):
    """Add Σ_ij C_ij|x_il − x_jl| to columns first … last of g; C (rows, n).

    Four pairs of the same j and adjacent rows i are skipped if all their |C_ij| ≤ min_weight.
    """
    n, m, fours = len(X), last - first, len(rows) // 4 * 4
    for tile in range(0, n, SLOPE_TILE_ROWS):
        end = min(tile + SLOPE_TILE_ROWS, n)
        for l in range(m):
            part[l] = 0
        for r in range(0, fours, 4):
            start, count = tile, 0
            if above:  # rows are consecutive
                start = max(tile, rows[r] + 4)
                for q in range(r, r + 4):
                    begin = max(tile, rows[q] + 1)
                    _one_row(
                        X, rows[q], C[q], min_weight, first, last, begin, min(start, end), part
                    )
            for j in range(start, end):
                large_pairs[count] = j
                largest = max(abs(C[r, j]), abs(C[r + 1, j]), abs(C[r + 2, j]), abs(C[r + 3, j]))
                count += largest > min_weight
            for t in range(0, count - 1, 2):
                _four_by_two(X, rows, large_pairs[t], large_pairs[t + 1], C, r, first, last, part)
            if count % 2:
                _four_rows(X, rows, large_pairs[count - 1], C, r, first, last, part)
        for r in range(fours, len(rows)):
            start = max(tile, rows[r] + 1) if above else tile
            _one_row(X, rows[r], C[r], min_weight, first, last, start, end, part)
        for l in range(m):
            g[first + l] += part[l]


@cache
def _compiled(name, number=np.float64):
    real, whole, flag, kind = types.float64, types.intp, types.boolean, float_type(number)
    X, W = types.Array(kind, 2, "C", readonly=True), types.Array(kind, 1, "C", readonly=True)
    rows = types.Array(whole, 1, "C", readonly=True)
    table, fixed = real[:, ::1], types.Array(real, 2, "C", readonly=True)
    kernels = {
        "distances": (_distances, (X, X, W, whole, whole, flag, table)),
        "mirror": (_mirror, (table, whole, whole)),
        "fold": (_fold, (table, whole, whole)),
        "slope": (
            _slope,
            (X, rows, fixed, real, whole, whole, flag, kind[::1], whole[::1], real[::1]),
        ),
    }
    function, signature = kernels[name]
    return function.compile(signature)


def distances(X, Y, W, D) -> None:
    """Fill D (m, n) with the distances of all rows of X (m, p) to all of Y (n, p)."""
    if D.shape != (len(X), len(Y)) or not X.shape[1] == len(W) == Y.shape[1] or X.dtype != Y.dtype:
        raise ValueError(f"X {X.shape}, Y {Y.shape}, W {W.shape}, D {D.shape} do not match")
    _compiled("distances", X.dtype)(X, Y, W, 0, len(X), False, D)


def distances_once(X, W, start, stop, D) -> None:
    """Fill D_ij and D_ji (n, n) for rows start … stop and all j > i.

    Calls for other ranges of rows write to other entries.
    """
    n, p = X.shape
    if D.shape != (n, n) or len(W) != p:
        raise ValueError(f"X {X.shape}, W {W.shape}, D {D.shape} do not match")
    _require_square(D, start, stop)
    _compiled("distances", X.dtype)(X, X, W, start, stop, True, D)
    mirror(D, start, stop)


def mirror(D, start, stop) -> None:
    """Set D_ji = D_ij for rows start … stop and all j > i; D (n, n)."""
    _require_square(D, start, stop)
    _compiled("mirror")(D, start, stop)


def fold(D, start, stop) -> None:
    """Add D_ji to D_ij for rows start … stop and all j > i; D (n, n)."""
    _require_square(D, start, stop)
    _compiled("fold")(D, start, stop)


def slope(X, rows, C, min_weight, first, last, above, g) -> None:
    """Add Σ_ij C_ij|x_i − x_j| over i in ``rows`` to columns first … last of g; C (rows, n).

    above: over pairs j > i; rows are then consecutive.
    """
    n, p = X.shape
    if C.shape != (len(rows), n) or len(g) != p or not 0 <= first <= last <= p:
        raise ValueError(f"X {X.shape}, C {C.shape}, g {g.shape} do not match")
    if len(rows) and not 0 <= rows.min() <= rows.max() < n:
        raise ValueError(f"rows are outside 0 to {n - 1}")
    part, large_pairs = (
        np.empty(last - first, dtype=X.dtype),
        np.empty(SLOPE_TILE_ROWS + 1, dtype=np.intp),
    )
    _compiled("slope", X.dtype)(X, rows, C, min_weight, first, last, above, part, large_pairs, g)


def _require_square(D, start, stop) -> None:
    if D.shape[0] != D.shape[1]:
        raise ValueError(f"D {D.shape} is not square")
    if not 0 <= start <= stop <= len(D):
        raise ValueError(f"rows {start} to {stop} of {len(D)}")


def warm() -> None:
    """Compile all variants, or load them from disk."""
    for name in ("mirror", "fold"):
        _compiled(name)
    for number in (np.float32, np.float64):
        for name in ("distances", "slope"):
            _compiled(name, np.dtype(number))
