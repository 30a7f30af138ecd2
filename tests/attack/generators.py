"""Structured rows: what breaks proofs that hold for well-conditioned columns."""

from collections.abc import Callable

import numpy as np

Generator = np.random.Generator


def normal(rng: Generator, n: int, p: int) -> np.ndarray:
    return rng.normal(size=(n, p))


def collinear(rng: Generator, n: int, p: int) -> np.ndarray:
    """Pairs of columns that differ by 1e-4 … 1e-14 of their size."""
    X = rng.normal(size=(n, p))
    for j in range(1, p, 2):
        X[:, j] = X[:, j - 1] + 10.0 ** rng.integers(-14, -3) * rng.normal(size=n)
    return X


def rounded_sum(rng: Generator, n: int, p: int) -> np.ndarray:
    """The last column is the sum of the others, rounded once: total = price + tax."""
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-2, 3, size=p)
    X[:, -1] = X[:, :-1].sum(axis=1) if p > 1 else 1.0
    return X


def hilbert(rng: Generator, n: int, p: int) -> np.ndarray:
    return 1.0 / (np.arange(n)[:, None] + np.arange(p) + 1.0)


def vandermonde(rng: Generator, n: int, p: int) -> np.ndarray:
    """Powers of points in [0, 1], or in [1, 2], or years."""
    low, high = [(0, 1), (1, 2), (1950, 2020)][rng.integers(3)]
    t = np.sort(rng.uniform(low, high, size=n))
    return t[:, None] ** np.arange(1, p + 1)


def low_rank(rng: Generator, n: int, p: int) -> np.ndarray:
    rank = int(rng.integers(1, p + 1))
    return rng.normal(size=(n, rank)) @ rng.normal(size=(rank, p))


def outlier(rng: Generator, n: int, p: int) -> np.ndarray:
    """One row, or one entry, at 1e4 … 1e12."""
    X = rng.normal(size=(n, p))
    row = rng.integers(n)
    size = 10.0 ** rng.integers(4, 13)
    if rng.random() < 0.5:
        X[row] = size * rng.normal(size=p)
    else:
        X[row, rng.integers(p)] = size
    return X


def sentinel(rng: Generator, n: int, p: int) -> np.ndarray:
    """Blobs, and one row at a number that stands for "missing"."""
    X = blobs(rng, n, p)
    X[rng.integers(n)] = [-999.0, 1e6, 9999999.0][rng.integers(3)]
    return X


def blobs(rng: Generator, n: int, p: int) -> np.ndarray:
    centers = 10.0 ** rng.integers(-1, 3) * rng.normal(size=(int(rng.integers(2, 5)), p))
    return centers[rng.integers(len(centers), size=n)] + rng.normal(size=(n, p))


def constant(rng: Generator, n: int, p: int) -> np.ndarray:
    """Some columns never change."""
    X = rng.normal(size=(n, p))
    for j in np.flatnonzero(rng.random(p) < 0.5):
        X[:, j] = [0.0, 1.0, 1.7e9, 0.1, -1e-9][rng.integers(5)]
    return X


def timestamps(rng: Generator, n: int, p: int) -> np.ndarray:
    """Columns at 1.7e9 whose spread is 1e-6 … 1: a clock, or a constant."""
    X = 10.0 ** rng.integers(-6, 1, size=p) * rng.normal(size=(n, p))
    X[:, rng.random(p) < 0.3] = 0.0
    return X + rng.choice([0.0, 1.7e9], size=p)


def offset(rng: Generator, n: int, p: int) -> np.ndarray:
    """Columns far from the origin, up to where their spread is a few last digits."""
    X = rng.normal(size=(n, p)) * 10.0 ** rng.integers(-6, 3, size=p)
    return X + 10.0 ** rng.integers(0, 11, size=p) * rng.choice([-1.0, 1.0], size=p)


def scaled(rng: Generator, n: int, p: int) -> np.ndarray:
    """Columns of very different units."""
    return rng.normal(size=(n, p)) * 10.0 ** rng.integers(-8, 9, size=p)


def extreme(rng: Generator, n: int, p: int) -> np.ndarray:
    """All columns, or one, at up to 1e±150."""
    X = rng.normal(size=(n, p))
    factor = 10.0 ** int(rng.choice([-150, -120, -80, -30, 30, 80, 120, 150]))
    if rng.random() < 0.5:
        return X * factor
    X[:, rng.integers(p)] *= factor
    return X


def repeated_rows(rng: Generator, n: int, p: int) -> np.ndarray:
    X = rng.normal(size=(n, p))
    return X[rng.integers(max(1, n // 2), size=n)]


def few_distinct(rng: Generator, n: int, p: int) -> np.ndarray:
    return rng.normal(size=(int(rng.integers(2, 6)), p))[rng.integers(2, size=n)]


def integers(rng: Generator, n: int, p: int) -> np.ndarray:
    return rng.integers(-3, 4, size=(n, p)).astype(float)


def indicators(rng: Generator, n: int, p: int) -> np.ndarray:
    """Columns of 0 and 1, of which some are rare."""
    return (rng.random((n, p)) < rng.choice([0.05, 0.3, 0.5], size=p)).astype(float)


def sparse_entries(rng: Generator, n: int, p: int) -> np.ndarray:
    return rng.normal(size=(n, p)) * (rng.random((n, p)) < 0.3)


GENERATORS: dict[str, Callable[[Generator, int, int], np.ndarray]] = {
    f.__name__: f
    for f in (
        normal, collinear, rounded_sum, hilbert, vandermonde, low_rank, outlier, sentinel, blobs,
        constant, timestamps, offset, scaled, extreme, repeated_rows, few_distinct, integers,
        indicators, sparse_entries,
    )
}  # fmt: skip
