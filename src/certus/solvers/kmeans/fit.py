"""What a fit of k-means is."""

from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows

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


def stored(rows: Rows) -> Any:
    """What centres are stored in."""
    return np.float32 if rows.X.dtype == np.float32 else np.float64


def owners(rows: Rows, labels: np.ndarray) -> int:
    """Clusters that own rows; a row of weight 0 is none."""
    return int(np.count_nonzero(np.bincount(labels if rows.s is None else labels[rows.s > 0])))
