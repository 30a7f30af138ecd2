"""Separable penalties Σ_j pen_j(v_j) as the numbers that kernels take.

pen_j(v) = l1_j|v| + l2_j/2·v², on all v or on v ≥ 0, or MCP or SCAD of strength l1_j and γ.
"""

from typing import Any, NamedTuple

import numpy as np

L1_L2, NON_NEGATIVE, MCP, SCAD = range(4)  # as in kernels/lasso/coordinate_descent.py


class CoordinatePenalty(NamedTuple):
    """A separable penalty: a code and its parameters."""

    l1: np.ndarray  # (m,)
    l2: np.ndarray  # (m,); 0 for MCP and SCAD
    code: int = L1_L2
    gamma: float = 0.0

    @classmethod
    def of(cls, penalty: Any, m: int) -> "CoordinatePenalty":
        """Convert a penalty of certus.penalties to one of m coordinates, in the user's units."""
        code = {"mcp": MCP, "scad": SCAD}.get(penalty.name)
        if code is not None:
            return cls(np.full(m, penalty.strength), np.zeros(m), code, penalty.gamma)
        code = NON_NEGATIVE if getattr(penalty, "positive", False) else L1_L2
        return cls(np.full(m, penalty.l1), np.full(m, penalty.l2), code)

    @property
    def convex(self) -> bool:
        return self.code in (L1_L2, NON_NEGATIVE)

    def take(self, which: np.ndarray) -> "CoordinatePenalty":
        return self._replace(l1=self.l1[which], l2=self.l2[which])

    def value(self, v: np.ndarray) -> float:
        size, l, gamma = np.abs(v), self.l1, self.gamma
        if self.code == MCP:
            inner = np.minimum(size, gamma * l)
            return float(np.sum(l * inner - inner**2 / (2 * gamma)))
        if self.code == SCAD:
            inner, middle = np.minimum(size, l), np.clip(size, l, gamma * l) - l
            return float(np.sum(l * inner + middle * (l - middle / (2 * (gamma - 1)))))
        root = np.sqrt(self.l2) * v  # v² of a column of tiny numbers would overflow
        return float(l @ size + root @ root / 2)

    def distances(self, v: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Distances of −q_j to the subdifferential of pen_j at v_j."""
        size, sign, l, gamma = np.abs(v), np.sign(v), self.l1, self.gamma
        at_zero = np.maximum(np.abs(q) - l, 0.0)
        if self.code == MCP:
            slope = np.maximum(l - size / gamma, 0.0)
        elif self.code == SCAD:
            slope = np.clip((gamma * l - size) / (gamma - 1), 0.0, l)
        else:
            slope = l + self.l2 * size
            if self.code == NON_NEGATIVE:
                at_zero = np.maximum(-q - l, 0.0)
        distance: np.ndarray = np.where(v == 0, at_zero, np.abs(q + sign * slope))
        return distance
