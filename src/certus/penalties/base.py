"""What a solver asks of a penalty, and the arithmetic that the built-in ones share."""

from typing import Any, Protocol

import numpy as np


class Penalty(Protocol):
    """A convex penalty g(w). Solvers know no more of it than this; arrays have the shape of w."""

    def value(self, w: Any) -> float:
        """g(w)."""

    def prox(self, v: Any, step: Any) -> Any:
        """argmin_u ½‖u − v‖² + step·g(u)."""

    def conjugate(self, v: Any) -> float:
        """g*(v) = sup_w ⟨v, w⟩ − g(w); infinite outside its domain."""

    def distance(self, w: Any, g: Any) -> Any:
        """Distance of −g_j to the subdifferential at w_j: 0 everywhere at a minimum of a smooth
        function with gradient g plus the penalty."""


class L1PlusL2:
    """g(w) = l1·‖w‖₁ + l2/2·‖w‖²: each coordinate by itself, so that kernels need two numbers."""

    def __init__(self, l1: float, l2: float):
        self.l1, self.l2 = float(l1), float(l2)

    def value(self, w: Any) -> float:
        w = np.asarray(w, dtype=float).ravel()
        square = w @ w if self.l2 else 0.0  # 0·∞ is no number
        return float(self.l1 * np.abs(w).sum() + self.l2 / 2 * square)

    def prox(self, v: Any, step: Any) -> Any:
        return soft_threshold(v, step * self.l1) / (1 + step * self.l2)

    def conjugate(self, v: Any) -> float:
        beyond = np.maximum(np.abs(np.asarray(v, dtype=float).ravel()) - self.l1, 0.0)
        if self.l2 == 0:
            return np.inf if beyond.any() else 0.0
        return float(beyond @ beyond / (2 * self.l2))

    def distance(self, w: Any, g: Any) -> Any:
        smooth = g + self.l2 * w
        return np.where(
            w == 0,
            np.maximum(np.abs(smooth) - self.l1, 0.0),
            np.abs(smooth + self.l1 * np.sign(w)),
        )


def soft_threshold(v: Any, t: Any) -> Any:
    """sign(v)·[|v| − t]₊, exactly 0 inside."""
    return v - np.clip(v, -t, t)


def checked_strength(strength: float) -> float:
    if not 0 <= strength < np.inf:
        raise ValueError(f"strength={strength!r}: give a finite number, 0 or above")
    return float(strength)
