"""Rows in clusters, and a minimal k-means for comparison, slow on purpose.

J = Σ s_i min_k ‖x_i − μ_k‖²
"""

from itertools import product

import numpy as np


def blobs(seed: int, n: int = 90, p: int = 3, k: int = 3, apart: float = 3.0) -> np.ndarray:
    """k clouds whose middles are about ``apart`` spreads away, on a grid of 1/64: shifts by whole
    numbers and powers of two are exact."""
    rng = np.random.default_rng(seed)
    middles = apart * rng.normal(size=(k, p))
    X = middles[rng.integers(k, size=n)] + rng.normal(size=(n, p))
    return np.round(64 * X) / 64


def squares(X, centers):
    """‖x_i − μ_k‖² of all pairs, by differences."""
    X, centers = np.asarray(X, dtype=float), np.asarray(centers, dtype=float)
    return ((X[:, None, :] - centers[None]) ** 2).sum(axis=2)


def objective(X, centers, s=None):
    d2 = squares(X, centers).min(axis=1)
    return float(d2.sum() if s is None else s @ d2)


def plain_lloyd(X, start, s=None, max_iter=300):
    """(centres, labels): assign to the nearest, move to the mean, until no label changes."""
    s = np.ones(len(X)) if s is None else np.asarray(s, dtype=float)
    centers = np.array(start, dtype=float)
    labels = squares(X, centers).argmin(axis=1)
    for _ in range(max_iter):
        for k in range(len(centers)):
            own = s * (labels == k)
            if own.any():
                centers[k] += own @ (X - centers[k]) / own.sum()
        before, labels = labels, squares(X, centers).argmin(axis=1)
        if (labels == before).all():
            break
    return centers, labels


def best_of_all(X, k):
    """Return the least J over all partitions of the rows into k clusters."""
    best = np.inf
    for labels in product(range(k), repeat=len(X)):
        labels = np.array(labels)
        J = sum(
            ((X[labels == c] - X[labels == c].mean(axis=0)) ** 2).sum()
            for c in set(labels.tolist())
        )
        best = min(best, J)
    return float(best)
