"""Distances in units of the spread of the data: standardised Euclidean and Mahalanobis.

    d(a, b) = √(Δᵀ V⁻¹ Δ) = ‖L⁻¹a − L⁻¹b‖,   V = L Lᵀ

V is given, or estimated from the rows of the fit; a singular estimate is shrunk.
"""

from typing import Any

import numpy as np

from . import blocks
from .base import Distance
from .covariance import Estimate, estimate, factor_of_inverse, left_out
from .minkowski import squared_differences
from .reading import as_rows, require_columns, two_sides


class _Whitened(Distance):
    """‖R(a − c) − R(b − c)‖ for a matrix or a diagonal R; c avoids cancellation far from 0."""

    embedded_metric = "euclidean"
    embedded_p = 2.0
    _R: np.ndarray | None = None
    _center: np.ndarray | None = None

    def embed(self, X: np.ndarray) -> np.ndarray:
        """Return R(x − c), with R from ``prepare`` or the constructor, c the mean of the fit."""
        rows = as_rows(X)
        return self._embedded(rows, self._center)

    def _embedded(
        self, rows: np.ndarray, center: np.ndarray | None, threads: int | None = None
    ) -> np.ndarray:
        if self._R is None:
            raise ValueError(f"{type(self).__name__} has no V yet: give V=…, or prepare(X) it")
        require_columns(self._R.shape[-1], rows.shape[1], "V")
        rows = rows if center is None else rows - center
        if self._R.ndim == 1:
            return rows * self._R
        # equal rows must give equal bits at any position, which BLAS does not guarantee
        R = np.ascontiguousarray(self._R)
        return blocks.sums_of_pairs(blocks.PRODUCT, rows, R, threads=threads)

    def pairwise(
        self, A: np.ndarray, B: np.ndarray | None = None, *, threads: int | None = None
    ) -> np.ndarray:
        """Return d(A_i, B_j) of all pairs; without V, it is estimated from A and B together."""
        rows, others = two_sides(A, B)
        return self._prepared(rows, others).compare(rows, others, threads)

    def paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Return d(A_i, B_i) row by row; without V, it is estimated from A and B together."""
        rows, others = two_sides(A, B)
        return Distance.paired(self._prepared(rows, others), rows, others)

    def _prepared(self, A: np.ndarray, B: np.ndarray) -> "Distance":
        if self._R is not None:
            return self
        return self.prepare(A if A is B else np.concatenate([A, B]))

    def compare(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        if not len(A) or not len(B):
            return np.empty((len(A), len(B)))
        center = A.mean(axis=0) if self._center is None else self._center
        symmetric = A is B
        A = self._embedded(A, center, threads)
        B = A if symmetric else self._embedded(B, center, threads)
        D = squared_differences(A, B, None, threads)
        return np.sqrt(D, out=D)

    def _paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.sqrt((self._embedded(A - B, None) ** 2).sum(axis=1))


class StandardizedEuclidean(_Whitened):
    """d(a, b) = √Σ_l (a_l − b_l)²/V_l, each feature in units of its standard deviation.

    Parameters
    ----------
    V : array-like of shape (n_features,), optional
        Variances. None: those of the rows of the fit (divided by n − 1). A feature that does not
        vary there is left out, and ``note`` says so.

    Examples
    --------
    >>> from certus.distances import StandardizedEuclidean
    >>> StandardizedEuclidean(V=[4.0, 1.0]).pairwise([[0.0, 0.0]], [[2.0, 0.0], [0.0, 2.0]])
    array([[1., 2.]])
    """

    name = "seuclidean"
    formula = "√Σ Δ²/V"

    def __init__(self, V: object = None):
        self.V = None if V is None else np.array(V, dtype=np.float64)
        if self.V is None:
            return
        if self.V.ndim != 1 or not np.isfinite(self.V).all() or (self.V <= 0).any():
            raise ValueError("V: give the variance of each column, a finite number above 0")
        self._R = 1 / np.sqrt(self.V)

    def parameters(self) -> dict[str, Any]:
        if self._R is None:
            raise ValueError("StandardizedEuclidean has no V yet: give V=…, or prepare(X) it")
        with np.errstate(divide="ignore"):
            return {"V": self._R**-2.0}  # infinite for a feature that does not vary

    def prepare(self, X: object) -> "StandardizedEuclidean":
        """Return a copy with the variances and the mean of the rows of a fit."""
        rows = as_rows(X)
        center = rows.mean(axis=0)
        if self._R is not None:
            require_columns(len(self._R), rows.shape[1], "V")
            return self._with(_center=center)
        if len(rows) < 2:
            raise ValueError("variances need two rows or more, X has one: give V=…")
        Z = _centered(rows, center)
        V = (Z**2).sum(axis=0) / (len(rows) - 1)
        is_constant = (rows == rows[0]).all(axis=0)
        V[is_constant] = 0.0
        R = np.divide(1.0, np.sqrt(V), out=np.zeros_like(V), where=V > 0)
        return self._with(_V=V, _R=R, _center=center, note=left_out(np.flatnonzero(is_constant)))


class Mahalanobis(_Whitened):
    """d(a, b) = √((a − b)ᵀ V⁻¹ (a − b)), V the covariance matrix of the features.

    Parameters
    ----------
    V : array-like of shape (n_features, n_features), optional
        The covariance matrix. A singular one is shrunk towards its diagonal.
    VI : array-like of shape (n_features, n_features), optional
        Its inverse, instead of V. With neither, V is estimated from the rows of the fit (divided by
        n − 1), and shrunk after Ledoit and Wolf (2004) on standardised columns where it is
        singular or there are no more rows than features; ``note`` says so.

    Examples
    --------
    >>> from certus.distances import Mahalanobis
    >>> Mahalanobis(V=[[4.0, 0.0], [0.0, 1.0]]).pairwise([[0.0, 0.0]], [[2.0, 0.0], [0.0, 2.0]])
    array([[1., 2.]])
    """

    name = "mahalanobis"
    formula = "√(Δᵀ V⁻¹ Δ)"

    def __init__(self, V: object = None, VI: object = None):
        if V is not None and VI is not None:
            raise ValueError("give V or its inverse VI, not both")
        self.V = None if V is None else _square(V, "V")
        self.VI = None if VI is None else _square(VI, "VI")
        if self.V is not None:
            self._set_estimate(estimate(self.V))
        elif self.VI is not None:
            self._R = factor_of_inverse(self.VI)

    def _set_estimate(self, estimated: Estimate) -> None:
        self._R, self._V = estimated.R, estimated.V
        if estimated.note:
            self.note = estimated.note

    def _given(self) -> dict[str, Any]:
        return {"V": self.V, "VI": self.VI}

    def parameters(self) -> dict[str, Any]:
        if self._R is None:
            raise ValueError("Mahalanobis has no V yet: give V=…, or prepare(X) it")
        V = self.covariance
        if V is None or (np.diag(V) == 0).any():  # a feature is left out: V has no inverse
            return {"VI": np.dot(self._R.T, self._R)}
        return {"V": V}

    @property
    def covariance(self) -> np.ndarray | None:
        """V as used: given, estimated or shrunk; None before ``prepare``, or with VI."""
        return vars(self).get("_V")

    def prepare(self, X: object) -> "Mahalanobis":
        """Return a copy with the covariance matrix and the mean of the rows of a fit."""
        rows = as_rows(X)
        center = rows.mean(axis=0)
        if self._R is not None:
            require_columns(self._R.shape[1], rows.shape[1], "V")
            return self._with(_center=center)
        if len(rows) < 2:
            raise ValueError("a covariance matrix needs two rows or more, X has one: give V=…")
        Z = _centered(rows, center)
        is_constant = (rows == rows[0]).all(axis=0)
        Z[:, is_constant] = 0.0
        V = np.dot(Z.T, Z) / (len(rows) - 1)
        other: Mahalanobis = self._with(_center=center)
        other._set_estimate(estimate(V, Z))
        return other


def _centered(rows: np.ndarray, center: np.ndarray) -> np.ndarray:
    Z = rows - center
    Z -= Z.mean(axis=0)  # the rounding error of the mean, far from the origin
    return Z


def _square(given: object, what: str) -> np.ndarray:
    V = np.array(given, dtype=np.float64)
    if V.ndim != 2 or V.shape[0] != V.shape[1] or not np.isfinite(V).all():
        raise ValueError(f"{what} has shape {V.shape}: give a square matrix of finite numbers")
    return (V + V.T) / 2  # the symmetric part: Δᵀ V Δ does not depend on the rest
