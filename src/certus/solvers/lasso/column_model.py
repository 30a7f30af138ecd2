"""Minimum of the quadratic model from the columns themselves, where H would be too large.

    min_v,β  Σ_ik R_ik t_ik + ½ Σ_i t_iᵀ D_i t_i + penalty(v),   t = X̂(v − v₀) + β

D_i = diag(T_i) − T_iP_iᵀ. With one class the intercept follows every move of v_j: along
x̂_j − mean_j, mean_j the T-weighted mean, its slope stays 0. With several classes the intercepts are
updated after each round over the coordinates.

Once the signs settle, a round on the support is a linear map, so a few rounds can be extrapolated
(Anderson) to Σ c_i v_i, Σ c_i = 1, with the smallest ‖Σ c_i (v_i − v_{i−1})‖. The extrapolation is
accepted if it lowers the model.
"""

from collections.abc import Sequence

import numpy as np

from ...runtime.pool import give_up_if_stopped
from .active_columns import ColumnClassPairs, Curvature, DenseColumns, SparseColumns
from .coordinate_penalty import CoordinatePenalty

GAIN_RTOL = 1e-2  # of the first round's largest gain; with 1e-4 whole fits took 1.5 times as long
MAX_ROUNDS = 30  # over all coordinates
EXTRAPOLATED_ROUNDS = 5  # rounds on the support in an extrapolation …
EXTRAPOLATIONS_PER_ROUND = 4  # … of which there are so many between rounds over all coordinates
MAX_CALL_ENTRIES = 1 << 25  # of X in one kernel call, about 50 ms: Ctrl-C is handled in between


def minimize_by_columns(
    columns: DenseColumns | SparseColumns,
    pairs: ColumnClassPairs,
    at: Curvature,
    v0: np.ndarray,
    penalty: CoordinatePenalty,
    intercept: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the minimiser v (m,), β (K,) and t (n, K). O(entries) operations per round."""
    model = _ColumnModel(columns, pairs, at, v0, penalty, intercept)
    every = np.arange(len(v0))
    gain = model.epoch(every)
    gain_tol = GAIN_RTOL * gain
    for _ in range(MAX_ROUNDS):
        if gain <= gain_tol:
            break
        for _ in range(EXTRAPOLATIONS_PER_ROUND):
            if model.extrapolated_epochs() <= gain_tol:
                break
        gain = model.epoch(every)
    return model.v, model.beta + model.intercept_moves, (model.U + model.beta[:, None]).T


class _ColumnModel:
    def __init__(
        self,
        columns: DenseColumns | SparseColumns,
        pairs: ColumnClassPairs,
        at: Curvature,
        v0: np.ndarray,
        penalty: CoordinatePenalty,
        intercept: bool,
    ):
        self.columns, self.pairs, self.at, self.penalty = columns, pairs, at, penalty
        K, n = at.R.shape
        self.h, self.mean = np.empty(len(v0)), np.zeros(len(v0))
        for k, where in enumerate(pairs.of_each_class()):
            d = at.of(k, k)
            square, sums = columns.squares(d)
            self.h[where] = square[pairs.column[where]]
            if intercept and K == 1:
                self.mean[where] = sums[pairs.column[where]] / d.sum()
                self.h[where] -= self.mean[where] ** 2 * d.sum()
        self.v, self.U, self.M = v0.copy(), np.zeros((K, n)), np.zeros(n)
        self.beta, self.intercept_moves = np.zeros(K), np.zeros(K)  # one class, several
        self.H_b = None
        if intercept and K > 1:
            self.H_b = np.linalg.pinv(at.of_intercepts(), hermitian=True)

    def epoch(self, order: np.ndarray) -> float:
        """Do a round over the given coordinates; return the largest gain of one of them."""
        at, columns, pairs = self.at, self.columns, self.pairs
        parts = max(1, columns.entries * len(order) // (len(pairs.features) * MAX_CALL_ENTRIES))
        gain = 0.0
        for part in np.array_split(order, parts):
            give_up_if_stopped()
            sides = at.R, at.T, at.P, self.U, self.M, self.beta, self.v, *self.penalty
            gain = max(
                gain,
                columns.epoch(pairs.column, pairs.of_class, self.mean, self.h, part, *sides),
            )
        if self.H_b is not None:
            move = -self.H_b @ (at.R + at.T * (self.U - self.M)).sum(axis=1)
            self.U += move[:, None]
            self.M += move @ at.P
            self.intercept_moves += move
        return gain

    def extrapolated_epochs(self) -> float:
        """Do a few rounds on the support and extrapolate them; return the last largest gain."""
        support = np.flatnonzero(self.v)
        if not len(support):
            return 0.0
        iterates = [self._copy()]
        for _ in range(EXTRAPOLATED_ROUNDS):
            gain = self.epoch(support)
            iterates.append(self._copy())
        V = np.array([v for v, *_ in iterates])
        steps = np.diff(V, axis=0) * np.sqrt(np.maximum(self.h, 0.0))
        G = steps @ steps.T
        G.flat[:: len(G) + 1] += 1e-12 * np.trace(G) + np.finfo(float).tiny
        c = np.linalg.solve(G, np.ones(len(G)))
        c /= c.sum()
        current, before = self._copy(), self._value()
        extrapolated = [
            sum(a * x[i] for a, x in zip(c, iterates[1:], strict=True)) for i in range(5)
        ]
        self._set(extrapolated)
        if not self._value() < before:
            self._set(current)
        return gain

    def _copy(self) -> list[np.ndarray]:
        return [a.copy() for a in (self.v, self.U, self.M, self.beta, self.intercept_moves)]

    def _set(self, arrays: Sequence[np.ndarray]) -> None:
        self.v, self.U, self.M, self.beta, self.intercept_moves = arrays

    def _value(self) -> float:
        """Value of the model plus the penalty."""
        at, v = self.at, self.v
        t = self.U + self.beta[:, None]
        model = np.sum(at.R * t) + np.sum(at.T * t * (t - self.M)) / 2
        return float(model) + self.penalty.value(v)
