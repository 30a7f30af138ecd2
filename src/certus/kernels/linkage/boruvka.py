"""A minimum spanning tree by Borůvka's rounds over a k-d tree.

``kernels/neighbors/kd_tree.py`` builds the tree.

In a round every component finds its shortest edge to another one, in the order (d², smaller row,
larger row). This order has no ties, so no cycle can form except of edges of length 0, which is cut
at any edge. All these edges are in the tree.

    mark      the nodes of the k-d tree that lie in one component
    search    each row's nearest row of another component; skips nodes of its own component, and
              boxes beyond the shortest edge of the component so far. A row's result stays valid
              until its component absorbs that neighbour. After that, or if nothing was within
              bounds, its value is a lower bound, since components only grow.
    choose    the shortest edge of each component, from the results of its rows
    unite     components along these edges

Rows are identified by their place in the tree; ``order`` gives their numbers.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import kernel_in_order

MAX_TREE_DEPTH = 64  # maximum depth of a tree


@kernel_in_order
def _mark(start, stop, leaves, component, owner):
    for node in range(len(owner) - 1, -1, -1):
        if node < leaves:
            left, right = owner[2 * node + 1], owner[2 * node + 2]
            owner[node] = left if left == right else -1
        else:
            c = component[start[node]] if start[node] < stop[node] else -1
            for i in range(start[node], stop[node]):
                if component[i] != c:
                    c = -1
                    break
            owner[node] = c


@kernel_in_order
def _away(q, low, high):
    total = 0.0
    for j in range(len(q)):
        d = max(max(low[j] - q[j], q[j] - high[j]), 0.0)
        total += d * d
    return total


@kernel_in_order
def _apply_known(component, first, last, bound, value, near):
    """Bound the shortest edge of each component by the results that its rows already have."""
    for i in range(first, last):
        c = component[i]
        if near[i] >= 0 and component[near[i]] != c:
            bound[c] = min(bound[c], value[i])


@kernel_in_order
def _search(columns, order, start, stop, low, high, leaves, component, owner, first, last, bound, q,
            total, stack, bounds, value, near):  # fmt: skip
    p = len(q)
    for i in range(first, last):
        c = component[i]
        if near[i] >= 0 and component[near[i]] != c:
            continue
        best, nearest = bound[c], -1
        if value[i] > best:
            continue
        for j in range(p):
            q[j] = columns[j, i]
        top, stack[0], bounds[0] = 1, 0, 0.0
        while top > 0:
            top -= 1
            node = stack[top]
            if bounds[top] > best or owner[node] == c:
                continue
            if best == 0.0 and nearest >= 0:  # any edge of length 0 will do
                break
            while node < leaves:
                left, right = 2 * node + 1, 2 * node + 2
                a, b = _away(q, low[left], high[left]), _away(q, low[right], high[right])
                if owner[left] == c:
                    a = np.inf
                if owner[right] == c:
                    b = np.inf
                nearer, farther, farther_distance, distance = left, right, b, a
                if b < a:
                    nearer, farther, farther_distance, distance = right, left, a, b
                if farther_distance <= best and owner[farther] != c:
                    stack[top], bounds[top] = farther, farther_distance
                    top += 1
                node = nearer
                if distance > best or owner[node] == c:
                    node = -1
                    break
            if node < 0:
                continue
            s, size = start[node], stop[node] - start[node]
            for t in range(size):
                total[t] = 0.0
            for j in range(p):
                x, qj = columns[j, s : s + size], q[j]
                for t in range(size):
                    d = x[t] - qj
                    total[t] += d * d
            for t in range(size):
                if total[t] <= best and component[s + t] != c:
                    ties = total[t] == best and nearest >= 0
                    if not ties or order[s + t] < order[nearest]:
                        best, nearest = total[t], s + t
        value[i], near[i] = best, nearest
        if nearest >= 0:
            bound[c] = min(bound[c], best)


@kernel_in_order
def _choose(order, component, value, near, chosen):
    """Fill chosen[c] with the row at which the shortest edge of component c starts."""
    for i in range(len(component)):
        c = component[i]
        if near[i] < 0 or component[near[i]] == c:
            continue
        k = chosen[c]
        if k < 0 or value[i] < value[k]:
            chosen[c] = i
        elif value[i] == value[k]:
            a, b = order[i], order[near[i]]
            x, y = order[k], order[near[k]]
            if min(a, b) < min(x, y) or (min(a, b) == min(x, y) and max(a, b) < max(x, y)):
                chosen[c] = i


@kernel_in_order
def _root(parent, c):
    while parent[c] != c:
        parent[c] = parent[parent[c]]
        c = parent[c]
    return c


@kernel_in_order
def _unite(order, component, value, near, chosen, parent, name, edges, lengths):
    """Join components along the chosen edges; return the number of edges and of components."""
    made = 0
    for c in range(len(chosen)):
        i = chosen[c]
        a, b = _root(parent, c), _root(parent, component[near[i]])
        if a != b:
            parent[b] = a
            edges[made, 0], edges[made, 1], lengths[made] = order[i], order[near[i]], value[i]
            made += 1
    left = 0
    for c in range(len(chosen)):
        if parent[c] == c:
            name[c] = left
            left += 1
    for i in range(len(component)):
        component[i] = name[_root(parent, component[i])]
    return made, left


def mark(tree, component, owner) -> None:
    """Fill owner (nodes,) with the component of all rows of a node, or −1."""
    _compiled("mark")(tree.start, tree.stop, tree.leaves, component, owner)


def apply_known(component, first, last, bound, value, near) -> None:
    """Lower ``bound`` (components,) to the results that rows first … last − 1 already have."""
    _compiled("known")(component, first, last, bound, value, near)


def search(tree, component, owner, first, last, bound, value, near) -> None:
    """Search for rows first … last − 1: value (n,) gets d², near (n,) the nearest place or −1."""
    p = len(tree.columns)
    work = np.empty(p), np.empty(tree.max_leaf_rows), np.empty(2 * MAX_TREE_DEPTH, dtype=np.intp)
    _compiled("search")(
        tree.columns, tree.order, tree.start, tree.stop, tree.low, tree.high, tree.leaves,
        component, owner, first, last, bound, *work, np.empty(2 * MAX_TREE_DEPTH), value, near,
    )  # fmt: skip


def unite(tree, component, value, near, count, edges, lengths) -> tuple[int, int]:
    """Join the ``count`` components; return (edges made, components left)."""
    chosen, parent = np.full(count, -1), np.arange(count)
    _compiled("choose")(tree.order, component, value, near, chosen)
    return _compiled("unite")(
        tree.order, component, value, near, chosen, parent, np.empty(count, dtype=np.intp), edges,
        lengths,
    )  # fmt: skip


_KERNELS = {
    "mark": _mark,
    "known": _apply_known,
    "search": _search,
    "choose": _choose,
    "unite": _unite,
}


@cache
def _compiled(name):
    real, whole = types.float64, types.intp
    r, m, i = real[::1], real[:, ::1], whole[::1]
    result, signature = {
        "mark": (types.void, (i, i, whole, i, i)),
        "known": (types.void, (i, whole, whole, r, r, i)),
        "search": (types.void, (m, i, i, i, m, m, whole, i, i, whole, whole, r, r, r, i, r, r, i)),
        "choose": (types.void, (i, i, r, i, i)),
        "unite": (types.UniTuple(whole, 2), (i, i, r, i, i, i, i, whole[:, ::1], r)),
    }[name]
    return _KERNELS[name].compile(result(*signature))


def warm() -> None:
    """Compile all kernels, or load them from disk."""
    for name in _KERNELS:
        _compiled(name)
