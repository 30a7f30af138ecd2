"""Squared error."""

from typing import Any

import numpy as np

from .base import OneScore


class Squared(OneScore):
    """ℓ(y, z) = ½(y − z)².

    Examples
    --------
    >>> import numpy as np
    >>> from certus.losses import Squared
    >>> Squared().value(np.array([1.0]), np.array([3.0]))
    array([2.])
    """

    name = "squared"
    formula = "½(y − z)²"
    curvature_bound = 1.0

    def value(self, y: np.ndarray, z: np.ndarray) -> Any:
        return (y - z) ** 2 / 2

    def slope(self, y: np.ndarray, z: np.ndarray) -> Any:
        return z - y

    def curvature(self, y: np.ndarray, z: np.ndarray) -> Any:
        return np.ones_like(z)

    def conjugate(self, y: np.ndarray, a: np.ndarray) -> Any:
        return a * (y + a / 2)

    def evaluate(self, y: np.ndarray, z: np.ndarray) -> tuple[Any, Any, Any]:
        r = z - y
        return r * r / 2, r, np.ones_like(z)
