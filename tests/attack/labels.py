"""Targets for given rows: numbers, counts, amounts, classes; and weights and offsets of rows."""

import numpy as np

Generator = np.random.Generator


def score(rng: Generator, X: np.ndarray) -> np.ndarray:
    """A linear combination of spread about 1: of all columns, or the difference of two of them."""
    size = np.abs(X).max(axis=0)
    Z = X / np.where(size > 0, size, 1.0)
    if X.shape[1] > 1 and rng.random() < 0.5:
        j = rng.integers(1, X.shape[1])
        z = Z[:, j] - Z[:, j - 1] * (size[j - 1] / size[j] if size[j] > 0 else 1.0)
    else:
        z = Z @ rng.normal(size=X.shape[1])
    z = z - z.mean()
    spread = z.std()
    return z / spread if spread > 0 else z


def numbers(rng: Generator, X: np.ndarray, targets: int = 1) -> np.ndarray:
    noise = 10.0 ** rng.integers(-8, 1)
    y = np.column_stack([score(rng, X) + noise * rng.normal(size=len(X)) for _ in range(targets)])
    kind = rng.integers(8)
    if kind == 0:
        y = y * 10.0 ** rng.integers(-12, 13)
    elif kind == 1:
        y = y + 10.0 ** rng.integers(2, 9)
    elif kind == 2:
        y = np.round(3 * y)
    elif kind == 3 and rng.random() < 0.3:
        y = y * 10.0 ** int(rng.choice([-132, -100, 100, 140]))
    elif kind == 4 and rng.random() < 0.2:
        y = np.full_like(y, 3.7)
    return y[:, 0] if targets == 1 else y


def events(rng: Generator, X: np.ndarray) -> np.ndarray:
    """Counts: many, few, none, those of one side of a score 0, rates, and sizes up to 1e12."""
    z = 10.0 ** rng.uniform(-1, 0.6) * score(rng, X)
    kind = rng.integers(9)
    mean = np.exp(z + {0: 8.0, 1: -3.0}.get(int(kind), 1.0))
    y = rng.poisson(mean).astype(float)
    if kind == 2:
        y = np.where(z < np.quantile(z, 0.4), 0.0, y + 1)
    elif kind == 3:
        y = y / rng.uniform(0.1, 10, size=len(y))
    elif kind == 4:
        y = mean * (1 + 10.0 ** rng.integers(-8, -1) * rng.uniform(size=len(y)))
    elif kind == 5:
        y = y * 10.0 ** rng.integers(-12, 13)
    elif kind == 6 and rng.random() < 0.3:
        y = np.full_like(y, float(rng.choice([0.0, 3.0])))
    return y


def amounts(rng: Generator, X: np.ndarray) -> np.ndarray:
    """Amounts above 0: noise from 1e-8 to 3, one far from the rest, sizes up to 1e±100."""
    z = 10.0 ** rng.uniform(-1, 0.6) * score(rng, X)
    y = np.exp(z + 10.0 ** rng.uniform(-8, 0.5) * rng.normal(size=len(z)))
    kind = rng.integers(6)
    if kind == 0:
        y = y * 10.0 ** rng.integers(-12, 13)
    elif kind == 1:
        y[rng.integers(len(y))] *= 10.0 ** rng.integers(-12, 13)
    elif kind == 2 and rng.random() < 0.3:
        y = y * 10.0 ** int(rng.choice([-100, 100]))
    elif kind == 3 and rng.random() < 0.2:
        y = np.full_like(y, 3.7)
    return y


def offsets(rng: Generator, n: int) -> np.ndarray | None:
    """None, logarithms of exposures, or offsets that are large."""
    kind = rng.integers(4)
    if kind < 2:
        return None
    return np.log(rng.uniform(0.1, 10, size=n)) + (rng.choice([-30, 30, 300]) if kind == 3 else 0.0)


def classes(rng: Generator, X: np.ndarray, K: int) -> np.ndarray:
    """From a score: noisy, separable, nearly so, imbalanced, or unrelated."""
    n, z = len(X), score(rng, X)
    kind = rng.integers(6)
    if kind == 0:
        z = rng.normal(size=n)
    elif kind == 1:
        z = z + 0.05 * rng.normal(size=n)
    elif kind != 2:  # 2: separable
        z = z + 10.0 ** rng.uniform(-1, 0.7) * rng.logistic(size=n)
    shares = np.array([0.9, *(0.1 / (K - 1),) * (K - 1)]) if kind == 3 else np.full(K, 1 / K)
    cuts = np.quantile(z, np.cumsum(shares)[:-1])
    y = np.searchsorted(cuts, z)
    y[rng.permutation(n)[:K]] = np.arange(K)  # every class occurs
    return y


def weights(rng: Generator, n: int) -> np.ndarray | None:
    """None, ordinary ones, zeros, or 1e±12."""
    kind = rng.integers(8)
    if kind < 4:
        return None
    s = rng.uniform(0.5, 2.0, size=n)
    if kind == 4:
        s = rng.integers(1, 4, size=n).astype(float)
    elif kind == 5:
        s[rng.random(n) < 0.3] = 0.0
    elif kind == 6:
        s *= 10.0 ** rng.integers(-12, 13)
    elif kind == 7:
        s[rng.random(n) < 0.2] *= 10.0 ** int(rng.choice([-12, -8, 8, 12]))
    return s
