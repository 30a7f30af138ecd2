"""Merges of rows, by one row of each side, as merges of numbered clusters.

Cluster n + t is what merge t made. Union–find with path halving: next to O(1) a merge.
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
def _number(n, pairs, parent, name, size, merges):
    for t in range(len(pairs)):
        a, b = _root(parent, pairs[t, 0]), _root(parent, pairs[t, 1])
        if size[a] < size[b]:
            a, b = b, a
        merges[t, 0], merges[t, 1] = min(name[a], name[b]), max(name[a], name[b])
        parent[b] = a
        size[a] += size[b]
        name[a] = n + t
        merges[t, 3] = size[a]


def number(n, pairs, merges) -> None:
    """Fill columns 0, 1 and 3 of ``merges`` from ``pairs`` of rows, in their order."""
    if len(pairs) and not 0 <= pairs.min() <= pairs.max() < n:
        raise ValueError(f"pairs are not of {n} rows")
    parent, name = np.arange(n), np.arange(n)
    _compiled()(n, pairs, parent, name, np.ones(n, dtype=np.intp), merges)


@cache
def _compiled():
    i = types.intp[::1]
    signature = types.void(types.intp, types.intp[:, ::1], i, i, i, types.float64[:, ::1])
    return _number.compile(signature)


def warm() -> None:
    """Compile, or load from disk."""
    _compiled()
