"""What a fit of k-means is."""

from typing import NamedTuple

import numpy as np

GAIN = 2.5e-7  # of J in a step: less is what a certificate calls a local optimum


class Fit(NamedTuple):
    centers: np.ndarray  # (k, p), in float64, rounded to what X is
    labels: np.ndarray  # (n,) int32: the nearest of these
    objective: float  # Σ s d²
    n_iter: int
    converged: bool
    refilled: int  # clusters that were empty on the way
    effective: int  # clusters that own rows
    rose: float  # the most that J rose in a step, as a share of Σ s‖z‖²: rounding
