"""The nearest-neighbour chain on a square matrix of distances, whose rows are updated when read.

    d(A ∪ B, C) = max(d_A, d_B)                                        complete
                = (|A|d_A + |B|d_B)/(|A| + |B|)                        average
                = (d_A + d_B)/2                                        weighted
    squared:    = ((|A|+|C|)d_A + (|B|+|C|)d_B − |C|h)/(|A|+|B|+|C|)   ward

A chain goes from a cluster to the nearest one, from there to its nearest, and so on, until two
clusters are nearest to each other: these merge. Invariant: distances fall along the chain. The rest
of the chain remains valid, since all four linkages are reducible, d(A ∪ B, C) ≥ min(d_A, d_B),
which the arithmetic enforces against rounding. There are at most 3n searches in all.

A merge writes one row. Writing its column would touch n distant places; instead merges are logged,
and a row applies those that it has missed when it is read, by which time many clusters are dead.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import OPTIONS, kernel

COMPLETE, AVERAGE, WEIGHTED, WARD = range(4)
WIDTH = np.uint64(128)
ZERO = np.float32(0)


def _as_written(function):
    """Compile without fused or reordered sums: a distance has the same bits in both its rows."""
    return kernel(function, {**OPTIONS, "fastmath": False})


@kernel
def _nearest(row, m):
    """Return the minimum of row[:m] and its first place.

    Counting how many of a block are below the minimum so far vectorises; a running minimum does
    not.
    """
    least, place, number = row.dtype.type(np.inf), 0, np.uint64(m)
    for k in range(number // WIDTH):
        at, below = k * WIDTH, 0
        for q in range(WIDTH):
            below += row[at + q] < least
        if below > 0:
            for q in range(WIDTH):
                if row[at + q] < least:
                    least, place = row[at + q], np.intp(at + q)
    for t in range(number - number % WIDTH, number):
        if row[t] < least:
            least, place = row[t], np.intp(t)
    return np.float64(least), place


@_as_written
def _catch_up(code, row, n, missed, now, log, h):
    """Apply the logged merges ``missed`` … ``now`` − 1 to the row of a cluster of n rows.

    Dead clusters are infinitely far, or NaN. The arithmetic is that of ``_join``.
    """
    half = row.dtype.type(0.5)
    for k in range(missed, now):
        c, d = log[k, 0], log[k, 1]
        a, b = row[c], row[d]
        row[d] = np.inf
        if code == COMPLETE:
            row[c] = max(a, b)
        elif code == AVERAGE:
            row[c] = max(b + row.dtype.type(h[k, 1]) * (a - b), min(a, b))
        elif code == WEIGHTED:
            row[c] = half * (a + b)
        else:
            na, nb = h[k, 1], h[k, 2]
            row[c] = max(((na + n) * a + (nb + n) * b - n * h[k, 0]) / (na + nb + n), min(a, b))


@_as_written
def _join(code, A, B, m, na, nb, h, size):
    """Overwrite row A with that of A ∪ B."""
    half, share = A.dtype.type(0.5), A.dtype.type(na / (na + nb))
    if code == COMPLETE:
        for j in range(m):
            A[j] = max(A[j], B[j]) + ZERO  # + 0: a conditional store would not vectorise
    elif code == AVERAGE:
        for j in range(m):
            a, b = A[j], B[j]
            A[j] = max(b + share * (a - b), min(a, b))
    elif code == WEIGHTED:
        for j in range(m):
            A[j] = half * (A[j] + B[j])
    else:
        for j in range(m):
            a, b, nc = np.float64(A[j]), np.float64(B[j]), size[j]
            A[j] = max(((na + nc) * a + (nb + nc) * b - nc * h) / (na + nb + nc), min(a, b))


@kernel
def _chain(D, place, size, row, height, alive, on, done, log, h, chain, state, steps, code, pairs,
           heights):  # fmt: skip
    """Make ``steps`` merges. state: clusters on the chain, merges in the log, a slot below which
    all are dead, number of slots."""
    m = state[3]
    for step in range(steps):
        if state[0] == 0:
            while not alive[state[2]]:
                state[2] += 1
            chain[0], state[0], on[state[2]] = state[2], 1, True
        while True:
            top = chain[state[0] - 1]
            A = D[place[top]]
            _catch_up(code, A, size[top], done[top], state[1], log, h)
            done[top] = state[1]
            least, near = _nearest(A, m)
            if state[0] > 1:
                before = chain[state[0] - 2]
                if A[before] <= least:  # of equals, the previous one
                    near = before
                    break
            if on[near]:  # only if rounding made d(A, C) and d(C, A) differ: treat it as a tie
                break
            chain[state[0]], on[near] = near, True
            state[0] += 1
        while on[near] or on[top]:
            state[0] -= 1
            on[chain[state[0]]] = False
        a, b, apart = min(top, near), max(top, near), np.float64(A[near])
        A, B = D[place[a]], D[place[b]]
        _catch_up(code, D[place[near]], size[near], done[near], state[1], log, h)
        _join(code, A, B, m, size[a], size[b], apart, size)
        A[a] = A[b] = np.inf
        k = state[1]
        log[k, 0], log[k, 1], h[k, 0] = a, b, apart
        h[k, 1], h[k, 2] = size[a], size[b]
        if code == AVERAGE:
            h[k, 1] = size[a] / (size[a] + size[b])
        state[1] = done[a] = k + 1
        pairs[step, 0], pairs[step, 1] = row[a], row[b]
        heights[step] = max(apart, max(height[a], height[b]))
        height[a] = heights[step]
        size[a] += size[b]
        alive[b] = False


@kernel
def _compact(D, place, size, done, log, h, code, kept, number, start, stop):
    """Update rows kept[start:stop], and move their columns together."""
    for t in range(start, stop):
        s = kept[t]
        A = D[place[s]]
        _catch_up(code, A, size[s], done[s], number, log, h)
        for q in range(len(kept)):
            A[q] = A[kept[q]]


def chain(M, code, steps, pairs, heights) -> None:
    """Make ``steps`` merges; fill ``pairs`` (steps × 2) of rows and ``heights``.

    M: the arrays of solvers/linkage/chain.py.
    """
    _compiled("chain", M.D.dtype)(
        M.D, M.place, M.size, M.row, M.height, M.alive, M.on, M.done, M.log, M.h, M.chain, M.state,
        steps, code, pairs, heights,
    )  # fmt: skip


def compact(M, code, kept, start, stop) -> None:
    """Reduce the rows of the slots alive, ``kept`` (ascending), to the columns of these slots."""
    _compiled("compact", M.D.dtype)(
        M.D, M.place, M.size, M.done, M.log, M.h, code, kept, M.state[1], start, stop
    )


_KERNELS = {"chain": _chain, "compact": _compact}


@cache
def _compiled(name, number):
    real, whole = types.float64, types.intp
    of = types.float32 if number == np.float32 else real
    D, r, i, pairs, m = of[:, ::1], real[::1], whole[::1], whole[:, ::1], real[:, ::1]
    alive = types.boolean[::1]
    signature = {
        "chain": (D, i, r, i, r, alive, alive, i, pairs, m, i, i, whole, whole, pairs, r),
        "compact": (D, i, r, i, pairs, m, whole, i, whole, whole, whole),
    }[name]
    return _KERNELS[name].compile(types.void(*signature))


def warm() -> None:
    """Compile all kernels, or load them from disk."""
    for name in _KERNELS:
        for number in (np.float32, np.float64):
            _compiled(name, np.dtype(number))
