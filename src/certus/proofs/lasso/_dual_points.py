r"""What a dual point proves of a penalised fit.

    F(w, b) ≥ D(a)        for every a that is allowed        gap = F(w, b) − D(a)

All numbers are known with what rounding can have done to them.
"""

from typing import NamedTuple

import numpy as np

from certus.proofs.glm.margins import shares


class Proven(NamedTuple):
    """Of each target: what the optimum is at least, and how far F can be above it."""

    bound: np.ndarray
    gap: np.ndarray
    coef_error: np.ndarray | None  # of each coefficient, at most; None: unknown
    proof: str

    def reaches(self, tol: float, f0: np.ndarray) -> bool:
        return bool((shares(self.gap, f0) <= tol).all())


class DualPoint(NamedTuple):
    """Of one a, over D."""

    ay: np.ndarray  # Σ s y a, at least
    aa: np.ndarray  # Σ s a², at most
    v: np.ndarray  # Σ s a x, (p, k), in the user's units
    error: np.ndarray  # of v
