r"""Rows to their nearest centres: float32 products, and proofs that spare most of them.

Rows are in lanes: a tile holds 256 of them column by column, about c and times a power of two, so
that one centre's products with all of them are elementwise. Of centre m in group g

    v = ‖m‖² − 2mᵀz,     G1[g] = min v,   G2[g] = the next,     d² = v + ‖z‖² ± E

E = e₁‖z‖ + e₂ bounds what float32 does to v (``solvers/neighbors/products.py``). Where the two
least v are not 2E apart, differences in float64 decide:

    Σ_j (x_j − μ_j)²,    of equal ones the first centre.

Kept of each row are its label a, u ≥ d(x, μ_a) and, for each group, L[g] ≤ min d(x, μ_b) over the
other centres of the group (``bounds.py``).
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel

LANES = 256
WIDTH = np.uint64(LANES)
TWO, THREE = np.uint64(2), np.uint64(3)
UNIT = 2.0**-24
ROUNDED = 4.2 * UNIT  # of ‖z‖², where rows and their lengths are in float32
LOOP, BLAS, BY_ROWS = range(3)  # how products are made: up to 16 columns, many, few centres
NOTHING, INFINITE = np.float32(0), np.float32(np.inf)
UP, DOWN = np.float32(1 + 2.0**-21), np.float32(1 - 2.0**-21)  # more than float32 rounds


@kernel
def _squared(X, i, C, a, scale):
    """Σ_j (x_j − μ_j)², times scale²."""
    total = 0.0
    for j in range(C.shape[1]):
        d = (X[i, j] - C[a, j]) * scale
        total += d * d
    return total


@kernel
def _length(X, i, c, scale):
    """‖z‖²."""
    total = 0.0
    for j in range(len(c)):
        d = (X[i, j] - c[j]) * scale
        total += d * d
    return total


@kernel
def _into_lanes(X, rows, m, c, scale, Z, lengths):
    """The first m of ``rows`` into the lanes of Z (p × 256), and ‖z‖²."""
    lanes = Z.reshape(-1)
    for r in range(m):
        x, at, total = X[rows[r]], np.uint64(r), 0.0
        for j in range(len(c)):
            z = (x[j] - c[j]) * scale
            lanes[np.uint64(j) * WIDTH + at] = z
            total += z * z
        lengths[r] = total


@kernel
def _as_rows(X, rows, m, c, scale, Z, lengths):
    """The same as rows of Z (256 × p), for BLAS."""
    for r in range(m):
        i, line, total = rows[r], Z[r], 0.0
        for j in range(len(c)):
            z = (X[i, j] - c[j]) * scale
            line[j] = z
            total += z * z
        lengths[r] = total


@kernel
def _by_rows(X, rows, m, origin, unit, F, z, T, lengths):
    """Products of few centres and many columns, two rows by five centres, which registers hold;
    z = x·unit − origin, in the precision of X: a row is read once, and not moved."""
    k, p = F.shape
    z0, z1 = z[:p], z[p:]
    for r in range(0, m, 2):
        for q in range(2):
            x, line, total = X[rows[min(r + q, m - 1)]], z[q * p : (q + 1) * p], X.dtype.type(0)
            for j in range(len(origin)):
                d = x[j] * unit - origin[j]
                line[j] = d
                total += d * d
            lengths[r + q] = total
        for a in range(0, k, 5):
            w0, w1, w2, w3, w4 = F[a], F[a + 1], F[a + 2], F[a + 3], F[a + 4]
            a0 = a1 = b0 = b1 = c0 = c1 = d0 = d1 = e0 = e1 = NOTHING
            for j in range(p):
                y0, y1 = z0[j], z1[j]
                a0 += w0[j] * y0
                a1 += w0[j] * y1
                b0 += w1[j] * y0
                b1 += w1[j] * y1
                c0 += w2[j] * y0
                c1 += w2[j] * y1
                d0 += w3[j] * y0
                d1 += w3[j] * y1
                e0 += w4[j] * y0
                e1 += w4[j] * y1
            T[a, r], T[a, r + 1], T[a + 1, r], T[a + 1, r + 1] = a0, a1, b0, b1
            T[a + 2, r], T[a + 2, r + 1], T[a + 3, r], T[a + 3, r + 1] = c0, c1, d0, d1
            T[a + 4, r], T[a + 4, r + 1] = e0, e1


def _comparing(columns):
    """Four centres from a on with all lanes: their values into the two least. A kernel for each
    number of columns, whose loop is then unrolled: nothing but the two least is stored."""

    @kernel
    def compare(C, a, square, Z, G1, G2, label):
        a0 = np.uint64(a) * columns
        b0, c0, d0 = a0 + columns, a0 + TWO * columns, a0 + THREE * columns
        sa, sb, sc, sd = square[a], square[a + 1], square[a + 2], square[a + 3]
        la, lb, lc, ld = np.int32(a), np.int32(a + 1), np.int32(a + 2), np.int32(a + 3)
        for q in range(WIDTH):
            va, vb, vc, vd = sa, sb, sc, sd
            for j in range(columns):
                z = Z[j * WIDTH + q]
                va += C[a0 + j] * z
                vb += C[b0 + j] * z
                vc += C[c0 + j] * z
                vd += C[d0 + j] * z
            low, high = min(va, vb), min(vc, vd)
            one, two = la if va <= vb else lb, lc if vc <= vd else ld
            second = min(max(low, high), min(max(va, vb), max(vc, vd)))
            v, who, least = min(low, high), one if low <= high else two, G1[q]
            G2[q] = min(min(G2[q], second), max(least, v))
            label[q] = who if v < least else label[q]
            G1[q] = min(least, v)

    return compare


_eight, _sixteen = _comparing(np.uint64(8)), _comparing(np.uint64(16))


@kernel
def _take(line, start, add, centre, group, G1, G2, label):
    """One centre's values into the two least of its group."""
    at = group * WIDTH
    for q in range(WIDTH):
        v, least = line[start + q] + add, G1[at + q]
        G2[at + q] = min(G2[at + q], max(least, v))
        label[at + q] = centre if v < least else label[at + q]
        G1[at + q] = min(least, v)


@kernel
def _take_four(line, start, a, square, group, G1, G2, label):
    """Four centres' values, which follow each other, into the two least of their group."""
    at, b, c, d = group * WIDTH, start + WIDTH, start + TWO * WIDTH, start + THREE * WIDTH
    sa, sb, sc, sd = square[a], square[a + 1], square[a + 2], square[a + 3]
    la, lb, lc, ld = np.int32(a), np.int32(a + 1), np.int32(a + 2), np.int32(a + 3)
    for q in range(WIDTH):
        va, vb, vc, vd = line[start + q] + sa, line[b + q] + sb, line[c + q] + sc, line[d + q] + sd
        low, high = min(va, vb), min(vc, vd)
        one, two = la if va <= vb else lb, lc if vc <= vd else ld
        second = min(max(low, high), min(max(va, vb), max(vc, vd)))
        v, who, least = min(low, high), one if low <= high else two, G1[at + q]
        G2[at + q] = min(min(G2[at + q], second), max(least, v))
        label[at + q] = who if v < least else label[at + q]
        G1[at + q] = min(least, v)


@kernel
def _scan(
    X, rows, m, c, scale, origin, unit, how, F, square, group, Z, z, T, G1, G2, label, lengths
):
    """Compare the first m of ``rows`` with all centres: the two least v of each group."""
    for q in range(len(G1)):
        G1[q], G2[q] = INFINITE, INFINITE
    if how == LOOP:
        _into_lanes(X, rows, m, c, scale, Z, lengths)
        centres, lanes = F.reshape(-1), Z.reshape(-1)
        for a in range(0, len(F), 4):
            if len(Z) == 8:
                _eight(centres, a, square, lanes, G1, G2, label)
            else:
                _sixteen(centres, a, square, lanes, G1, G2, label)
        return
    if how == BLAS:
        _as_rows(X, rows, m, c, scale, Z, lengths)
        np.dot(F, Z.T, T)
    else:
        _by_rows(X, rows, m, origin, unit, F, z, T, lengths)
    values, a = T.reshape(-1), 0
    while a < len(F):
        start, g = np.uint64(a) * WIDTH, np.uint64(group[a])
        if a + 3 < len(F) and group[a + 3] == group[a]:
            _take_four(values, start, a, square, g, G1, G2, label)
            a += 4
        else:
            _take(values, start, square[a], np.int32(a), g, G1, G2, label)
            a += 1


@kernel
def _decide(groups, lengths, e1, e2, off, G1, G2, label, best, sure, upper, low):
    """Of each lane: whether the nearest centre is proven, which it is (in ``label``'s first group),
    u; L of each group in G1's place; and ‖z‖² less its error, and the most that v of a nearest
    centre may be, in ``low``. off: share by which ‖z‖² may be off."""
    for q in range(LANES):
        lane = np.uint64(q)
        best[lane] = 0
        sure[lane] = G2[lane]
        upper[lane] = G1[lane]
    for g in range(1, groups):
        at, number = np.uint64(g) * WIDTH, np.int32(g)
        for q in range(WIDTH):
            v, w, least, second = G1[at + q], G2[at + q], upper[q], sure[q]
            less = v < least
            best[q] = number if less else best[q]
            label[q] = label[at + q] if less else label[q]
            upper[q] = min(v, least)
            sure[q] = min(least, w) if less else min(second, v)
    for q in range(WIDTH):
        length, least = lengths[q], upper[q]
        E = e1 * np.sqrt(length) + e2
        sure[q] = (sure[q] - least) - 2 * E
        low[q] = length - (E + off * length)
        low[WIDTH + q] = least + 2.0001 * E + ROUNDED * abs(least)
        upper[q] = np.float32(np.sqrt(max(least + length + E + off * length, 0.0))) * UP
    for g in range(groups):
        at, number = np.uint64(g) * WIDTH, np.int32(g)
        for q in range(WIDTH):
            v = G2[at + q] if best[q] == number else G1[at + q]
            G1[at + q] = np.sqrt(max(v + low[q], NOTHING)) * DOWN


@kernel
def _keep(rows, m, order, G1, label, sure, upper, u, L, labels, now):
    """What the tile says of its rows; −1 in ``now`` where it proves nothing."""
    for r in range(m):
        i = rows[r]
        if sure[r] > 0:
            now[r] = order[label[r]]
            u[i] = upper[r]
        else:
            now[r] = -1
    for g in range(len(L)):
        for r in range(m):
            if now[r] >= 0:
                L[g, rows[r]] = G1[g * LANES + r]


@kernel
def _by_differences(X, i, C, scale, order, square, how, T, r, low, u, L):
    """The same for row i in lane r, by differences from all centres that may be nearest."""
    label, least, second, limit = -1, np.inf, np.inf, low[LANES + r]
    if how != LOOP:  # others have v > limit
        second = max(limit + low[r], 0.0)
    for t in range(len(C)):
        if how == LOOP or not T[t, r] + square[t] > limit:
            a = order[t]
            d = _squared(X, i, C, a, scale)
            if d < least or (d == least and a < label):
                label, least, second = a, d, min(least, second)
            else:
                second = min(second, d)
    u[i] = np.float32(np.sqrt(least)) * UP
    for g in range(len(L)):  # no group has a centre nearer than the next of all
        L[g, i] = np.float32(np.sqrt(second)) * DOWN
    return label


@kernel
def _assign(
    X, weights, c, scale, C, how, F, square, group, order, e1, e2, first, u, L, labels, rows, count,
    Z, z, T, G1, G2, label, best, sure, upper, low, lengths, sums, mass,
):  # fmt: skip
    p = X.shape[1]
    moved, total = 0, 0.0
    origin, unit = (c * scale).astype(X.dtype), X.dtype.type(scale)
    off = ROUNDED
    if how == BY_ROWS and X.itemsize == 4:  # sums of p squares in float32
        off += 1.01 * (p + 8) * UNIT
    for start in range(0, count, LANES):
        m = min(LANES, count - start)
        these = rows[start : start + m]
        _scan(
            X, these, m, c, scale, origin, unit, how, F, square, group, Z, z, T, G1, G2, label,
            lengths,
        )  # fmt: skip
        _decide(len(L), lengths, e1, e2, off, G1, G2, label, best, sure, upper, low)
        _keep(these, m, order, G1, label, sure, upper, u, L, labels, best)
        for r in range(m):
            i = these[r]
            if best[r] < 0:
                best[r] = _by_differences(X, i, C, scale, order, square, how, T, r, low, u, L)
            before, now = labels[i], best[r]
            labels[i] = now
            s = weights[i] if len(weights) else 1.0
            if first:
                total += s * (_length(X, i, c, scale) if off > ROUNDED else lengths[r])
            if first or now != before:
                moved += 1
                if not first:
                    mass[before] -= s
                    for j in range(p):
                        sums[before, j] -= s * (X[i, j] - c[j])
                mass[now] += s
                for j in range(p):
                    sums[now, j] += s * (X[i, j] - c[j])
    return moved, total


@cache
def _compiled(number):
    single, real, whole, int32 = types.float32, types.float64, types.intp, types.int32
    X = types.Array(float_type(number), 2, "C", readonly=True)
    line, table = (types.Array(real, d, "C", readonly=True) for d in (1, 2))
    numbers = types.Array(whole, 1, "C", readonly=True)
    floats, tile = single[::1], single[:, ::1]
    F, square = (types.Array(single, d, "C", readonly=True) for d in (2, 1))
    centres = line, real, table, whole, F, square, numbers, numbers, real, real
    state = types.boolean, floats, tile, int32[::1], whole[::1], whole
    scratch = (
        tile, floats, tile, floats, floats, int32[::1], int32[::1], floats, floats, floats,
        real[::1],
    )  # fmt: skip
    return _assign.compile((X, line, *centres, *state, *scratch, real[:, ::1], real[::1]))


def assign(
    X, weights, centres, first, state, rows, count, scratch, sums, mass
) -> tuple[int, float]:
    """Compare the first ``count`` of ``rows`` with all centres.

    weights: (n,), or empty for ones. centres: (c, scale, C, how, F, square, group, order, e1, e2):
    F holds −2m in float32, filled up with zeros to multiples of four lines (by rows, of five) and
    eight columns, ``square`` ‖m‖² with inf, group after group; ``order``: their numbers among C.
    state: (u (n,), L (groups, n), labels (n,)), overwritten; first: labels are not yet any. sums
    (k, p) and mass (k,) get Σ s(x − c) and Σ s of the rows that came, less those that went.
    (rows that moved, Σ s‖z‖²).
    """
    u, L, labels = state
    n, p = X.shape
    C, how, F, order = centres[2], centres[3], centres[4], centres[7]
    if not (len(u) == len(labels) == L.shape[1] == n and len(rows) >= count):
        raise ValueError(f"X {X.shape}, u {u.shape}, L {L.shape} do not match")
    if C.shape[1] != p or sums.shape != C.shape or F.shape[1] % 8:
        raise ValueError(f"X {X.shape}, centres {C.shape} and {F.shape} do not match")
    if len(F) % (5 if how == BY_ROWS else 4):
        raise ValueError(f"{len(F)} centres are not filled up")
    group = centres[6]
    if (group[1:] < group[:-1]).any() or not group[-1] < len(L):
        raise ValueError("centres are not in the order of their groups")
    if how == LOOP and (len(L) != 1 or F.shape[1] > 16):
        raise ValueError(f"one group and up to 16 columns, not {len(L)} and {F.shape[1]}")
    if not scratch.fits(F, how):
        raise ValueError(f"centres {F.shape} do not match their tiles")
    if len(weights) not in (0, n) or len(order) != len(F) or len(L) * LANES != len(scratch.G1):
        raise ValueError(f"weights {weights.shape}, order {order.shape} do not match")
    return _compiled(X.dtype)(
        X, weights, *centres, first, u, L, labels, rows, count, *scratch.arrays, sums, mass
    )


def warm() -> None:
    """Compile every kind, or load it from disk."""
    for number in (np.float32, np.float64):
        _compiled(np.dtype(number))
