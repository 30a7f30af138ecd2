r"""Losses of a residual r = y − xᵀw − b, and the sums over rows that make a dual point.

    squared: ½r²        huber: ½r² where |r| ≤ δ, and δ|r| − ½δ² beyond

The dual point is a = ℓ'(r), which is r, or r clipped to [−δ, δ], and G(a) = y·a − a²/2 for both.
With an intercept Σ s a = 0 is required. For squares the mean of a is subtracted. Huber's a must
stay within ±δ: a constant is subtracted from *inner* rows only, |r| ≤ δ/2; or, if these are too
few, the heavier of the two signs is scaled by ρ ≤ 1. So there are sums for both signs and for the
inner rows.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.glm.duality import norms_and_transposed, product, slices
from certus.proofs.linalg.linear_sums import View
from certus.proofs.types import Matrix


class SquaredResidual(NamedTuple):
    """½r². A dual point may be scaled by any τ."""

    delta: float = np.inf
    max_tau: float = np.inf  # τ
    sets: int = 1  # of rows that are summed separately if there is an intercept

    @staticmethod
    def slope(r: np.ndarray) -> Any:
        return r


class HuberResidual(NamedTuple):
    """½r² near 0, δ|r| − ½δ² beyond. A dual point may be scaled down."""

    delta: float
    max_tau: float = 1.0
    sets: int = 3

    def slope(self, r: np.ndarray) -> Any:
        return np.clip(r, -self.delta, self.delta)


ResidualLoss = SquaredResidual | HuberResidual


class LossSums(NamedTuple):
    """Sums over x and y as viewed, with weights s, for k targets. Sets: all rows, or (a > 0, a < 0,
    inner), where the last has 1 for a."""

    S: float  # Σ s
    XX: float  # Σ s ‖x‖², over all columns
    Sy: np.ndarray  # Σ s y           (k,)
    Syy: np.ndarray  # Σ s y²         (k,)
    value: np.ndarray  # Σ s ℓ(r)     (k,)
    sa: np.ndarray  # Σ s a           (sets, k)
    aa: np.ndarray  # Σ s a²          (sets, k); of inner rows Σ s a
    ay: np.ndarray  # Σ s a y         (sets, k)
    V: np.ndarray  # Σ s a x          (sets, p, k)


def loss_sums(
    X: Matrix,
    y: np.ndarray,
    s: np.ndarray | None,
    w: np.ndarray,
    b: np.ndarray,
    view: View,
    loss: ResidualLoss,
    sets: int,
) -> LossSums:
    """Sums of one block of rows."""
    k = w.shape[1]
    y = np.subtract(y, view.c_y, dtype=float)
    XX, value = 0.0, np.zeros(k)
    total, aa, ay = (np.zeros((sets, k)) for _ in range(3))
    V = np.zeros((len(w), sets * k))
    for part, Z in slices(X, view):
        r = y[part] - b
        r -= product(Z, w)
        a, weight = loss.slope(r), None if s is None else s[part]
        sa = a if weight is None else weight[:, None] * a
        value += np.einsum("ij,ij->j", sa, r - a / 2)
        subsets = [sa]
        if sets > 1:
            inner = (np.abs(r) <= loss.delta / 2) * (1.0 if weight is None else weight[:, None])
            subsets = [np.maximum(sa, 0.0), np.minimum(sa, 0.0), inner]
        for i, subset in enumerate(subsets):
            total[i] += subset.sum(axis=0)
            aa[i] += np.einsum("ij,ij->j", subset, a)
            ay[i] += np.einsum("ij,ij->j", subset, y[part])
        norms, Zg = norms_and_transposed(Z, weight, np.hstack(subsets))
        XX, V = XX + norms, V + Zg
    sy = y if s is None else s[:, None] * y
    return LossSums(
        S=float(len(y)) if s is None else s.sum(), XX=XX, Sy=sy.sum(axis=0),
        Syy=np.einsum("ij,ij->j", sy, y), value=value, sa=total, aa=aa, ay=ay,
        V=np.ascontiguousarray(V.reshape(len(w), sets, k).swapaxes(0, 1)),
    )  # fmt: skip


def weight_sum(X: Matrix, y: np.ndarray, s: np.ndarray | None) -> tuple[Any]:
    """Σ s."""
    return (float(X.shape[0]) if s is None else s.sum(),)


def constant_sums(
    X: Matrix,
    y: np.ndarray,
    s: np.ndarray | None,
    b: np.ndarray,
    view: View,
    loss: ResidualLoss,
    w: np.ndarray | None = None,
) -> tuple[Any, ...]:
    """Σ s ℓ, Σ s ℓ', the weight of rows within δ, and Σ s ℓ'², of y − b, or y − xᵀw − b."""
    r = np.subtract(y, view.c_y, dtype=float) - b
    if w is not None:
        for part, Z in slices(X, view):
            r[part] -= product(Z, w)
    a = loss.slope(r)
    weight = np.ones((len(y), 1)) if s is None else s[:, None]
    inner = np.abs(r) <= loss.delta
    terms = a * (r - a / 2), a, inner, a * a
    return tuple((weight * term).sum(axis=0) for term in terms)
