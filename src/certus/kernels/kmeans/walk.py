r"""Few columns, many centres: compare a row with the neighbours of the centre it was nearest to.

With a the row's previous label, and a's neighbours c in ascending order of ‖μ_a − μ_c‖,

    ‖x − μ_c‖ ≥ ‖μ_a − μ_c‖ − u,      u ≥ ‖x − μ_a‖

so the walk along the list can end as soon as the right side exceeds the second least distance so
far: no centre further along the list is nearer. Rows of one label walk together, in lanes.
Distances are differences in float64; of equally near centres the first is taken. u and l are bounds
as in ``assignment.py``, with one l for all other centres: those in a's list came nearer by at most
their largest movement, and all others are at least as far from μ_a as the last of the list.

The first label of a row is the centre nearest to the middle of its cell, in a grid that is cut at
quantiles of the centres.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel

LANES = 16  # rows that walk together
WIDTH, ZERO, ONE, TWO = (np.uint64(i) for i in (LANES, 0, 1, 2))
# offsets of the parts of a tile: three columns of the rows; least and second least d², label, u
Z1_OFFSET, Z2_OFFSET, LEAST_OFFSET, SECOND_OFFSET, LABEL_OFFSET, START_OFFSET = (
    np.uint64(LANES * i) for i in range(1, 7)
)
MAX_COLUMNS, TILE_PARTS = 3, 7
# factors that outweigh the float32 rounding of a few operations
ROUND_UP, ROUND_DOWN = np.float32(1 + 2.0**-21), np.float32(1 - 2.0**-21)
GAP_SHRINKAGE = 1 - 1e-9  # outweighs the float64 rounding of a distance between centres
FLOAT_ZERO = np.float32(0)


@kernel
def _squared(X, i, C, a, scale):
    total = 0.0
    for j in range(C.shape[1]):
        d = (X[i, j] - C[a, j]) * scale
        total += d * d
    return total


@kernel
def _neighbors(columns, first, last, d, near, gap):
    """List the nearest other centres of centres first … last, ascending, with lower bounds of
    their distances. columns: (3, k), scaled coordinates."""
    most, x, y, z = near.shape[1], columns[0], columns[1], columns[2]
    for a in range(first, last):
        for c in range(len(d)):
            d0, d1, d2 = x[c] - x[a], y[c] - y[a], z[c] - z[a]
            d[c] = d0 * d0 + d1 * d1 + d2 * d2
        d[a] = np.inf
        for m in range(most):
            gap[a, m] = np.inf
        worst = np.inf
        for c in range(len(d)):
            if d[c] < worst:
                m = most - 1
                while m > 0 and gap[a, m - 1] > d[c]:
                    gap[a, m], near[a, m] = gap[a, m - 1], near[a, m - 1]
                    m -= 1
                gap[a, m], near[a, m] = d[c], c
                worst = gap[a, most - 1]
        for m in range(most):
            gap[a, m] = np.sqrt(gap[a, m]) * GAP_SHRINKAGE


@kernel
def _cells(X, cuts, middle, labels):
    """Fill the labels to walk from: a row with b_j cuts below x_j is in cell Σ_j b_j (cuts + 1)^j.

    The number of cuts is one less than a power of two, so that the binary search takes the same
    steps for all rows.
    """
    parts = np.uint64(cuts.shape[1] + 1)
    for i in range(len(X)):
        cell, stride = np.uint64(0), np.uint64(1)
        for j in range(len(cuts)):
            x, line, below, half = X[i, j], cuts[j], np.uint64(0), parts // TWO
            while half > 0:
                below += half if line[below + half - ONE] <= x else ZERO
                half //= TWO
            cell += below * stride
            stride *= parts
        labels[i] = middle[cell]


@kernel
def _unproven(X, C, scale, limits, first, u, l, labels, rows, offsets):
    """Update the bounds for the movement of the centres, and list the rows still unproven by label.

    limits: for each centre its movement, the largest movement in its list, half the distance to the
    first of the list and the distance to the last. Returns how many rows are listed, and how many
    the bounds alone did not prove.
    """
    unproven, count = 0, 0
    for i in range(len(u)):
        a = np.uint64(labels[i])
        u[i] = (u[i] + limits[a, 0]) * ROUND_UP
        l[i] = min(
            (l[i] - limits[a, 1]) * ROUND_DOWN, max((limits[a, 3] - u[i]) * ROUND_DOWN, FLOAT_ZERO)
        )
        needed = max(l[i], limits[a, 2])
        if not u[i] < needed:
            unproven += 1
            u[i] = np.float32(np.sqrt(_squared(X, i, C, a, scale))) * ROUND_UP
            rows[count] = i
            count += first or not u[i] < needed
    # counting sort: rows of label a are ordered[offsets[a] : offsets[a + 1]]
    ordered = rows[len(u) :]
    for a in range(len(offsets)):
        offsets[a] = 0
    for t in range(count):
        offsets[labels[rows[t]] + 1] += 1
    for a in range(1, len(offsets)):
        offsets[a] += offsets[a - 1]
    for t in range(count):
        a = labels[rows[t]]
        ordered[offsets[a]] = rows[t]
        offsets[a] += 1
    for a in range(len(offsets) - 1, 0, -1):
        offsets[a] = offsets[a - 1]
    offsets[0] = 0
    return count, unproven


@kernel
def _compare(P, c, tile):
    """Compare one centre with all lanes, and update their two least d² and labels."""
    y0, y1, y2, number = P[c, 0], P[c, 1], P[c, 2], float(c)
    for q in range(WIDTH):
        d0, d1, d2 = tile[q] - y0, tile[Z1_OFFSET + q] - y1, tile[Z2_OFFSET + q] - y2
        d, best, label = d0 * d0 + d1 * d1 + d2 * d2, tile[LEAST_OFFSET + q], tile[LABEL_OFFSET + q]
        first = min(label, number) if d == best else label
        tile[LABEL_OFFSET + q] = number if d < best else first
        tile[SECOND_OFFSET + q] = min(tile[SECOND_OFFSET + q], max(best, d))
        tile[LEAST_OFFSET + q] = min(best, d)


@kernel
def _begin(P, a, tile):
    for q in range(WIDTH):
        tile[LEAST_OFFSET + q], tile[SECOND_OFFSET + q], tile[LABEL_OFFSET + q] = np.inf, np.inf, a


@kernel
def _ended(gap, tile):
    """Return whether in no lane a centre ``gap`` or farther from a can be among the nearest two.

    This is gap − u > √second, without the root.
    """
    nearer = 0
    for q in range(WIDTH):
        beyond = gap - tile[START_OFFSET + q]
        nearer += 0 if beyond > 0 and beyond * beyond > tile[SECOND_OFFSET + q] else 1
    return nearer == 0


@kernel
def _walk_from(a, P, near, gap, tile):
    """Find the nearest centre of each lane; its rows have label a, and their u at START_OFFSET.

    The walk ends for all lanes at once.
    """
    k, most = len(P), near.shape[1]
    _begin(P, a, tile)
    _compare(P, a, tile)
    for m in range(most):
        if m % 4 == 0 and m > 0 and _ended(gap[a, m], tile):
            return
        _compare(P, near[a, m], tile)
    if most < k - 1 and not _ended(gap[a, most - 1], tile):  # the list is too short: compare all
        _begin(P, 0, tile)
        for c in range(k):
            _compare(P, c, tile)


@kernel
def _walk(
    X, weights, c, scale, C, P, near, gap, limits, first, u, l, labels, rows, offsets, tile, sums,
    mass,
):  # fmt: skip
    n, p = X.shape
    evaluated, unproven = _unproven(X, C, scale, limits, first, u, l, labels, rows, offsets)
    moved, total, ordered = 0, 0.0, rows[n:]
    for a in range(len(C)):
        for begin in range(offsets[a], offsets[a + 1], LANES):
            m = min(LANES, offsets[a + 1] - begin)
            for r in range(LANES):
                i = ordered[begin + (r if r < m else 0)]
                for j in range(p):
                    tile[j * LANES + r] = X[i, j] * scale
                tile[START_OFFSET + np.uint64(r)] = u[i]
            _walk_from(a, P, near, gap, tile)
            for r in range(m):
                lane = np.uint64(r)
                i, now = ordered[begin + r], int(tile[LABEL_OFFSET + lane])
                u[i] = np.float32(np.sqrt(tile[LEAST_OFFSET + lane])) * ROUND_UP
                l[i] = np.float32(np.sqrt(tile[SECOND_OFFSET + lane])) * ROUND_DOWN
                if now != a or first:
                    labels[i] = now
                    moved += 1
                    s = weights[i] if len(weights) else 1.0
                    mass[now] += s
                    if not first:
                        mass[a] -= s
                    for j in range(p):
                        d = X[i, j] - c[j]
                        sums[now, j] += s * d
                        if first:
                            total += s * (d * scale) ** 2
                        else:
                            sums[a, j] -= s * d
    return moved, evaluated, unproven, total


@cache
def _compiled(name, number):
    real, whole, single = types.float64, types.intp, types.float32
    line, table = (types.Array(real, d, "C", readonly=True) for d in (1, 2))
    X = types.Array(float_type(number), 2, "C", readonly=True)
    if name == "neighbors":
        lists = real[::1], types.int32[:, ::1], real[:, ::1]
        return _neighbors.compile((table, whole, whole, *lists))
    if name == "cells":
        return _cells.compile((X, table, types.int32[::1], types.int32[::1]))
    lists = types.int32[:, ::1], real[:, ::1], single[:, ::1], types.boolean
    tile = whole[::1], whole[::1], real[::1]
    state = single[::1], single[::1], types.int32[::1], *tile, real[:, ::1], real[::1]
    return _walk.compile((X, line, line, real, table, real[:, ::1], *lists, *state))


def neighbors(C, scale, first, last, near, gap) -> None:
    """Fill lines first … last of near (k, m) and gap (k, m) with each centre's nearest others."""
    if near.shape != gap.shape or len(near) != len(C) or not near.shape[1] < len(C):
        raise ValueError(f"centres {C.shape}, near {near.shape}, gap {gap.shape} do not match")
    columns = np.zeros((MAX_COLUMNS, len(C)))
    columns[: C.shape[1]] = C.T * scale
    _compiled("neighbors", np.dtype(float))(columns, first, last, np.empty(len(C)), near, gap)


def cells(X, cuts, middle, labels) -> None:
    """Fill labels (n,) by the cells between cuts (p, m), ascending, m + 1 a power of two; middle:
    the label of each cell."""
    p, m = cuts.shape
    if X.shape != (len(labels), p) or len(middle) != (m + 1) ** p or m & (m + 1):
        raise ValueError(f"X {X.shape}, cuts {cuts.shape}, {len(middle)} cells do not match")
    _compiled("cells", X.dtype)(X, cuts, middle, labels)


def walk(
    X, weights, c, scale, C, near, gap, drift, first, state, sums, mass
) -> tuple[int, int, int, float]:
    """Assign all rows; return how many moved, were compared, and were not proven by bounds alone,
    and in the first step Σ s‖z‖².

    drift: (movement of each centre, largest movement in its list). first: labels are a guess, u is
    infinite and l 0. state: (u, l, labels), each (n,). Other arguments as in ``assignment.assign``.
    """
    u, l, labels = state
    n, p = X.shape
    if not len(u) == len(l) == len(labels) == n or len(weights) not in (0, n):
        raise ValueError(f"X {X.shape}, u {u.shape}, weights {weights.shape} do not match")
    if (
        C.shape[1] != p
        or p > MAX_COLUMNS
        or sums.shape != C.shape
        or len(near) != len(C)
        or len(drift[1]) != len(C)
    ):
        raise ValueError(f"X {X.shape}, centres {C.shape}, near {near.shape} do not match")
    if n and not 0 <= labels.min() <= labels.max() < len(C):
        raise ValueError("labels are not those of centres")
    rows, offsets = np.empty(2 * n, dtype=np.intp), np.empty(len(C) + 1, dtype=np.intp)
    tile, P = np.zeros(TILE_PARTS * LANES), np.zeros((len(C), MAX_COLUMNS))
    P[:, :p] = C * scale
    half, far = (
        0.5 * gap[:, :1].astype(np.float32) * ROUND_DOWN,
        gap[:, -1:].astype(np.float32) * ROUND_DOWN,
    )
    limits = np.concatenate([np.stack(drift, axis=1), half, far], axis=1)
    return _compiled("walk", X.dtype)(
        X, weights, c, scale, C, P, near, gap, limits, first, u, l, labels, rows, offsets, tile,
        sums, mass,
    )  # fmt: skip


def warm() -> None:
    """Compile all kernels, or load them from disk."""
    for number in (np.float32, np.float64):
        _compiled("walk", np.dtype(number))
        _compiled("cells", np.dtype(number))
    _compiled("neighbors", np.dtype(float))
