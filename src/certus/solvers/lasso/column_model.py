"""The quadratic model's least value by the columns themselves, where H would be too large.

    min_v,β  Σ_ik R_ik t_ik + ½ Σ_i t_iᵀ D_i t_i + penalty(v),   t = X̂(v − v₀) + β

D_i = diag(T_i) − T_iP_iᵀ. With one class the intercept follows every move of v_j by itself: along
x̂_j − mean_j, mean_j the T-weighted mean, its slope stays 0. With several it is moved after each
round over the coordinates.

Rounds on the support are a linear map once the signs settle, so that a few of them foretell where
they lead (Anderson): to Σ c_i v_i, Σ c_i = 1, with the least ‖Σ c_i (v_i − v_{i−1})‖. That is taken
where the model is lower there.
"""

from collections.abc import Sequence

import numpy as np

from ...runtime.pool import give_up_if_stopped
from .active_columns import Curvature, DenseColumns, Pairs, SparseColumns
from .coordinate_penalty import CoordinatePenalty

ENOUGH = 1e-2  # share of the first round's largest gain; 1e-4 took 1.5 times as long in all
ROUNDS = 30  # over all coordinates
MEMORY = 5  # rounds on the support that foretell the rest …
GROUPS = 4  # … how often between rounds over all
EPOCH_WORK = 1 << 25  # entries in one call, some 50 ms: Ctrl-C is heard in between


def minimise_by_columns(
    columns: DenseColumns | SparseColumns,
    pairs: Pairs,
    at: Curvature,
    v0: np.ndarray,
    penalty: CoordinatePenalty,
    intercept: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """v (m,), β (K,) and t (n, K). O(entries) a round."""
    model = _Model(columns, pairs, at, v0, penalty, intercept)
    every = np.arange(len(v0))
    moved = model.epoch(every)
    enough = ENOUGH * moved
    for _ in range(ROUNDS):
        if moved <= enough:
            break
        for _ in range(GROUPS):
            if model.extrapolated_epochs() <= enough:
                break
        moved = model.epoch(every)
    return model.v, model.beta + model.moved, (model.U + model.beta[:, None]).T


class _Model:
    def __init__(
        self,
        columns: DenseColumns | SparseColumns,
        pairs: Pairs,
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
        self.beta, self.moved = np.zeros(K), np.zeros(K)  # by the coordinates, by themselves
        self.H_b = None
        if intercept and K > 1:
            self.H_b = np.linalg.pinv(at.of_intercepts(), hermitian=True)

    def epoch(self, order: np.ndarray) -> float:
        """A round over these coordinates; the largest gain of one of them."""
        at, columns, pairs = self.at, self.columns, self.pairs
        parts = max(1, columns.entries * len(order) // (len(pairs.features) * EPOCH_WORK))
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
            self.moved += move
        return gain

    def extrapolated_epochs(self) -> float:
        """Rounds on the support, and a leap to where they lead."""
        support = np.flatnonzero(self.v)
        if not len(support):
            return 0.0
        seen = [self._copy()]
        for _ in range(MEMORY):
            gain = self.epoch(support)
            seen.append(self._copy())
        V = np.array([v for v, *_ in seen])
        steps = np.diff(V, axis=0) * np.sqrt(np.maximum(self.h, 0.0))
        G = steps @ steps.T
        G.flat[:: len(G) + 1] += 1e-12 * np.trace(G) + np.finfo(float).tiny
        c = np.linalg.solve(G, np.ones(len(G)))
        c /= c.sum()
        here, before = self._copy(), self._value()
        leap = [sum(a * x[i] for a, x in zip(c, seen[1:], strict=True)) for i in range(5)]
        self._set(leap)
        if not self._value() < before:
            self._set(here)
        return gain

    def _copy(self) -> list[np.ndarray]:
        return [a.copy() for a in (self.v, self.U, self.M, self.beta, self.moved)]

    def _set(self, arrays: Sequence[np.ndarray]) -> None:
        self.v, self.U, self.M, self.beta, self.moved = arrays

    def _value(self) -> float:
        """Of the model and its penalty."""
        at, v = self.at, self.v
        t = self.U + self.beta[:, None]
        model = np.sum(at.R * t) + np.sum(at.T * t * (t - self.M)) / 2
        return float(model) + self.penalty.value(v)
