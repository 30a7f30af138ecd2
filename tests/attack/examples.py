"""Data on which certificates were false, written out."""

from typing import Any

import numpy as np


def nearly_equal_columns(seed: int, apart: float = 1e-8, n: int = 60) -> tuple[Any, Any, Any]:
    """X = [a, a + apart·u, b, b + 1e-3·v]; two classes and three from the first two's difference.

    The optimum uses a direction that the stored floats hold to eight digits.
    """
    rng = np.random.default_rng(seed)
    a, b, u, v = rng.normal(size=(4, n))
    X = np.column_stack([a, a + apart * u, b, b + 1e-3 * v])
    z = (X[:, 1] - X[:, 0]) / apart
    y = (rng.random(n) < 1 / (1 + np.exp(-2 * z))).astype(int)
    return X, y, y + (z + rng.logistic(size=n) > 1)


def with_a_sentinel(seed: int, n: int = 60) -> np.ndarray:
    """float32 blobs, and one row at 1e6."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) + 6 * rng.integers(0, 3, size=(n, 1))
    X[0] = 1e6
    return X.astype(np.float32)


def far_from_the_origin(seed: int, n: int = 60) -> np.ndarray:
    """A constant column at 1.7e9, and a column whose spread is 1e-6."""
    rng = np.random.default_rng(seed)
    return np.column_stack([np.full(n, 1.7e9), 1e-6 * rng.normal(size=n)])


def wide(seed: int, n: int = 12, p: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Few entries a row and far more columns than rows, as in tf-idf."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, p)) * (rng.random((n, p)) < 0.2)
    return X, rng.normal(size=n)
