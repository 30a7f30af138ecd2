"""Distances of NCFS with their slopes, and gains between rows.

D(A, b, W) is the distance of each row of A (n, P) to one row b, Δ = A − b; ``slopes`` (n, P) are
∂D/∂W, and ``size`` is an upper bound on these, R being the range of the widest of P columns.
"""

from typing import NamedTuple

import numpy as np


class WeightedManhattan(NamedTuple):
    """D = Σ W|Δ|, ∂D/∂W = |Δ|."""

    root: bool = False
    fixed_sum: bool = False

    def __call__(self, A, b, W):
        return np.abs(A - b) @ W

    def slopes(self, A, b, W):
        return np.abs(A - b)

    def size(self, R, P):
        return R


class WeightedSquares(NamedTuple):
    """D = Σ WΔ², ∂D/∂W = Δ²."""

    root: bool = False
    fixed_sum: bool = False

    def __call__(self, A, b, W):
        return (A - b) ** 2 @ W

    def slopes(self, A, b, W):
        return (A - b) ** 2

    def size(self, R, P):
        return R**2


class WeightedEuclidean(NamedTuple):
    """D = √Σ WΔ², ∂D/∂W = Δ²/2D; 0 where D = 0, which has no slope."""

    root: bool = True
    fixed_sum: bool = False

    def __call__(self, A, b, W):
        return np.sqrt((A - b) ** 2 @ W)

    def slopes(self, A, b, W):
        D = self(A, b, W)[:, None]
        return np.where(D > 0, (A - b) ** 2 / np.where(D > 0, 2 * D, 1.0), 0.0)

    def size(self, R, P):
        return R / 2


class WeightedPhiS(NamedTuple):
    """D = S_δ/S_u with S = Σ W(v − μ_v)² of δ = a − b and u = a + b; ∞ where S_u = 0 < S_δ."""

    root: bool = False
    fixed_sum: bool = True

    def __call__(self, A, b, W):
        D, U = (((v - (v @ W)[:, None] / W.sum()) ** 2) @ W for v in (A - b, A + b))
        zero = 5e-15 * (D + U)  # a sum of squares below this is rounding
        return np.where(zero >= D, 0.0, np.where(zero >= U, np.inf, D / np.where(U > 0, U, 1.0)))

    def slopes(self, A, b, W):
        d, u = ((v - (v @ W)[:, None] / W.sum()) ** 2 for v in (A - b, A + b))
        D, S_u = self(A, b, W)[:, None], (u @ W)[:, None]
        known = np.isfinite(D) & (S_u > 0)
        return np.where(known, d - np.where(known, D, 0.0) * u, 0.0) / np.where(known, S_u, 1.0)

    def size(self, R, P):
        return 1 / P


class ClassGain(NamedTuple):
    """G_ij = gains[y_i][y_j], with classes numbered 0, 1, …."""

    gains: list[list[float]]

    def __call__(self, y, i):
        return np.array(self.gains)[int(y[i])][y.astype(int)]


class AbsoluteLoss(NamedTuple):
    """G_ij = −|y_i − y_j|."""

    def __call__(self, y, i):
        return -np.abs(y - y[i])


class SquaredLoss(NamedTuple):
    """G_ij = −(y_i − y_j)²."""

    def __call__(self, y, i):
        return -((y - y[i]) ** 2)


class EpsilonInsensitiveLoss(NamedTuple):
    """G_ij = −[|y_i − y_j| − ε]₊."""

    epsilon: float

    def __call__(self, y, i):
        return -np.maximum(np.abs(y - y[i]) - self.epsilon, 0.0)
