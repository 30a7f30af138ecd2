"""Ridge with fewer rows than columns, through the n×n matrix of the rows.

    w = X̃ᵀa,  (K + αI) a = ỹ,  K = X̃X̃ᵀ        (rows multiplied by √s)

The answer is refined with residuals taken in w,

    a ← a + (K + αI)⁻¹(ỹ − X̃w − αa),

which gives back what a large K/α lost.
"""

from typing import Any

import numpy as np

from ..rows import Rows
from .cholesky import cholesky, cholesky_solve
from .linear_problem import Solution


def solve_dual(rows: Rows, fit_intercept: bool, alpha: np.ndarray) -> Solution:
    """O(n²·p) time, O(n·p) memory."""
    centred = CentredRows(rows, fit_intercept)
    K, Z, y = centred.kernel(), centred.Z, centred.y
    w = np.empty((rows.shape[1], y.shape[1]))
    for value in np.unique(alpha):
        of = alpha == value
        R = K.copy().T
        R.flat[:: len(R) + 1] += value
        if cholesky(R) != 0:
            raise ValueError(
                f"alpha={value:.3g} is too small beside these data to be told from 0: use alpha=0"
            )
        a = cholesky_solve(R, y[:, of])
        w_a = Z.T @ a
        for _ in range(2):
            a = a + cholesky_solve(R, y[:, of] - Z @ w_a - value * a)
            w_a = Z.T @ a
        w[:, of] = w_a
    return Solution(w, centred.mean_y - centred.mean @ w, "dual")


class CentredRows:
    """Z = √s∘(X − x̄), as one array: data with n ≤ p rows are copied once."""

    def __init__(self, rows: Rows, fit_intercept: bool):
        X, y, s = rows.block(0, rows.shape[0])
        assert y is not None
        self.mean, self.mean_y = np.zeros(rows.shape[1]), np.zeros(y.shape[1])
        self.threads = rows.threads
        if fit_intercept:
            share = np.full(len(y), 1 / len(y)) if s is None else s / s.sum()
            # about one row's values, so that a far origin costs no digits; then once more, because
            # far from the origin a mean has few digits after the point
            self.mean, self.mean_y = X[share.argmax()].astype(float), share @ y
            self.Z = np.subtract(X, self.mean)
            offset = share @ self.Z
            self.mean, self.Z = self.mean + offset, np.subtract(self.Z, offset, out=self.Z)
        else:
            self.Z = np.array(X, dtype=float)
        self.y = y - self.mean_y
        if s is not None:
            root = np.sqrt(s)[:, None]
            self.Z *= root
            self.y *= root

    def kernel(self) -> Any:
        """K = ZZᵀ, a sum over blocks of columns."""
        columns = Rows(self.Z.T, threads=self.threads)
        block_rows = max(len(self.y), 1024)
        return columns.reduce(_kernel_block, block_rows=block_rows, square=True)[0]


def _kernel_block(Zt: Any, _y: Any, _s: Any) -> tuple[Any]:
    return (np.dot(Zt.T, Zt),)
