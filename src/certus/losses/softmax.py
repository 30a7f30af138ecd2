"""Softmax loss of several classes."""

from typing import Any

import numpy as np

from .base import where_inside


class Softmax:
    """ℓ(y, z) = log Σ_k exp(z_k) − z_y, y the index of the class.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.losses import Softmax
    >>> Softmax().value(np.array([0, 2]), np.zeros((2, 3)))
    array([1.09861229, 1.09861229])
    """

    name = "softmax"
    formula = "log Σₖ exp(zₖ) − z_y"
    several = True
    curvature_bound = 0.5
    never_zero = True
    curved = True

    def value(self, y: np.ndarray, z: np.ndarray) -> Any:
        return self.evaluate(y, z)[0]

    def slope(self, y: np.ndarray, z: np.ndarray) -> Any:
        return self.evaluate(y, z)[1]

    def curvature(self, y: np.ndarray, z: np.ndarray) -> Any:
        P = self.evaluate(y, z)[2]
        return P[:, :, None] * np.eye(P.shape[1]) - P[:, :, None] * P[:, None, :]

    def conjugate(self, y: np.ndarray, a: np.ndarray) -> Any:
        # a = q − e_y with q in the simplex: Σ q log q
        q = np.array(a, dtype=float)
        q[np.arange(len(q)), np.asarray(y, dtype=np.intp)] += 1
        rounding = 8 * np.finfo(float).eps * q.shape[1]
        inside = (q >= -rounding).all(axis=1) & (np.abs(q.sum(axis=1) - 1) <= rounding)
        q = np.maximum(q, 0.0)
        return where_inside(inside, (q * np.log(np.where(q > 0, q, 1.0))).sum(axis=1))

    def evaluate(self, y: np.ndarray, z: np.ndarray) -> tuple[Any, Any, Any]:
        row, y = np.arange(len(z)), np.asarray(y, dtype=np.intp)
        P = z - z.max(axis=1, keepdims=True)
        z_y = P[row, y].copy()
        np.exp(P, out=P)
        total = P.sum(axis=1)
        value = np.log(total) - z_y
        P /= total[:, None]
        slope = P.copy()
        slope[row, y] -= 1
        return value, slope, P

    def curvature_product(self, state: np.ndarray, v: np.ndarray) -> np.ndarray:
        Pv = state * v
        return Pv - state * Pv.sum(axis=1, keepdims=True)

    def __repr__(self) -> str:
        return "Softmax()"
