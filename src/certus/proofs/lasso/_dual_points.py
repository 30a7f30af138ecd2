r"""Dual points of a penalised fit, and the gaps that they prove.

    F(w, b) ≥ D(a)        for every feasible a        gap = F(w, b) − D(a)

All numbers include bounds of their rounding errors.
"""

from typing import NamedTuple

import numpy as np

from certus.proofs.glm.margins import shares


class ProvenGap(NamedTuple):
    """Lower bound of the optimum, and gap of F to it, for each target."""

    bound: np.ndarray
    gap: np.ndarray
    coef_error: np.ndarray | None  # bound for each coefficient; None: unknown
    proof: str

    def reaches(self, tol: float, f0: np.ndarray) -> bool:
        return bool((shares(self.gap, f0) <= tol).all())


class DualPoint(NamedTuple):
    """Sums over one a, divided by D."""

    ay: np.ndarray  # lower bound of Σ s y a
    aa: np.ndarray  # upper bound of Σ s a²
    v: np.ndarray  # Σ s a x, (p, k), in the user's units
    error: np.ndarray  # bound of the error of v
