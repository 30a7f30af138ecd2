"""What a row gains if another one speaks for it: G_ij of ``problem.py``."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

PairLoss = Callable[[np.ndarray, np.ndarray], np.ndarray]  # of y_i and y_j, broadcast


class Answer(NamedTuple):
    q: np.ndarray  # (m,)
    size: np.ndarray  # (m,): Σ_j |C_ij|

    @staticmethod
    def of(m: int) -> "Answer":
        return Answer(np.empty(m), np.empty(m))


class OfClasses(NamedTuple):
    """G_ij = gains[c_i, c_j]."""

    codes: np.ndarray  # (n,): the class c of each row
    gains: np.ndarray  # (K, K)

    def ask(
        self, D: np.ndarray, rows: np.ndarray, a: np.ndarray, sigma: float, pulls: bool
    ) -> Answer:
        """q of some rows, from their D (m, n), which becomes C if ``pulls``."""
        from ...kernels.ncfs.references import of_classes

        answer = Answer.of(len(rows))
        codes = np.ascontiguousarray(self.codes, dtype=np.intp)
        of_classes(D, rows, a, sigma, codes, np.ascontiguousarray(self.gains), pulls, *answer)
        return answer

    def of(self, rows: np.ndarray) -> np.ndarray:
        return np.take(self.gains[self.codes[rows]], self.codes, axis=1)


class OfValues(NamedTuple):
    """G_ij = −loss(y_i, y_j)."""

    y: np.ndarray  # (n,)
    loss: PairLoss

    def ask(
        self, D: np.ndarray, rows: np.ndarray, a: np.ndarray, sigma: float, pulls: bool
    ) -> Answer:
        from ...kernels.ncfs.references import of_values

        answer, G = Answer.of(len(rows)), np.ascontiguousarray(self.of(rows))
        of_values(D, rows, a, sigma, G, pulls, *answer)
        return answer

    def of(self, rows: np.ndarray) -> np.ndarray:
        return -np.asarray(self.loss(self.y[rows][:, None], self.y[None, :]), dtype=float)
