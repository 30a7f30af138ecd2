"""Synthetic data, each a function (n, p, seed, dtype, order) → X, y of NumPy (or SciPy) arrays.

    y = 1 + Z w + ε,   Z, ε standard normal,   w_j ~ N(0, 1/p)

so that the noise is half of the variance of y at any p. Memory holds one X while it is made (and
one copy for order "F").
"""

import numpy as np
from scipy import sparse

DENSITY = 1e-2  # of sparse X
BLOCK_ROWS = 65_536  # y is computed in float64 without a float64 copy of all of X


def gaussian(n, p, seed, dtype, order):
    """X = Z: columns of mean 0 and variance 1."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p), dtype=dtype)
    w = rng.standard_normal(p) / np.sqrt(p)
    y = 1.0 + rng.standard_normal(n)
    for start in range(0, n, BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        y[rows] += X[rows].astype(np.float64) @ w
    return np.asarray(X, order=order), y.astype(dtype)


def gaussian_offset_1e3(n, p, seed, dtype, order):
    """X = Z + 1000: the mean of a column is 1000 times its spread, as in times or temperatures."""
    X, y = gaussian(n, p, seed, dtype, order)
    X += 1e3
    return X, y


def positive_definite(n, p, seed, dtype, order):
    """A = ZZᵀ/n + I of order n, Z of n × n/2 normal numbers, and y normal."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, max(1, n // 2)), dtype=dtype)
    A = Z @ Z.T / n
    A.flat[:: n + 1] += 1
    return np.asarray(A, order=order), rng.standard_normal(n, dtype=dtype)


def sparse_uniform(n, p, seed, dtype, order):
    """One entry in a hundred, uniform in [0, 1); y = 1 + Xw + ε. CSR, whatever the order."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, p), density=DENSITY, format="csr", dtype=dtype, rng=rng)
    w = rng.standard_normal(p) / np.sqrt(DENSITY * p / 3)
    return X, (1.0 + X @ w + rng.standard_normal(n)).astype(dtype)
