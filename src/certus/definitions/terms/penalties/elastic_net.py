"""Elastic net, for losses other than squares."""

from typing import NamedTuple

import numpy as np


class ElasticNet(NamedTuple):
    """l1‖w‖₁ + l2/2 ‖w‖², over w ≥ 0 if ``positive``; not both l1 and l2 are 0."""

    l1: float
    l2: float
    positive: bool = False

    def value(self, w):
        value = self.l1 * np.abs(w).sum() + self.l2 / 2 * (w**2).sum()
        return np.inf if self.positive and w.min() < 0 else float(value)

    def conjugate(self, v):  # Σ [|v| − l1]₊²/(2 l2); if l2 = 0, v is scaled to |v| ≤ l1
        size = v if self.positive else np.abs(v)
        if self.l2 == 0:
            return self.l1 / max(size.max(initial=0.0), self.l1), 0.0
        return 1.0, float((np.maximum(size - self.l1, 0.0) ** 2).sum() / (2 * self.l2))

    def nearest(self, w, v):
        at_zero = np.clip(v, -np.inf if self.positive else -self.l1, self.l1)
        return np.where(w == 0, at_zero, self.l1 * np.sign(w) + self.l2 * w)
