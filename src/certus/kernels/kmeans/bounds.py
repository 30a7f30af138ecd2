r"""Find the rows whose label is still proven after the centres have moved.

Stored for each row are its label a, u ≥ d(x, μ_a) and, for each group of centres,
L[g] ≤ min d(x, μ_b) over its centres b ≠ a. When centres move, u grows by the movement of μ_a and
L[g] shrinks by the largest movement in the group. While u < L[g] for all g, or
u < ½ min_b‖μ_a − μ_b‖, a is still nearest and the row is not read. Otherwise u is tightened to
d(x, μ_a), which may suffice. If it does not, and L[g] ≤ u for few groups only, just their centres
are compared, by float32 products:

    d² = ‖m‖² − 2mᵀz + ‖z‖² ± E,      E = e₁‖z‖ + e₂

Rows that this does not decide are left to the tiles of ``assignment.py``.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import float_type, kernel

FLOAT_ZERO, FLOAT_INFINITY = np.float32(0), np.float32(np.inf)
LENGTH_ROUNDING = 4.2 * 2.0**-24  # relative error of ‖z‖² with rows and lengths in float32
# factors that outweigh the float32 rounding of a few operations
ROUND_UP, ROUND_DOWN = np.float32(1 + 2.0**-21), np.float32(1 - 2.0**-21)


@kernel
def _apply_drift(drift, drifts, half, u, L, labels, rows, least):
    """Update the bounds for the movement of the centres; return how many rows are unproven.

    These rows are listed first in ``rows``.
    """
    n, groups = len(u), len(L)
    for i in range(n):
        least[i] = FLOAT_INFINITY
    for g in range(groups):
        line, moved = L[g], drifts[g]
        for i in range(n):
            bound = (line[i] - moved) * ROUND_DOWN
            line[i] = bound
            least[i] = min(least[i], bound)
    for i in range(n):
        a = np.uint64(labels[i])
        u[i] = (u[i] + drift[a]) * ROUND_UP
        least[i] = max(least[i], half[a])
    count = 0
    for i in range(n):
        rows[count] = i
        count += not u[i] < least[i]
    return count


@kernel
def _squared_to_own(X, i, C, a, scale):
    """Return ‖x − μ_a‖², times scale²."""
    total = 0.0
    for j in range(C.shape[1]):
        d = (X[i, j] - C[a, j]) * scale
        total += d * d
    return total


@kernel
def _scan_groups(X, i, a, d2, c, scale, F, square, group, order, edges, place, e1, e2, u, L, z, v):
    """Return the label of row i by scanning only the groups that may hold a nearer centre, or −1
    if that proves nothing.

    d2 is the squared distance to its present centre a. u[i] and L[:, i] are updated.
    """
    p, length = F.shape[1], 0.0
    for j in range(len(c)):
        d = (X[i, j] - c[j]) * scale
        z[j] = d
        length += d * d
    E = e1 * np.sqrt(length) + e2 + LENGTH_ROUNDING * length
    own_line, label, where, nearest, after, beside = place[a], -1, -1, np.inf, np.inf, np.inf
    for g in range(len(L)):
        if L[g, i] <= u[i]:
            least, second, candidate = np.inf, np.inf, -1
            for start in range(edges[g], edges[g + 1], 4):
                # four at a time, so that z is loaded once; some may belong to the next group
                w0, w1, w2, w3 = F[start], F[start + 1], F[start + 2], F[start + 3]
                v0, v1, v2, v3 = FLOAT_ZERO, FLOAT_ZERO, FLOAT_ZERO, FLOAT_ZERO
                for j in range(p):
                    v0 += w0[j] * z[j]
                    v1 += w1[j] * z[j]
                    v2 += w2[j] * z[j]
                    v3 += w3[j] * z[j]
                v[0], v[1], v[2], v[3] = v0, v1, v2, v3
                for t in range(start, min(start + 4, edges[g + 1])):
                    value = float(v[t - start] + square[t]) + length
                    if t == own_line:
                        continue
                    if value < least:
                        least, second, candidate = value, least, t
                    elif value < second:
                        second = value
            L[g, i] = np.float32(np.sqrt(max(least - E, 0.0))) * ROUND_DOWN
            if least < nearest:
                label, where, after = candidate, g, min(nearest, second)
                nearest, beside = least, second
            else:
                after = min(after, least)
    if nearest - E > d2:
        return a
    if not (nearest + E < d2 and after - nearest > 2 * E):
        return -1
    L[where, i] = np.float32(np.sqrt(max(beside - E, 0.0))) * ROUND_DOWN
    old = group[own_line]
    L[old, i] = min(L[old, i], u[i] * ROUND_DOWN * ROUND_DOWN)
    u[i] = np.float32(np.sqrt(max(nearest + E, 0.0))) * ROUND_UP
    return order[label]


@kernel
def _prove(
    X, weights, c, scale, C, F, square, group, order, edges, place, e1, e2, drift, drifts, half,
    tighten, max_groups, u, L, labels, rows, least, z, v, sums, mass,
):  # fmt: skip
    unproven = _apply_drift(drift, drifts, half, u, L, labels, rows, least)
    if not tighten:
        return 0, unproven, unproven
    left, moved, p = 0, 0, X.shape[1]
    for t in range(unproven):
        i = rows[t]
        a = labels[i]
        d2 = _squared_to_own(X, i, C, a, scale)
        u[i] = np.float32(np.sqrt(d2)) * ROUND_UP
        if u[i] < least[i]:
            continue
        now = -1
        if max_groups > 0:
            count = 0
            for g in range(len(L)):
                count += L[g, i] <= u[i]
            if count <= max_groups:
                now = _scan_groups(
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
    centers = line, real, table, F, square, numbers, numbers, numbers, numbers, real, real
    moves = floats, floats, floats, types.boolean, whole
    state = floats, single[:, ::1], int32[::1], whole[::1], floats, floats, floats
    return _prove.compile((X, line, *centers, *moves, *state, real[:, ::1], real[::1]))


def prove(X, weights, centers, moves, state, scratch, sums, mass) -> tuple[int, int, int]:
    """Update bounds and labels after the centres moved, as far as this needs no full comparison.

    Returns how many rows changed their label, how many are left to compare with all centres (listed
    first in ``scratch.rows``), and how many the bounds alone did not prove.

    centres: (c, scale, C, F, square, group, order, edges, place, e1, e2); group g is lines edges[g]
    to edges[g + 1] of F, centre a of C is line place[a]; for the others see ``assignment.assign``.
    moves: (drift of each centre, of each group, half the distance to the nearest other centre,
    whether to tighten u, largest number of groups that are scanned alone). state, sums, mass: as in
    ``assign``.
    """
    u, L, labels = state
    n, p = X.shape
    C, F = centers[2], centers[3]
    if not (len(u) == len(labels) == L.shape[1] == n and len(scratch.rows) >= n):
        raise ValueError(f"X {X.shape}, u {u.shape}, L {L.shape} do not match")
    if C.shape[1] != p or sums.shape != C.shape or not len(moves[0]) == len(moves[2]) == len(C):
        raise ValueError(f"X {X.shape}, centres {C.shape}, drift {moves[0].shape} do not match")
    if len(weights) not in (0, n) or not len(L) == len(moves[1]) == len(centers[7]) - 1:
        raise ValueError(f"weights {weights.shape}, L {L.shape} do not match")
    if n and not 0 <= labels.min() <= labels.max() < len(C):
        raise ValueError("labels are not those of centres")
    v = np.empty(4, dtype=np.float32)
    z = scratch.z if len(scratch.z) else np.zeros(F.shape[1], dtype=np.float32)
    return _compiled(X.dtype)(
        X, weights, *centers, *moves, u, L, labels, scratch.rows, scratch.least, z, v, sums, mass
    )


def warm() -> None:
    """Compile the kernel for each dtype, or load it from disk."""
    for number in (np.float32, np.float64):
        _compiled(np.dtype(number))
