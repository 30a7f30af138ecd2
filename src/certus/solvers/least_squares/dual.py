"""Ridge with fewer rows than columns, through the n×n matrix of the rows.

    w = X̃ᵀa,  (K + αI) a = ỹ,  K = X̃X̃ᵀ        (rows multiplied by √s)

The answer is refined with residuals taken in w,

    a ← a + (K + αI)⁻¹(ỹ − X̃w − αa),

which gives back what a large K/α lost. Where K + αI is singular in floats there is no answer here:
the singular values of X̃ itself are called for (``least_squares.py``).
"""

from typing import Any

import numpy as np

from ...data.rows import Rows
from ..glm.linear_problem import Solution
from ..linalg.cholesky import REFINE_ABOVE, cholesky_solve, factor
from ..linalg.gram import NonFiniteError
from .sparse_dual import SparseCentredRows

SVD_ABOVE = 1e13  # condition of K + αI from which steps of refinement need not converge


def solve_dual(rows: Rows, fit_intercept: bool, alpha: np.ndarray) -> Solution | None:
    """O(n²·p) time, O(n² + p) memory; sparse rows: O(n³ + entries²/p). None: α is too small beside
    K for a factor of K + αI."""
    centred: Any = (SparseCentredRows if rows.sparse else CentredRows)(rows, fit_intercept)
    K, y = centred.kernel(), centred.y
    w = np.empty((rows.shape[1], y.shape[1]))
    for value in np.unique(alpha):
        of = alpha == value
        A = K.copy()
        A.flat[:: len(A) + 1] += value
        R, condition = factor(A)
        if condition > SVD_ABOVE:
            return None
        a = cholesky_solve(R, y[:, of])
        w[:, of] = centred.transposed_times(a)
        for _ in range(2 if condition > REFINE_ABOVE else 0):
            a = a + cholesky_solve(R, y[:, of] - centred.times(w[:, of]) - value * a)
            w[:, of] = centred.transposed_times(a)
    return Solution(w, centred.mean_y - centred.mean @ w, "dual")


class CentredRows:
    """Z = √s∘(X − x̄) of few rows and many columns, never stored: blocks of columns are centred
    while they are in cache."""

    def __init__(self, rows: Rows, fit_intercept: bool):
        X, y, s = rows.block(0, rows.shape[0])
        assert y is not None
        n, p = rows.shape
        self.X, self.threads = X, rows.threads
        self.root = np.ones(n) if s is None else np.sqrt(s)
        self.width = max(64, 3 * 2**17 // n)  # 3 MB; 1 MB was 20 % slower
        # far from the origin a mean has few digits after the point, so it is kept in two parts: the
        # values of one row, and the mean of what is left when they are taken away
        self.near, self.rest, self.mean_y = np.zeros(p), np.zeros(p), np.zeros(y.shape[1])
        self.share = None
        if fit_intercept:
            self.share = share = np.full(n, 1 / n) if s is None else s / s.sum()
            self.near, self.mean_y = X[share.argmax()].astype(float), share @ y
        self.y = (y - self.mean_y) * self.root[:, None]

    @property
    def mean(self) -> np.ndarray:
        """x̄, known once the kernel is."""
        return self.near + self.rest

    def _columns(self, *others: np.ndarray) -> Rows:
        """Columns of X as rows, with what belongs to them in the place of targets."""
        of_each = np.column_stack([self.near, self.rest, *others])
        return Rows(self.X.T, of_each, threads=self.threads)

    def kernel(self) -> Any:
        """K = ZZᵀ, and the means of the columns on the way."""
        columns = self._columns()
        with np.errstate(over="ignore", invalid="ignore"):
            (K,) = columns.reduce(
                _kernel_block, self.root, self.share, block_rows=self.width, square=True
            )
        if not np.isfinite(np.diagonal(K)).all():
            raise NonFiniteError
        assert columns.y is not None
        self.rest = columns.y[:, 1].copy()
        return K

    def times(self, w: np.ndarray) -> Any:
        """Zw."""
        return self._columns(w).reduce(_times_block, self.root, block_rows=self.width)[0]

    def transposed_times(self, a: np.ndarray) -> np.ndarray:
        """Zᵀa."""
        out = np.empty((len(self.mean), a.shape[1]))
        return self._columns().map(_centred_block, out, self.root, a, block_rows=self.width)

    def array(self) -> np.ndarray:
        Z: np.ndarray = _centred(self.X.T, np.column_stack([self.near, self.rest]), self.root).T
        return Z


def _centred(Xt: np.ndarray, near_and_rest: np.ndarray, root: np.ndarray) -> Any:
    Zt = np.subtract(Xt, near_and_rest[:, :1], dtype=float)
    Zt -= near_and_rest[:, 1:2]
    return np.multiply(Zt, root, out=Zt)


def _kernel_block(
    Xt: np.ndarray, of_each: np.ndarray, _s: np.ndarray, root: np.ndarray, share: np.ndarray | None
) -> tuple[Any]:
    if share is not None:  # this block's own place in the array of all columns
        near = np.subtract(Xt, of_each[:, :1], dtype=float)
        of_each[:, 1] = np.dot(near, share)
    Zt = _centred(Xt, of_each, root)
    return (np.dot(Zt.T, Zt),)


def _times_block(
    Xt: np.ndarray, of_each: np.ndarray, _s: np.ndarray, root: np.ndarray
) -> tuple[Any]:
    return (np.dot(_centred(Xt, of_each, root).T, of_each[:, 2:]),)


def _centred_block(
    Xt: np.ndarray, of_each: np.ndarray, _s: np.ndarray, root: np.ndarray, a: np.ndarray
) -> Any:
    return np.dot(_centred(Xt, of_each, root), a)
