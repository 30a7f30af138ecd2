"""Losses of k-nearest-neighbour predictions for every k, in one pass from near to far.

    votes  V_c(k) = Σ_{j ≤ k, y_j = c} s_j ω(d_j)          predicts the class with the most votes
    means  ŷ(k)  = Σ_{j ≤ k} s_j ω(d_j) y_j / Σ_{j ≤ k} s_j ω(d_j)

s_j is a row's weight; ω is 1, 1/d (rows at distance 0 outvote all others) or a function. Votes are
those of the estimators and are added in the same order, so that predictions agree bit for bit.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.validation import one_of
from ._votes import VOTE_ROUNDING, NeighborLists, votes

Weights = str | Callable[[np.ndarray], Any] | None
CLASSIFICATION_SCORINGS = ("error", "balanced_error", "brier")
REGRESSION_SCORINGS = ("squared_error", "absolute_error")


def checked_weights(weights: object) -> Weights:
    """Return valid ``weights``, or raise."""
    if callable(weights):
        return weights
    chosen: Weights = one_of("weights", weights, ("uniform", "distance", None))
    return chosen


class NeighborLosses(ABC):
    """Losses of rows with given neighbours.

    Parameters
    ----------
    y : (n,) class indices or (n, t) targets
    s : (n,) array, optional
        Weights of the rows, which multiply their votes.
    weights : "uniform", "distance", None or callable
    scoring : str
    """

    signed: bool  # whether votes may be negative

    def __init__(self, y: np.ndarray, s: np.ndarray | None, weights: Weights, scoring: str):
        self.y, self.s, self.weights, self.scoring = y, s, weights, scoring

    def __call__(
        self, rows: np.ndarray, d: np.ndarray, j: np.ndarray, ks: np.ndarray
    ) -> np.ndarray:
        """Return the loss of each row for each k, (m, len(ks)).

        ``d, j`` (m, max(ks)) are the distances and row numbers of the neighbours, nearest first.
        In a regression the loss is NaN where no neighbour has a vote.
        """
        if not callable(self.weights):
            return self.accumulate(rows, d, j, self._votes(d, j), ks)
        columns = []
        for k in ks:  # votes of a function may depend on all k distances
            nearest = d[:, :k], j[:, :k]
            columns.append(self.accumulate(rows, *nearest, self._votes(*nearest), np.array([k])))
        return np.concatenate(columns, axis=1)

    def _votes(self, d: np.ndarray, j: np.ndarray) -> np.ndarray:
        neighbors = NeighborLists.from_arrays(d, j)
        return votes(neighbors, self.weights, self.s, signed=self.signed).reshape(d.shape)

    @property
    @abstractmethod
    def width(self) -> int:
        """Number of floats held for a row."""

    @abstractmethod
    def accumulate(
        self, rows: np.ndarray, d: np.ndarray, j: np.ndarray, v: np.ndarray, ks: np.ndarray
    ) -> np.ndarray:
        """Return the losses (m, len(ks)), adding votes v from the nearest neighbour outwards."""


class ClassLosses(NeighborLosses):
    """Losses of class predictions."""

    signed = False

    @property
    def width(self) -> int:
        return 4 * self.classes

    def __init__(self, y: np.ndarray, s: np.ndarray | None, weights: Weights, scoring: str):
        super().__init__(y, s, weights, scoring)
        self.classes = int(y.max()) + 1

    def accumulate(
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
                out[:, column[k]] = _winners(V, nearest, k) != truth  # −1, no vote, is wrong
        return out


def _winners(V: np.ndarray, nearest: np.ndarray, k: int) -> np.ndarray:
    """Return the class with the most votes; ties go to the nearest voter's, then to the first.

    Totals that differ by no more than rounding are ties. −1 where there is no vote.
    """
    most = V.max(axis=1)
    tied = (most * (1 - VOTE_ROUNDING * k))[:, None] <= V
    best = np.where(tied, nearest, np.inf).argmin(axis=1)
    return np.where(most > 0, best, -1)


def _brier(V: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Return Σ_c (p_c − 1[c = truth])² with p = V/ΣV; p = 0 where there is no vote."""
    total = V.sum(axis=1, keepdims=True)
    P = V / np.where(total > 0, total, 1.0)
    P[np.arange(len(P)), truth] -= 1
    return np.einsum("ic,ic->i", P, P)


class ValueLosses(NeighborLosses):
    """Losses of numeric predictions, for targets (n, t)."""

    signed = True

    @property
    def width(self) -> int:
        return 4 * self.y.shape[1]

    def accumulate(
        self, rows: np.ndarray, d: np.ndarray, j: np.ndarray, v: np.ndarray, ks: np.ndarray
    ) -> np.ndarray:
        truth, y_1 = self.y[rows], self.y[j[:, 0]]
        total, sums = np.zeros(len(rows)), np.zeros(truth.shape)
        out = np.empty((len(rows), len(ks)))
        column = {int(k): c for c, k in enumerate(ks)}
        for k in range(1, int(ks[-1]) + 1):
            vote = v[:, k - 1]
            total += vote
            # differences from the first neighbour: targets far from 0 would lose digits
            sums += vote[:, None] * (self.y[j[:, k - 1]] - y_1)
            if k in column:
                with np.errstate(divide="ignore", invalid="ignore"):
                    error = y_1 - truth + sums / total[:, None]
                cost = np.abs(error) if self.scoring == "absolute_error" else error**2
                out[:, column[k]] = np.where(total != 0, cost.mean(axis=1), np.nan)
        return out
