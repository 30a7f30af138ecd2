r"""Distances D_W of some rows to all, and their products with slopes, Σ_ij C_ij ∂D_ij/∂W_l.

    L1      D = Σ W|Δ|          ∂D/∂W = |Δ|           loops over pairs (``manhattan.py``)
    L2²     D = Σ WΔ²           ∂D/∂W = Δ²            products of matrices
    L2      D = √(Σ WΔ²)        ∂D/∂W = Δ²/2D
    Φ_s     D = S_δ/S_u         ∂D/∂W = (δ² − Du²)/S_u

Σ_ij C_ij(x_i − x_j)² = (r + c)ᵀx² − 2 Σ_i x_i(Cx)_i, with r and c the row and column sums of C. In
Φ_s, δ = x_i − x_j and u = x_i + x_j minus their W-weighted means, and S are their W-weighted sums
of squares: with z = x minus its W-weighted mean, and s_ij = Σ W z_i z_j,

    S_δ = s_ii + s_jj − 2s_ij,        S_u = s_ii + s_jj + 2s_ij

Slices of rows do not depend on threads, so that any number of them gives the same bits.
"""

from typing import Self

import numpy as np

from .manhattan import Manhattan

# of D to ‖x_i‖² + ‖x_j‖²: below it products have cancelled, and differences are used
MAX_CANCELLATION_RATIO = 1e-9
PAIRS_AT_ONCE = 4096


class SquaredEuclidean:
    """Weighted squared L2 distances, by products of matrices about the mean of all rows."""

    by_columns = pairs_once = needs_D = False
    root, min_slice_rows = False, 16

    def __init__(self, X: np.ndarray):
        self.mean = np.mean(X, axis=0, dtype=float)
        self.X = X - self.mean
        self.X2 = self.X**2

    @staticmethod
    def slope_bound(R: float, p: int) -> float:
        return R * R

    def at(self, W: np.ndarray) -> Self:
        new = object.__new__(type(self))
        new.mean, new.X, new.X2, new.W = self.mean, self.X, self.X2, W
        new.XW, new.squared_norms = self.X * W, np.dot(self.X2, W)
        return new

    W: np.ndarray
    XW: np.ndarray  # (n, P)
    squared_norms: np.ndarray  # (n,): Σ Wx²

    def fill(self, rows: np.ndarray, D: np.ndarray) -> None:
        self._fill(self.X[rows], self.squared_norms[rows], D)

    def between(self, new: np.ndarray, D: np.ndarray) -> None:
        new = new - self.mean
        self._fill(new, np.dot(new**2, self.W), D)

    def _fill(self, new: np.ndarray, squared_norms: np.ndarray, D: np.ndarray) -> None:
        np.dot(new, self.XW.T, out=D)
        D *= -2
        D += self.squared_norms
        D += squared_norms[:, None]
        # where products cancel, use differences, so that equal rows are at exactly 0
        i, j = np.nonzero(
            MAX_CANCELLATION_RATIO * (self.squared_norms + squared_norms[:, None]) >= D
        )
        for start in range(0, len(i), PAIRS_AT_ONCE):
            chunk = slice(start, start + PAIRS_AT_ONCE)
            R = new[i[chunk]] - self.X[j[chunk]]
            D[i[chunk], j[chunk]] = np.dot(R * R, self.W)
        if self.root:
            np.sqrt(D, out=D)

    def weight_vjp(self, rows: np.ndarray, C: np.ndarray, D: np.ndarray) -> np.ndarray:
        """Compute Σ_ij C_ij ∂D_ij/∂W of a slice; C is overwritten."""
        if self.root:
            np.divide(C, 2 * D, out=C, where=D > 0)
            C[D == 0] = 0
        g = np.dot(C.sum(axis=1), self.X2[rows]) + np.dot(C.sum(axis=0), self.X2)
        g -= 2 * np.einsum("ij,ij->j", self.X[rows], np.dot(C, self.X))
        return np.asarray(g)


class Euclidean(SquaredEuclidean):
    """Weighted L2 distances."""

    root = needs_D = True

    @staticmethod
    def slope_bound(R: float, p: int) -> float:
        return R / 2

    def kinks(self, W: np.ndarray) -> "KinkedEuclidean":
        new = object.__new__(KinkedEuclidean)
        vars(new).update(vars(self.at(W)))
        return new


class KinkedEuclidean(Euclidean):
    """Weighted L2 distances of rows at distance 0, which grow as |w_l||Δ_l| with W_l = w_l²."""

    def weight_vjp(self, rows: np.ndarray, C: np.ndarray, D: np.ndarray) -> np.ndarray:
        """Compute Σ_ij C_ij|x_i − x_j| over the pairs at distance 0."""
        i, j = np.nonzero((D == 0) & (C != 0))
        g = np.zeros(self.X.shape[1])
        for start in range(0, len(i), PAIRS_AT_ONCE):
            chunk = slice(start, start + PAIRS_AT_ONCE)
            g += np.dot(C[i[chunk], j[chunk]], np.abs(self.X[rows[i[chunk]]] - self.X[j[chunk]]))
        return g


class PhiS:
    """Weighted Φ_s = Var(x_i − x_j)/Var(x_i + x_j), by products of matrices."""

    by_columns, pairs_once, needs_D, min_slice_rows = False, False, True, 16

    def __init__(self, X: np.ndarray):
        self.X = np.asarray(X, dtype=float)

    @staticmethod
    def slope_bound(R: float, p: int) -> float:
        return 1 / p

    def at(self, W: np.ndarray) -> "PhiS":
        new = PhiS(self.X)
        new.W = W
        new.z = new._about_means(self.X)
        new.z2 = new.z**2
        new.zW, new.s = new.z * W, np.dot(new.z2, W)
        return new

    def _about_means(self, X: np.ndarray) -> np.ndarray:
        total = self.W.sum()
        mean = np.dot(X, self.W) / total if total > 0 else np.zeros(len(X))
        return np.asarray(X - mean[:, None])

    W: np.ndarray
    z: np.ndarray  # (n, P)
    z2: np.ndarray
    zW: np.ndarray
    s: np.ndarray  # (n,): Σ Wz²

    def _sums_of_squares(self, z: np.ndarray, s_new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        s = np.dot(z, self.zW.T)
        both = s_new[:, None] + self.s
        S_d, S_u = np.maximum(both - 2 * s, 0), np.maximum(both + 2 * s, 0)
        rounding = 1e-14 * both  # a smaller sum of squares is rounding
        S_d[S_d <= rounding], S_u[S_u <= rounding] = 0, 0
        return S_d, S_u

    def fill(self, rows: np.ndarray, D: np.ndarray) -> None:
        self._fill(*self._sums_of_squares(self.z[rows], self.s[rows]), D)

    def between(self, new: np.ndarray, D: np.ndarray) -> None:
        z = self._about_means(np.asarray(new, dtype=float))
        self._fill(*self._sums_of_squares(z, np.dot(z**2, self.W)), D)

    def _fill(self, S_d: np.ndarray, S_u: np.ndarray, D: np.ndarray) -> None:
        D[...] = np.where(S_d > 0, np.inf, 0.0)
        np.divide(S_d, S_u, out=D, where=S_u > 0)

    def weight_vjp(self, rows: np.ndarray, C: np.ndarray, D: np.ndarray) -> np.ndarray:
        _, S_u = self._sums_of_squares(self.z[rows], self.s[rows])
        A = np.divide(C, S_u, out=np.zeros_like(C), where=S_u > 0)
        B = A * np.where(np.isfinite(D), D, 0.0)
        minus, plus = A - B, A + B
        g = np.dot(minus.sum(axis=1), self.z2[rows]) + np.dot(minus.sum(axis=0), self.z2)
        g -= 2 * np.einsum("ij,ij->j", self.z[rows], np.dot(plus, self.z))
        return np.asarray(g)


Distance = Manhattan | SquaredEuclidean | PhiS
METRICS: dict[str, type[Manhattan] | type[SquaredEuclidean] | type[PhiS]] = {
    "manhattan": Manhattan, "sqeuclidean": SquaredEuclidean, "euclidean": Euclidean, "phi_s": PhiS,
}  # fmt: skip
