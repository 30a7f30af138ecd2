"""What a fit of an LS-SVM is."""

from typing import NamedTuple

import numpy as np


class Fit(NamedTuple):
    """f(x) = Σ β_j K(x_j, x) + b, one column for each target."""

    beta: np.ndarray  # (n, q)
    b: np.ndarray  # (q,)
    objective: float  # what is minimised, summed over targets
    condition: float  # of H: at most 1 + C Σ ω_i K_ii; κ₁, estimated, if K may be indefinite
    indefinite: int  # negative eigenvalues of H
    left_out: np.ndarray | None = None  # (n, q): f of row i fitted without row i; NaN: no other row
    leverage: np.ndarray | None = None  # (n,): g_i, y_i − f⁻ⁱ(x_i) = a_i/(r_i g_i)
    effective: float | None = None  # tr S, f = S y
