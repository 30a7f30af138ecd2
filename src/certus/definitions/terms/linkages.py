"""Distances of a cluster AB to all others, C, from those of A and B (Lance, Williams).

``link(D, i, j, size)``: D holds distances, or their squares where ``squared``; A is at i, B at j,
and ``size`` are the numbers of rows. ``least``: heights may fall, so that only the least pair of
all is right.
"""

from typing import NamedTuple

import numpy as np


class Single(NamedTuple):
    """d(AB, C) = min(d(A, C), d(B, C))."""

    squared: bool = False
    least: bool = False

    def __call__(self, D, i, j, size):
        return np.minimum(D[i], D[j])


class Complete(NamedTuple):
    """d(AB, C) = max(d(A, C), d(B, C))."""

    squared: bool = False
    least: bool = False

    def __call__(self, D, i, j, size):
        return np.maximum(D[i], D[j])


class Average(NamedTuple):
    """d(AB, C) = α d(A, C) + β d(B, C), α = |A|/|AB|, β = |B|/|AB|."""

    squared: bool = False
    least: bool = False

    def __call__(self, D, i, j, size):
        return (size[i] * D[i] + size[j] * D[j]) / (size[i] + size[j])


class Weighted(NamedTuple):
    """d(AB, C) = ½ d(A, C) + ½ d(B, C)."""

    squared: bool = False
    least: bool = False

    def __call__(self, D, i, j, size):
        return (D[i] + D[j]) / 2


class Centroid(NamedTuple):
    """d²(AB, C) = α d²(A, C) + β d²(B, C) − αβ d²(A, B), α = |A|/|AB|, β = |B|/|AB|."""

    squared: bool = True
    least: bool = True

    def __call__(self, D, i, j, size):
        alpha = size[i] / (size[i] + size[j])
        return alpha * D[i] + (1 - alpha) * D[j] - alpha * (1 - alpha) * D[i, j]


class Median(NamedTuple):
    """d²(AB, C) = ½ d²(A, C) + ½ d²(B, C) − ¼ d²(A, B)."""

    squared: bool = True
    least: bool = True

    def __call__(self, D, i, j, size):
        return (D[i] + D[j]) / 2 - D[i, j] / 4


class Ward(NamedTuple):
    """d²(AB, C) = [(|A| + |C|) d²(A, C) + (|B| + |C|) d²(B, C) − |C| d²(A, B)] / (|AB| + |C|)."""

    squared: bool = True
    least: bool = False

    def __call__(self, D, i, j, size):
        a, b = size[i], size[j]
        return ((a + size) * D[i] + (b + size) * D[j] - size * D[i, j]) / (a + b + size)
