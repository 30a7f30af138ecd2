"""A lower bound of J for any choice of k centres.

    J(μ) ≥ tr S − (λ_1 + … + λ_{k−1})        S = Σ s_i (x_i − x̄)(x_i − x̄)ᵀ, λ its eigenvalues

The cluster means lie in k − 1 dimensions around x̄, and no k − 1 dimensions contain more of tr S
than those of the largest eigenvalues. All eigenvalues are computed: estimates from below (Lanczos,
random projections) would prove nothing. The bound is lowered by their rounding error. With fewer
rows than columns the eigenvalues are those of the Gram matrix of the rows, whose positive ones are
the same.
"""

from typing import Any

import numpy as np

from certus.proofs.linalg.linear_sums import UNIT, dense
from certus.proofs.types import RowData

MAX_MATRIX_SIDE = 4096  # side of the matrix whose eigenvalues are computed
MAX_DENSE_ELEMENTS = 2**26  # elements of X, zeros included, that may be in memory at a time


def spectral_bound(data: RowData, k: int, c: np.ndarray) -> tuple[float | None, str]:
    """Return the bound, or None and the reason. ``c``: a point near the mean of the rows."""
    n, p = data.shape
    side = min(n, p)
    if side > MAX_MATRIX_SIDE or (n < p and n * p > MAX_DENSE_ELEMENTS):
        return None, f"it would take all eigenvalues of a matrix of {side:,} rows"
    if n < p:
        G, work = _gram_of_rows(data, c), p
    else:
        S, Sz, SZZ = data.reduce(_covariance_sums, c, square=True)
        G, work = SZZ - np.outer(Sz, Sz) / S, data.depth + 8
    trace = float(np.trace(G))
    eigenvalues = np.linalg.eigvalsh(G)
    # ‖δG‖ ≤ work·UNIT·Σ s‖z‖²; that of eigvalsh is a modest multiple of side·UNIT·‖G‖
    rounding = 2 * (work + 8 * side) * UNIT * trace
    remaining = float(np.sum(eigenvalues[: max(0, side - (k - 1))]))
    bound = remaining - (k + 1) * rounding
    if k > 1 and bound <= 0:
        return None, (
            f"the rows vary in no more than {k - 1:,} directions, as the means of {k:,} clusters "
            "may, so no bound above 0 is known"
        )
    return max(bound, 0.0), ""


def _covariance_sums(
    X: np.ndarray, _y: np.ndarray, s: np.ndarray | None, c: np.ndarray
) -> tuple[Any, ...]:
    """Return Σ s, Σ s z and Σ s zzᵀ with z = x − c."""
    Z = dense(X) - c
    sZ = Z if s is None else s[:, None] * Z
    return float(len(Z)) if s is None else s.sum(), sZ.sum(axis=0), np.dot(sZ.T, Z)


def _gram_of_rows(data: RowData, c: np.ndarray) -> Any:
    X, _, s = data.take(np.arange(data.shape[0]))
    Z = dense(X) - c
    root = np.ones(len(Z)) if s is None else np.sqrt(s)
    Z -= np.dot(root * root, Z) / np.dot(root, root)
    Z *= root[:, None]
    return np.dot(Z, Z.T)
