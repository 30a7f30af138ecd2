"""The result of one k-means run, and what all k-means solvers share."""

from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows

# Share of J below which the gain of a step counts as none; a certificate accepts up to 1e-6.
MIN_RELATIVE_GAIN = 2.5e-7
# Share of J that moves of single rows must gain together, which a certificate accepts too; and the
# same where ``tol`` is 0, and only rounding may be left.
MIN_MOVES_GAIN, ROUNDING_GAIN = 1e-6, 1e-12


class KMeansFit(NamedTuple):
    """Centres and labels at the end of one run of Lloyd's iteration."""

    centers: np.ndarray  # (k, p) float64, with values rounded to the dtype of X
    labels: Any  # (n,) int32: the nearest centre of each row, as ``Rows.allocate`` gives it
    objective: float  # J = Σ s d²
    n_iter: int
    converged: bool
    refilled: int  # clusters that were found empty and given a row
    effective: int  # clusters with at least one row of positive weight
    rose: float  # largest increase of J in a step, as a share of Σ s‖z‖²; rounding only


def center_dtype(rows: Rows) -> Any:
    """Return the dtype in which centres are stored: float32 if X is, else float64."""
    return np.float32 if rows.X.dtype == np.float32 else np.float64
