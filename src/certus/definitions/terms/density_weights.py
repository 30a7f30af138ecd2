"""Weights of rows by the density of other rows around them."""

from typing import NamedTuple

import numpy as np


class DensityWeights(NamedTuple):
    """d_i = 1 − r_i/max_j r_j, with r_i the distance of row i to its k-th nearest other row.

    ``by_class``: other rows, and the maximum, are those of the row's class. Where all r are equal,
    d = 1. Memory: as much as X.
    """

    k: int
    by_class: bool = False

    def __call__(self, X, y=None):
        d, group = np.ones(len(X)), np.zeros(len(X), dtype=int)
        if self.by_class:
            group = np.unique(y, axis=0, return_inverse=True)[1].ravel()
        for c in np.unique(group):
            Z = X[group == c]
            k = min(self.k, len(Z) - 1)  # the smallest distance is that to the row itself
            r = np.array([np.sort(np.linalg.norm(Z - z, axis=1))[k] for z in Z])
            if r.min() < (1 - 1e-12) * r.max():  # a smaller difference is rounding
                d[group == c] = 1 - r / r.max()
        return d
