"""Ridge with fewer rows than columns, from the n×n Gram matrix of the rows.

    w = X̃ᵀa,  (K + αI) a = ỹ,  K = X̃X̃ᵀ        (rows multiplied by √s)

The solution is refined with residuals computed from w,

    a ← a + (K + αI)⁻¹(ỹ − X̃w − αa),

which recovers the digits lost to a large K/α. If K + αI is numerically singular, the singular
values of X̃ itself are needed (``least_squares.py``).
"""

from typing import Any

import numpy as np

from ...data.rows import Rows
from ..glm.linear_problem import Solution
from ..linalg.cholesky import MIN_REFINED_CONDITION, cholesky_solve, factor
from ..linalg.gram import NonFiniteError
from .sparse_dual import SparseCenteredRows

MAX_DUAL_CONDITION = 1e13  # condition number of K + αI beyond which refinement may not converge


def solve_dual(rows: Rows, fit_intercept: bool, alpha: np.ndarray) -> Solution | None:
    """Solve in O(n²·p) time and O(n² + p) memory; sparse rows: O(n³ + entries²/p) time.

    Returns None if α is too small relative to K for a factor of K + αI.
    """
    centered: Any = (SparseCenteredRows if rows.sparse else CenteredRows)(rows, fit_intercept)
    K, y = centered.kernel(), centered.y
    w = np.empty((rows.shape[1], y.shape[1]))
    for value in np.unique(alpha):
        columns = alpha == value
        A = K.copy()
        A.flat[:: len(A) + 1] += value
        R, condition = factor(A)
        if condition > MAX_DUAL_CONDITION:
            return None
        a = cholesky_solve(R, y[:, columns])
        w[:, columns] = centered.transposed_times(a)
        for _ in range(2 if condition > MIN_REFINED_CONDITION else 0):
            a = a + cholesky_solve(R, y[:, columns] - centered.times(w[:, columns]) - value * a)
            w[:, columns] = centered.transposed_times(a)
    return Solution(w, centered.mean_y - centered.mean @ w, "dual")


class CenteredRows:
    """Z = √s∘(X − x̄) of few rows and many columns, never stored: blocks of columns are centred in
    cache."""

    def __init__(self, rows: Rows, fit_intercept: bool):
        X, y, s = rows.block(0, rows.shape[0])
        assert y is not None
        n, p = rows.shape
        self.X, self.threads = X, rows.threads
        self.root = np.ones(n) if s is None else np.sqrt(s)
        self.width = max(64, 3 * 2**17 // n)  # 3 MB; 1 MB was 20 % slower
        # far from the origin the mean loses digits, so it is stored in two parts: the values of one
        # row, and the mean of the differences from it
        self.offset, self.remainder, self.mean_y = np.zeros(p), np.zeros(p), np.zeros(y.shape[1])
        self.share = None
        if fit_intercept:
            self.share = share = np.full(n, 1 / n) if s is None else s / s.sum()
            self.offset, self.mean_y = X[share.argmax()].astype(float), share @ y
        self.y = (y - self.mean_y) * self.root[:, None]

    @property
    def mean(self) -> np.ndarray:
        """x̄; available after ``kernel``."""
        return self.offset + self.remainder

    def _transposed(self, *others: np.ndarray) -> Rows:
        """Columns of X as rows, with values for each column in place of targets."""
        of_each = np.column_stack([self.offset, self.remainder, *others])
        return Rows(self.X.T, of_each, threads=self.threads)

    def kernel(self) -> Any:
        """Compute K = ZZᵀ and, in the same pass, the means of the columns."""
        columns = self._transposed()
        with np.errstate(over="ignore", invalid="ignore"):
            (K,) = columns.reduce(
                _kernel_block, self.root, self.share, block_rows=self.width, square=True
            )
        if not np.isfinite(np.diagonal(K)).all():
            raise NonFiniteError
        assert columns.y is not None
        self.remainder = columns.y[:, 1].copy()
        return K

    def times(self, w: np.ndarray) -> Any:
        """Zw."""
        return self._transposed(w).reduce(_times_block, self.root, block_rows=self.width)[0]

    def transposed_times(self, a: np.ndarray) -> np.ndarray:
        """Zᵀa."""
        out = np.empty((len(self.mean), a.shape[1]))
        return self._transposed().map(_centered_block, out, self.root, a, block_rows=self.width)

    def array(self) -> np.ndarray:
        Z: np.ndarray = _centered(
            self.X.T, np.column_stack([self.offset, self.remainder]), self.root
        ).T
        return Z


def _centered(Xt: np.ndarray, offsets: np.ndarray, root: np.ndarray) -> Any:
    Zt = np.subtract(Xt, offsets[:, :1], dtype=float)
    Zt -= offsets[:, 1:2]
    return np.multiply(Zt, root, out=Zt)


def _kernel_block(
    Xt: np.ndarray, of_each: np.ndarray, _s: np.ndarray, root: np.ndarray, share: np.ndarray | None
) -> tuple[Any]:
    if share is not None:  # a view: the mean is written for later passes
        near = np.subtract(Xt, of_each[:, :1], dtype=float)
        of_each[:, 1] = np.dot(near, share)
    Zt = _centered(Xt, of_each, root)
    return (np.dot(Zt.T, Zt),)


def _times_block(
    Xt: np.ndarray, of_each: np.ndarray, _s: np.ndarray, root: np.ndarray
) -> tuple[Any]:
    return (np.dot(_centered(Xt, of_each, root).T, of_each[:, 2:]),)


def _centered_block(
    Xt: np.ndarray, of_each: np.ndarray, _s: np.ndarray, root: np.ndarray, a: np.ndarray
) -> Any:
    return np.dot(_centered(Xt, of_each, root), a)
