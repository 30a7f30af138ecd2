"""Least squares with w ≥ 0 by the active-set method of Lawson and Hanson.

    min_v≥0 ‖z − A v‖² + Σ_j penalty_j v_j²

SciPy's routine solves it; A is a triangular factor of the rows, small for any number of them.
"""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls


def nonnegative(A: np.ndarray, z: np.ndarray, penalties: Sequence[np.ndarray]) -> np.ndarray:
    """Solve for each column of z, with its own penalties. Typically O(p³) per target."""
    p = A.shape[1]
    v = np.empty((p, z.shape[1]))
    for t, penalty in enumerate(penalties):
        stacked, right = A, z[:, t]
        if penalty.any():
            stacked = np.vstack([A, np.diag(np.sqrt(penalty))])
            right = np.concatenate([right, np.zeros(p)])
        support = nnls(stacked, right, maxiter=max(100, 10 * p))[0] > 0
        # the routine has its own tolerance: solve once more on its support
        v[:, t] = 0.0
        polished = np.linalg.lstsq(stacked[:, support], right, rcond=None)[0]
        v[support, t] = np.maximum(polished, 0.0)
    return v
