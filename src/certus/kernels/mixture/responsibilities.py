"""Shares of rows in components from log πp, in one pass over a block.

    top = max_k a_k    t = Σ_k exp(a_k − top)    r_k = s exp(a_k − top)/t    level = top + log t

Blocks are (k, rows), so that loops run along rows, in stretches that stay in the first-level cache.
"""

import math

import numpy as np

from certus.kernels._compile import kernel
from certus.kernels._elementary import exp_below

STRETCH = 256  # rows


@kernel
def _exp_minus(x, top, total, beta):
    """x ← exp(βx − top), added to the total."""
    for i in range(len(x)):
        e = exp_below(beta * x[i] - top[i])
        x[i] = e
        total[i] += e


@kernel
def shares(a, s, beta):
    """Overwrite a by s·r; return Σ s level / β. An empty s: ones."""
    k, n = a.shape
    tops, totals = np.empty(STRETCH), np.empty(STRETCH)
    weighted = len(s) > 0
    F = 0.0
    for start in range(0, n, STRETCH):
        m = min(STRETCH, n - start)
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
            share = s[start + i] if weighted else 1.0
            F += share * (top[i] + math.log(total[i]))
            total[i] = share / total[i]
        for j in range(k):
            x = a[j, start : start + m]
            for i in range(m):
                x[i] *= total[i]
    return F / beta


def warm() -> None:
    """Compile, or load from disk."""
    shares(np.zeros((1, 2)), np.empty(0), 1.0)
