"""Ridge with fewer rows than columns, through the n×n matrix of the rows.

    w = X̃ᵀa,  (K + αI) a = ỹ,  K = X̃X̃ᵀ        (rows multiplied by √s)

K is a sum over blocks of *columns*, so Xᵀ is what is cut into blocks and the centred copy of X
never exists as a whole. The answer is refined with residuals taken in w,

    a ← a + (K + αI)⁻¹(ỹ − X̃w − αa),

which gives back what a large K/α lost.
"""

from typing import Any

import numpy as np
from scipy.linalg import lapack

from ..rows import Rows
from .linear_problem import Solution


def solve_dual(rows: Rows, fit_intercept: bool, alpha: np.ndarray) -> Solution:
    """O(n²·p) time, O(n²) memory a thread."""
    centred = CentredColumns(rows, fit_intercept)
    K, y = centred.kernel(), centred.y
    w = np.empty((rows.shape[1], y.shape[1]))
    for value in np.unique(alpha):
        of = alpha == value
        A = K.copy()
        A.flat[:: len(A) + 1] += value
        R, info = lapack.dpotrf(A, lower=0, clean=0, overwrite_a=1)
        if info != 0:
            raise ValueError(
                f"alpha={value:.3g} is too small beside these data to be told from 0: use alpha=0"
            )
        a = lapack.dpotrs(R, y[:, of])[0]
        w_a = centred.transposed(a)
        for _ in range(2):
            a = a + lapack.dpotrs(R, y[:, of] - centred.times(w_a) - value * a)[0]
            w_a = centred.transposed(a)
        w[:, of] = w_a
    return Solution(w, centred.mean_y - centred.mean @ w, "dual")


class CentredColumns:
    """√s∘(X − x̄) as an operator. A block is some columns of X, standing as rows of Xᵀ."""

    def __init__(self, rows: Rows, fit_intercept: bool):
        X, y, s = rows.block(0, rows.shape[0])
        assert y is not None
        self.Xt, self.threads = X.T, rows.threads
        self.root = None if s is None else np.sqrt(s)[:, None]
        self.share: np.ndarray | None = None
        self.mean, self.mean_y = np.zeros(len(self.Xt)), np.zeros(y.shape[1])
        if fit_intercept:
            self.share = np.full(len(y), 1 / len(y)) if s is None else s / s.sum()
            self.mean_y = self.share @ y
            means = Rows(self.Xt, threads=self.threads)
            means.map(_means, self.mean, self.share, self.share.argmax())
        self.y = y - self.mean_y if self.root is None else self.root * (y - self.mean_y)

    def _columns(self, *beside: np.ndarray) -> Rows:
        """The columns, each with its mean and what else belongs to it."""
        return Rows(self.Xt, np.column_stack([self.mean, *beside]), threads=self.threads)

    def _block(self, Xt: Any, mean: np.ndarray) -> Any:
        Z = np.subtract(Xt.T, mean, dtype=float)
        if self.share is not None:
            Z -= self.share @ Z  # far from the origin a mean has few digits after the point
        if self.root is not None:
            Z *= self.root
        return Z

    def rows(self) -> Any:
        """√s∘X̃ as an array."""
        return self._block(self.Xt, self.mean)

    def kernel(self) -> Any:
        """K = X̃X̃ᵀ."""

        def block(Xt: Any, beside: Any, _s: Any) -> tuple[Any]:
            Z = self._block(Xt, beside[:, 0])
            return (np.dot(Z, Z.T),)

        return self._columns().reduce(block, block_rows=max(len(self.y), 1024), square=True)[0]

    def times(self, w: np.ndarray) -> Any:
        """X̃w."""

        def block(Xt: Any, beside: Any, _s: Any) -> tuple[Any]:
            return (self._block(Xt, beside[:, 0]) @ beside[:, 1:],)

        return self._columns(w).reduce(block)[0]

    def transposed(self, a: np.ndarray) -> np.ndarray:
        """X̃ᵀa."""

        def block(Xt: Any, beside: Any, _s: Any) -> Any:
            return self._block(Xt, beside[:, 0]).T @ a

        return self._columns().map(block, np.empty((len(self.mean), a.shape[1])))


def _means(Xt: Any, _y: Any, _s: Any, share: np.ndarray, row: int) -> Any:
    # about one row's values, so that a far origin costs no digits
    return Xt[:, row] + np.subtract(Xt, Xt[:, [row]], dtype=float) @ share
