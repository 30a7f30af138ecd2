"""A direction along which the objective of a classifier without a penalty falls for ever."""

from typing import NamedTuple

import numpy as np


class Direction(NamedTuple):
    """Changes of the parameters, in one vector. Not trusted: its effect is computed exactly."""

    theta: list[float]

    def separates(self, Z):
        """Is Zθ ≥ 0 for all rows, and > 0 for some? Z holds how each margin depends on θ."""
        from fractions import Fraction

        theta = np.asarray(self.theta)
        m = Z @ theta
        if not np.isfinite(m).all():
            return False
        for i in np.flatnonzero(np.abs(m) <= 1e-9 * (np.abs(Z) @ np.abs(theta))):  # or rounding
            exact = sum(Fraction(z) * Fraction(t) for z, t in zip(Z[i], self.theta, strict=True))
            m[i] = (exact > 0) - (exact < 0)
        return bool(m.min() >= 0 and m.max() > 0)
