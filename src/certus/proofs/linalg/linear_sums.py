"""Sums over rows of a linear model's residuals, with bounds of their rounding errors.

    r_i = (y_i − c_y) − (q∘(x_i − c))ᵀ(w/q) − b_c        b_c = b − c_y + cᵀw

Any shift c and any powers of two q give the same residuals. A shift near the means preserves digits
if the data are far from the origin; q prevents overflow of squares. Most data need neither.

X is an array, or sparse rows with .T, @ and .power. A shift would make sparse rows dense, so for
them c is 0.
"""

from typing import Any, NamedTuple, TypeGuard

import numpy as np

from certus.proofs.types import Matrix, Numbers, SparseMatrix

UNIT = 2.0**-53  # relative error of one float64 operation
SLICE_ELEMENTS = 2**17  # of X at a time
SAFE_MAGNITUDE = 2.0**200  # squares and products of columns between 1/2²⁰⁰ and 2²⁰⁰ do not overflow


class View(NamedTuple):
    """Shift and scale of the data, (X − c)∘q and y − c_y; None: no shift, no scale."""

    c: np.ndarray | None
    q: np.ndarray | None
    c_y: np.ndarray

    @property
    def plain(self) -> bool:
        return self.c is None and self.q is None

    def of(
        self, X: Matrix, dtype: type | np.dtype = float, buffer: np.ndarray | None = None
    ) -> np.ndarray:
        """(X − c)∘q of a block, dense; the block itself if nothing changes.

        ``buffer``: an array of at least as many rows, to be reused.
        """
        X = dense(X)
        if self.plain and X.dtype == dtype and X.flags.c_contiguous:
            return X
        Z = np.empty(X.shape, dtype) if buffer is None else buffer[: len(X)]
        if self.c is None:
            np.copyto(Z, X)
        else:
            np.subtract(X, self.c, out=Z, dtype=dtype)  # in this precision, not that of X
        if self.q is not None:
            Z *= self.q
        return Z

    def of_sparse(self, X: SparseMatrix, dtype: type | np.dtype = float) -> SparseMatrix:
        """X∘q of a sparse block."""
        X = X.astype(dtype, copy=self.q is not None)
        if self.q is not None:
            X.data *= self.q[column_numbers(X)]
        return X


def column_numbers(X: SparseMatrix) -> np.ndarray:
    """Column index of each entry of a sparse block."""
    if X.format == "csr":
        return X.indices
    return np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))


def is_sparse(X: Matrix) -> TypeGuard[SparseMatrix]:
    return not isinstance(X, np.ndarray)


def dense(X: Matrix) -> np.ndarray:
    return X if isinstance(X, np.ndarray) else X.toarray()


class ResidualStatistics(NamedTuple):
    """Sums over x and y as viewed, with weights s, for k targets."""

    S: Numbers  # Σ s
    XX: Numbers  # Σ s ‖x‖², over all columns
    Sy: np.ndarray  # Σ s y             (k,)
    Syy: np.ndarray  # Σ s y²           (k,)
    Sr: np.ndarray  # Σ s r             (k,)
    Srr: np.ndarray  # Σ s r²           (k,)
    Xsr: np.ndarray  # Xᵀ(s∘r)          (p, k)


def statistics(
    X: Matrix, y: np.ndarray, s: np.ndarray | None, w: np.ndarray, b: np.ndarray, view: View
) -> ResidualStatistics:
    """Sums of one block, in the precision of w (float64 or wider)."""
    y = np.subtract(y, view.c_y, dtype=w.dtype)
    weight = None if s is None else s[:, None]
    r, XX, Xsr = (
        _products(X, y - b, weight, w, view)
        if isinstance(X, np.ndarray)
        else _sparse_products(X, y - b, weight, w, view)
    )
    sr, sy = (r, y) if weight is None else (weight * r, weight * y)
    return ResidualStatistics(
        S=float(len(y)) if s is None else s.sum(),
        XX=XX,
        Sy=sy.sum(axis=0),
        Syy=np.einsum("ij,ij->j", sy, y),
        Sr=sr.sum(axis=0),
        Srr=np.einsum("ij,ij->j", sr, r),
        Xsr=Xsr,
    )


def _products(
    X: np.ndarray, r: np.ndarray, weight: np.ndarray | None, w: np.ndarray, view: View
) -> tuple[Any, Any, Any]:
    """r − Xw (written over r), Σ s ‖x‖² and Xᵀ(s∘r).

    X is processed in slices that stay in cache for the three products. np.dot, not @, which holds
    the GIL if its result is small.
    """
    XX, Xsr = 0.0, np.zeros_like(w)
    step = max(1, SLICE_ELEMENTS // len(w))
    buffer = np.empty((min(step, len(r)), len(w)), w.dtype)
    for start in range(0, len(r), step):
        part = slice(start, start + step)
        Z, r_part = view.of(X[part], w.dtype, buffer), r[part]
        r_part -= np.dot(Z, w)
        if weight is None:
            XX += np.vdot(Z, Z)
            Xsr += np.dot(Z.T, r_part)
        else:
            XX += np.dot(weight[part, 0], np.einsum("ij,ij->i", Z, Z))
            Xsr += np.dot(Z.T, weight[part] * r_part)
    return r, XX, Xsr


def _sparse_products(
    X: SparseMatrix, r: np.ndarray, weight: np.ndarray | None, w: np.ndarray, view: View
) -> tuple[Any, Any, Any]:
    """r − Xw (written over r), Σ s ‖x‖² and Xᵀ(s∘r) of sparse rows."""
    Z = view.of_sparse(X, w.dtype)
    r -= Z @ w
    if weight is None:
        return r, np.dot(Z.data, Z.data), Z.T @ r
    return r, np.dot(Z.power(2).sum(axis=1), weight[:, 0]), Z.T @ (weight * r)


def column_statistics(
    X: Matrix, y: np.ndarray, s: np.ndarray | None, view: View, dtype: type | np.dtype = float
) -> tuple[Any, Any]:
    """Σ s x and Σ s x² of each column of one block."""
    s = np.ones(X.shape[0], dtype=dtype) if s is None else s
    if not isinstance(X, np.ndarray):
        X = view.of_sparse(X, dtype)
        return X.T @ s, X.power(2).T @ s
    if view.plain and X.dtype == dtype and by_columns(X):
        Sx, Sxx = np.empty((2, X.shape[1]), dtype)
        for part in column_tiles(X):
            A = X[:, part].T
            Sx[part], Sxx[part] = A @ s, (A * A) @ s
        return Sx, Sxx
    X = view.of(X, dtype)
    return np.dot(s, X), np.dot(s, X * X)


def by_columns(X: Matrix) -> bool:
    """Return whether the columns of X are contiguous."""
    return isinstance(X, np.ndarray) and X.strides[0] == X.itemsize and X.shape[1] > 1


def column_tiles(X: np.ndarray) -> list[slice]:
    """Slices of as many contiguous columns as stay in cache."""
    step = max(1, SLICE_ELEMENTS // max(len(X), 1))
    return [slice(start, start + step) for start in range(0, X.shape[1], step)]


def choose_view(
    X: Matrix, y: np.ndarray, s: np.ndarray | None, center: bool, penalized: bool = True
) -> View:
    """Choose the view from a sample of the rows: c is a column's mean if that is far from 0.

    Without an intercept (``center=False``) a shift would change the model, so there is none.
    With a penalty (``penalized``) q² does not overflow either.
    """
    if not isinstance(X, np.ndarray):
        largest = np.zeros(X.shape[1])
        np.maximum.at(largest, X.indices, np.abs(X.data))
        q = power_of_two(largest, penalized)
        c_y = y.mean(axis=0, dtype=float) if center else np.zeros(y.shape[1])
        return View(None, q, c_y)
    if s is not None and s.any():
        X, y = X[s > 0], y[s > 0]
    q = power_of_two(np.abs(X).max(axis=0).astype(float), penalized)
    if not center:
        return View(None, q, np.zeros(y.shape[1]))
    X = X if q is None else X * q
    mean = X.mean(axis=0, dtype=float)
    far = np.abs(mean) > 4 * X.std(axis=0, dtype=float)
    c = np.where(far, mean / (1.0 if q is None else q), 0.0) if far.any() else None
    return View(c, q, y.mean(axis=0, dtype=float))


def view_sample_rows(p: int) -> int:
    """Number of rows to sample for ``choose_view``: enough to locate p columns, at no cost."""
    return max(16, min(256, 2**18 // p))


def power_of_two(largest: np.ndarray, square: bool) -> np.ndarray | None:
    """q that scales columns so that their squares do not overflow, nor q² if ``square``; None if
    not needed."""
    out_of_range = (largest > SAFE_MAGNITUDE) | ((largest < 1 / SAFE_MAGNITUDE) & (largest > 0))
    if not out_of_range.any():
        return None
    exponent = np.log2(np.where(out_of_range, largest, 1.0))
    most = 500 if square else 1000
    return np.exp2(np.clip(np.round(-exponent + 200 * np.sign(exponent)), -530, most))


def viewed_intercept(w: np.ndarray, b: np.ndarray, view: View) -> tuple[Any, Any]:
    """b_c, summed in long double, and a bound of its rounding error."""
    wide, c = np.longdouble, view.c
    c_w = 0 if c is None else c.astype(wide) @ w.astype(wide)
    size = np.abs(b) + np.abs(view.c_y) + (0 if c is None else np.abs(c) @ np.abs(w))
    b_c = b.astype(wide) - view.c_y + c_w
    steps = 2 + (0 if c is None else len(c))
    error = steps * np.finfo(wide).eps * size + np.finfo(float).eps * np.abs(b_c)
    return b_c.astype(float), error.astype(float)


def gamma(steps: float, unit: float = UNIT) -> float:
    """γ_k = k·u / (1 − k·u), a bound of the relative error of k rounded operations in a row."""
    return steps * unit / (1 - steps * unit)


def residual_error(
    sums: ResidualStatistics,
    size: np.ndarray,
    w: np.ndarray,
    b: np.ndarray,
    b_error: np.ndarray,
    unit: float,
) -> Any:
    """Bound of √Σ s (r̂ − r)², with r̂ as computed and columns of norm ‖x_j‖ ≤ size_j.

    |r̂_i − r_i| ≤ γ_{p+4} (|x_i|ᵀ|w| + |y_i| + |b_c|) + error of b_c, and the norm of |X||w| is at
    most Σ_j |w_j| ‖x_j‖.
    """
    total = size @ np.abs(w) + np.sqrt(sums.Syy) + np.abs(b) * np.sqrt(sums.S)
    return gamma(len(w) + 4, unit) * total + b_error * np.sqrt(sums.S)
