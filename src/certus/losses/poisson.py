"""Poisson loss of counts, with a log link."""

from typing import Any

import numpy as np

from .base import EvaluatedLoss, where_inside, xlogx

# exp(z) stays finite: a mean of 1e304 is refused by every line search, and a row of weight 0
# adds 0 whatever its score
MAX_SCORE = 700.0


class Poisson(EvaluatedLoss):
    """ℓ(y, z) = exp(z) − y − y(z − log y), y ≥ 0: half the deviance of a count of mean exp(z).

    Examples
    --------
    >>> import numpy as np
    >>> from certus.losses import Poisson
    >>> Poisson().value(np.array([0.0, 1.0, 2.0]), np.zeros(3))
    array([1.        , 0.        , 0.38629436])
    """

    name = "poisson"
    formula = "exp(z) − y − y(z − log y)"
    curvature_bound = np.inf
    curved = True
    range = "below 0, and counts are not"

    def conjugate(self, y: np.ndarray, a: np.ndarray) -> Any:
        m = np.asarray(a + y)  # the mean at which the slope is a
        inside = m >= 0
        m = np.where(inside, m, 0.0)
        return where_inside(inside, xlogx(m) - xlogx(y) - m + y)

    def evaluate(self, y: np.ndarray, z: np.ndarray) -> tuple[Any, Any, Any]:
        # with t = z − log y: y(eᵗ − 1 − t), which keeps its digits where exp(z) is close to y
        positive = y > 0
        z = np.minimum(z, MAX_SCORE)
        t = np.minimum(z - np.log(np.where(positive, y, 1.0)), MAX_SCORE)
        with np.errstate(over="ignore"):
            mean = np.exp(z)
            change = np.expm1(t)
        slope = np.where(positive, y * change, mean)
        return np.where(positive, y * (change - t), mean), slope, mean

    def refused(self, y: np.ndarray) -> Any:
        """Return which targets the loss is not defined for, (n,)."""
        return ~(y >= 0)

    def best_constant(self, y: np.ndarray, s: np.ndarray | None, z: np.ndarray) -> tuple[Any, Any]:
        """Return Σ s y and Σ s exp(z): log of their ratio minimises Σ s ℓ(y, z + b) over b."""
        s = np.ones(len(y)) if s is None else s
        return float(s @ y), float(s @ np.exp(z))
