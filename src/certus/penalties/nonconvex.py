"""Base class of MCP and SCAD: g(w) = Σ m(|w_j|), whose slope decreases from λ at 0 to 0 at γλ."""

from abc import ABC, abstractmethod

import numpy as np

from .base import checked_strength


class NonConvex(ABC):
    """Separable concave penalty."""

    convex = False
    separable = True
    name: str
    min_gamma: float

    def __init__(self, strength: float, gamma: float):
        self.strength = checked_strength(strength)
        if not self.min_gamma < gamma < np.inf:
            raise ValueError(f"gamma={gamma!r}: give a finite number above {self.min_gamma:g}")
        self.gamma = float(gamma)

    @abstractmethod
    def of_size(self, u: np.ndarray) -> np.ndarray:
        """m(u), u = |w_j|."""

    @abstractmethod
    def slope(self, u: np.ndarray) -> np.ndarray:
        """m'(u)."""

    @abstractmethod
    def prox_of_size(self, v: np.ndarray, step: float | np.ndarray) -> np.ndarray:
        """argmin_{u ≥ 0} ½(u − v)² + step·m(u), v ≥ 0: the global minimiser if there are two."""

    def value(self, w: np.ndarray) -> float:
        return float(self.of_size(np.abs(np.asarray(w, dtype=float))).sum())

    def prox(self, v: np.ndarray, step: float | np.ndarray) -> np.ndarray:
        v = np.asarray(v, dtype=float)
        return np.copysign(self.prox_of_size(np.abs(v), step), v) + 0.0  # no negative zeros

    def conjugate(self, v: np.ndarray) -> float:
        raise TypeError(
            f"{self!r} is not convex: its conjugate gives no bound. A fit can only be proven to be "
            "a local optimum"
        )

    def distance(self, w: np.ndarray, g: np.ndarray) -> np.ndarray:
        w = np.asarray(w, dtype=float)
        at_zero = np.maximum(np.abs(g) - self.strength, 0.0)
        return np.where(w == 0, at_zero, np.abs(g + np.sign(w) * self.slope(np.abs(w))))

    def subgradient(self, w: np.ndarray) -> np.ndarray:
        """Slope at w, with 0 at w_j = 0."""
        return np.sign(w) * self.slope(np.abs(w))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(strength={self.strength!r}, gamma={self.gamma!r})"
