"""What a fit of NCFS is."""

from typing import NamedTuple

import numpy as np


class Fit(NamedTuple):
    W: np.ndarray  # (P,) ≥ 0
    objective: float  # F
    slope: np.ndarray  # (P,): ∂F/∂W
    q: np.ndarray  # (n,)
    n_iter: int
    n_evaluations: int
    converged: bool
    fell: float  # the most that F fell in a step, as a share of Σa


def violation(W: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """KKT of max F over W ≥ 0: |∂F/∂W| where W > 0, its positive part where W = 0."""
    return np.where(W > 0, np.abs(slope), np.maximum(slope, 0.0))
