"""Numbers and sizes of the clusters that merges make; merge t makes cluster n + t.

number    from one row of either side, by union–find with path halving, nearly O(1) a merge
sizes     from the numbers of both clusters
"""

from functools import cache

import numpy as np
from numba import types

from certus.kernels._compile import kernel


@kernel
def _root(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def _number(merges, n, parent, name, size):
    for t in range(len(merges)):
        a, b = _root(parent, int(merges[t, 0])), _root(parent, int(merges[t, 1]))
        if size[a] < size[b]:
            a, b = b, a
        merges[t, 0], merges[t, 1] = min(name[a], name[b]), max(name[a], name[b])
        parent[b] = a
        size[a] += size[b]
        name[a] = n + t
        merges[t, 3] = size[a]


@kernel
def _sizes(merges, n):
    for t in range(len(merges)):
        total = 0.0
        for side in range(2):
            c = int(merges[t, side])
            total += 1.0 if c < n else merges[c - n, 3]
        merges[t, 3] = total


def number(n, merges) -> None:
    """Replace rows by cluster numbers in columns 0 and 1 of merges (count × 4), and fill sizes."""
    _check(merges, n)
    work = np.arange(n), np.arange(n), np.ones(n, dtype=np.intp)
    _compiled("number")(merges, n, *work)


def sizes(n, merges) -> None:
    """Fill column 3 of merges (count × 4) with sizes."""
    _check(merges, n + len(merges))
    _compiled("sizes")(merges, n)


def _check(merges, most):
    if len(merges) and not 0 <= merges[:, :2].min() <= merges[:, :2].max() < most:
        raise ValueError(f"merges are not of clusters below {most}")


_KERNELS = {"number": _number, "sizes": _sizes}


@cache
def _compiled(name):
    i, whole, merges = types.intp[::1], types.intp, types.float64[:, ::1]
    signature = {"number": (merges, whole, i, i, i), "sizes": (merges, whole)}[name]
    return _KERNELS[name].compile(types.void(*signature))


def warm() -> None:
    """Compile both kernels, or load them from disk."""
    for name in _KERNELS:
        _compiled(name)
