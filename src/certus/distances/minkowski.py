"""Minkowski distances: sums of powers of |Δ|, with feature weights."""

import numbers
from typing import Any

import numpy as np

from . import blocks
from .base import Distance
from .reading import feature_weights, nonnegative_weights, require_columns, two_sides

MAX_UNSCALED = 2.0**500  # rows beyond it, or all below its inverse, are scaled before squaring


def _take_root(block: np.ndarray) -> None:
    np.sqrt(block, out=block)


def power_of_two(A: np.ndarray, B: np.ndarray) -> float:
    """Return 2^k to divide rows by whose squares would overflow or underflow; otherwise 1."""
    largest = max((float(np.abs(X).max()) for X in (A, B) if X.size), default=1.0)
    return (
        1.0
        if largest == 0 or 1 / MAX_UNSCALED < largest < MAX_UNSCALED
        else float(2.0 ** np.floor(np.log2(largest)))
    )


class _Weighted(Distance):
    """A distance in which w_l² multiplies the term of feature l."""

    def __init__(self, w: object = None):
        self.w = None if w is None else feature_weights(w)

    def _squares(self, p: int) -> np.ndarray | None:
        if self.w is None:
            return None
        require_columns(len(self.w), p, "w")
        return self.w**2

    def _for_vjp(
        self, A: np.ndarray, B: np.ndarray, C: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, Any, np.ndarray]:
        rows, others = two_sides(A, B)
        p = rows.shape[1]
        self._squares(p)
        w = np.ones(p) if self.w is None else self.w
        C = np.asarray(C, dtype=np.float64)
        if C.shape != (len(rows), len(others)):
            raise ValueError(f"C has shape {C.shape}: give one number for each of the "
                             f"{len(rows):,} × {len(others):,} pairs")  # fmt: skip
        return rows, others, C, w


class Manhattan(_Weighted):
    """d(a, b) = Σ_l w_l² |a_l − b_l|; also called "l1" and "cityblock".

    Parameters
    ----------
    w : array-like of shape (n_features,), optional
        Feature weights; their squares multiply, as in neighbourhood component feature selection.
        None: all 1. (Unsquared weights: ``Minkowski(1, w=…)``.)

    Examples
    --------
    >>> from certus.distances import Manhattan
    >>> Manhattan().pairwise([[0.0, 0.0]], [[1.0, 2.0], [0.0, 3.0]])
    array([[3., 3.]])
    >>> Manhattan(w=[2.0, 1.0]).pairwise([[0.0, 0.0]], [[1.0, 2.0], [0.0, 3.0]])
    array([[6., 3.]])
    """

    name = "manhattan"
    formula = "Σ w²|Δ|"
    embedded_metric = "manhattan"
    embedded_p = 1.0

    def embed(self, X: np.ndarray) -> np.ndarray:
        rows = super().embed(X)
        W = self._squares(rows.shape[1])
        return rows if W is None else rows * W

    def compare(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        W = self._squares(A.shape[1])
        return blocks.sums_of_pairs(blocks.ABSOLUTE, A, B, W, threads=threads)

    def _paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        W = self._squares(A.shape[1])
        D = np.abs(A - B)
        return (D if W is None else D * W).sum(axis=1)

    def weight_vjp(
        self, A: np.ndarray, B: np.ndarray, C: np.ndarray, *, threads: int | None = None
    ) -> np.ndarray:
        """Return Σ_ij C_ij · 2 w_l |Δ_l|."""
        rows, others, C, w = self._for_vjp(A, B, C)
        return 2 * w * blocks.absolute_vjp(rows, others, C, threads)


class SquaredEuclidean(_Weighted):
    """d(a, b) = Σ_l w_l² (a_l − b_l)².

    Parameters
    ----------
    w : array-like of shape (n_features,), optional
        Feature weights; their squares multiply (SciPy's ``w`` is ours squared). None: all 1.

    Examples
    --------
    >>> from certus.distances import SquaredEuclidean
    >>> SquaredEuclidean().pairwise([[1e8], [1e8 + 0.5]])
    array([[0.  , 0.25],
           [0.25, 0.  ]])
    """

    name = "sqeuclidean"
    formula = "Σ w²Δ²"
    embedded_metric = "sqeuclidean"
    embedded_p = 2.0

    def embed(self, X: np.ndarray) -> np.ndarray:
        rows = super().embed(X)
        self._squares(rows.shape[1])
        return rows if self.w is None else rows * self.w

    def compare(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        return squared_differences(A, B, self._squares(A.shape[1]), threads)

    def _paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        self._squares(A.shape[1])
        D = A - B if self.w is None else self.w * (A - B)
        return (D**2).sum(axis=1)

    def weight_vjp(
        self, A: np.ndarray, B: np.ndarray, C: np.ndarray, *, threads: int | None = None
    ) -> np.ndarray:
        """Return Σ_ij C_ij · 2 w_l Δ_l², by one product of matrices."""
        rows, others, C, w = self._for_vjp(A, B, C)
        return 2 * w * _squared_vjp(rows, others, C, threads)


class Euclidean(SquaredEuclidean):
    """d(a, b) = √Σ_l w_l² (a_l − b_l)²; also called "l2".

    Computed from differences, hence accurate at any distance from the origin.

    Parameters
    ----------
    w : array-like of shape (n_features,), optional
        Feature weights; their squares multiply under the root. None: all 1. (Unsquared weights:
        ``Minkowski(2, w=…)``.)

    Examples
    --------
    >>> from certus.distances import Euclidean
    >>> Euclidean().pairwise([[1e8], [1e8 + 0.5]])
    array([[0. , 0.5],
           [0.5, 0. ]])
    """

    name = "euclidean"
    formula = "√Σ w²Δ²"
    embedded_metric = "euclidean"

    def compare(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        unit = power_of_two(A, B)
        if unit != 1:
            same = A is B
            A = A / unit
            B = A if same else B / unit
        D = squared_differences(A, B, self._squares(A.shape[1]), threads, _take_root)
        return D if unit == 1 else D * unit

    def _paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        unit = power_of_two(A, B)
        return unit * np.sqrt(super()._paired(A / unit, B / unit))

    def weight_vjp(
        self, A: np.ndarray, B: np.ndarray, C: np.ndarray, *, threads: int | None = None
    ) -> np.ndarray:
        """Return Σ_ij C_ij · w_l Δ_l² / d_ij; 0 where d_ij = 0."""
        rows, others, C, w = self._for_vjp(A, B, C)
        D = self.compare(rows, others, threads)
        ratio = np.divide(C, D, out=np.zeros_like(D), where=D > 0)
        return w * _squared_vjp(rows, others, ratio, threads)


def squared_differences(
    A: np.ndarray,
    B: np.ndarray,
    W: np.ndarray | None,
    threads: int | None,
    finish: blocks.Finish | None = None,
) -> np.ndarray:
    """Return Σ_l W_l (a_l − b_l)² of all pairs."""
    kind = blocks.SQUARED if W is None else blocks.WEIGHTED_SQUARED
    return blocks.sums_of_pairs(kind, A, B, W, finish=finish, threads=threads)


def _squared_vjp(A: np.ndarray, B: np.ndarray, C: np.ndarray, threads: int | None) -> np.ndarray:
    if not len(A) or not len(B):
        return np.zeros(A.shape[1])
    center = A.mean(axis=0)  # the squares must not absorb the differences
    return blocks.squared_vjp(A - center, B - center, C, -1, threads)


class Minkowski(Distance):
    """d(a, b) = (Σ_l w_l |a_l − b_l|^p)^(1/p).

    Parameters
    ----------
    p : float, default=2
        1 is Manhattan, 2 Euclidean, infinity Chebyshev. Below 1 it is not a metric, and an error.
    w : array-like of shape (n_features,), optional
        Nonnegative feature weights. They multiply unsquared, as in SciPy and scikit-learn.

    Examples
    --------
    >>> from certus.distances import Minkowski
    >>> Minkowski(3).pairwise([[0.0, 0.0, 0.0]], [[3.0, 4.0, 5.0]])
    array([[6.]])
    """

    name = "minkowski"
    formula = "(Σ w|Δ|^p)^(1/p)"
    embedded_metric = "minkowski"

    def __init__(self, p: float = 2, w: object = None):
        if isinstance(p, bool) or not isinstance(p, numbers.Real) or not p >= 1:
            raise ValueError(f"p={p!r}: give a number of at least 1; below 1 it is not a metric")
        self.p: float = float(p)
        self.w: np.ndarray | None = None if w is None else nonnegative_weights(w)

    @property
    def embedded_p(self) -> float:  # type: ignore[override]
        return self.p

    @property
    def euclidean_like(self) -> str | None:
        return "euclidean" if self.p == 2 else None

    def _factors(self, p: int) -> np.ndarray | None:
        """Return w^(1/p), which multiplies |Δ_l| before the power."""
        if self.w is None:
            return None
        require_columns(len(self.w), p, "w")
        return (self.w > 0).astype(float) if np.isinf(self.p) else self.w ** (1 / self.p)

    def embed(self, X: np.ndarray) -> np.ndarray:
        rows = super().embed(X)
        factors = self._factors(rows.shape[1])
        return rows if factors is None else rows * factors

    def compare(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        factors = self._factors(A.shape[1])
        if self.p == 1:
            return blocks.sums_of_pairs(blocks.ABSOLUTE, A, B, self.w, threads=threads)
        if np.isinf(self.p):
            return blocks.sums_of_pairs(blocks.MAXIMUM, A, B, factors, threads=threads)
        if self.p == 2:
            unit = power_of_two(A, B)
            if unit == 1:
                return squared_differences(A, B, self.w, threads, _take_root)

        def root(block: np.ndarray) -> None:
            np.power(block, 1 / self.p, out=block)

        with np.errstate(over="ignore", under="ignore"):
            D = blocks.sums_of_pairs(blocks.POWER, A, B, self.w, self.p, root, threads)
        # powers of very small or large differences underflow or overflow: recompute them scaled
        low, high = 1e-290 ** (1 / self.p), 1e300 ** (1 / self.p)
        out_of_range = ~((low < D) & (high > D))
        if out_of_range.any():
            for i in np.flatnonzero(out_of_range.any(axis=1)):
                j = np.flatnonzero(out_of_range[i])
                D[i, j] = self._scaled(A[i], B[j])
        return D

    def _scaled(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        factors = self._factors(B.shape[1])
        size = np.abs(A - B)
        size = size if factors is None else size * factors
        largest = np.max(size, axis=1, keepdims=True, initial=0.0)
        if np.isinf(self.p):
            return largest[:, 0]
        shares = np.divide(size, largest, out=np.zeros_like(size), where=largest > 0)
        return largest[:, 0] * (shares**self.p).sum(axis=1) ** (1 / self.p)

    def _paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return self._scaled(A, B)


class Chebyshev(Minkowski):
    """d(a, b) = max_l |a_l − b_l|; also called "infinity".

    Parameters
    ----------
    w : array-like of shape (n_features,), optional
        Features of weight 0 are left out; other weights have no effect, as in SciPy.

    Examples
    --------
    >>> from certus.distances import Chebyshev
    >>> Chebyshev().pairwise([[0.0, 0.0]], [[1.0, -2.0]])
    array([[2.]])
    """

    name = "chebyshev"
    formula = "max |Δ|"
    embedded_metric = "chebyshev"

    def __init__(self, w: object = None):
        super().__init__(np.inf, w)

    def _given(self) -> dict[str, Any]:
        return {"w": self.w}
