"""Kernels that compute distances by differences and maintain lists of the k smallest values.

The list of a query is a heap of pairs (value, row) with the worst on top. Of equal values the one
of the larger row is worse, so that ties go to the smallest row in any order of insertion.

    scan:    value[r, q] = T[r, q] + n[r]                       T a tile of products, say −2xᵀq
    collect: the same values; gathers all rows whose value is at most a limit, without a heap
    narrow:  retains those of such rows whose value n[r] + xᵀq is at most a limit
    sweep:   value[r, q] = n[r] + xᵀq                           with the products, for few columns
    direct:  Σ_j (x_j − q_j)²,  Σ_j |x_j − q_j|,  max_j |x_j − q_j|  or  Σ_j |x_j − q_j|^power
    pairs:   the values of ``direct`` for given pairs

Queries are in lanes: a line of the tile holds one row's values for all of them, and counting those
below their query's worst value is a sum that vectorises. ``direct`` and ``pairs`` both add over j
in order, so a distance has the same bits wherever it is computed.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import kernel, kernel_in_order

SQUARES, ABSOLUTE, MAXIMUM, POWER = range(4)  # the term of each column
LANES = 128  # queries of a sweep
WIDTH = np.uint64(LANES)
ONE, TWO, THREE, FOUR, FIVE, SIX, SEVEN, EIGHT = (np.uint64(i) for i in range(1, 9))


@kernel_in_order
def _push(values, rows, value, row):
    """Replace the worst entry, which is on top of the heap, by (value, row)."""
    m, at = len(values), 0
    while True:
        child = 2 * at + 1
        if child >= m:
            break
        other = child + 1
        if other < m and (
            values[other] > values[child]
            or (values[other] == values[child] and rows[other] > rows[child])
        ):
            child = other
        if values[child] < value or (values[child] == value and rows[child] < row):
            break
        values[at], rows[at] = values[child], rows[child]
        at = child
    values[at], rows[at] = value, row


@kernel_in_order
def _sort(values, rows):
    """Sort each heap in ascending order: the worst remaining entry moves to the end."""
    for q in range(len(values)):
        v, i = values[q], rows[q]
        for size in range(len(v) - 1, 0, -1):
            last, row = v[size], i[size]
            v[size], i[size] = v[0], i[0]
            _push(v[:size], i[:size], last, row)


@kernel_in_order
def _scan(T, n, first, worst, values, rows):
    lanes = T.shape[1]
    for r in range(len(T)):
        line, add, below = T[r], n[r], 0
        for q in range(lanes):
            below += line[q] + add < worst[q]
        if below > 0:
            for q in range(lanes):
                value = line[q] + add
                if value < worst[q]:
                    _push(values[q], rows[q], value, first + r)
                    worst[q] = values[q, 0]


@kernel_in_order
def _collect(T, n, first, limit, counts, rows):
    lanes, room = T.shape[1], rows.shape[1]
    for r in range(len(T)):
        line, add, below = T[r], n[r], 0
        for q in range(lanes):
            below += line[q] + add <= limit[q]
        if below > 0:
            for q in range(lanes):
                if line[q] + add <= limit[q]:
                    if counts[q] < room:
                        rows[q, counts[q]] = first + r
                    counts[q] += 1


@kernel
def _product(x, y):
    total = x[0] * y[0]
    for j in range(1, len(x)):
        total += x[j] * y[j]
    return total


@kernel_in_order
def _narrow(X, n, Q, limit, counts, rows):
    for q in range(len(Q)):
        kept = 0
        for t in range(counts[q]):
            r = rows[q, t]
            if n[r] + _product(X[r], Q[q]) <= limit[q]:
                rows[q, kept] = r
                kept += 1
        counts[q] = kept


@kernel
def _eight_columns(X, row, other, Q, start, line):
    """Add columns start … start + 7 of two rows of X (flat, in multiples of 8) to both halves of
    ``line``. All lengths are constants and indices unsigned, so that the loop vectorises; the
    queries' values are loaded from L1 once for both rows."""
    a, b, o = row + start, other + start, start * WIDTH
    a0, a1, a2, a3 = X[a], X[a + ONE], X[a + TWO], X[a + THREE]
    a4, a5, a6, a7 = X[a + FOUR], X[a + FIVE], X[a + SIX], X[a + SEVEN]
    b0, b1, b2, b3 = X[b], X[b + ONE], X[b + TWO], X[b + THREE]
    b4, b5, b6, b7 = X[b + FOUR], X[b + FIVE], X[b + SIX], X[b + SEVEN]
    for q in range(WIDTH):
        at = o + q
        c0, c1, c2, c3 = Q[at], Q[at + WIDTH], Q[at + TWO * WIDTH], Q[at + THREE * WIDTH]
        at += FOUR * WIDTH
        c4, c5, c6, c7 = Q[at], Q[at + WIDTH], Q[at + TWO * WIDTH], Q[at + THREE * WIDTH]
        line[q] += a0 * c0 + a1 * c1 + a2 * c2 + a3 * c3 + a4 * c4 + a5 * c5 + a6 * c6 + a7 * c7
        line[WIDTH + q] += (
            b0 * c0 + b1 * c1 + b2 * c2 + b3 * c3 + b4 * c4 + b5 * c5 + b6 * c6 + b7 * c7
        )


@kernel
def _update_lists(line, start, row, worst, values, rows):
    """Insert one row's values into the lists where they are below the worst."""
    below = 0
    for q in range(WIDTH):
        below += line[start + q] < worst[q]
    if below > 0:
        for q in range(len(values)):
            value = line[start + np.uint64(q)]
            if value < worst[q]:
                _push(values[q], rows[q], value, row)
                worst[q] = values[q, 0]


@kernel
def _sweep(X, p, n, Q, first, line, worst, values, rows):
    columns = np.uint64(p)
    for r in range(0, len(n), 2):
        last = r + 1 == len(n)
        row = np.uint64(r) * columns
        other = row if last else row + columns
        a, b = n[r], n[r if last else r + 1]
        for q in range(WIDTH):
            line[q], line[WIDTH + q] = a, b
        for start in range(np.uint64(0), columns, EIGHT):
            _eight_columns(X, row, other, Q, start, line)
        _update_lists(line, np.uint64(0), first + r, worst, values, rows)
        if not last:
            _update_lists(line, WIDTH, first + r + 1, worst, values, rows)


@kernel_in_order
def _add(code, power, x, Q, total):
    """Compute the values of one row for the queries in lanes."""
    for q in range(len(total)):
        total[q] = 0.0
    for j in range(len(x)):
        xj, line = float(x[j]), Q[j]
        if code == SQUARES:
            for q in range(len(total)):
                d = xj - line[q]
                total[q] += d * d
        elif code == ABSOLUTE:
            for q in range(len(total)):
                total[q] += abs(xj - line[q])
        elif code == MAXIMUM:
            for q in range(len(total)):
                total[q] = max(total[q], abs(xj - line[q]))
        else:
            for q in range(len(total)):
                total[q] += abs(xj - line[q]) ** power


@kernel_in_order
def _direct(X, Q, code, power, first, total, worst, values, rows):
    lanes = len(total)
    for r in range(len(X)):
        _add(code, power, X[r], Q, total)
        below = 0
        for q in range(lanes):
            below += total[q] < worst[q]
        if below > 0:
            for q in range(lanes):
                if total[q] < worst[q]:
                    _push(values[q], rows[q], total[q], first + r)
                    worst[q] = values[q, 0]


@kernel_in_order
def _distance(code, power, x, y):
    total = 0.0
    for j in range(len(x)):
        d = float(x[j]) - y[j]
        if code == SQUARES:
            total += d * d
        elif code == ABSOLUTE:
            total += abs(d)
        elif code == MAXIMUM:
            total = max(total, abs(d))
        else:
            total += abs(d) ** power
    return total


@kernel_in_order
def _pairs(X, Q, code, power, rows, values):
    for q in range(len(rows)):
        for t in range(rows.shape[1]):
            if rows[q, t] >= 0:
                values[q, t] = _distance(code, power, X[rows[q, t]], Q[q])


def scan(T, n, first, worst, values, rows) -> None:
    """Insert the values of the tile T (rows × queries) into the queries' lists.

    worst (queries,): the largest value in each list, initially inf; values and rows (queries × m):
    initially inf and −1; ``first``: the row number of T[0]. All floats have the same dtype.
    """
    lanes = T.shape[1]
    if len(n) != len(T) or not len(worst) == len(values) == len(rows) == lanes:
        raise ValueError(f"T {T.shape}, n {n.shape}, values {values.shape} do not match")
    _compiled("scan", T.dtype)(T, n, first, worst, values, rows)


def collect(T, n, first, limit, counts, rows) -> None:
    """Append to each query's rows those of the tile T whose value is at most its limit.

    counts (queries,): how many there are, even where rows (queries × capacity) has too few places.
    """
    lanes = T.shape[1]
    if len(n) != len(T) or not len(limit) == len(counts) == len(rows) == lanes:
        raise ValueError(f"T {T.shape}, n {n.shape}, rows {rows.shape} do not match")
    _compiled("collect", np.dtype(np.float32))(T, n, first, limit, counts, rows)


def narrow(X, n, Q, limit, counts, rows) -> None:
    """Retain of each query's rows those with n[r] + X[r]ᵀQ[q] at most its limit, in float32."""
    is_stored = np.arange(rows.shape[1]) < counts[:, None]
    inside = not is_stored.any() or rows[is_stored].max() < len(X)
    if X.shape[1] != Q.shape[1] or len(n) != len(X) or not len(Q) == len(counts) == len(rows):
        raise ValueError(f"X {X.shape}, Q {Q.shape}, rows {rows.shape} do not match")
    if not inside or counts.max(initial=0) > rows.shape[1]:
        raise ValueError(f"rows are not rows of X {X.shape}")
    _compiled("narrow", np.dtype(np.float32))(X, n, Q, limit, counts, rows)


def sweep(X, n, Q, first, worst, values, rows) -> None:
    """Update the lists like ``scan`` with T = XQ, which is never stored.

    X (rows × p) and Q (p × 128) are float32, p a multiple of 8. With fewer than 128 queries, worst
    (128,) is −inf in the unused lanes.
    """
    p = X.shape[1]
    if p % 8 or Q.shape != (p, LANES) or len(worst) != LANES or len(n) != len(X):
        raise ValueError(f"X {X.shape}, Q {Q.shape}, n {n.shape} do not match")
    if len(values) > LANES or values.shape != rows.shape:
        raise ValueError(f"values {values.shape} and rows {rows.shape} do not match")
    line = np.empty(2 * LANES, dtype=np.float32)
    _compiled("sweep", np.dtype(np.float32))(
        X.reshape(-1), p, n, Q.reshape(-1), first, line, worst, values, rows
    )


def direct(X, Q, code, power, first, worst, values, rows) -> None:
    """Update the lists by differences; X (rows × p) may be float32, Q (p × queries) is float64."""
    if X.shape[1] != len(Q) or not len(worst) == len(values) == len(rows) == Q.shape[1]:
        raise ValueError(f"X {X.shape}, Q {Q.shape}, values {values.shape} do not match")
    total = np.empty(Q.shape[1])
    _compiled("direct", X.dtype)(X, Q, code, power, first, total, worst, values, rows)


def pairs(X, Q, code, power, rows, values) -> None:
    """Compute values[q, t] of row rows[q, t] of X and query q; negative rows are skipped."""
    inside = rows.size == 0 or rows.max() < len(X)
    if X.shape[1] != Q.shape[1] or rows.shape != values.shape or len(Q) != len(rows) or not inside:
        raise ValueError(f"X {X.shape}, Q {Q.shape}, rows {rows.shape} do not match")
    _compiled("pairs", X.dtype)(X, Q, code, power, rows, values)


def in_order(values, rows) -> None:
    """Sort each list by (value, row), in place."""
    _compiled("order", values.dtype)(values, rows)


_KERNELS = {
    "scan": _scan,
    "collect": _collect,
    "narrow": _narrow,
    "sweep": _sweep,
    "direct": _direct,
    "pairs": _pairs,
    "order": _sort,
}
FLOAT32_ONLY = ("collect", "narrow", "sweep")


@cache
def _compiled(name, dtype):
    if dtype not in (np.float32, np.float64):
        raise TypeError(f"need float32 or float64, not {dtype}")
    real, whole = types.float64, types.intp
    item = types.float32 if dtype == np.float32 else real
    read, exact = (types.Array(one, 2, "C", readonly=True) for one in (item, real))
    line = types.Array(item, 1, "C", readonly=True)
    lists, numbers = real[:, ::1], whole[:, ::1]
    signature = {
        "scan": (item[:, ::1], line, whole, item[::1], item[:, ::1], numbers),
        "collect": (item[:, ::1], line, whole, line, whole[::1], numbers),
        "narrow": (read, line, read, line, whole[::1], numbers),
        "sweep": (line, whole, line, line, whole, item[::1], item[::1], item[:, ::1], numbers),
        "direct": (read, exact, whole, real, whole, real[::1], real[::1], lists, numbers),
        "pairs": (read, exact, whole, real, numbers, lists),
        "order": (item[:, ::1], numbers),
    }[name]  # fmt: skip
    return _KERNELS[name].compile(types.void(*signature))


def warm() -> None:
    """Compile every kernel, or load it from disk."""
    for name in _KERNELS:
        for dtype in (np.float32, np.float64)[: 1 if name in FLOAT32_ONLY else 2]:
            _compiled(name, np.dtype(dtype))
