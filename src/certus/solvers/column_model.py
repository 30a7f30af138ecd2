"""The quadratic model's least value by the columns themselves, where H would be too large.

    min_v,β  Σ_ik R_ik t_ik + ½ Σ_i t_iᵀ D_i t_i + penalty(v),   t = X̂(v − v₀) + β

D_i = diag(T_i) − T_iP_iᵀ. With one class the intercept follows every move of v_j by itself: along
x̂_j − mean_j, mean_j the T-weighted mean, its slope stays 0. With several it is moved after each
round over the coordinates.
"""

from typing import Any

import numpy as np

from .._pool import give_up_if_stopped
from .working_columns import Curvature, Pairs

EPOCHS = 100
ENOUGH = 1e-6  # share of the first round's largest gain
EPOCH_WORK = 1 << 25  # entries in one call, some 50 ms: Ctrl-C is heard in between


def minimise_by_columns(
    columns: Any,
    pairs: Pairs,
    at: Curvature,
    v0: np.ndarray,
    l1: np.ndarray,
    l2: np.ndarray,
    intercept: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """v (m,), β (K,) and t (n, K). O(entries) a round."""
    K, n = at.R.shape
    h, mean = np.empty(len(v0)), np.zeros(len(v0))
    for k, where in enumerate(pairs.of_each_class()):
        d = at.of(k, k)
        square, sums = columns.squares(d)
        h[where] = square[pairs.column[where]]
        if intercept and K == 1:
            mean[where] = sums[pairs.column[where]] / d.sum()
            h[where] -= mean[where] ** 2 * d.sum()
    h[h <= 1e-14 * h.max(initial=0.0)] = 0.0
    v, U, M, beta = v0.copy(), np.zeros((K, n)), np.zeros(n), np.zeros(K)
    H_b = np.linalg.pinv(at.of_intercepts(), hermitian=True) if intercept and K > 1 else None
    moved_by_hand = np.zeros(K)

    def epoch(order: np.ndarray) -> float:
        parts = max(1, columns.entries * len(order) // (len(pairs.features) * EPOCH_WORK))
        moved = 0.0
        for part in np.array_split(order, parts):
            give_up_if_stopped()
            args = (mean, h, part, at.R, at.T, at.P, U, M, beta, v, l1, l2)
            moved = max(moved, columns.epoch(pairs.column, pairs.of_class, *args))
        if H_b is not None:
            move = -H_b @ (at.R + at.T * (U - M)).sum(axis=1)
            U[:] += move[:, None]
            M[:] += move @ at.P
            moved_by_hand[:] += move
        return moved

    every = np.arange(len(v))
    first = moved = epoch(every)
    for _ in range(EPOCHS):
        if moved <= ENOUGH * first:
            break
        support = np.flatnonzero(v)
        for _ in range(4):
            if len(support) and epoch(support) <= ENOUGH * first:
                break
        moved = epoch(every)
    return v, beta + moved_by_hand, (U + beta[:, None]).T
