"""The nearest-neighbour chain on a square matrix of distances whose columns are brought up to date
only where a row is looked at.

    d(A ∪ B, C) = max(d_A, d_B)                                        complete
                = (|A|d_A + |B|d_B)/(|A| + |B|)                        average
                = (d_A + d_B)/2                                        weighted
    squared:    = ((|A|+|C|)d_A + (|B|+|C|)d_B − |C|h)/(|A|+|B|+|C|)   ward

A chain goes from a cluster to its nearest, from there to its nearest, and so on, until two are
nearest to each other: these merge. Invariant: distances fall along the chain. What is left of it
stays one, as all four are reducible, d(A ∪ B, C) ≥ min(d_A, d_B); rounding is not allowed to break
that. There are at most 3n searches in all.

A merge writes one row. Its column in the other rows would be n writes far apart; instead a log
keeps the merges, and a row applies what it has missed when it is read: by then many are dead.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import kernel

COMPLETE, AVERAGE, WEIGHTED, WARD = range(4)
LANES = 64
WIDTH = np.uint64(LANES)


@kernel
def _nearest(row, mask, m, value, block):
    """(least, its first place) of row[:m] + mask: a minimum a lane, and the block it is of."""
    whole = np.uint64(m) // WIDTH
    for q in range(WIDTH):
        value[q], block[q] = np.inf, 0
    for k in range(whole):
        at, number = k * WIDTH, value.dtype.type(k)
        for q in range(WIDTH):
            v = row[at + q] + mask[at + q]
            nearer = v < value[q]
            value[q] = v if nearer else value[q]
            block[q] = number if nearer else block[q]
    least, place = np.inf, -1
    for q in range(LANES):
        at = int(block[q]) * LANES + q
        if value[q] < least or (value[q] == least and at < place):
            least, place = float(value[q]), at
    for t in range(int(whole) * LANES, m):
        if row[t] + mask[t] < least:
            least, place = float(row[t]), t
    return least, place


@kernel
def _catch_up(code, row, n, missed, now, log, h):
    """Apply merges ``missed`` … ``now`` − 1 to the row of a cluster of n rows."""
    for k in range(missed, now):
        c, d = log[k, 0], log[k, 1]
        a, b = float(row[c]), float(row[d])
        if code == COMPLETE:
            row[c] = max(a, b)
        elif code == AVERAGE:
            row[c] = max(b + h[k, 1] * (a - b), min(a, b))
        elif code == WEIGHTED:
            row[c] = 0.5 * (a + b)
        else:
            na, nb = h[k, 1], h[k, 2]
            row[c] = max(((na + n) * a + (nb + n) * b - n * h[k, 0]) / (na + nb + n), min(a, b))


@kernel
def _join(code, A, B, m, na, nb, h, size):
    """Row A becomes that of A ∪ B."""
    if code == COMPLETE:
        for j in range(m):
            A[j] = max(A[j], B[j])
    elif code == AVERAGE:
        share = na / (na + nb)
        for j in range(m):
            a, b = float(A[j]), float(B[j])
            A[j] = max(b + share * (a - b), min(a, b))
    elif code == WEIGHTED:
        for j in range(m):
            A[j] = 0.5 * (float(A[j]) + float(B[j]))
    else:
        for j in range(m):
            a, b, nc = float(A[j]), float(B[j]), size[j]
            A[j] = max(((na + nc) * a + (nb + nc) * b - nc * h) / (na + nb + nc), min(a, b))


@kernel
def _chain(D, place, size, row, height, mask, done, log, h, chain, state, steps, code, value, block,
           pairs, heights):  # fmt: skip
    """``steps`` more merges. state: clusters on the chain, merges in the log, a slot below which
    all are dead, slots."""
    m = state[3]
    for step in range(steps):
        if state[0] == 0:
            while mask[state[2]] != 0.0:
                state[2] += 1
            chain[0], state[0] = state[2], 1
        while True:
            top = chain[state[0] - 1]
            A = D[place[top]]
            _catch_up(code, A, size[top], done[top], state[1], log, h)
            done[top] = state[1]
            least, near = _nearest(A, mask, m, value, block)
            if state[0] > 1:
                before = chain[state[0] - 2]
                if A[before] <= least:  # a tie goes back
                    near = before
                    break
            chain[state[0]] = near
            state[0] += 1
        state[0] -= 2
        a, b, apart = min(top, near), max(top, near), float(A[near])
        A, B = D[place[a]], D[place[b]]
        _catch_up(code, D[place[near]], size[near], done[near], state[1], log, h)
        _join(code, A, B, m, size[a], size[b], apart, size)
        A[a] = np.inf
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
        mask[b] = np.inf


@kernel
def _compact(D, place, size, done, log, h, code, kept, number, start, stop):
    """Rows kept[start:stop] catch up, and their columns move together."""
    for t in range(start, stop):
        s = kept[t]
        A = D[place[s]]
        _catch_up(code, A, size[s], done[s], number, log, h)
        for q in range(len(kept)):
            A[q] = A[kept[q]]


def chain(M, code, steps, pairs, heights) -> None:
    """``steps`` more merges: ``pairs`` (steps × 2) of rows and ``heights``.

    M: the arrays of solvers/linkage/chain.py.
    """
    room = np.empty(LANES, dtype=M.D.dtype), np.empty(LANES, dtype=M.D.dtype)
    _compiled("chain", M.D.dtype)(
        M.D, M.place, M.size, M.row, M.height, M.mask, M.done, M.log, M.h, M.chain, M.state, steps,
        code, *room, pairs, heights,
    )  # fmt: skip


def compact(M, code, kept, start, stop) -> None:
    """Rows of the living, ``kept`` (ascending), with the columns of the living only."""
    _compiled("compact", M.D.dtype)(
        M.D, M.place, M.size, M.done, M.log, M.h, code, kept, M.state[1], start, stop
    )


_KERNELS = {"chain": _chain, "compact": _compact}


@cache
def _compiled(name, number):
    real, whole = types.float64, types.intp
    of = types.float32 if number == np.float32 else real
    D, l, r, i, pairs, m = (
        of[:, ::1], of[::1], real[::1], whole[::1], whole[:, ::1], real[:, ::1],
    )  # fmt: skip
    signature = {
        "chain": (D, i, r, i, r, l, i, pairs, m, i, i, whole, whole, l, l, pairs, r),
        "compact": (D, i, r, i, pairs, m, whole, i, whole, whole, whole),
    }[name]
    return _KERNELS[name].compile(types.void(*signature))


def warm() -> None:
    """Compile every kind, or load it from disk."""
    for name in _KERNELS:
        for number in (np.float32, np.float64):
            _compiled(name, np.dtype(number))
