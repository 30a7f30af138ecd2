"""The result of fitting an LS-SVM."""

from typing import NamedTuple

import numpy as np


class LSSVMFit(NamedTuple):
    """Parameters of f(x) = Σ β_j K(x_j, x) + b, one column for each target."""

    beta: np.ndarray  # (n, q)
    b: np.ndarray  # (q,)
    objective: float  # minimum, summed over targets
    condition: float  # of H: the bound 1 + C Σ ω_i K_ii; if K may be indefinite, an estimated κ₁
    indefinite: int  # number of negative eigenvalues of H
    left_out: np.ndarray | None = None  # (n, q): f(x_i) fitted without row i; NaN: no other row
    leverage: np.ndarray | None = None  # (n,): g_i, y_i − f⁻ⁱ(x_i) = a_i/(r_i g_i)
    effective: float | None = None  # tr S, f = S y
