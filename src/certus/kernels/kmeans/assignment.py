r"""Assign rows to their nearest centres by float32 products with a bounded error.

Rows are in lanes: a tile holds 256 of them column by column, shifted by c and scaled by a power of
two, so that the products of one centre with all of them are elementwise. For centre m in group g

    v = ‖m‖² − 2mᵀz,     G1[g] = min v,   G2[g] = second least v,     d² = v + ‖z‖² ± E

E = e₁‖z‖ + e₂ bounds the float32 rounding of v (``solvers/neighbors/products.py``). Where the two
least v are not 2E apart, differences in float64 decide:

    Σ_j (x_j − μ_j)²,    of equal ones the first centre.

Stored for each row are its label a, u ≥ d(x, μ_a) and, for each group, L[g] ≤ min d(x, μ_b) over
the other centres of the group (``bounds.py``).
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel

LANES = 256  # rows of a tile
WIDTH, TWO, THREE = np.uint64(LANES), np.uint64(2), np.uint64(3)
UNIT = 2.0**-24  # unit roundoff of float32
LENGTH_ROUNDING = 4.2 * UNIT  # relative error of ‖z‖² with rows and lengths in float32
LOOP, BLAS, BY_ROWS = range(3)  # products for up to 16 columns, for more, and for few centres
FLOAT_ZERO, FLOAT_INFINITY = np.float32(0), np.float32(np.inf)
# factors that outweigh the float32 rounding of a few operations
ROUND_UP, ROUND_DOWN = np.float32(1 + 2.0**-21), np.float32(1 - 2.0**-21)


@kernel
def _squared(X, i, C, a, scale):
    """Return Σ_j (x_j − μ_j)², times scale²."""
    total = 0.0
    for j in range(C.shape[1]):
        d = (X[i, j] - C[a, j]) * scale
        total += d * d
    return total


@kernel
def _length(X, i, c, scale):
    """Return ‖z‖²."""
    total = 0.0
    for j in range(len(c)):
        d = (X[i, j] - c[j]) * scale
        total += d * d
    return total


@kernel
def _into_lanes(X, rows, m, c, scale, Z, lengths):
    """Copy the first m of ``rows`` into the lanes of Z (p × 256), and compute ‖z‖²."""
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
    """Copy the first m of ``rows`` into rows of Z (256 × p) for BLAS, and compute ‖z‖²."""
    for r in range(m):
        i, line, total = rows[r], Z[r], 0.0
        for j in range(len(c)):
            z = (X[i, j] - c[j]) * scale
            line[j] = z
            total += z * z
        lengths[r] = total


@kernel
def _by_rows(X, rows, m, origin, unit, F, z, T, lengths):
    """Products for few centres and many columns, two rows by five centres at a time, which fit in
    registers; z = x·unit − origin in the precision of X. Each row is read once."""
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
            a0 = a1 = b0 = b1 = c0 = c1 = d0 = d1 = e0 = e1 = FLOAT_ZERO
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


def _make_compare(columns):
    """Make the kernel that compares centres a … a + 3 with all lanes and updates the two least v.

    The number of columns is a constant of the kernel, so that its inner loop is unrolled and the
    products stay in registers.
    """

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
            v, nearest, least = min(low, high), one if low <= high else two, G1[q]
            G2[q] = min(min(G2[q], second), max(least, v))
            label[q] = nearest if v < least else label[q]
            G1[q] = min(least, v)

    return compare


_eight, _sixteen = _make_compare(np.uint64(8)), _make_compare(np.uint64(16))


@kernel
def _update_two_least(line, start, add, center, group, G1, G2, label):
    """Update the two least v of a group with the values of one centre."""
    at = group * WIDTH
    for q in range(WIDTH):
        v, least = line[start + q] + add, G1[at + q]
        G2[at + q] = min(G2[at + q], max(least, v))
        label[at + q] = center if v < least else label[at + q]
        G1[at + q] = min(least, v)


@kernel
def _update_two_least_by_four(line, start, a, square, group, G1, G2, label):
    """Update the two least v of a group with the values of four consecutive centres."""
    at, b, c, d = group * WIDTH, start + WIDTH, start + TWO * WIDTH, start + THREE * WIDTH
    sa, sb, sc, sd = square[a], square[a + 1], square[a + 2], square[a + 3]
    la, lb, lc, ld = np.int32(a), np.int32(a + 1), np.int32(a + 2), np.int32(a + 3)
    for q in range(WIDTH):
        va, vb, vc, vd = line[start + q] + sa, line[b + q] + sb, line[c + q] + sc, line[d + q] + sd
        low, high = min(va, vb), min(vc, vd)
        one, two = la if va <= vb else lb, lc if vc <= vd else ld
        second = min(max(low, high), min(max(va, vb), max(vc, vd)))
        v, nearest, least = min(low, high), one if low <= high else two, G1[at + q]
        G2[at + q] = min(min(G2[at + q], second), max(least, v))
        label[at + q] = nearest if v < least else label[at + q]
        G1[at + q] = min(least, v)


@kernel
def _compare_in_lanes(X, rows, m, c, scale, F, square, Z, G1, G2, label, lengths):
    """Compare the first m of ``rows`` with all centres, of up to 16 columns: the two least v."""
    _into_lanes(X, rows, m, c, scale, Z, lengths)
    centers, lanes = F.reshape(-1), Z.reshape(-1)
    for a in range(0, len(F), 4):
        if len(Z) == 8:
            _eight(centers, a, square, lanes, G1, G2, label)
        else:
            _sixteen(centers, a, square, lanes, G1, G2, label)


@kernel
def _compare_products(T, square, group, G1, G2, label):
    """Find the two least v of each group among the products T (centres × lanes)."""
    values, a = T.reshape(-1), 0
    while a < len(T):
        start, g = np.uint64(a) * WIDTH, np.uint64(group[a])
        if a + 3 < len(T) and group[a + 3] == group[a]:
            _update_two_least_by_four(values, start, a, square, g, G1, G2, label)
            a += 4
        else:
            _update_two_least(values, start, square[a], np.int32(a), g, G1, G2, label)
            a += 1


@kernel
def _decide(groups, lengths, e1, e2, off, G1, G2, label, best, sure, upper, low):
    """Decide for each lane which centre is nearest and whether that is proven (sure > 0).

    The label is written to the first group of ``label``, u to ``upper``, L of each group over G1;
    ``low`` gets ‖z‖² less its error, and the largest v that a nearest centre can have. ``off`` is
    the relative error of ‖z‖².
    """
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
        low[WIDTH + q] = least + 2.0001 * E + LENGTH_ROUNDING * abs(least)
        upper[q] = np.float32(np.sqrt(max(least + length + E + off * length, 0.0))) * ROUND_UP
    for g in range(groups):
        at, number = np.uint64(g) * WIDTH, np.int32(g)
        for q in range(WIDTH):
            v = G2[at + q] if best[q] == number else G1[at + q]
            G1[at + q] = np.sqrt(max(v + low[q], FLOAT_ZERO)) * ROUND_DOWN


@kernel
def _store_proven(rows, m, order, G1, label, sure, upper, u, L, labels, now):
    """Store labels and bounds of the rows that the tile proves; others get −1 in ``now``."""
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
def _by_differences(X, i, C, scale, order, square, method, T, r, low, u, L):
    """Return the label of row i (lane r) by differences from all centres that may be nearest."""
    label, least, second, limit = -1, np.inf, np.inf, low[LANES + r]
    if method != LOOP:  # others have v > limit
        second = max(limit + low[r], 0.0)
    for t in range(len(C)):
        if method == LOOP or not T[t, r] + square[t] > limit:
            a = order[t]
            d = _squared(X, i, C, a, scale)
            if d < least or (d == least and a < label):
                label, least, second = a, d, min(least, second)
            else:
                second = min(second, d)
    u[i] = np.float32(np.sqrt(least)) * ROUND_UP
    for g in range(len(L)):  # the second least distance bounds every group
        L[g, i] = np.float32(np.sqrt(second)) * ROUND_DOWN
    return label


def _make_assign(method):
    """Make the kernel of one method, a constant: the others are not compiled with it."""

    @kernel
    def _assign(
        X, weights, c, scale, C, F, square, group, order, e1, e2, first, u, L, labels, rows,
        count, Z, z, T, G1, G2, label, best, sure, upper, low, lengths, sums, mass,
    ):  # fmt: skip
        p = X.shape[1]
        moved, total = 0, 0.0
        origin, unit = (c * scale).astype(X.dtype), X.dtype.type(scale)
        off = LENGTH_ROUNDING
        if method == BY_ROWS and X.itemsize == 4:  # sums of p squares in float32
            off += 1.01 * (p + 8) * UNIT
        for start in range(0, count, LANES):
            m = min(LANES, count - start)
            tile_rows = rows[start : start + m]
            for q in range(len(G1)):
                G1[q], G2[q] = FLOAT_INFINITY, FLOAT_INFINITY
            if method == LOOP:
                _compare_in_lanes(X, tile_rows, m, c, scale, F, square, Z, G1, G2, label, lengths)
            else:
                if method == BLAS:
                    _as_rows(X, tile_rows, m, c, scale, Z, lengths)
                    np.dot(F, Z.T, T)
                else:
                    _by_rows(X, tile_rows, m, origin, unit, F, z, T, lengths)
                _compare_products(T, square, group, G1, G2, label)
            _decide(len(L), lengths, e1, e2, off, G1, G2, label, best, sure, upper, low)
            _store_proven(tile_rows, m, order, G1, label, sure, upper, u, L, labels, best)
            for r in range(m):
                i, now = tile_rows[r], best[r]
                if now < 0:
                    now = _by_differences(X, i, C, scale, order, square, method, T, r, low, u, L)
                before = labels[i]
                labels[i] = now
                s = weights[i] if len(weights) else 1.0
                if first:
                    total += s * (_length(X, i, c, scale) if off > LENGTH_ROUNDING else lengths[r])
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

    return _assign


_ASSIGN = [_make_assign(method) for method in (LOOP, BLAS, BY_ROWS)]


@cache
def _compiled(number, method):
    single, real, whole, int32 = types.float32, types.float64, types.intp, types.int32
    X = types.Array(float_type(number), 2, "C", readonly=True)
    line, table = (types.Array(real, d, "C", readonly=True) for d in (1, 2))
    numbers = types.Array(whole, 1, "C", readonly=True)
    floats, tile = single[::1], single[:, ::1]
    F, square = (types.Array(single, d, "C", readonly=True) for d in (2, 1))
    centers = line, real, table, F, square, numbers, numbers, real, real
    state = types.boolean, floats, tile, int32[::1], whole[::1], whole
    scratch = (
        tile, floats, tile, floats, floats, int32[::1], int32[::1], floats, floats, floats,
        real[::1],
    )  # fmt: skip
    return _ASSIGN[method].compile((X, line, *centers, *state, *scratch, real[:, ::1], real[::1]))


def assign(
    X, weights, centers, first, state, rows, count, scratch, sums, mass
) -> tuple[int, float]:
    """Compare the first ``count`` of ``rows`` with all centres; return (rows moved, Σ s‖z‖²).

    weights: (n,), or empty for ones. centres: (c, scale, C, method, F, square, group, order, e1,
    e2): F holds −2m in float32, sorted by group and padded with zeros to multiples of four lines
    (BY_ROWS: five) and eight columns; ``square`` holds ‖m‖², padded with inf; ``order`` the index
    in C of each line. state: (u (n,), L (groups, n), labels (n,)), overwritten; first: there are
    no labels yet. sums (k, p) and mass (k,) are changed by Σ s(x − c) and Σ s over the rows that
    joined each cluster, minus those that left.
    """
    u, L, labels = state
    n, p = X.shape
    c, scale, C, method, *lines = centers
    F, _, group, order, *_ = lines
    if not (len(u) == len(labels) == L.shape[1] == n and len(rows) >= count):
        raise ValueError(f"X {X.shape}, u {u.shape}, L {L.shape} do not match")
    if C.shape[1] != p or sums.shape != C.shape or F.shape[1] % 8:
        raise ValueError(f"X {X.shape}, centres {C.shape} and {F.shape} do not match")
    if len(F) % (5 if method == BY_ROWS else 4):
        raise ValueError(f"{len(F)} lines of centres are not padded")
    if (group[1:] < group[:-1]).any() or not group[-1] < len(L):
        raise ValueError("centres are not sorted by group")
    if method == LOOP and (len(L) != 1 or F.shape[1] > 16):
        raise ValueError(f"LOOP takes 1 group and up to 16 columns, not {len(L)}, {F.shape[1]}")
    if not scratch.fits(F, method):
        raise ValueError(f"centres {F.shape} do not match the scratch arrays")
    if len(weights) not in (0, n) or len(order) != len(F) or len(L) * LANES != len(scratch.G1):
        raise ValueError(f"weights {weights.shape}, order {order.shape} do not match")
    return _compiled(X.dtype, method)(
        X,
        weights,
        c,
        scale,
        C,
        *lines,
        first,
        u,
        L,
        labels,
        rows,
        count,
        *scratch.arrays,
        sums,
        mass,
    )


def warm() -> None:
    """Compile the kernel for each dtype and method, or load it from disk."""
    for number in (np.float32, np.float64):
        for method in (LOOP, BLAS, BY_ROWS):
            _compiled(np.dtype(number), method)
