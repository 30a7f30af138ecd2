"""Trees of rows without a matrix of distances: a filter on panels of rows, then exact differences.

    d²(x, y) = Σ_j (x_j − y_j)²

Rows (or centres) are stored in panels of LANES, column by column, centred and scaled to norms of at
most 1, in float32 or float64. A pass over the panels is a filter: with u the unit roundoff of the
panels, R the largest norm of a row in a panel, e = 2uR and κ = (p + 8)u,

    d² ≤ b   ⇒   panel's d² ≤ (√b + e)²(1 + κ) ≤ (b(1 + η) + e²(1 + 1/η))(1 + κ)      for any η > 0

so a row that is nearer than the best so far is never missed. The few that pass are measured by
differences of the rows themselves in float64, and only these distances are returned.

    prim       edges of a minimum spanning tree; of equals, the row that is first in the tree
    generic    merges of the nearest pair (Müllner's generic algorithm):
                   w‖c_A − c_B‖²,   w = 1, for Ward 2/(1/|A| + 1/|B|)
               Slots are in order of age, a new cluster is appended. nn[s] is the nearest of the
               slots before s, at value[s]. Once nn[s] is dead, value[s] is a lower bound, as new
               clusters come after s. A pair is merged when its value is the least of all and nn[s]
               is alive; otherwise that slot searches again.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import kernel

LANES = 64  # rows of a panel; 32 to 128 are equally fast
WIDTH = np.uint64(LANES)
ZERO, ONE, TWO, THREE, FOUR = (np.uint64(i) for i in range(5))
ETA = 1.0 / 128  # η of the filter
DEAD_SLOT = -1e30  # in place of 1/|A|: no distance passes a limit times this


@kernel
def _four_columns(panels, at, x, j, total):
    x0, x1, x2, x3 = x[j], x[j + ONE], x[j + TWO], x[j + THREE]
    for q in range(WIDTH):
        a = at + q
        d0, d1 = panels[a] - x0, panels[a + WIDTH] - x1
        d2, d3 = panels[a + TWO * WIDTH] - x2, panels[a + THREE * WIDTH] - x3
        total[q] += d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3


@kernel
def _one_column(panels, at, x, j, total):
    x0 = x[j]
    for q in range(WIDTH):
        d0 = panels[at + q] - x0
        total[q] += d0 * d0


@kernel
def _totals(panels, chunk, x, total):
    """Compute squared distances from x to the LANES rows of one panel, in its precision."""
    p = np.uint64(len(x))
    at = np.uint64(chunk) * p * WIDTH
    for q in range(WIDTH):
        total[q] = 0
    j = ZERO
    while j + FOUR <= p:
        _four_columns(panels, at + j * WIDTH, x, j, total)
        j += FOUR
    while j < p:
        _one_column(panels, at + j * WIDTH, x, j, total)
        j += ONE


@kernel
def _move(panels, p, source, target):
    """Copy slot ``source`` over slot ``target``."""
    s = (source // LANES) * p * LANES + source % LANES
    t = (target // LANES) * p * LANES + target % LANES
    for j in range(p):
        panels[t + j * LANES] = panels[s + j * LANES]


@kernel
def _least_of(values, chunk, least):
    lowest = np.inf
    for t in range(chunk * LANES, (chunk + 1) * LANES):
        lowest = min(lowest, values[t])
    least[chunk] = lowest


# --- a minimum spanning tree ----------------------------------------------------------------------


@kernel
def _squared_between(X, i, k):
    total = 0.0
    for j in range(X.shape[1]):
        d = np.float64(X[i, j]) - np.float64(X[k, j])
        total += d * d
    return total


@kernel
def _prim(
    X, panels, scale, e, kappa, m, last, steps, best, limit, link, row, least, total, x, edges,
    heights, counts,
):  # fmt: skip
    """Let ``steps`` rows join; m rows are outside, and distances to ``last`` are not yet known."""
    p = X.shape[1]
    for step in range(steps):
        chunks = (m + LANES - 1) // LANES
        for j in range(p):
            x[j] = X[last, j] * scale[0] - scale[1 + j]
        for c in range(chunks):
            _totals(panels, c, x, total)
            first = np.uint64(c) * WIDTH
            below = 0
            for q in range(WIDTH):
                below += total[q] <= limit[first + q]
            if below == 0:
                continue
            counts[0] += below
            changed = False
            for q in range(LANES):
                t = c * LANES + q
                if total[q] <= limit[t]:
                    d = _squared_between(X, last, row[t])
                    if d < best[t]:
                        best[t], link[t], changed = d, last, True
                        root = np.sqrt(d) * scale[0] + e
                        limit[t] = root * root * (1.0 + kappa)
            if changed:
                _least_of(best, c, least)
        counts[1] += m
        lowest, at = np.inf, 0
        for c in range(chunks):
            if least[c] < lowest:
                lowest, at = least[c], c
        t = at * LANES
        while best[t] != lowest:
            t += 1
        edges[step, 0], edges[step, 1], heights[step] = link[t], row[t], best[t]
        last = row[t]
        m -= 1
        _move(panels, p, m, t)
        best[t], limit[t], link[t], row[t] = best[m], limit[m], link[m], row[m]
        best[m], limit[m] = np.inf, -1.0
        _least_of(best, at, least)
        _least_of(best, m // LANES, least)
    return last


# --- the nearest pair of centres ------------------------------------------------------------------


@kernel
def _center_of(X, middle, C, number, at, s, x):
    """Copy the centre of slot s, relative to the middle of all rows, to x."""
    k = at[s]
    for j in range(len(x)):
        x[j] = C[k, j] if k >= 0 else np.float64(X[number[s], j]) - middle[j]


@kernel
def _squared_to_center(X, middle, C, number, at, t, x):
    """Return ‖c_t − x‖²."""
    k, total = at[t], 0.0
    if k >= 0:
        for j in range(len(x)):
            d = C[k, j] - x[j]
            total += d * d
    else:
        i = number[t]
        for j in range(len(x)):
            d = (np.float64(X[i, j]) - middle[j]) - x[j]
            total += d * d
    return total


@kernel
def _measure_passing(
    X, middle, C, number, at, mass, part, chunk, stop, own, x, total, best, nearest, kappa, scale,
    lim, counts,
):  # fmt: skip
    """Measure the rows of a panel that pass the filter; return (least, slot) so far."""
    for q in range(LANES):
        t = chunk * LANES + q
        if t >= stop:
            break
        if part[t] > 0.0 and total[q] <= lim[0] * (lim[1] + part[t]) + lim[2]:
            counts[0] += 1
            w = 2.0 * own * mass[t] / (own + mass[t])
            d = w * _squared_to_center(X, middle, C, number, at, t, x)
            if d < best:
                best, nearest = d, t
                lim[0] = 0.5 * d * scale * scale * (1.0 + ETA) * (1.0 + kappa)
    return best, nearest


@kernel
def _search(X, middle, C, number, at, mass, part, panels, scale, e, kappa, s, bound, x, narrow,
            total, lim, counts):  # fmt: skip
    """Return (least, slot) of the nearest slot before s; none is nearer than ``bound``."""
    _center_of(X, middle, C, number, at, s, x)
    for j in range(len(x)):
        narrow[j] = x[j] * scale
    best, nearest = np.inf, -1
    lim[0], lim[1] = np.inf, part[s]
    lim[2] = e * e * (1.0 + 1.0 / ETA) * (1.0 + kappa)
    for c in range((s + LANES - 1) // LANES):
        _totals(panels, c, narrow, total)
        first, below = np.uint64(c) * WIDTH, 0
        a, b, slack = lim[0], lim[1], lim[2]
        for q in range(WIDTH):
            below += total[q] <= a * (b + part[first + q]) + slack
        if below > 0:
            best, nearest = _measure_passing(
                X, middle, C, number, at, mass, part, c, s, mass[s], x, total, best, nearest, kappa,
                scale, lim, counts,
            )  # fmt: skip
            if best <= bound:
                break
    counts[1] += s
    return best, nearest


@kernel
def _first(X, middle, C, number, at, mass, part, panels, scale, e, kappa, start, stop, x, narrow,
           total, lim, counts, value, nn):  # fmt: skip
    """Make the first search of slots start … stop − 1."""
    for s in range(start, stop):
        value[s], nn[s] = _search(
            X, middle, C, number, at, mass, part, panels, scale, e, kappa, s, -1.0, x, narrow,
            total, lim, counts,
        )  # fmt: skip


@kernel
def _generic(X, middle, C, number, at, mass, part, panels, scale, e, kappa, x, narrow, total, lim,
             counts, value, nn, weight, least, y, free, state, steps, grow, pairs,
             heights):  # fmt: skip
    """Make ``steps`` merges. state: slots in use, free rows of C, the next cluster's number."""
    p = X.shape[1]
    for step in range(steps):
        used = state[0]
        while True:
            lowest, chunk = np.inf, 0
            for c in range((used + LANES - 1) // LANES):
                if least[c] <= lowest:  # of equals the youngest: rarely outdated
                    lowest, chunk = least[c], c
            s = (chunk + 1) * LANES - 1
            while value[s] != lowest or part[s] < 0.0:
                s -= 1
            if nn[s] >= 0 and part[nn[s]] > 0.0:
                break
            value[s], nn[s] = _search(
                X, middle, C, number, at, mass, part, panels, scale, e, kappa, s, value[s], x,
                narrow, total, lim, counts,
            )  # fmt: skip
            _least_of(value, chunk, least)
        t = nn[s]
        _center_of(X, middle, C, number, at, s, x)
        _center_of(X, middle, C, number, at, t, y)
        share = weight[s] / (weight[s] + weight[t])
        k = at[t] if at[t] >= 0 else at[s]
        if k < 0:
            state[1] -= 1
            k = free[state[1]]
        elif at[s] >= 0 and at[t] >= 0:
            free[state[1]] = at[s]
            state[1] += 1
        for j in range(p):
            C[k, j] = y[j] + share * (x[j] - y[j])  # exact for equal centres
        pairs[step, 0], pairs[step, 1] = min(number[s], number[t]), max(number[s], number[t])
        heights[step] = value[s]
        u = used
        number[u], at[u] = state[2], k
        mass[u] = 1.0 + grow[0] * (mass[s] + mass[t] - 1.0)
        weight[u] = 1.0 + grow[1] * (weight[s] + weight[t] - 1.0)
        part[u] = 1.0 / mass[u]
        state[0], state[2] = used + 1, state[2] + 1
        part[s], part[t], value[s], value[t] = DEAD_SLOT, DEAD_SLOT, np.inf, np.inf
        base = (u // LANES) * p * LANES + u % LANES
        for j in range(p):
            panels[base + j * LANES] = C[k, j] * scale
        value[u], nn[u] = _search(
            X, middle, C, number, at, mass, part, panels, scale, e, kappa, u, -1.0, x, narrow,
            total, lim, counts,
        )  # fmt: skip
        _least_of(value, u // LANES, least)
        _least_of(value, s // LANES, least)
        _least_of(value, t // LANES, least)


@kernel
def _compact(p, number, at, mass, part, panels, value, nn, weight, least, moved, state):
    """Move the slots alive together, in order."""
    used, kept = state[0], 0
    for s in range(used):
        moved[s] = kept if part[s] > 0.0 else -1
        if part[s] > 0.0:
            if kept < s:
                _move(panels, p, s, kept)
                number[kept], at[kept], mass[kept], part[kept] = number[s], at[s], mass[s], part[s]
                value[kept], weight[kept] = value[s], weight[s]
            nn[kept] = moved[nn[s]] if nn[s] >= 0 else -1  # the nearest comes before s
            kept += 1
    for s in range(kept, used):
        part[s], value[s] = DEAD_SLOT, np.inf
    for c in range((used + LANES - 1) // LANES):
        _least_of(value, c, least)
    state[0] = kept


def prim(X, panels, scale, e, kappa, m, last, steps, best, limit, link, row, least, edges, heights,
         counts) -> int:  # fmt: skip
    """Let ``steps`` rows join the tree by ``edges`` of squared ``heights``; return the last row.

    X (n × p); panels flat (chunks · p · LANES), of the m rows outside; scale (1 + p): s, s·middle;
    best, link, row (chunks · LANES), limit likewise in the panels' dtype; least (chunks); counts
    (2): rows measured, rows filtered.
    """
    work = np.empty(LANES, dtype=panels.dtype), np.empty(X.shape[1], dtype=panels.dtype)
    return _compiled("prim", X.dtype, panels.dtype)(
        X, panels, scale, e, kappa, m, last, steps, best, limit, link, row, least, *work, edges,
        heights, counts,
    )  # fmt: skip


def first(c, start, stop, counts) -> None:
    """Make the first search of slots start … stop − 1; c: ``CenterArrays`` of solvers/linkage."""
    _compiled("first", c.X.dtype, c.panels.dtype)(
        *_arrays(c), start, stop, *_work_arrays(c), counts, c.value, c.nn
    )


def generic(c, steps, pairs, heights) -> None:
    """Make ``steps`` merges; fill ``pairs`` of cluster numbers and squared ``heights``."""
    y = np.empty(c.X.shape[1])
    _compiled("generic", c.X.dtype, c.panels.dtype)(
        *_arrays(c), *_work_arrays(c), c.counts, c.value, c.nn, c.weight, c.least, y, c.free,
        c.state, steps, c.grow, pairs, heights,
    )  # fmt: skip


def compact(c) -> None:
    """Remove the dead slots."""
    moved = np.empty(c.state[0], dtype=np.int32)
    _compiled("compact", c.X.dtype, c.panels.dtype)(
        c.X.shape[1], c.number, c.at, c.mass, c.part, c.panels, c.value, c.nn, c.weight, c.least,
        moved, c.state,
    )  # fmt: skip


def _arrays(c):
    return (
        c.X, c.middle, c.C, c.number, c.at, c.mass, c.part, c.panels, c.scale, c.e, c.kappa,
    )  # fmt: skip


def _work_arrays(c):
    p, of = c.X.shape[1], c.panels.dtype
    return np.empty(p), np.empty(p, dtype=of), np.empty(LANES, dtype=of), np.empty(3, dtype=of)


_KERNELS = {"prim": _prim, "first": _first, "generic": _generic, "compact": _compact}


@cache
def _compiled(name, number, narrow):
    real, whole = types.float64, types.intp
    of, lane = (types.float32 if one == np.float32 else real for one in (number, narrow))
    X = types.Array(of, 2, "C", readonly=True)
    r, i, l, m, pairs = real[::1], whole[::1], lane[::1], real[:, ::1], whole[:, ::1]
    k = types.int32[::1]  # cluster numbers, in half the memory of intp
    arrays = (X, r, m, k, k, r, l, l, real, real, real)
    work = (r, l, l, l)
    result, signature = {
        "prim": (whole, (X, l, r, real, real, whole, whole, whole, r, l, i, i, r, l, l, pairs, r,
                         i)),
        "first": (types.void, (*arrays, whole, whole, *work, i, r, k)),
        "generic": (types.void, (*arrays, *work, i, r, k, r, r, r, k, i, whole, r, pairs, r)),
        "compact": (types.void, (whole, k, k, r, l, l, r, k, r, r, k, i)),
    }[name]  # fmt: skip
    return _KERNELS[name].compile(result(*signature))


def warm() -> None:
    """Compile all kernels for each pair of dtypes, or load them from disk."""
    for name in _KERNELS:
        for number in (np.float32, np.float64):
            for narrow in (np.float32, np.float64):
                _compiled(name, np.dtype(number), np.dtype(narrow))
