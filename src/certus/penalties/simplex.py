"""Simplex constraint: coefficients are shares of a total."""

from typing import Any

import numpy as np

SUM_ROUNDING = 1e-12  # relative to the total: rounding of the sum of a projection


class Simplex:
    """g(w) = 0 where w ≥ 0 and Σ_j w_j = total, infinite elsewhere; for each column of w.

    Parameters
    ----------
    total : float, default=1.0
        Above 0.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.penalties import Simplex
    >>> Simplex().prox(np.array([0.5, 1.0, -2.0]), step=1.0)
    array([0.25, 0.75, 0.  ])
    """

    name = "simplex"
    formula = "0 where w ≥ 0 and Σ wⱼ = total, ∞ elsewhere"
    convex = True
    separable = False

    def __init__(self, total: float = 1.0):
        if not 0 < total < np.inf:
            raise ValueError(f"total={total!r}: give a finite number above 0")
        self.total = float(total)

    def value(self, w: np.ndarray) -> float:
        w = np.asarray(w, dtype=float)
        off = np.abs(w.sum(axis=0) - self.total)
        return 0.0 if (w >= 0).all() and (off <= SUM_ROUNDING * self.total).all() else np.inf

    def prox(self, v: np.ndarray, step: float | np.ndarray) -> np.ndarray:
        """[v − θ]₊ with θ such that the sum is the total (Held, Wolfe and Crowder 1974)."""
        v = np.asarray(v, dtype=float)
        v = v - v.max(axis=0)  # same projection, and sums of the order of the total
        falling = -np.sort(-v, axis=0)
        count = np.arange(1, len(v) + 1).reshape(-1, *[1] * (v.ndim - 1))
        theta = (falling.cumsum(axis=0) - self.total) / count
        used = np.count_nonzero(falling > theta, axis=0)  # a leading part, at least one
        return np.maximum(v - np.take_along_axis(theta, used[None] - 1, axis=0), 0.0)

    def conjugate(self, v: np.ndarray) -> float:
        return float(self.total * np.max(v, axis=0).sum())

    def distance(self, w: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Distance of −g to the normal cone {μ·1 + u: u_j ≤ 0 where w_j = 0, else u_j = 0}."""
        w, g = np.asarray(w, dtype=float), np.asarray(g, dtype=float)
        columns = zip(w.reshape(len(w), -1).T, g.reshape(len(g), -1).T, strict=True)
        distances = [self._from_cone(w_k, -g_k) for w_k, g_k in columns]
        return np.array(distances).T.reshape(w.shape)

    def _from_cone(self, w: np.ndarray, v: np.ndarray) -> Any:
        if self.value(w) == np.inf:
            return np.full(len(w), np.inf)
        # minimise Σ_{w>0} (v − μ)² + Σ_{w=0} [v − μ]₊² over μ: the optimum is the mean of v over
        # all w > 0 and the largest v of the others
        free, held = v[w > 0], -np.sort(-v[w == 0])
        means = (free.sum() + np.cumsum([0.0, *held])) / (len(free) + np.arange(len(held) + 1))
        mu = means[np.count_nonzero(held > means[:-1])]
        return np.where(w > 0, np.abs(v - mu), np.maximum(v - mu, 0.0))

    def __repr__(self) -> str:
        return f"Simplex(total={self.total!r})"
