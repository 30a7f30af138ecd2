"""Gains G_ij of ``problem.py``: the gain of row i if row j is its neighbour."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

PairLoss = Callable[[np.ndarray, np.ndarray], np.ndarray]  # of y_i and y_j, broadcast


class ExpectedGains(NamedTuple):
    """Expected gains of some rows, and the total weights of their pairs."""

    q: np.ndarray  # (m,)
    total_weight: np.ndarray  # (m,): Σ_j |C_ij|

    @staticmethod
    def of(m: int) -> "ExpectedGains":
        return ExpectedGains(np.empty(m), np.empty(m))


class ClassGains(NamedTuple):
    """Gains between classes, G_ij = gains[c_i, c_j]."""

    codes: np.ndarray  # (n,): the class c of each row
    gains: np.ndarray  # (K, K)

    def evaluate(
        self, D: np.ndarray, rows: np.ndarray, a: np.ndarray, sigma: float, with_weights: bool
    ) -> ExpectedGains:
        """Expected gains of rows from their D (m, n), which becomes C if ``with_weights``."""
        from ...kernels.ncfs.references import class_gains

        expected = ExpectedGains.of(len(rows))
        codes = np.ascontiguousarray(self.codes, dtype=np.intp)
        class_gains(
            D, rows, a, sigma, codes, np.ascontiguousarray(self.gains), with_weights, *expected
        )
        return expected

    def of(self, rows: np.ndarray) -> np.ndarray:
        return np.take(self.gains[self.codes[rows]], self.codes, axis=1)


class ValueGains(NamedTuple):
    """Gains between numbers, G_ij = −loss(y_i, y_j)."""

    y: np.ndarray  # (n,)
    loss: PairLoss

    def evaluate(
        self, D: np.ndarray, rows: np.ndarray, a: np.ndarray, sigma: float, with_weights: bool
    ) -> ExpectedGains:
        from ...kernels.ncfs.references import value_gains

        expected, G = ExpectedGains.of(len(rows)), np.ascontiguousarray(self.of(rows))
        value_gains(D, rows, a, sigma, G, with_weights, *expected)
        return expected

    def of(self, rows: np.ndarray) -> np.ndarray:
        return -np.asarray(self.loss(self.y[rows][:, None], self.y[None, :]), dtype=float)
