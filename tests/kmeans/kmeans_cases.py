"""Rows with clusters, and their best centres by arithmetic that shares nothing with the library."""

from itertools import product
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from certus.certificate.data import Data
from certus.data.rows import Rows
from certus.proofs.kmeans import kmeans


def blobs(seed: int, n: int = 60, p: int = 2, k: int = 3, far: float = 0.0) -> np.ndarray:
    """n rows around k points 6 apart, at ``far`` from the origin."""
    rng = np.random.default_rng(seed)
    centers = 6.0 * np.arange(k)[:, None] + np.zeros(p)
    return centers[rng.integers(k, size=n)] + rng.normal(size=(n, p)) + far


def lloyd(X: Any, mu: Any, s: Any = None, steps: int = 300) -> np.ndarray:
    """Return centres that a Lloyd step does not change."""
    for _ in range(steps):
        before, mu = mu, kmeans.lloyd_step(X, mu, s)
        if np.array_equal(before, mu):
            break
    return mu


def data(X: Any, s: Any = None, threads: int = 1) -> Data:
    return Data(Rows(X, None, s, threads=threads))


def check(X: Any, mu: Any, labels: Any = None, s: Any = None, **params: Any) -> dict[str, Any]:
    params = {"ours": True, **params}
    return kmeans.check(data(X, s, params.pop("threads", 1)), mu, labels=labels, **params)


def least_of_all(X: np.ndarray, k: int, s: Any = None) -> float:
    """Return J of the best of all k^n assignments."""
    return min(
        kmeans._within(X, np.array(labels), s) for labels in product(range(k), repeat=len(X))
    )


class KMeans(BaseEstimator):
    """A model that is taken for one of certus."""

    __module__ = "certus.cluster.kmeans"

    def __init__(self, n_clusters: int = 3, max_iter: int = 300, tol: float = 1e-4):
        self.n_clusters = n_clusters
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X: Any, s: Any = None, steps: int = 300) -> "KMeans":
        self.n_features_in_ = X.shape[1]
        mu = np.asarray(X, dtype=float)[:: len(X) // self.n_clusters][: self.n_clusters]
        mu = lloyd(X, mu, s, steps).astype(X.dtype)
        self.cluster_centers_, self.n_iter_, self._rose = mu, 5, 0.0
        self.labels_ = kmeans.nearest(X, mu)[0].astype(np.int32)
        self.inertia_ = kmeans.objective(X, mu, s)
        self.restarts_ = np.array([1.2, 1.0, 1.0 + 1e-9]) * self.inertia_
        return self
