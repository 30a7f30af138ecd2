"""Interface of penalties, and the arithmetic that several of them share."""

from typing import Protocol

import numpy as np


class Penalty(Protocol):
    """A penalty g(w), as solvers use it. Arrays have the shape of w, (p, K).

    ``value`` and ``prox`` are enough for proximal gradient; ``conjugate`` gives it a bound for
    stopping. A nonconvex penalty has no useful conjugate: raise TypeError.
    """

    name: str
    formula: str
    convex: bool
    separable: bool  # a sum over coordinates

    def value(self, w: np.ndarray) -> float:
        """g(w); infinite where w is infeasible."""

    def prox(self, v: np.ndarray, step: float | np.ndarray) -> np.ndarray:
        """argmin_u ½‖u − v‖² + step·g(u)."""

    def conjugate(self, v: np.ndarray) -> float:
        """g*(v) = sup_w ⟨v, w⟩ − g(w); infinite outside its domain."""

    def distance(self, w: np.ndarray, g: np.ndarray) -> np.ndarray:
        """Distance of −g_j to the subdifferential at w_j; infinite where w is infeasible.

        It is 0 everywhere at a minimum of a smooth function with gradient g plus the penalty (at a
        stationary point, if the penalty is not convex). If the penalty is not separable, the
        distance of a block of coordinates is the norm over the block.
        """


class L1PlusL2:
    """g(w) = l1·‖w‖₁ + l2/2·‖w‖², infinite outside w ≥ 0 if ``positive``.

    Separable, so kernels need only two numbers and a flag.
    """

    convex = True
    separable = True

    def __init__(self, l1: float, l2: float, positive: bool = False):
        if not isinstance(positive, (bool, np.bool_)):
            raise ValueError(f"positive={positive!r}: give True or False")
        self.l1, self.l2, self.positive = float(l1), float(l2), bool(positive)

    def value(self, w: np.ndarray) -> float:
        w = np.asarray(w, dtype=float).ravel()
        if self.positive and (w < 0).any():
            return np.inf
        square = w @ w if self.l2 else 0.0  # 0·∞ would be NaN
        size = np.abs(w).sum() if self.l1 else 0.0
        return float(self.l1 * size + self.l2 / 2 * square)

    def prox(self, v: np.ndarray, step: float | np.ndarray) -> np.ndarray:
        if self.positive:
            return np.maximum(v - step * self.l1, 0.0) / (1 + step * self.l2)
        return soft_threshold(v, step * self.l1) / (1 + step * self.l2)

    def conjugate(self, v: np.ndarray) -> float:
        v = np.asarray(v, dtype=float).ravel()
        beyond = np.maximum((v if self.positive else np.abs(v)) - self.l1, 0.0)
        if self.l2 == 0:
            return np.inf if beyond.any() else 0.0
        return float(beyond @ beyond / (2 * self.l2))

    def distance(self, w: np.ndarray, g: np.ndarray) -> np.ndarray:
        smooth = g + self.l2 * w
        at_zero = np.maximum((-smooth if self.positive else np.abs(smooth)) - self.l1, 0.0)
        distance = np.where(w == 0, at_zero, np.abs(smooth + self.l1 * np.sign(w)))
        return np.where(w < 0, np.inf, distance) if self.positive else distance

    def subgradient(self, w: np.ndarray) -> np.ndarray:
        """Subgradient at w that takes 0 for the slope of |w_j| at w_j = 0."""
        return self.l1 * np.sign(w) + self.l2 * w

    def __repr__(self) -> str:
        shown = {name: value for name, value in vars(self).items() if name not in ("l1", "l2")}
        if not self.positive:
            del shown["positive"]
        given = ", ".join(f"{name}={value!r}" for name, value in shown.items())
        return f"{type(self).__name__}({given})"


def soft_threshold(v: np.ndarray, t: float | np.ndarray) -> np.ndarray:
    """sign(v)·[|v| − t]₊, exactly 0 for |v| ≤ t."""
    return v - np.clip(v, -t, t)


def checked_strength(strength: float) -> float:
    """Return ``strength`` as a float; raise ValueError if it is negative or not finite."""
    if not 0 <= strength < np.inf:
        raise ValueError(f"strength={strength!r}: give a finite number, 0 or above")
    return float(strength)
