"""Responsibilities of components for rows from log πp, in one pass over a block.

    top = max_k a_k    t = Σ_k exp(a_k − top)    r_k = s exp(a_k − top)/t    level = top + log t

Blocks are (k, rows), so that loops run along rows, in tiles that stay in the first-level cache.
"""

import math

import numpy as np

from certus.kernels._compile import kernel
from certus.kernels._elementary import exp_below

TILE_ROWS = 256  # three lines of 2 kB each stay in the first-level cache


@kernel
def _exp_minus(x, top, total, beta):
    """Replace x by exp(βx − top) and add it to the total."""
    for i in range(len(x)):
        e = exp_below(beta * x[i] - top[i])
        x[i] = e
        total[i] += e


@kernel
def responsibilities(a, s, beta):
    """Overwrite a by s·r and return Σ s level / β; an empty s means ones."""
    k, n = a.shape
    tops, totals = np.empty(TILE_ROWS), np.empty(TILE_ROWS)
    weighted = len(s) > 0
    F = 0.0
    for start in range(0, n, TILE_ROWS):
        m = min(TILE_ROWS, n - start)
        top, total = tops[:m], totals[:m]
        x = a[0, start : start + m]
        for i in range(m):
            top[i] = beta * x[i]
            total[i] = 0.0
        for j in range(1, k):
            x = a[j, start : start + m]
            for i in range(m):
                top[i] = max(top[i], beta * x[i])
        for j in range(k):
            _exp_minus(a[j, start : start + m], top, total, beta)
        for i in range(m):
            weight = s[start + i] if weighted else 1.0
            F += weight * (top[i] + math.log(total[i]))
            total[i] = weight / total[i]
        for j in range(k):
            x = a[j, start : start + m]
            for i in range(m):
                x[i] *= total[i]
    return F / beta


def warm() -> None:
    """Compile, or load from disk."""
    responsibilities(np.zeros((1, 2)), np.empty(0), 1.0)
