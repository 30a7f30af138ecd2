"""Φ_s: the variance of the difference of two rows relative to that of their sum.

    Φ_s(a, b) = S_δ / S_u,   S_v = Σ_l w_l² (v_l − μ_v)²,   δ = a − b,   u = a + b

μ_v is the w²-weighted mean over the features. With ã = a − μ_a and b̃ alike, δ − μ_δ = ã − b̃ and
u − μ_u = ã + b̃: two sums of squared differences.
"""

import numpy as np

from . import blocks
from .minkowski import _Weighted, squared_differences
from .reading import feature_weights


class PhiS(_Weighted):
    """d(a, b) = Var_w(a − b) / Var_w(a + b), the variances over the features with weights w².

    0 for rows that differ by a constant; 1 for uncorrelated ones; infinite where a = c − b for a
    constant c. It does not change when w is multiplied by a number, nor when all rows are.

    Parameters
    ----------
    w : array-like of shape (n_features,), optional
        Feature weights, at least two of them not 0; their squares multiply. None: all 1.

    Examples
    --------
    >>> from certus.distances import PhiS
    >>> PhiS().pairwise([[1.0, 2.0, 3.0]], [[2.0, 3.0, 4.0], [2.0, 4.0, 6.0], [3.0, 2.0, 1.0]])
    array([[0.        , 0.11111111,        inf]])
    """

    name = "phi_s"
    formula = "Var_w(a − b) / Var_w(a + b)"

    def __init__(self, w: object = None):
        self.w = None if w is None else feature_weights(w, least=2)

    def _weights(self, p: int) -> np.ndarray:
        W = self._squares(p)
        return np.ones(p) if W is None else W

    def _centered(self, A: np.ndarray, W: np.ndarray) -> np.ndarray:
        shifted = A - A[:, :1]  # a constant row becomes exactly 0
        return shifted - ((shifted * W).sum(axis=1) / W.sum())[:, None]

    def _spreads(
        self, A: np.ndarray, B: np.ndarray, W: np.ndarray, threads: int | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return S_δ and S_u of all pairs of centred rows."""
        return squared_differences(A, B, W, threads), squared_differences(A, -B, W, threads)

    def compare(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        W, symmetric = self._weights(A.shape[1]), A is B
        A = self._centered(A, W)
        above, below = self._spreads(A, A if symmetric else self._centered(B, W), W, threads)
        return _ratio(above, below)

    def _paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        W = self._weights(A.shape[1])
        A, B = self._centered(A, W), self._centered(B, W)
        return _ratio(np.dot((A - B) ** 2, W), np.dot((A + B) ** 2, W))

    def weight_vjp(
        self, A: np.ndarray, B: np.ndarray, C: np.ndarray, *, threads: int | None = None
    ) -> np.ndarray:
        """Return Σ_ij C_ij (2w_l/S_u) [(δ_l − μ_δ)² − Φ_s (u_l − μ_u)²], 0 where Φ_s = ∞."""
        rows, others, C, w = self._for_vjp(A, B, C)
        W = self._weights(rows.shape[1])
        rows, others = self._centered(rows, W), self._centered(others, W)
        above, below = self._spreads(rows, others, W, threads)
        ratio = np.divide(C, below, out=np.zeros_like(below), where=below > 0)
        scaled = np.divide(ratio * above, below, out=np.zeros_like(below), where=below > 0)
        from_differences = blocks.squared_vjp(rows, others, ratio, -1, threads)
        from_sums = blocks.squared_vjp(rows, others, scaled, +1, threads)
        return 2 * w * (from_differences - from_sums)


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.divide(above, below, out=np.zeros_like(above), where=above > 0)
