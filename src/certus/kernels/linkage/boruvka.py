"""A minimum spanning tree by Borůvka's rounds over a k-d tree.

``kernels/neighbors/kd_tree.py`` builds the tree.

In a round every component finds its least edge to another one, in the order (d², smaller row,
larger row), which has no ties, so that no circle can close but of edges of length 0, where it is
cut anywhere. All these edges are in the tree.

    mark      which nodes of the k-d tree lie in one component
    search    each row's nearest row of another component. Nodes of the own component are passed
              by, and boxes beyond the least edge that the component has so far. What a row found
              before stays right until its component takes that row in; then, and where nothing was
              within bounds, value is a lower bound, as components only grow.
    choose    the least edge of each component, from what its rows found
    unite     components along these edges

Rows are known by their place in the tree, ``order`` gives their numbers.
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import kernel_in_order

DEPTH = 64  # of a tree, at most


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
def _known(component, first, last, bound, value, near):
    """What rows know already bounds their components' least edges."""
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
        best, found = bound[c], -1
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
            if best == 0.0 and found >= 0:  # of edges of length 0 any will do: circles are cut
                break
            while node < leaves:
                left, right = 2 * node + 1, 2 * node + 2
                a, b = _away(q, low[left], high[left]), _away(q, low[right], high[right])
                if owner[left] == c:
                    a = np.inf
                if owner[right] == c:
                    b = np.inf
                nearer, farther, away, here = left, right, b, a
                if b < a:
                    nearer, farther, away, here = right, left, a, b
                if away <= best and owner[farther] != c:
                    stack[top], bounds[top] = farther, away
                    top += 1
                node = nearer
                if here > best or owner[node] == c:
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
                    ties = total[t] == best and found >= 0
                    if not ties or order[s + t] < order[found]:
                        best, found = total[t], s + t
        value[i], near[i] = best, found
        if found >= 0:
            bound[c] = min(bound[c], best)


@kernel_in_order
def _choose(order, component, value, near, chosen):
    """chosen[c]: the row from which the least edge of component c starts."""
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
    """(edges, components): how many edges were new, and how many components there are now."""
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
    """owner (nodes,): the component of all rows of a node, or −1."""
    _compiled("mark")(tree.start, tree.stop, tree.leaves, component, owner)


def known(component, first, last, bound, value, near) -> None:
    """Lower ``bound`` (components,) to what rows first … last − 1 know."""
    _compiled("known")(component, first, last, bound, value, near)


def search(tree, component, owner, first, last, bound, value, near) -> None:
    """Rows first … last − 1: value (n,) d², near (n,) the place of the nearest, or −1."""
    p = len(tree.columns)
    room = np.empty(p), np.empty(tree.largest), np.empty(2 * DEPTH, dtype=np.intp)
    _compiled("search")(
        tree.columns, tree.order, tree.start, tree.stop, tree.low, tree.high, tree.leaves,
        component, owner, first, last, bound, *room, np.empty(2 * DEPTH), value, near,
    )  # fmt: skip


def unite(tree, component, value, near, count, edges, lengths) -> tuple[int, int]:
    """Join the ``count`` components; (edges made, components left)."""
    chosen, parent = np.full(count, -1), np.arange(count)
    _compiled("choose")(tree.order, component, value, near, chosen)
    return _compiled("unite")(
        tree.order, component, value, near, chosen, parent, np.empty(count, dtype=np.intp), edges,
        lengths,
    )  # fmt: skip


_KERNELS = {
    "mark": _mark,
    "known": _known,
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
    """Compile every kind, or load it from disk."""
    for name in _KERNELS:
        _compiled(name)
