"""Logistic loss of two classes."""

from typing import Any

import numpy as np

from .base import EvaluatedLoss, where_inside, xlogx


class Logistic(EvaluatedLoss):
    """ℓ(y, z) = log(1 + exp(−yz)), y = ±1.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.losses import Logistic
    >>> Logistic().value(np.array([1.0, -1.0]), np.array([0.0, 1000.0]))
    array([6.93147181e-01, 1.00000000e+03])
    """

    name = "logistic"
    formula = "log(1 + exp(−yz))"
    curvature_bound = 0.25
    never_zero = True
    curved = True

    def conjugate(self, y: np.ndarray, a: np.ndarray) -> Any:
        u = -y * a  # in [0, 1]: the probability given to the other class
        inside = (u >= 0) & (u <= 1)
        u = np.clip(u, 0.0, 1.0)
        return where_inside(inside, xlogx(u) + xlogx(1 - u))

    def evaluate(self, y: np.ndarray, z: np.ndarray) -> tuple[Any, Any, Any]:
        # e = exp(−|z|) never overflows; with m = yz:
        #   log(1 + e^{−m}) = [−m]₊ + log(1 + e),  σ(−m) = (e if m > 0 else 1)/(1 + e)
        e = np.exp(-np.abs(z))
        m = y * z
        value = np.log1p(e)
        value -= np.minimum(m, 0.0)
        one = 1.0 + e
        slope = np.where(m > 0, e, 1.0)
        slope /= one
        slope *= -y
        e /= one
        e /= one  # σ(z)σ(−z)
        return value, slope, e
