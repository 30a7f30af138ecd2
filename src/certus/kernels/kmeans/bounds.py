r"""Which rows need no look when centres move, and which need a short one.

Kept of each row are its label a, u ≥ d(x, μ_a) and, for each group of centres, L[g] ≤ min d(x, μ_b)
over its centres b ≠ a. When centres move, u grows by how far μ_a went and L[g] shrinks by the
farthest move of the group. While u < L[g] for all g, or u < ½ min_b‖μ_a − μ_b‖, a is still nearest
and the row is not read. Else u becomes d(x, μ_a), which may do. If it does not, and few groups have
L[g] ≤ u, only their centres are compared, by float32 products:

    d² = ‖m‖² − 2mᵀz + ‖z‖² ± E,      E = e₁‖z‖ + e₂

Where two are not 2E apart, the row is left to the tiles of ``assignment.py``, as are all others.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel

NOTHING, INFINITE = np.float32(0), np.float32(np.inf)
ROUNDED = 4.2 * 2.0**-24  # of ‖z‖², where rows and their lengths are in float32
UP, DOWN = np.float32(1 + 2.0**-21), np.float32(1 - 2.0**-21)  # more than float32 rounds


@kernel
def _wide(drift, drifts, half, u, L, labels, rows, least):
    """Let the bounds follow the centres; the rows that they no longer prove."""
    n, groups = len(u), len(L)
    for i in range(n):
        least[i] = INFINITE
    for g in range(groups):
        line, moved = L[g], drifts[g]
        for i in range(n):
            bound = (line[i] - moved) * DOWN
            line[i] = bound
            least[i] = min(least[i], bound)
    for i in range(n):
        a = np.uint64(labels[i])
        u[i] = (u[i] + drift[a]) * UP
        least[i] = max(least[i], half[a])
    count = 0
    for i in range(n):
        rows[count] = i
        count += not u[i] < least[i]
    return count


@kernel
def _own(X, i, C, a, scale):
    """‖x − μ_a‖², times scale²."""
    total = 0.0
    for j in range(C.shape[1]):
        d = (X[i, j] - C[a, j]) * scale
        total += d * d
    return total


@kernel
def _few_groups(X, i, a, d2, c, scale, F, square, group, order, edges, place, e1, e2, u, L, z, v):
    """The label of row i, which is d2 from its centre a, by the groups that may hold a nearer one;
    −1: not proven. u[i] and L[:, i] follow."""
    p, length = F.shape[1], 0.0
    for j in range(len(c)):
        d = (X[i, j] - c[j]) * scale
        z[j] = d
        length += d * d
    E = e1 * np.sqrt(length) + e2 + ROUNDED * length
    mine, label, where, nearest, after, beside = place[a], -1, -1, np.inf, np.inf, np.inf
    for g in range(len(L)):
        if L[g, i] <= u[i]:
            least, second, who = np.inf, np.inf, -1
            for start in range(edges[g], edges[g + 1], 4):
                # four at a time, some of them perhaps of the next group: z is loaded once
                w0, w1, w2, w3 = F[start], F[start + 1], F[start + 2], F[start + 3]
                v0, v1, v2, v3 = NOTHING, NOTHING, NOTHING, NOTHING
                for j in range(p):
                    v0 += w0[j] * z[j]
                    v1 += w1[j] * z[j]
                    v2 += w2[j] * z[j]
                    v3 += w3[j] * z[j]
                v[0], v[1], v[2], v[3] = v0, v1, v2, v3
                for t in range(start, min(start + 4, edges[g + 1])):
                    value = float(v[t - start] + square[t]) + length
                    if t == mine:
                        continue
                    if value < least:
                        least, second, who = value, least, t
                    elif value < second:
                        second = value
            L[g, i] = np.float32(np.sqrt(max(least - E, 0.0))) * DOWN
            if least < nearest:
                label, where, after = who, g, min(nearest, second)
                nearest, beside = least, second
            else:
                after = min(after, least)
    if nearest - E > d2:
        return a
    if not (nearest + E < d2 and after - nearest > 2 * E):
        return -1
    L[where, i] = np.float32(np.sqrt(max(beside - E, 0.0))) * DOWN
    old = group[mine]
    L[old, i] = min(L[old, i], u[i] * DOWN * DOWN)
    u[i] = np.float32(np.sqrt(max(nearest + E, 0.0))) * UP
    return order[label]


@kernel
def _prove(
    X, weights, c, scale, C, F, square, group, order, edges, place, e1, e2, drift, drifts, half,
    tighten, few, u, L, labels, rows, least, z, v, sums, mass,
):  # fmt: skip
    unproven = _wide(drift, drifts, half, u, L, labels, rows, least)
    if not tighten:
        return 0, unproven, unproven
    left, moved, p = 0, 0, X.shape[1]
    for t in range(unproven):
        i = rows[t]
        a = labels[i]
        d2 = _own(X, i, C, a, scale)
        u[i] = np.float32(np.sqrt(d2)) * UP
        if u[i] < least[i]:
            continue
        now = -1
        if few > 0:
            count = 0
            for g in range(len(L)):
                count += L[g, i] <= u[i]
            if count <= few:
                now = _few_groups(
                    X, i, a, d2, c, scale, F, square, group, order, edges, place, e1, e2, u, L, z, v
                )
        if now < 0:
            rows[left] = i
            left += 1
        elif now != a:
            labels[i] = now
            moved += 1
            s = weights[i] if len(weights) else 1.0
            mass[a] -= s
            mass[now] += s
            for j in range(p):
                d = s * (X[i, j] - c[j])
                sums[a, j] -= d
                sums[now, j] += d
    return moved, left, unproven


@cache
def _compiled(number):
    single, real, whole, int32 = types.float32, types.float64, types.intp, types.int32
    X = types.Array(float_type(number), 2, "C", readonly=True)
    line, table = (types.Array(real, d, "C", readonly=True) for d in (1, 2))
    numbers = types.Array(whole, 1, "C", readonly=True)
    F, square = (types.Array(single, d, "C", readonly=True) for d in (2, 1))
    floats = single[::1]
    centres = line, real, table, F, square, numbers, numbers, numbers, numbers, real, real
    moves = floats, floats, floats, types.boolean, whole
    state = floats, single[:, ::1], int32[::1], whole[::1], floats, floats, floats
    return _prove.compile((X, line, *centres, *moves, *state, real[:, ::1], real[::1]))


def prove(X, weights, centres, moves, state, scratch, sums, mass) -> tuple[int, int, int]:
    """Let the bounds follow the centres: the rows that are left stand first in ``scratch.rows``.

    centres: (c, scale, C, F, square, group, order, edges, place, e1, e2); group g is lines edges[g]
    to edges[g + 1] of F, centre a of C line place[a] (see ``kmeans.assign`` for the others). moves:
    (drift of each centre, of each group, half, tighten, few): whether to measure u, and the number
    of groups up to which only their centres are compared. state, sums, mass: as in ``assign``.
    (rows that moved, that are left, that the bounds alone did not prove).
    """
    u, L, labels = state
    n, p = X.shape
    C, F = centres[2], centres[3]
    if not (len(u) == len(labels) == L.shape[1] == n and len(scratch.rows) >= n):
        raise ValueError(f"X {X.shape}, u {u.shape}, L {L.shape} do not match")
    if C.shape[1] != p or sums.shape != C.shape or not len(moves[0]) == len(moves[2]) == len(C):
        raise ValueError(f"X {X.shape}, centres {C.shape}, drift {moves[0].shape} do not match")
    if len(weights) not in (0, n) or not len(L) == len(moves[1]) == len(centres[7]) - 1:
        raise ValueError(f"weights {weights.shape}, L {L.shape} do not match")
    if n and not 0 <= labels.min() <= labels.max() < len(C):
        raise ValueError("labels are not those of centres")
    v = np.empty(4, dtype=np.float32)
    z = scratch.z if len(scratch.z) else np.zeros(F.shape[1], dtype=np.float32)
    return _compiled(X.dtype)(
        X, weights, *centres, *moves, u, L, labels, scratch.rows, scratch.least, z, v, sums, mass
    )


def warm() -> None:
    for number in (np.float32, np.float64):
        _compiled(np.dtype(number))
