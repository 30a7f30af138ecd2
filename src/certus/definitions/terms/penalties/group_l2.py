"""Group lasso."""

from typing import NamedTuple

import numpy as np


class GroupL2(NamedTuple):
    """strength Σ_g √|g| ‖w_g‖₂; ``groups`` has the group index of each column."""

    strength: float
    groups: list[int]

    def norms(self, u):  # of each group, and the bound of ‖v_g‖
        g = np.asarray(self.groups)
        return np.sqrt(np.bincount(g, u**2)), self.strength * np.sqrt(np.bincount(g))

    def value(self, w):
        return float(np.dot(*self.norms(w)))

    def conjugate(self, v):  # pen*(τv) = 0 for every ‖τv_g‖ ≤ strength √|g|
        norm, most = self.norms(v)
        return float(np.min(most / np.maximum(norm, most + 1e-300))), 0.0

    def nearest(self, w, v):  # the gradient; for groups that are 0, v projected on the ball
        (size, most), (norm, _) = self.norms(w), self.norms(v)
        pull, cut = most / np.maximum(size, 1e-300), most / np.maximum(norm, most + 1e-300)
        return np.where((size > 0)[self.groups], pull[self.groups] * w, cut[self.groups] * v)
