"""Result of a fit of NCFS, and the violation of its optimality conditions."""

from typing import NamedTuple

import numpy as np


class NCFSFit(NamedTuple):
    """Weights found by a solver, with F and its slope there."""

    W: np.ndarray  # (P,) ≥ 0
    objective: float  # F
    slope: np.ndarray  # (P,): ∂F/∂W
    q: np.ndarray  # (n,): expected gain of each row
    n_iter: int
    n_evaluations: int
    converged: bool
    largest_decrease: float  # of F in one step, relative to Σa


def violation(W: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Violation of the KKT conditions: |∂F/∂W| where W > 0, its positive part where W = 0."""
    return np.where(W > 0, np.abs(slope), np.maximum(slope, 0.0))
