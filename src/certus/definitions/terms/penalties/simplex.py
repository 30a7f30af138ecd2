"""Simplex constraint: coefficients are shares of a total."""

from typing import NamedTuple

import numpy as np


class Simplex(NamedTuple):
    """w ≥ 0 and Σ w_j = total, up to the rounding of that sum."""

    total: float

    def value(self, w):
        off = abs(w.sum() - self.total)
        return 0.0 if w.min() >= 0 and off <= (len(w) + 16) * 2.0**-51 * self.total else np.inf

    def conjugate(self, v):
        return 1.0, float(self.total * v.max())

    def nearest(self, w, v):  # one number μ where w_j > 0, and at most μ where w_j = 0
        mu = w @ v / w.sum()
        return np.where(w > 0, mu, np.minimum(v, mu))
