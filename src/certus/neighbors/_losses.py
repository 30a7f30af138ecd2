"""What the k nearest say, and what it costs, for every k in one walk from near to far.

    votes  V_c(k) = Σ_{j ≤ k, y_j = c} s_j ω(d_j)          says the class with the most votes
    means  ŷ(k)  = Σ_{j ≤ k} s_j ω(d_j) y_j / Σ_{j ≤ k} s_j ω(d_j)

s_j is a row's weight, ω 1, 1/d (rows at distance 0 decide alone) or a function: the votes of the
estimators, and sums in their order, so that both say the same to the last bit.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.validation import one_of
from ._votes import ROUNDING, Neighbours, votes

Weights = str | Callable[[np.ndarray], Any] | None
CLASSIFICATION = ("error", "balanced_error", "brier")
REGRESSION = ("squared_error", "absolute_error")


def checked_weights(weights: object) -> Weights:
    if callable(weights):
        return weights
    chosen: Weights = one_of("weights", weights, ("uniform", "distance", None))
    return chosen


class Losses(ABC):
    """Losses of rows whose neighbours are known.

    Parameters
    ----------
    y : (n,) class indices or (n, t) targets
    s : (n,) array, optional
        Weights of the rows: they multiply the vote.
    weights : "uniform", "distance", None or callable
    scoring : str
    """

    signed: bool  # may votes be below 0?

    def __init__(self, y: np.ndarray, s: np.ndarray | None, weights: Weights, scoring: str):
        self.y, self.s, self.weights, self.scoring = y, s, weights, scoring

    def __call__(
        self, rows: np.ndarray, d: np.ndarray, j: np.ndarray, ks: np.ndarray
    ) -> np.ndarray:
        """(m, len(ks)): what each row costs with each k; of a mean NaN where nobody had a vote.

        ``d, j`` (m, max(ks)) are the distances and numbers of the neighbours, nearest first.
        """
        if not callable(self.weights):
            return self.walk(rows, d, j, self._votes(d, j), ks)
        columns = []
        for k in ks:  # a function may look at all k distances at once
            near = d[:, :k], j[:, :k]
            columns.append(self.walk(rows, *near, self._votes(*near), np.array([k])))
        return np.concatenate(columns, axis=1)

    def _votes(self, d: np.ndarray, j: np.ndarray) -> np.ndarray:
        found = Neighbours.of_all(d, j)
        return votes(found, self.weights, self.s, signed=self.signed).reshape(d.shape)

    @property
    @abstractmethod
    def width(self) -> int:
        """Numbers that a row needs on the way."""

    @abstractmethod
    def walk(
        self, rows: np.ndarray, d: np.ndarray, j: np.ndarray, v: np.ndarray, ks: np.ndarray
    ) -> np.ndarray:
        """From the nearest neighbour to the farthest."""


class Votes(Losses):
    """Of a class for each row."""

    signed = False

    @property
    def width(self) -> int:
        return 4 * self.classes

    def __init__(self, y: np.ndarray, s: np.ndarray | None, weights: Weights, scoring: str):
        super().__init__(y, s, weights, scoring)
        self.classes = int(y.max()) + 1

    def walk(
        self, rows: np.ndarray, d: np.ndarray, j: np.ndarray, v: np.ndarray, ks: np.ndarray
    ) -> np.ndarray:
        truth, m, at = self.y[rows], len(rows), np.arange(len(rows))
        V = np.zeros((m, self.classes))
        nearest = np.full(V.shape, np.inf)  # distance of a class's nearest voter
        out = np.empty((m, len(ks)))
        column = {int(k): c for c, k in enumerate(ks)}
        for k in range(1, int(ks[-1]) + 1):
            c, vote = self.y[j[:, k - 1]], v[:, k - 1]
            first = (vote > 0) & np.isinf(nearest[at, c])
            nearest[at[first], c[first]] = d[first, k - 1]
            V[at, c] += vote
            if k not in column:
                continue
            if self.scoring == "brier":
                out[:, column[k]] = _brier(V, truth)
            else:
                out[:, column[k]] = _winners(V, nearest, k) != truth  # no answer is a wrong one
        return out


def _winners(V: np.ndarray, nearest: np.ndarray, k: int) -> np.ndarray:
    """The class with the most votes; of several that whose nearest voter is nearer, then the first.

    Totals that rounding can have parted are equal. −1 where nobody votes.
    """
    most = V.max(axis=1)
    level = (most * (1 - ROUNDING * k))[:, None] <= V
    best = np.where(level, nearest, np.inf).argmin(axis=1)
    return np.where(most > 0, best, -1)


def _brier(V: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Σ_c (p_c − 1[c = truth])², p = V/ΣV; 0 where nobody votes."""
    total = V.sum(axis=1, keepdims=True)
    P = V / np.where(total > 0, total, 1.0)
    P[np.arange(len(P)), truth] -= 1
    return np.einsum("ic,ic->i", P, P)


class Means(Losses):
    """Of numbers, (n, t)."""

    signed = True

    @property
    def width(self) -> int:
        return 4 * self.y.shape[1]

    def walk(
        self, rows: np.ndarray, d: np.ndarray, j: np.ndarray, v: np.ndarray, ks: np.ndarray
    ) -> np.ndarray:
        truth, y_1 = self.y[rows], self.y[j[:, 0]]
        total, sums = np.zeros(len(rows)), np.zeros(truth.shape)
        out = np.empty((len(rows), len(ks)))
        column = {int(k): c for c, k in enumerate(ks)}
        for k in range(1, int(ks[-1]) + 1):
            vote = v[:, k - 1]
            total += vote
            # differences from the first: sums of numbers far from 0 would lose digits
            sums += vote[:, None] * (self.y[j[:, k - 1]] - y_1)
            if k in column:
                with np.errstate(divide="ignore", invalid="ignore"):
                    error = y_1 - truth + sums / total[:, None]
                cost = np.abs(error) if self.scoring == "absolute_error" else error**2
                out[:, column[k]] = np.where(total != 0, cost.mean(axis=1), np.nan)
        return out
