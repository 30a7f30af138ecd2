"""What a row gains if another one speaks for it: G_ij of ``problem.py``."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class OfClasses(NamedTuple):
    """G_ij = gains[c_i, c_j]."""

    codes: np.ndarray  # (n,): the class c of each row
    gains: np.ndarray  # (K, K)

    def of(self, rows: np.ndarray) -> np.ndarray:
        return np.take(self.gains[self.codes[rows]], self.codes, axis=1)

    def take(self, rows: np.ndarray) -> "OfClasses":
        return OfClasses(self.codes[rows], self.gains)


class OfValues(NamedTuple):
    """G_ij = −loss(y_i, y_j)."""

    y: np.ndarray  # (n,)
    loss: Callable[[Any, Any], Any]

    def of(self, rows: np.ndarray) -> np.ndarray:
        return -np.asarray(self.loss(self.y[rows][:, None], self.y[None, :]), dtype=float)

    def take(self, rows: np.ndarray) -> "OfValues":
        return OfValues(self.y[rows], self.loss)
