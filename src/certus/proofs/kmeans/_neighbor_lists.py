"""Few columns, many centres: the pairs of a row and another centre that must be compared.

A row at d = ‖x − μ_a‖ from its centre a cannot gain by a centre b (``_assignment.py``) with

    ‖μ_a − μ_b‖ ≥ d + r,        r² = d²(1 + σ(1/n_a + 1/n_b))

because then ‖x − μ_b‖ ≥ r. So each row is compared, by differences, with a's neighbours in
ascending order until the next one is that far.
"""

from typing import NamedTuple

import numpy as np

from certus.proofs.kmeans._move_gains import KMeansCenters

MAX_COLUMNS, MAX_CENTERS = 3, 4096  # beyond these, matrix products are faster
MIN_CENTERS_FACTOR = 32  # centres, times columns squared, from which lists are faster
LIST_LENGTH_FACTOR = 12  # neighbours of a centre, times columns
TILE_PAIRS = 2**20  # distances computed at a time
ROUNDING_SLACK = 1 + 1e-9  # outweighs the rounding of distances


class Neighbors(NamedTuple):
    """The nearest other centres of each centre."""

    indices: np.ndarray  # (k, m): ascending by distance
    gap: np.ndarray  # (k, m): their distances

    @classmethod
    def of(cls, mu: np.ndarray) -> "Neighbors | None":
        k, p = mu.shape
        if p > MAX_COLUMNS or not max(2, MIN_CENTERS_FACTOR * p * p) <= k <= MAX_CENTERS:
            return None
        m, step = min(k - 1, LIST_LENGTH_FACTOR * p), max(1, TILE_PAIRS // k)
        indices, gap = np.empty((k, m), dtype=np.intp), np.empty((k, m))
        for start in range(0, k, step):
            part = np.arange(start, min(start + step, k))
            D = _squared(mu[part][:, None], mu)
            D[np.arange(len(part)), part] = np.inf
            neighbors = np.argpartition(D, m - 1, axis=1)[:, :m]
            nearest_D = np.take_along_axis(D, neighbors, axis=1)
            order = np.argsort(nearest_D, axis=1, kind="stable")
            indices[part] = np.take_along_axis(neighbors, order, axis=1)
            gap[part] = np.sqrt(np.take_along_axis(nearest_D, order, axis=1))
        return cls(indices, gap)


def _squared(X: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """Σ_j (x_j − μ_j)², column by column."""
    D = (X[..., 0] - mu[..., 0]) ** 2
    for j in range(1, mu.shape[-1]):
        D += (X[..., j] - mu[..., j]) ** 2
    return np.asarray(D)


def pairs_in_doubt(
    X: np.ndarray,
    own: np.ndarray,
    d2: np.ndarray,
    sigma: np.ndarray,
    centers: KMeansCenters,
    neighbors: Neighbors,
) -> tuple[np.ndarray, np.ndarray]:
    """Return pairs (rows, centres): all with F > 0, and those that rounding leaves open."""
    most = centers.over_n.max()
    d = np.sqrt(d2)
    reach = (d + d * np.sqrt(1 + sigma * (centers.over_n[own] + most))) * ROUNDING_SLACK
    rows = np.flatnonzero(neighbors.gap[own, 0] <= reach)
    pairs = []
    for j in range(neighbors.indices.shape[1]):
        if j:
            rows = rows[neighbors.gap[own[rows], j] <= reach[rows]]
        if not len(rows):
            break
        b = neighbors.indices[own[rows], j]
        gains = _gains(_squared(X[rows], centers.mu[b]), rows, b, own, d2, sigma, centers)
        pairs.append((rows[gains], b[gains]))
    if len(rows) and neighbors.indices.shape[1] < len(centers.mu) - 1:  # the lists were too short
        step = max(1, TILE_PAIRS // len(centers.mu))
        every = np.arange(len(centers.mu))
        for start in range(0, len(rows), step):
            part = rows[start : start + step, None]
            D = _squared(X[part], centers.mu)
            gains = _gains(D, part, every, own, d2, sigma, centers) & (every != own[part])
            i, b = np.nonzero(gains)
            pairs.append((part[i, 0], b))
    if not pairs:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    i, b = (np.concatenate(part) for part in zip(*pairs, strict=True))
    # rows whose list was too short may hold pairs from the list as well
    pair = np.unique(i * len(centers.mu) + b)
    return pair // len(centers.mu), pair % len(centers.mu)


def _gains(
    D: np.ndarray,
    i: np.ndarray,
    b: np.ndarray,
    own: np.ndarray,
    d2: np.ndarray,
    sigma: np.ndarray,
    centers: KMeansCenters,
) -> np.ndarray:
    """Whether F > 0 up to rounding: d²(1 + σ(1/n_a + 1/n_b)) > ‖x − μ_b‖²."""
    return np.asarray(
        d2[i] * (1 + sigma[i] * (centers.over_n[own[i]] + centers.over_n[b])) * ROUNDING_SLACK >= D
    )
