"""Gamma loss of positive amounts, with a log link."""

from typing import Any

import numpy as np

from .base import EvaluatedLoss, where_inside, xlogx
from .poisson import MAX_SCORE


class Gamma(EvaluatedLoss):
    """ℓ(y, z) = z − log y + y exp(−z) − 1, y > 0: half the deviance of an amount of mean exp(z).

    Examples
    --------
    >>> import numpy as np
    >>> from certus.losses import Gamma
    >>> Gamma().value(np.array([1.0, 2.0]), np.zeros(2))
    array([0.        , 0.30685282])
    """

    name = "gamma"
    formula = "z − log y + y exp(−z) − 1"
    curvature_bound = np.inf
    curved = True
    range = "not above 0, and amounts are"

    def conjugate(self, y: np.ndarray, a: np.ndarray) -> Any:
        u = np.asarray(1 - a)  # y/mean where the slope is a
        inside = u >= 0
        u = np.where(inside, u, 0.0)
        return where_inside(inside, a * np.log(y) + xlogx(u) + a)

    def evaluate(self, y: np.ndarray, z: np.ndarray) -> tuple[Any, Any, Any]:
        # with t = log y − z: eᵗ − 1 − t, which keeps its digits where exp(z) is close to y
        t = np.minimum(np.log(y) - z, MAX_SCORE)
        with np.errstate(over="ignore"):
            change = np.expm1(t)
            ratio = np.exp(t)
        return change - t, -change, ratio

    def refused(self, y: np.ndarray) -> Any:
        """Return which targets the loss is not defined for, (n,)."""
        return ~(y > 0)

    def best_constant(self, y: np.ndarray, s: np.ndarray | None, z: np.ndarray) -> tuple[Any, Any]:
        """Return Σ s y exp(−z) and Σ s: log of their ratio minimises Σ s ℓ(y, z + b) over b."""
        s = np.ones(len(y)) if s is None else s
        return float(s @ (y * np.exp(-z))), float(s.sum())
