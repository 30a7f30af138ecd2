"""Columns that nearly, or fully, repeat each other, and targets that use small differences."""

import numpy as np


def near_pair(rng, n, size):
    """[a, a + size·u, b, b + 1e-3·v], with scores along the difference of the first two."""
    a, b, u, v = rng.normal(size=(4, n))
    X = np.column_stack([a, a + size * u, b, b + 1e-3 * v])
    return X, (X[:, 1] - X[:, 0]) / size


def near_pair_far_away(rng, n, size):
    X, z = near_pair(rng, n, max(size, 1e-11))
    return X + 100.0, z


def hilbert(rng, n, size):
    """Columns 1/(t + j), t random."""
    t = rng.uniform(0.0, 30.0, size=n)
    k = int(min(9, 3 - np.log10(size) / 2))
    X = 1 / (t[:, None] + np.arange(1, k + 1))
    return X, _last_direction(X)


def vandermonde(rng, n, size):
    t = rng.uniform(0.0, 1.0, size=n)
    k = int(min(9, 3 - np.log10(size) / 2))
    X = np.vander(t, k + 1)[:, :-1]
    return X, _last_direction(X)


def low_rank(rng, n, size):
    """Six columns of rank three, up to the rounding of their products."""
    A = rng.normal(size=(n, 3))
    return A @ rng.normal(size=(3, 6)), A[:, 0]


def low_rank_and_near(rng, n, size):
    """Two columns that repeat others, beside one that nearly does."""
    X, z = near_pair(rng, n, size)
    return np.column_stack([X, X[:, 0] + X[:, 2], X[:, 1] - 2 * X[:, 3]]), z


def mixed_scales(rng, n, size):
    X, z = near_pair(rng, n, max(size, 1e-10))
    return X * np.array([1e6, 1e6, 1e-6, 1e-6]), z


def three_alike(rng, n, size):
    """Three columns within ``size`` of each other, and within size² along one direction."""
    a, u, v = rng.normal(size=(3, n))
    size = max(size, 1e-7)
    X = np.column_stack([a, a + size * u, a + 2 * size * u + size**2 * v])
    return X, (X[:, 0] - 2 * X[:, 1] + X[:, 2]) / size**2


GENERATORS = {
    function.__name__: function
    for function in (
        near_pair, near_pair_far_away, hilbert, vandermonde, low_rank, low_rank_and_near,
        mixed_scales, three_alike,
    )
}  # fmt: skip


def _last_direction(X):
    """The scores along the last but one singular vector of the scaled, centred columns."""
    A = X - X.mean(axis=0)
    U = np.linalg.svd(A / np.linalg.norm(A, axis=0), full_matrices=False)[0]
    return U[:, max(0, X.shape[1] - 2)] * np.sqrt(len(X))


def ordered_classes(rng, scores, classes=3):
    """Classes 0 … K − 1 of noisy scores."""
    noisy = scores / scores.std() + rng.logistic(size=len(scores))
    return np.digitize(noisy, np.quantile(noisy, np.arange(1, classes) / classes))
