r"""Distances and slopes of ``pairs.py`` for a few columns, stored transposed as T (p, n).

Inner loops run over pairs, four columns at a time, since loops over so few columns would be too
short. Slopes add up to 512 pairs in the precision of X, everything else in float64.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel

TILE_PAIRS = 512  # of one row: a line of D and four of T stay in cache


@kernel
def _distances(S, T, W, start, stop, left, top, D):
    """Fill D[i − top, j] for rows start … stop of S (p, m) and rows left … n of T (p, n)."""
    p, n = T.shape
    for a in range(left, n, TILE_PAIRS):
        b = min(a + TILE_PAIRS, n)
        for i in range(start, stop):
            line = D[i - top, a:b]
            line[:] = 0.0
            for l in range(0, p - 3, 4):
                w0, w1, w2, w3 = W[l], W[l + 1], W[l + 2], W[l + 3]
                x0, x1, x2, x3 = S[l, i], S[l + 1, i], S[l + 2, i], S[l + 3, i]
                y0, y1, y2, y3 = T[l, a:b], T[l + 1, a:b], T[l + 2, a:b], T[l + 3, a:b]
                for j in range(len(line)):
                    line[j] += (w0 * abs(x0 - y0[j]) + w1 * abs(x1 - y1[j])) + (
                        w2 * abs(x2 - y2[j]) + w3 * abs(x3 - y3[j])
                    )
            for l in range(p // 4 * 4, p):
                w, x, y = W[l], S[l, i], T[l, a:b]
                for j in range(len(line)):
                    line[j] += w * abs(x - y[j])


@kernel
def _slope(T, rows, C, above, g):
    """Add Σ_ij C_ij|x_il − x_jl| over i in ``rows`` to g; above: over pairs j > i."""
    p, n = T.shape
    zero, kind = T.dtype.type(0), T.dtype.type
    for tile in range(0, n, TILE_PAIRS):
        b = min(tile + TILE_PAIRS, n)
        for r in range(len(rows)):
            i = rows[r]
            a = max(tile, i + 1) if above else tile
            if a >= b:
                continue
            line = C[r, a:b]
            for l in range(0, p - 3, 4):
                x0, x1, x2, x3 = T[l, i], T[l + 1, i], T[l + 2, i], T[l + 3, i]
                y0, y1, y2, y3 = T[l, a:b], T[l + 1, a:b], T[l + 2, a:b], T[l + 3, a:b]
                s0 = s1 = s2 = s3 = zero
                for j in range(len(line)):
                    c = kind(line[j])
                    s0 += c * abs(x0 - y0[j])
                    s1 += c * abs(x1 - y1[j])
                    s2 += c * abs(x2 - y2[j])
                    s3 += c * abs(x3 - y3[j])
                g[l] += s0
                g[l + 1] += s1
                g[l + 2] += s2
                g[l + 3] += s3
            for l in range(p // 4 * 4, p):
                x, y, s = T[l, i], T[l, a:b], zero
                for j in range(len(line)):
                    s += kind(line[j]) * abs(x - y[j])
                g[l] += s


@cache
def _compiled(name, number):
    real, whole, kind = types.float64, types.intp, float_type(number)
    T, W = types.Array(kind, 2, "C", readonly=True), types.Array(kind, 1, "C", readonly=True)
    if name == "distances":
        signature = (T, T, W, whole, whole, whole, whole, real[:, ::1])
        return _distances.compile(signature)
    rows, C = (types.Array(k, d, "C", readonly=True) for k, d in ((whole, 1), (real, 2)))
    return _slope.compile((T, rows, C, types.boolean, real[::1]))


def distances(S, T, W, D) -> None:
    """Fill D (m, n) with the distances of all rows of S (p, m) to all of T (p, n)."""
    if D.shape != (S.shape[1], T.shape[1]) or not len(S) == len(W) == len(T) or S.dtype != T.dtype:
        raise ValueError(f"S {S.shape}, T {T.shape}, W {W.shape}, D {D.shape} do not match")
    _compiled("distances", T.dtype)(S, T, W, 0, S.shape[1], 0, 0, D)


def distances_once(T, W, start, stop, D) -> None:
    """Fill D_ij and D_ji (n, n) for rows start … stop and all j > i."""
    from certus.kernels.ncfs.pairs import mirror

    p, n = T.shape
    if D.shape != (n, n) or len(W) != p:
        raise ValueError(f"T {T.shape}, W {W.shape}, D {D.shape} do not match")
    if not 0 <= start <= stop <= n:
        raise ValueError(f"rows {start} to {stop} of {n}")
    _compiled("distances", T.dtype)(T, T, W, start, stop, start, 0, D)
    mirror(D, start, stop)


def slope(T, rows, C, above, g) -> None:
    """Add Σ_ij C_ij|x_i − x_j| over i in ``rows`` to g; above: over pairs j > i."""
    p, n = T.shape
    if C.shape != (len(rows), n) or len(g) != p:
        raise ValueError(f"T {T.shape}, C {C.shape}, g {g.shape} do not match")
    if len(rows) and not 0 <= rows.min() <= rows.max() < n:
        raise ValueError(f"rows are outside 0 to {n - 1}")
    _compiled("slope", T.dtype)(T, rows, C, above, g)


def warm() -> None:
    """Compile all variants, or load them from disk."""
    for number in (np.float32, np.float64):
        for name in ("distances", "slope"):
            _compiled(name, np.dtype(number))
