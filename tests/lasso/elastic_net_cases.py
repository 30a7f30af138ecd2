"""Rows on which a few coefficients matter, for lasso and elastic net."""

import numpy as np
import pytest

TIGHT = {"tol": 1e-13, "max_iter": 1_000_000}
wide = pytest.mark.parametrize("shape", [(60, 8), (40, 900)], ids=["few columns", "many columns"])


def draw(shape, seed=0, k=None):
    n, p = shape
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape) * rng.uniform(0.5, 2, size=p) + rng.normal(size=p)
    w = np.zeros((p, k or 1))
    w[:5] = rng.normal(size=(min(5, p), k or 1)) * 3
    Y = X @ w + rng.normal(size=(n, k or 1)) + 2
    return X, Y if k else Y[:, 0]
