"""Squared hinge: rows beyond their margin have no loss."""

from typing import Any

import numpy as np

from .base import OneScore, where_inside


class SquaredHinge(OneScore):
    """ℓ(y, z) = [1 − yz]₊², y = ±1.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.losses import SquaredHinge
    >>> SquaredHinge().value(np.array([1.0, -1.0]), np.array([2.0, 2.0]))
    array([0., 9.])
    """

    name = "squared_hinge"
    formula = "[1 − yz]₊²"
    curvature_bound = 2.0

    def value(self, y: np.ndarray, z: np.ndarray) -> Any:
        return np.maximum(1 - y * z, 0.0) ** 2

    def slope(self, y: np.ndarray, z: np.ndarray) -> Any:
        return -2 * y * np.maximum(1 - y * z, 0.0)

    def curvature(self, y: np.ndarray, z: np.ndarray) -> Any:
        return 2.0 * (y * z < 1)

    def conjugate(self, y: np.ndarray, a: np.ndarray) -> Any:
        u = y * a  # sup_m um − [1 − m]₊² at m = 1 + u/2, u ≤ 0
        return where_inside(u <= 0, u + u * u / 4)

    def evaluate(self, y: np.ndarray, z: np.ndarray) -> tuple[Any, Any, Any]:
        slack = np.maximum(1 - y * z, 0.0)
        return slack * slack, -2 * y * slack, 2.0 * (slack > 0)
