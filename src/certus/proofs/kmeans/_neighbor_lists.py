"""Few columns, many centres: which pairs of a row and another centre need a look at all.

A row at d = ‖x − μ_a‖ from its centre a gains by no centre b (``_assignment.py``) with

    ‖μ_a − μ_b‖ ≥ d + r,        r² = d²(1 + σ(1/n_a + 1/n_b))

because then ‖x − μ_b‖ ≥ r. So each row is compared, by differences, with a's neighbours in their
order until the next one is that far.
"""

from typing import NamedTuple

import numpy as np

from certus.proofs.kmeans._move_gains import Centers

COLUMNS, CENTERS = 3, 4096  # up to which,
FROM = 32  # and centres, times columns squared, from which this is less work than products
LIST = 12  # neighbours of a centre, times columns
PAIRS = 2**20  # distances at a time
SLACK = 1 + 1e-9


class Neighbors(NamedTuple):
    who: np.ndarray  # (k, m): the nearest others of each centre, ascending
    gap: np.ndarray  # (k, m): how far they are

    @classmethod
    def of(cls, mu: np.ndarray) -> "Neighbors | None":
        k, p = mu.shape
        if p > COLUMNS or not max(2, FROM * p * p) <= k <= CENTERS:
            return None
        m, step = min(k - 1, LIST * p), max(1, PAIRS // k)
        who, gap = np.empty((k, m), dtype=np.intp), np.empty((k, m))
        for start in range(0, k, step):
            some = np.arange(start, min(start + step, k))
            D = _squared(mu[some][:, None], mu)
            D[np.arange(len(some)), some] = np.inf
            near = np.argpartition(D, m - 1, axis=1)[:, :m]
            near_D = np.take_along_axis(D, near, axis=1)
            order = np.argsort(near_D, axis=1, kind="stable")
            who[some] = np.take_along_axis(near, order, axis=1)
            gap[some] = np.sqrt(np.take_along_axis(near_D, order, axis=1))
        return cls(who, gap)


def _squared(X: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """Σ_j (x_j − μ_j)², column by column."""
    D = (X[..., 0] - mu[..., 0]) ** 2
    for j in range(1, mu.shape[-1]):
        D += (X[..., j] - mu[..., j]) ** 2
    return np.asarray(D)


def pairs_in_doubt(
    X: np.ndarray, own: np.ndarray, d2: np.ndarray, sigma: np.ndarray, at: Centers, near: Neighbors
) -> tuple[np.ndarray, np.ndarray]:
    """(row, centre): all with F > 0, and those that rounding leaves open."""
    most = at.over_n.max()
    d = np.sqrt(d2)
    reach = (d + d * np.sqrt(1 + sigma * (at.over_n[own] + most))) * SLACK
    rows = np.flatnonzero(near.gap[own, 0] <= reach)
    found = []
    for j in range(near.who.shape[1]):
        if j:
            rows = rows[near.gap[own[rows], j] <= reach[rows]]
        if not len(rows):
            break
        b = near.who[own[rows], j]
        gains = _gains(_squared(X[rows], at.mu[b]), rows, b, own, d2, sigma, at)
        found.append((rows[gains], b[gains]))
    if len(rows) and near.who.shape[1] < len(at.mu) - 1:  # the lists were too short
        step = max(1, PAIRS // len(at.mu))
        every = np.arange(len(at.mu))
        for start in range(0, len(rows), step):
            some = rows[start : start + step, None]
            D = _squared(X[some], at.mu)
            gains = _gains(D, some, every, own, d2, sigma, at) & (every != own[some])
            i, b = np.nonzero(gains)
            found.append((some[i, 0], b))
    if not found:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    i, b = (np.concatenate(part) for part in zip(*found, strict=True))
    # rows whose list was too short may have been found by it before
    pair = np.unique(i * len(at.mu) + b)
    return pair // len(at.mu), pair % len(at.mu)


def _gains(
    D: np.ndarray,
    i: np.ndarray,
    b: np.ndarray,
    own: np.ndarray,
    d2: np.ndarray,
    sigma: np.ndarray,
    at: Centers,
) -> np.ndarray:
    """F > 0, or nearly: d²(1 + σ(1/n_a + 1/n_b)) > ‖x − μ_b‖²."""
    return np.asarray(d2[i] * (1 + sigma[i] * (at.over_n[own[i]] + at.over_n[b])) * SLACK >= D)
