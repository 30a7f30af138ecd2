"""Smoothly clipped absolute deviation."""

from typing import NamedTuple

import numpy as np


class SCAD(NamedTuple):
    """Σ_j pen(|w_j|): slope λ up to λ, (γλ − |w_j|)/(γ − 1) from there to γλ, 0 beyond."""

    strength: float
    gamma: float

    def value(self, w):
        u, lam, gamma = np.abs(w), self.strength, self.gamma
        past = np.clip(u, lam, gamma * lam) - lam
        fall = past**2 / (2 * (gamma - 1))
        return float((lam * (np.minimum(u, lam) + past) - fall).sum())

    def slope(self, u):  # at u = |w_j| > 0
        lam, gamma = self.strength, self.gamma
        return np.where(u <= lam, lam, np.maximum(gamma * lam - u, 0.0) / (gamma - 1))

    def bend(self, u):  # minus the second derivative
        lam, gamma = self.strength, self.gamma
        return np.where((u > lam) & (u < gamma * lam), 1 / (gamma - 1), 0.0)
