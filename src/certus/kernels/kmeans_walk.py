r"""Few columns, many centres: a row walks among the neighbours of the centre it was nearest to.

With a its label of the step before, and the neighbours c in the order of ‖μ_a − μ_c‖,

    ‖x − μ_c‖ ≥ ‖μ_a − μ_c‖ − ‖x − μ_a‖

so that the walk may end as soon as the right side is not below the second least distance that it
saw: no centre farther on is nearer. Rows of one label walk together, in lanes. Distances are by
differences in float64, of equal ones the first centre is taken. u and l are bounds as in
``kmeans.py``, l one for all other centres.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel

LANES = 16  # rows that walk together
UP, DOWN = np.float32(1 + 2.0**-21), np.float32(1 - 2.0**-21)  # more than float32 rounds
LESS = 1 - 1e-9  # more than float64 rounds


@kernel
def _squared(X, i, C, a, scale):
    total = 0.0
    for j in range(C.shape[1]):
        d = (X[i, j] - C[a, j]) * scale
        total += d * d
    return total


@kernel
def _neighbours(C, scale, first, last, near, gap):
    """The nearest others of centres first … last, ascending, and how far they are (less a bit)."""
    k, most = len(C), near.shape[1]
    for a in range(first, last):
        for m in range(most):
            gap[a, m] = np.inf
        worst = np.inf
        for c in range(k):
            d = _squared(C, a, C, c, scale)
            if d < worst and c != a:
                m = most - 1
                while m > 0 and gap[a, m - 1] > d:
                    gap[a, m], near[a, m] = gap[a, m - 1], near[a, m - 1]
                    m -= 1
                gap[a, m], near[a, m] = d, c
                worst = gap[a, most - 1]
        for m in range(most):
            gap[a, m] = np.sqrt(gap[a, m]) * LESS


@kernel
def _unproven(X, C, scale, gap, drift, most, u, l, labels, rows, at):
    """Let the bounds follow the centres; the rows that even their own distance does not prove, by
    label. (how many, and how many the bounds alone did not prove)."""
    unproven, count = 0, 0
    for i in range(len(u)):
        a = labels[i]
        half = np.float32(0.5 * gap[a, 0]) * DOWN
        u[i] = (u[i] + drift[a]) * UP
        l[i] = (l[i] - most) * DOWN
        enough = max(l[i], half)
        if not u[i] < enough:
            unproven += 1
            u[i] = np.float32(np.sqrt(_squared(X, i, C, a, scale))) * UP
            rows[count] = i
            count += not u[i] < enough
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
def _compare(Z, C, scale, c, label, least, second, found):
    """One centre with all lanes: d², the two least of them, and whose the least is."""
    for q in range(LANES):
        found[q] = 0.0
    for j in range(C.shape[1]):
        y, line = C[c, j] * scale, Z[j]
        for q in range(LANES):
            d = line[q] - y
            found[q] += d * d
    for q in range(LANES):
        d, best = found[q], least[q]
        nearer = d < best or (d == best and c < label[q])
        second[q] = min(second[q], max(best, d))
        label[q] = c if nearer else label[q]
        least[q] = min(best, d)


@kernel
def _walk_from(a, C, scale, near, gap, Z, label, least, second, found, start):
    """The nearest centre of all lanes, which were nearest to a; the walk ends for all at once."""
    k, most = len(C), near.shape[1]
    for q in range(LANES):
        least[q], second[q], label[q] = np.inf, np.inf, a
    _compare(Z, C, scale, a, label, least, second, found)
    for q in range(LANES):
        start[q] = np.sqrt(least[q])
    for m in range(most):
        if m % 4 == 0 and m > 0:
            reach = 0.0
            for q in range(LANES):
                reach = max(reach, start[q] + np.sqrt(second[q]))
            if gap[a, m] > reach:
                return
        _compare(Z, C, scale, near[a, m], label, least, second, found)
    if most == k - 1:
        return
    for q in range(LANES):
        if not gap[a, most - 1] > start[q] + np.sqrt(second[q]):  # the list is too short: all
            for r in range(LANES):
                least[r], second[r], label[r] = np.inf, np.inf, 0
            for c in range(k):
                _compare(Z, C, scale, c, label, least, second, found)
            return


@kernel
def _walk(
    X, weights, c, scale, C, near, gap, drift, most, u, l, labels, rows, at, Z, label, tile, sums,
    mass,
):  # fmt: skip
    n, p = X.shape
    least, second, found, start = tile[0], tile[1], tile[2], tile[3]
    looked, unproven = _unproven(X, C, scale, gap, drift, most, u, l, labels, rows, at)
    moved, ordered = 0, rows[n:]
    for a in range(len(C)):
        for first in range(at[a], at[a + 1], LANES):
            m = min(LANES, at[a + 1] - first)
            for r in range(LANES):
                i = ordered[first + (r if r < m else 0)]
                for j in range(p):
                    Z[j, r] = X[i, j] * scale
            _walk_from(a, C, scale, near, gap, Z, label, least, second, found, start)
            for r in range(m):
                i, now = ordered[first + r], label[r]
                u[i] = np.float32(np.sqrt(least[r])) * UP
                l[i] = np.float32(np.sqrt(second[r])) * DOWN
                if now != a:
                    labels[i] = now
                    moved += 1
                    s = weights[i] if len(weights) else 1.0
                    mass[a] -= s
                    mass[now] += s
                    for j in range(p):
                        z = s * (X[i, j] - c[j])
                        sums[a, j] -= z
                        sums[now, j] += z
    return moved, looked, unproven


@cache
def _compiled(name, number):
    real, whole, single = types.float64, types.intp, types.float32
    line, table = (types.Array(real, d, "C", readonly=True) for d in (1, 2))
    X = types.Array(float_type(number), 2, "C", readonly=True)
    if name == "neighbours":
        return _neighbours.compile((table, real, whole, whole, types.int32[:, ::1], real[:, ::1]))
    lists = types.int32[:, ::1], real[:, ::1], single[::1], single
    tile = whole[::1], whole[::1], real[:, ::1], types.int32[::1], real[:, ::1]
    state = single[::1], single[::1], types.int32[::1], *tile, real[:, ::1], real[::1]
    return _walk.compile((X, line, line, real, table, *lists, *state))


def neighbours(C, scale, first, last, near, gap) -> None:
    """Fill lines first … last of near (k, m) and gap (k, m): each centre's nearest others."""
    if near.shape != gap.shape or len(near) != len(C) or not near.shape[1] < len(C):
        raise ValueError(f"centres {C.shape}, near {near.shape}, gap {gap.shape} do not match")
    _compiled("neighbours", np.dtype(float))(C, scale, first, last, near, gap)


def walk(
    X, weights, c, scale, C, near, gap, drift, most, state, sums, mass
) -> tuple[int, int, int]:
    """As ``kernels.kmeans.assign``: (rows that moved, walked, were not proven by bounds alone).

    drift: of each centre; most: the largest of them. state: (u, l, labels), each (n,).
    """
    u, l, labels = state
    n, p = X.shape
    if not len(u) == len(l) == len(labels) == n or len(weights) not in (0, n):
        raise ValueError(f"X {X.shape}, u {u.shape}, weights {weights.shape} do not match")
    if C.shape[1] != p or sums.shape != C.shape or len(near) != len(C) or len(drift) != len(C):
        raise ValueError(f"X {X.shape}, centres {C.shape}, near {near.shape} do not match")
    if n and not 0 <= labels.min() <= labels.max() < len(C):
        raise ValueError("labels are not those of centres")
    rows, at = np.empty(2 * n, dtype=np.intp), np.empty(len(C) + 1, dtype=np.intp)
    Z, label, tile = np.empty((p, LANES)), np.empty(LANES, dtype=np.int32), np.empty((4, LANES))
    return _compiled("walk", X.dtype)(
        X, weights, c, scale, C, near, gap, drift, most, u, l, labels, rows, at, Z, label, tile,
        sums, mass,
    )  # fmt: skip


def warm() -> None:
    for number in (np.float32, np.float64):
        _compiled("walk", np.dtype(number))
    _compiled("neighbours", np.dtype(float))
