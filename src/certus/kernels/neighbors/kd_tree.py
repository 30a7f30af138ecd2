"""Kernels of a k-d tree: built by median splits, searched by bounding boxes.

Node i has the children 2i + 1 and 2i + 2 and the rows order[start[i]:stop[i]]; the nodes of the
last level are leaves. A node is split at the median of its widest column. Its box [low, high]
contains its rows, and no row in it is nearer to a query q than

    Σ_j max(low_j − q_j, q_j − high_j, 0)²          (or Σ |·|, max |·|, Σ |·|^power)

The terms are added in the same order as those of a distance, so the bound holds after rounding too.
The rows of a leaf are contiguous in each column, so that their distances vectorise.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import kernel_in_order

SQUARES, ABSOLUTE, MAXIMUM, POWER = range(4)  # as in nearest.py
MAX_DEPTH = 64  # of a tree; sizes the stacks


@kernel_in_order
def _halve(X, order, column, low, high, middle):
    """Partition rows low … high − 1 at ``middle`` by Hoare's selection.

    Afterwards, in ``column``, no row before ``middle`` exceeds row ``middle``, and none after it is
    smaller. Rows are swapped in place together with their numbers.
    """
    p = X.shape[1]
    left, right = low, high - 1
    while left < right:
        a, b, c = X[left, column], X[(left + right) >> 1, column], X[right, column]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = left, right
        while i <= j:
            while X[i, column] < pivot:
                i += 1
            while X[j, column] > pivot:
                j -= 1
            if i <= j:
                for t in range(p):
                    X[i, t], X[j, t] = X[j, t], X[i, t]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            break


@kernel_in_order
def _box(X, start, stop, low, high):
    """Compute the bounding box of rows start … stop − 1."""
    for j in range(len(low)):
        least, most = np.inf, -np.inf
        for t in range(start, stop):
            least, most = min(least, X[t, j]), max(most, X[t, j])
        low[j], high[j] = least, most


@kernel_in_order
def _build(X, order, start, stop, low, high, root, levels):
    """Build ``levels`` levels below node ``root``, whose start and stop are set."""
    first, count = root, 1
    for level in range(levels + 1):
        for node in range(first, first + count):
            a, b = start[node], stop[node]
            _box(X, a, b, low[node], high[node])
            if level == levels:
                continue
            widest, width = 0, -1.0
            for j in range(X.shape[1]):
                if high[node, j] - low[node, j] > width:
                    widest, width = j, high[node, j] - low[node, j]
            middle = (a + b) >> 1
            if width > 0.0:
                _halve(X, order, widest, a, b, middle)
            left = 2 * node + 1
            start[left], stop[left], start[left + 1], stop[left + 1] = a, middle, middle, b
        first, count = 2 * first + 1, 2 * count


@kernel_in_order
def _box_distance(code, power, q, low, high):
    """Return the lower bound on the distance from q to the rows of a box."""
    total = 0.0
    if code == SQUARES:  # by far the most frequent: no branch inside the loop
        for j in range(len(q)):
            d = max(max(low[j] - q[j], q[j] - high[j]), 0.0)
            total += d * d
        return total
    for j in range(len(q)):
        d = max(max(low[j] - q[j], q[j] - high[j]), 0.0)
        if code == ABSOLUTE:
            total += d
        elif code == MAXIMUM:
            total = max(total, d)
        else:
            total += d**power
    return total


@kernel_in_order
def _leaf(code, power, q, columns, start, stop, total):
    """Compute the distances from q to the rows of a leaf into ``total``."""
    size = stop - start
    for t in range(size):
        total[t] = 0.0
    for j in range(len(q)):
        x, qj = columns[j, start:stop], q[j]
        if code == SQUARES:
            for t in range(size):
                d = x[t] - qj
                total[t] += d * d
        elif code == ABSOLUTE:
            for t in range(size):
                total[t] += abs(x[t] - qj)
        elif code == MAXIMUM:
            for t in range(size):
                total[t] = max(total[t], abs(x[t] - qj))
        else:
            for t in range(size):
                total[t] += abs(x[t] - qj) ** power


@kernel_in_order
def _push(values, rows, value, row):
    """Replace the worst entry, which is on top of the heap.

    A copy of the function in nearest.py, since a kernel calls only kernels of its own file.
    """
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
def _nearest(
    columns,
    order,
    start,
    stop,
    low,
    high,
    leaves,
    code,
    power,
    Q,
    total,
    stack,
    bounds,
    values,
    rows,
):
    """Fill the lists of the queries Q and return the rows visited."""
    visited = 0
    for i in range(len(Q)):
        q, v, best = Q[i], values[i], rows[i]
        top, stack[0], bounds[0] = 1, 0, 0.0
        while top > 0:
            top -= 1
            node, bound = stack[top], bounds[top]
            if bound > v[0]:
                continue
            while node < leaves:
                left, right = 2 * node + 1, 2 * node + 2
                a = _box_distance(code, power, q, low[left], high[left])
                b = _box_distance(code, power, q, low[right], high[right])
                near, far, far_bound, bound = left, right, b, a
                if b < a:
                    near, far, far_bound, bound = right, left, a, b
                if far_bound <= v[0]:
                    stack[top], bounds[top] = far, far_bound
                    top += 1
                node = near
            if bound > v[0]:
                continue
            s, e = start[node], stop[node]
            _leaf(code, power, q, columns, s, e, total)
            visited += e - s
            for t in range(e - s):
                value = total[t]
                if value < v[0] or (value == v[0] and order[s + t] < best[0]):
                    _push(v, best, value, order[s + t])
    return visited


@kernel_in_order
def _within(
    columns, order, start, stop, low, high, leaves, code, power, Q, radius, total, stack, at,
    values, rows,
):  # fmt: skip
    """Write the rows whose value is at most ``radius`` from position at[i] on, for each query i.

    If ``values`` is empty, they are only counted, into ``at``.
    """
    count = len(values) == 0
    for i in range(len(Q)):
        q, place = Q[i], at[i]
        top, stack[0] = 1, 0
        while top > 0:
            top -= 1
            node = stack[top]
            if _box_distance(code, power, q, low[node], high[node]) > radius:
                continue
            if node < leaves:
                stack[top], stack[top + 1] = 2 * node + 2, 2 * node + 1
                top += 2
                continue
            s, e = start[node], stop[node]
            _leaf(code, power, q, columns, s, e, total)
            for t in range(e - s):
                if total[t] <= radius:
                    if not count:
                        values[place], rows[place] = total[t], order[s + t]
                    place += 1
        if count:
            at[i] = place


def build(X, order, start, stop, low, high, root, levels) -> None:
    """Build the subtree of ``root``, sorting X (n × p) and the row numbers ``order`` (n,) in place.

    The nodes' rows go to start, stop (nodes,), their boxes to low, high (nodes × p).
    """
    nodes = {len(start), len(stop), len(low), len(high)}
    if (
        len(order) != len(X)
        or len(nodes) != 1
        or not low.shape[1:] == high.shape[1:] == X.shape[1:]
    ):
        raise ValueError("arrays of a tree do not match")
    _compiled("build")(X, order, start, stop, low, high, root, levels)


def nearest(tree, code, power, Q, values, rows) -> int:
    """Fill values and rows (queries × k; initially inf and n); return the rows visited."""
    room = (
        np.empty(tree.max_leaf_rows),
        np.empty(2 * MAX_DEPTH, dtype=np.intp),
        np.empty(2 * MAX_DEPTH),
    )
    return _compiled("nearest")(*_arrays(tree), code, power, Q, *room, values, rows)


def within(tree, code, power, Q, radius, at, values, rows) -> None:
    """Count (``values`` empty) or write the rows within ``radius``."""
    room = np.empty(tree.max_leaf_rows), np.empty(2 * MAX_DEPTH, dtype=np.intp)
    _compiled("within")(*_arrays(tree), code, power, Q, radius, *room, at, values, rows)


def _arrays(tree):
    return tree.columns, tree.order, tree.start, tree.stop, tree.low, tree.high, tree.leaves


_KERNELS = {"build": _build, "nearest": _nearest, "within": _within}


@cache
def _compiled(name):
    real, whole = types.float64, types.intp
    v, m, i, pairs = real[::1], real[:, ::1], whole[::1], whole[:, ::1]
    tree = (m, i, i, i, m, m, whole, whole, real, types.Array(real, 2, "C", readonly=True))
    result, signature = {
        "build": (types.void, (m, i, i, i, m, m, whole, whole)),
        "nearest": (whole, (*tree, v, i, v, m, pairs)),
        "within": (types.void, (*tree, real, v, i, i, v, i)),
    }[name]
    return _KERNELS[name].compile(result(*signature))


def warm() -> None:
    """Compile every kernel, or load it from disk."""
    for name in _KERNELS:
        _compiled(name)
