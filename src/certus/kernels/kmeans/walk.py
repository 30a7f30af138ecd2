r"""Few columns, many centres: a row walks among the neighbours of the centre it was nearest to.

With a its label of the step before, and the neighbours c in the order of ‖μ_a − μ_c‖,

    ‖x − μ_c‖ ≥ ‖μ_a − μ_c‖ − u,      u ≥ ‖x − μ_a‖

so that the walk may end as soon as the right side is above the second least distance that it saw:
no centre farther on is nearer. Rows of one label walk together, in lanes. Distances are by
differences in float64, of equal ones the first centre is taken. u and l are bounds as in
``assignment.py``, l one for all other centres: those of a's list came nearer by no more than the
farthest of them went, and all others are at least as far from μ_a as the last of the list.

A first label is that of the centre nearest to the middle of a row's cell; cells are cut where the
centres have their quantiles.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel

LANES = 16  # rows that walk together
WIDTH, ZERO, ONE, TWO = (np.uint64(i) for i in (LANES, 0, 1, 2))
# parts of a tile: three columns of the rows, and what is known of them
Z1, Z2, LEAST, SECOND, LABEL, START = (np.uint64(LANES * i) for i in range(1, 7))
COLUMNS, PARTS = 3, 7
UP, DOWN = np.float32(1 + 2.0**-21), np.float32(1 - 2.0**-21)  # more than float32 rounds
LESS = 1 - 1e-9  # more than float64 rounds
NOTHING = np.float32(0)


@kernel
def _squared(X, i, C, a, scale):
    total = 0.0
    for j in range(C.shape[1]):
        d = (X[i, j] - C[a, j]) * scale
        total += d * d
    return total


@kernel
def _neighbours(columns, first, last, d, near, gap):
    """The nearest others of centres first … last, ascending, and how far they are (less a bit).
    columns: (3, k), in units of scale."""
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
            gap[a, m] = np.sqrt(gap[a, m]) * LESS


@kernel
def _cells(X, cuts, middle, labels):
    """Labels to walk from: cell Σ_j b_j (cuts + 1)^j has b_j cuts below x_j. Cuts are one less than
    a power of two, so that a search is the same steps for all rows."""
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
def _unproven(X, C, scale, of, first, u, l, labels, rows, at):
    """Let the bounds follow the centres; the rows that even their own distance does not prove, by
    label. of: each centre's drift, the most of those in its list, half of the way to the first and
    the way to the last of them. (how many, and how many the bounds alone did not prove)."""
    unproven, count = 0, 0
    for i in range(len(u)):
        a = np.uint64(labels[i])
        u[i] = (u[i] + of[a, 0]) * UP
        l[i] = min((l[i] - of[a, 1]) * DOWN, max((of[a, 3] - u[i]) * DOWN, NOTHING))
        enough = max(l[i], of[a, 2])
        if not u[i] < enough:
            unproven += 1
            u[i] = np.float32(np.sqrt(_squared(X, i, C, a, scale))) * UP
            rows[count] = i
            count += first or not u[i] < enough
    # counting: those of label a are ordered[at[a] : at[a + 1]]
    ordered = rows[len(u) :]
    for a in range(len(at)):
        at[a] = 0
    for t in range(count):
        at[labels[rows[t]] + 1] += 1
    for a in range(1, len(at)):
        at[a] += at[a - 1]
    for t in range(count):
        a = labels[rows[t]]
        ordered[at[a]] = rows[t]
        at[a] += 1
    for a in range(len(at) - 1, 0, -1):
        at[a] = at[a - 1]
    at[0] = 0
    return count, unproven


@kernel
def _compare(P, c, tile):
    """One centre with all lanes: d², the two least of them, and whose the least is."""
    y0, y1, y2, number = P[c, 0], P[c, 1], P[c, 2], float(c)
    for q in range(WIDTH):
        d0, d1, d2 = tile[q] - y0, tile[Z1 + q] - y1, tile[Z2 + q] - y2
        d, best, mine = d0 * d0 + d1 * d1 + d2 * d2, tile[LEAST + q], tile[LABEL + q]
        first = min(mine, number) if d == best else mine
        tile[LABEL + q] = number if d < best else first
        tile[SECOND + q] = min(tile[SECOND + q], max(best, d))
        tile[LEAST + q] = min(best, d)


@kernel
def _begin(P, a, tile):
    for q in range(WIDTH):
        tile[LEAST + q], tile[SECOND + q], tile[LABEL + q] = np.inf, np.inf, a


@kernel
def _ended(gap, tile):
    """Is no centre at ``gap`` or more from a nearer than the second least of any lane?

    gap − u > √second, without the root.
    """
    nearer = 0
    for q in range(WIDTH):
        beyond = gap - tile[START + q]
        nearer += 0 if beyond > 0 and beyond * beyond > tile[SECOND + q] else 1
    return nearer == 0


@kernel
def _walk_from(a, P, near, gap, tile):
    """The nearest centre of all lanes, which were nearest to a and are no farther from it than
    START says; the walk ends for all at once."""
    k, most = len(P), near.shape[1]
    _begin(P, a, tile)
    _compare(P, a, tile)
    for m in range(most):
        if m % 4 == 0 and m > 0 and _ended(gap[a, m], tile):
            return
        _compare(P, near[a, m], tile)
    if most < k - 1 and not _ended(gap[a, most - 1], tile):  # the list is too short: all
        _begin(P, 0, tile)
        for c in range(k):
            _compare(P, c, tile)


@kernel
def _walk(
    X, weights, c, scale, C, P, near, gap, of, first, u, l, labels, rows, at, tile, sums, mass,
):  # fmt: skip
    n, p = X.shape
    evaluated, unproven = _unproven(X, C, scale, of, first, u, l, labels, rows, at)
    moved, total, ordered = 0, 0.0, rows[n:]
    for a in range(len(C)):
        for begin in range(at[a], at[a + 1], LANES):
            m = min(LANES, at[a + 1] - begin)
            for r in range(LANES):
                i = ordered[begin + (r if r < m else 0)]
                for j in range(p):
                    tile[j * LANES + r] = X[i, j] * scale
                tile[START + np.uint64(r)] = u[i]
            _walk_from(a, P, near, gap, tile)
            for r in range(m):
                lane = np.uint64(r)
                i, now = ordered[begin + r], int(tile[LABEL + lane])
                u[i] = np.float32(np.sqrt(tile[LEAST + lane])) * UP
                l[i] = np.float32(np.sqrt(tile[SECOND + lane])) * DOWN
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
    if name == "neighbours":
        lists = real[::1], types.int32[:, ::1], real[:, ::1]
        return _neighbours.compile((table, whole, whole, *lists))
    if name == "cells":
        return _cells.compile((X, table, types.int32[::1], types.int32[::1]))
    lists = types.int32[:, ::1], real[:, ::1], single[:, ::1], types.boolean
    tile = whole[::1], whole[::1], real[::1]
    state = single[::1], single[::1], types.int32[::1], *tile, real[:, ::1], real[::1]
    return _walk.compile((X, line, line, real, table, real[:, ::1], *lists, *state))


def neighbours(C, scale, first, last, near, gap) -> None:
    """Fill lines first … last of near (k, m) and gap (k, m): each centre's nearest others."""
    if near.shape != gap.shape or len(near) != len(C) or not near.shape[1] < len(C):
        raise ValueError(f"centres {C.shape}, near {near.shape}, gap {gap.shape} do not match")
    columns = np.zeros((COLUMNS, len(C)))
    columns[: C.shape[1]] = C.T * scale
    _compiled("neighbours", np.dtype(float))(columns, first, last, np.empty(len(C)), near, gap)


def cells(X, cuts, middle, labels) -> None:
    """labels (n,) from the cells between cuts (p, m), ascending, m + 1 a power of two; middle: a
    label for each cell."""
    p, m = cuts.shape
    if X.shape != (len(labels), p) or len(middle) != (m + 1) ** p or m & (m + 1):
        raise ValueError(f"X {X.shape}, cuts {cuts.shape}, {len(middle)} cells do not match")
    _compiled("cells", X.dtype)(X, cuts, middle, labels)


def walk(
    X, weights, c, scale, C, near, gap, drift, first, state, sums, mass
) -> tuple[int, int, int, float]:
    """As ``kernels.kmeans.assign``: (rows that moved, walked, were not proven by bounds alone,
    Σ s‖z‖² at first).

    drift: (of each centre, the most of those in its list). first: labels are a guess, u is infinite
    and l 0. state: (u, l, labels), each (n,).
    """
    u, l, labels = state
    n, p = X.shape
    if not len(u) == len(l) == len(labels) == n or len(weights) not in (0, n):
        raise ValueError(f"X {X.shape}, u {u.shape}, weights {weights.shape} do not match")
    if (
        C.shape[1] != p
        or p > COLUMNS
        or sums.shape != C.shape
        or len(near) != len(C)
        or len(drift[1]) != len(C)
    ):
        raise ValueError(f"X {X.shape}, centres {C.shape}, near {near.shape} do not match")
    if n and not 0 <= labels.min() <= labels.max() < len(C):
        raise ValueError("labels are not those of centres")
    rows, at = np.empty(2 * n, dtype=np.intp), np.empty(len(C) + 1, dtype=np.intp)
    tile, P = np.zeros(PARTS * LANES), np.zeros((len(C), COLUMNS))
    P[:, :p] = C * scale
    half, far = 0.5 * gap[:, :1].astype(np.float32) * DOWN, gap[:, -1:].astype(np.float32) * DOWN
    of = np.concatenate([np.stack(drift, axis=1), half, far], axis=1)
    return _compiled("walk", X.dtype)(
        X, weights, c, scale, C, P, near, gap, of, first, u, l, labels, rows, at, tile, sums, mass,
    )  # fmt: skip


def warm() -> None:
    for number in (np.float32, np.float64):
        _compiled("walk", np.dtype(number))
        _compiled("cells", np.dtype(number))
    _compiled("neighbours", np.dtype(float))
