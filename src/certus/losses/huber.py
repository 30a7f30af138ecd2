"""Squared error near 0, absolute error beyond δ."""

from typing import Any

import numpy as np

from .base import OneScore, where_inside


class Huber(OneScore):
    """ℓ(y, z) = ½r² where |r| ≤ δ, and δ|r| − ½δ² beyond, r = y − z.

    Parameters
    ----------
    delta : float, default=1.35
        δ > 0, in the units of y.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.losses import Huber
    >>> Huber(delta=1.0).value(np.zeros(2), np.array([0.5, 10.0]))
    array([0.125, 9.5  ])
    """

    name = "huber"
    formula = "½r² where |r| ≤ δ, δ|r| − ½δ² beyond, r = y − z"
    curvature_bound = 1.0

    def __init__(self, delta: float = 1.35):
        if not 0 < delta < np.inf:
            raise ValueError(f"delta={delta!r}: give a finite number above 0")
        self.delta = float(delta)

    def value(self, y: np.ndarray, z: np.ndarray) -> Any:
        size = np.abs(y - z)
        clipped = np.minimum(size, self.delta)
        return clipped * (size - clipped / 2)

    def slope(self, y: np.ndarray, z: np.ndarray) -> Any:
        return np.clip(z - y, -self.delta, self.delta)

    def curvature(self, y: np.ndarray, z: np.ndarray) -> Any:
        return (np.abs(y - z) <= self.delta).astype(float)

    def conjugate(self, y: np.ndarray, a: np.ndarray) -> Any:
        return where_inside(np.abs(a) <= self.delta, a * (y + a / 2))

    def evaluate(self, y: np.ndarray, z: np.ndarray) -> tuple[Any, Any, Any]:
        return self.value(y, z), self.slope(y, z), self.curvature(y, z)
