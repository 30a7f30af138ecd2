"""Minimax concave penalty."""

from typing import NamedTuple

import numpy as np


class MCP(NamedTuple):
    """Σ_j λ|w_j| − w_j²/(2γ) while |w_j| ≤ γλ, and γλ²/2 beyond; λ is the strength."""

    strength: float
    gamma: float

    def value(self, w):
        u = np.minimum(np.abs(w), self.gamma * self.strength)
        return float((u * (self.strength - u / (2 * self.gamma))).sum())

    def slope(self, u):  # at u = |w_j| > 0
        return np.maximum(self.strength - u / self.gamma, 0.0)

    def bend(self, u):  # minus the second derivative
        return np.where((u > 0) & (u < self.gamma * self.strength), 1 / self.gamma, 0.0)
