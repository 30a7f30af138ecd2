"""Tables for mixtures: the arrays, starts, and the table over them."""

import numpy as np

from certus.mixture import BernoulliMixture, GaussianMixture, MultinomialMixture, PoissonMixture
from tests.streams import ArrayTable

N, P, K = 3000, 4, 3
SHAPES = ("full", "tied", "diag", "spherical")


def clouds(seed=0, n=N, p=P, k=K, weights=False, dtype=float, far=0.0):
    """Return X and s: rows of k clouds of different shapes, drawn in random order."""
    rng = np.random.default_rng(seed)
    centers = 5 * rng.normal(size=(k, p))
    A = rng.normal(size=(k, p, p)) / np.sqrt(p)
    which = rng.integers(k, size=n)
    X = centers[which] + np.einsum("ijk,ik->ij", A[which], rng.normal(size=(n, p))) + far
    s = rng.integers(0, 4, size=n).astype(float) if weights else None
    return X.astype(dtype), s


def with_holes():
    X, s = clouds(n=N // 2, weights=True)
    rng = np.random.default_rng(1)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[17] = np.nan
    return X, s


def with_constant_column():
    X, s = clouds()
    return np.column_stack([X, np.full(N, 3.0)]), s


def with_repeated_row():
    X, s = clouds(weights=True)
    X[N // 3 : N // 2] = X[5]
    return X, s


GAUSSIAN_CASES = {
    "plain": clouds,
    "weights": lambda: clouds(weights=True),
    "float32": lambda: clouds(weights=True, dtype=np.float32),
    "missing entries": with_holes,
    "far from 0": lambda: clouds(far=1e6),
    "constant column": with_constant_column,
    "repeated row": with_repeated_row,
    "fewer rows than columns": lambda: clouds(n=120, p=260, weights=True),
}


def given_start(shape, X, seed=0):
    """Return weights, means and precisions of K components: rows of X, and the columns' spread."""
    rng, p = np.random.default_rng(seed), X.shape[1]
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X).astype(float)
    precision = 1 / np.maximum(filled.var(axis=0), 1e-3)
    P = {
        "full": np.tile(np.diag(precision), (K, 1, 1)),
        "tied": np.diag(precision),
        "diag": np.tile(precision, (K, 1)),
        "spherical": np.full(K, precision.mean()),
    }[shape]
    means = filled[rng.choice(len(X), K, replace=False)].reshape(K, p)
    return {"weights_init": [0.2, 0.3, 0.5], "means_init": means, "precisions_init": P}


PROFILES = np.array([[9.0, 1, 1, 1, 5, 1], [1, 9, 1, 1, 1, 5], [1, 1, 9, 5, 1, 1]])


def zeros_and_ones(n=N):
    rng = np.random.default_rng(2)
    X = rng.random((n, 24)) < np.tile(PROFILES, 4)[rng.integers(3, size=n)] / 10
    return X.astype(float), rng.integers(0, 3, size=n).astype(float)


def counts(n=N):
    rng = np.random.default_rng(3)
    return rng.poisson(2 * PROFILES[rng.integers(3, size=n)]).astype(float), None


def whole_numbers(n=N):
    return counts(n)[0].astype(np.int16), np.random.default_rng(4).random(n)


COUNT_CASES = {
    "Bernoulli": (BernoulliMixture(K, random_state=0), zeros_and_ones),
    "Poisson": (PoissonMixture(K, random_state=0), counts),
    "Poisson, int16": (PoissonMixture(K, random_state=0), whole_numbers),
    "multinomial": (MultinomialMixture(K, random_state=0), counts),
}

EVERY_CASE = {
    **{name: (GaussianMixture(K, random_state=0), make) for name, make in GAUSSIAN_CASES.items()},
    **COUNT_CASES,
}


def table_of(X, s=None, table=ArrayTable, **options):
    made = table(X, None, s, **options)
    made.missing = bool(np.isnan(X).any())
    return made
