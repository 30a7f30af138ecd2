"""Products of few sparse rows of many columns, for the dual of ridge (``dual.py``).

    Z = √s∘(X − 1x̄ᵀ),   ZZᵀ = √s∘(XXᵀ − 1mᵀ − m1ᵀ + x̄ᵀx̄)∘√s,   m = Xx̄

Z is never formed. The difference loses digits if columns are many deviations from 0; refinement
with residuals from X recovers them.
"""

import numpy as np

from ...data.rows import Rows
from ...runtime.pool import give_up_if_stopped

BLOCK_ROWS = 256  # of XXᵀ at a time, so that SciPy's sparse product stays small


class SparseCenteredRows:
    """Z of few sparse rows, never stored; same interface as ``CenteredRows``."""

    def __init__(self, rows: Rows, fit_intercept: bool):
        X, y, s = rows.block(0, rows.shape[0])
        assert y is not None
        n = rows.shape[0]
        self.X = X.astype(float, copy=False)
        self.root = np.ones(n) if s is None else np.sqrt(s)
        self.mean, self.mean_y = np.zeros(rows.shape[1]), np.zeros(y.shape[1])
        if fit_intercept:
            share = np.full(n, 1 / n) if s is None else s / s.sum()
            self.mean, self.mean_y = self.X.T @ share, share @ y
        self.y = (y - self.mean_y) * self.root[:, None]

    def kernel(self) -> np.ndarray:
        """K = ZZᵀ. O(entries · mean entries of a column) operations, O(n²) memory."""
        X, n = self.X, self.X.shape[0]
        K = np.empty((n, n))
        for start in range(0, n, BLOCK_ROWS):
            give_up_if_stopped()
            part = slice(start, start + BLOCK_ROWS)
            K[part] = (X[part] @ X.T).toarray()
        m = X @ self.mean
        K -= m
        K -= m[:, None] - self.mean @ self.mean
        K *= self.root
        K *= self.root[:, None]
        return K

    def times(self, w: np.ndarray) -> np.ndarray:
        """Zw."""
        t: np.ndarray = self.X @ w - self.mean @ w
        return self.root[:, None] * t

    def transposed_times(self, a: np.ndarray) -> np.ndarray:
        """Zᵀa."""
        a = self.root[:, None] * a
        w: np.ndarray = self.X.T @ a
        return w - np.multiply.outer(self.mean, a.sum(axis=0))
