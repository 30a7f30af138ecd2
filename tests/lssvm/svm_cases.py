"""Data for tests of kernel machines."""

import numpy as np


def blobs(seed, n=60, p=3, classes=2, shift=2.0, share=0.5):
    """Return classes around centres ``shift`` apart; ``share``: of the first of two classes."""
    rng = np.random.default_rng(seed)
    parts = [share, 1 - share] if classes == 2 else [1 / classes] * classes
    y = rng.permutation(
        np.repeat(np.arange(classes), np.diff(np.rint(n * np.cumsum([0, *parts])).astype(int)))
    )
    centers = shift * rng.normal(size=(classes, p))
    return rng.normal(size=(n, p)) + centers[y], y


def curve(seed, n=60, p=3, noise=0.1):
    """Return X and y = sin x₀ + x₁ + noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + noise * rng.normal(size=n)
