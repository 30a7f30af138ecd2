"""Blobs, and settings that keep choose_n_clusters quick."""

import numpy as np
from sklearn.cluster import KMeans

THREE_METHODS = ("silhouette", "gap", "stability")
QUICK = {
    "estimator": KMeans(n_init=2), "n_references": 8, "n_resamples": 6, "methods": THREE_METHODS,
}  # fmt: skip
SMALL = QUICK | {"estimator": KMeans(n_init=1), "n_references": 3, "n_resamples": 3}


def blobs(seed, centers, n=90, spread=1.0):
    rng = np.random.default_rng(seed)
    centers = np.asarray(centers, dtype=float)
    return spread * rng.normal(size=(n, centers.shape[1])) + centers[np.arange(n) % len(centers)]


THREE = [[0, 0], [8, 0], [4, 7]]
SQUARE = [[0, 0], [8, 0], [0, 8], [8, 8]]
X0 = blobs(0, THREE, n=12)
