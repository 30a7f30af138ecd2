"""Synthetic data, each a function (n, p, seed, dtype, order) → X, y of NumPy (or SciPy) arrays.

    y = 1 + Z w + ε,   Z, ε standard normal,   w_j ~ N(0, 1/p)

so that the noise is half of the variance of y at any p. Memory holds one X while it is made (and
one copy for order "F").

Classes: y is drawn from the logistic or softmax model

    P(y = 1) = 1/(1 + exp(−z)),   P(y = k) = exp(z_k)/Σ_j exp(z_j),   z = SIGNAL · Z w

so that z has the standard deviation SIGNAL = 2 at any p: the best classifier errs on about 22 % of
rows of two classes, and tall data are not separable.

L1-penalised regression: y = 1 + SIGNAL · Z w + ε with w ≠ 0 in a few columns only, then scaled so
that the least α whose lasso is w = 0,

    λmax = max_j |x_jᵀ(y − ȳ)|/n = 1

at any size and seed: α = 1/20 is λmax/20 for every library and for the quick sizes too.

Columns that tell two classes apart: x = 1.5 y + ε in ten columns and ε in all others, then each is
shifted and scaled to [0, 1].

Clusters: y is a permutation of the rows, whose first k are the start that every library is given.
"""

import os

import numpy as np
from scipy import sparse

DENSITY = 1e-2  # of sparse X
CLASS_DENSITY = 1e-3  # of sparse X with classes
LASSO_DENSITY = 1e-3  # of sparse X for the lasso
SIGNAL = 2.0  # standard deviation of z
CLASSES = 10  # of softmax
TRUE_FEATURES = 50  # of those with few true columns, and at most a fifth of them
TELLING, SHIFT = 10, 1.5  # columns that differ between two classes, and by how many σ
SEPARATION = 6.0  # of blobs: distance to the next one, in σ
COPY_NOISE = 0.1  # σ of what tells copies of a row apart, in σ of all entries
DATA_FILE = "CERTUS_BENCHMARK_DATA"  # environment variable that names the file of --data
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


def two_classes(n, p, seed, dtype, order):
    """X = Z, y in {0, 1}."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p), dtype=dtype)
    z = in_blocks(X, SIGNAL * rng.standard_normal((p, 1)) / np.sqrt(p))
    return np.asarray(X, order=order), (z[:, 0] + rng.logistic(size=n) > 0).astype(np.int64)


def two_classes_offset_1e3(n, p, seed, dtype, order):
    """X = Z + 1000, labels as before the shift."""
    X, y = two_classes(n, p, seed, dtype, order)
    X += 1e3
    return X, y


def two_classes_correlated(n, p, seed, dtype, order):
    """X_j = 10^{u_j} (Z_j + 2f), f common to all columns (correlation 0.8), u_j from −1 to 1.

    Labels as of Z. Columns in their own units and alike in what they measure, as data mostly are:
    first-order solvers take many more steps than on independent columns of variance 1.
    """
    X, y = two_classes(n, p, seed, dtype, order)
    rng = np.random.default_rng([seed, 1])
    X += 2 * rng.standard_normal((n, 1), dtype=dtype)
    X *= 10 ** rng.uniform(-1, 1, p).astype(dtype)
    return X, y


def five_ordered_classes(n, p, seed, dtype, order):
    """X = Z, y in {0, …, 4} by where z + logistic noise lies among its own quintiles."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p), dtype=dtype)
    z = SIGNAL * X.astype(float) @ rng.standard_normal(p) / np.sqrt(p) + rng.logistic(size=n)
    y = np.searchsorted(np.quantile(z, [0.2, 0.4, 0.6, 0.8]), z)
    return np.asarray(X, order=order), y


def separated_classes(n, p, seed, dtype, order):
    """X = Z, y = 1 where the first column is positive: no finite maximum of the likelihood."""
    X = np.random.default_rng(seed).standard_normal((n, p), dtype=dtype)
    return np.asarray(X, order=order), (X[:, 0] > 0).astype(np.int64)


def few_true_features(n, p, seed, dtype, order):
    """X = Z, y in {0, 1}, and z depends on the first few columns only."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p), dtype=dtype)
    true = min(TRUE_FEATURES, max(p // 5, 1))
    z = SIGNAL * X[:, :true] @ rng.standard_normal(true) / np.sqrt(true)
    return np.asarray(X, order=order), (z + rng.logistic(size=n) > 0).astype(np.int64)


def few_true_columns(n, p, seed, dtype, order):
    """X = Z, y depends on the first few columns, and λmax = 1."""
    X, y = depends_on_the_first_columns(n, p, seed, dtype)
    y += 1.0
    return np.asarray(X, order=order), (y / lambda_max(X, y - y.mean())).astype(dtype)


def few_true_columns_no_intercept(n, p, seed, dtype, order):
    """X of ``few_true_columns``, y without the 1: λmax = max_j |x_jᵀy|/n = 1 for b = 0."""
    X, y = depends_on_the_first_columns(n, p, seed, dtype)
    return np.asarray(X, order=order), (y / lambda_max(X, y)).astype(dtype)


def few_true_unit_columns(n, p, seed, dtype, order):
    """X of ``few_true_columns`` with columns of norm 1, and max_j |x_jᵀ(y − ȳ)| = 1."""
    X, y = few_true_columns(n, p, seed, dtype, order)
    X /= np.linalg.norm(X, axis=0)
    return X, (y / (n * lambda_max(X, y - y.mean()))).astype(dtype)


def sparse_few_true_columns(n, p, seed, dtype, order):
    """One entry in a thousand, normal; λmax = 1. CSR for order "C", CSC for "F"."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array(
        (n, p), density=LASSO_DENSITY, format="csr", dtype=dtype, rng=rng,
        data_sampler=rng.standard_normal,
    )  # fmt: skip
    w = few_coefficients(p, rng) / np.sqrt(LASSO_DENSITY)
    y = 1.0 + X @ w + rng.standard_normal(n)
    return X.asformat({"C": "csr", "F": "csc"}[order]), y / lambda_max(X, y - y.mean())


def depends_on_the_first_columns(n, p, seed, dtype):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p), dtype=dtype)
    w = few_coefficients(p, rng)
    return X, in_blocks(X, w[:, None])[:, 0] + rng.standard_normal(n)


def few_coefficients(p, rng):
    true = min(TRUE_FEATURES, max(p // 5, 1))
    w = np.zeros(p)
    w[:true] = SIGNAL * rng.standard_normal(true) / np.sqrt(true)
    return w


def lambda_max(X, y):
    return np.max(np.abs(X.T @ y)) / len(y)


def sparse_two_classes(n, p, seed, dtype, order):
    """One entry in a thousand, uniform in [0, 1), y in {0, 1}. CSR, whatever the order."""
    X, z, rng = sparse_with_scores(n, p, 1, seed, dtype)
    return X, (z[:, 0] + rng.logistic(size=n) > 0).astype(np.int64)


def ten_classes(n, p, seed, dtype, order):
    """X = Z, y in {0, …, 9}."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p), dtype=dtype)
    z = in_blocks(X, SIGNAL * rng.standard_normal((p, CLASSES)) / np.sqrt(p))
    return np.asarray(X, order=order), drawn_from_softmax(z, rng)


def sparse_ten_classes(n, p, seed, dtype, order):
    """One entry in a thousand, uniform in [0, 1), y in {0, …, 9}. CSR, whatever the order."""
    X, z, rng = sparse_with_scores(n, p, CLASSES, seed, dtype)
    return X, drawn_from_softmax(z, rng)


def sparse_with_scores(n, p, outputs, seed, dtype):
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, p), density=CLASS_DENSITY, format="csr", dtype=dtype, rng=rng)
    W = SIGNAL * rng.standard_normal((p, outputs)) / np.sqrt(CLASS_DENSITY * p / 3)
    return X, X @ W, rng


def drawn_from_softmax(z, rng):
    """argmax_k z_k + g_k with Gumbel noise g is k with the probability of the softmax."""
    return np.argmax(z + rng.gumbel(size=z.shape), axis=1)


def in_blocks(X, W):
    """XW in float64 without a float64 copy of all of X."""
    z = np.empty((len(X), W.shape[1]))
    for start in range(0, len(X), BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        z[rows] = X[rows].astype(np.float64) @ W
    return z


def rows_and_queries(n, p, seed, dtype, order):
    """X normal, and n/10 queries like it."""
    rng = np.random.default_rng(seed)
    X, Q = rng.standard_normal((n, p)), rng.standard_normal((max(n // 10, 1), p))
    return np.asarray(X, dtype, order=order), np.asarray(Q, dtype, order=order)


def decaying_rows_and_queries(n, p, seed, dtype, order):
    """Rows and queries whose variances along random axes fall as i^−1.4, as in small images."""
    rng = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(rng.standard_normal((p, p)))
    axes *= np.arange(1, p + 1)[:, None] ** -0.7
    X, Q = rows_and_queries(n, p, seed, np.dtype(float), "C")
    return np.asarray(X @ axes, dtype, order=order), np.asarray(Q @ axes, dtype, order=order)


def rows_and_weights(n, p, seed, dtype, order):
    """X normal, and n numbers between ½ and 2, of which the first p are the columns' weights."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)).astype(dtype)
    return np.asarray(X, order=order), rng.uniform(0.5, 2.0, max(n, p))


def labeled_rows(n, p, seed, dtype, order):
    """Two classes that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = (X[:, :2].sum(axis=1) + rng.standard_normal(n) > 0).astype(np.int64)
    return np.asarray(X, dtype, order=order), y


def columns_that_tell(n, p, seed, dtype, order):
    """Normal columns scaled to [0, 1]; the mean of the first ten is not that of the other class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    X = rng.standard_normal((n, p), dtype=dtype)
    X[:, : min(TELLING, max(p // 5, 1))] += dtype.type(SHIFT) * y[:, None].astype(dtype)
    X -= X.min(axis=0)
    X /= X.max(axis=0)
    return np.asarray(X, order=order), y


def uniform_noise(n, p, seed, dtype, order):
    """X uniform in the unit box: no clusters at all, and the slowest of all data to settle."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, p), dtype=dtype)
    return np.asarray(X, order=order), rng.permutation(n)


def blobs_10(n, p, seed, dtype, order):
    return blobs(10, n, p, seed, dtype, order)


def blobs_64(n, p, seed, dtype, order):
    return blobs(64, n, p, seed, dtype, order)


def blobs_256(n, p, seed, dtype, order):
    return blobs(256, n, p, seed, dtype, order)


def blobs_1000(n, p, seed, dtype, order):
    return blobs(1000, n, p, seed, dtype, order)


def blobs(count, n, p, seed, dtype, order):
    """X = centre + σZ: centres uniform in the unit box, the next one about 6σ away at any p.

    With σ the same at any p, rows of many columns as starts would leave most centres empty.
    """
    rng = np.random.default_rng(seed)
    centers = rng.random((count, p))
    squares = (centers**2).sum(axis=1)
    d2 = squares[:, None] + squares - 2 * centers @ centers.T
    np.fill_diagonal(d2, np.inf)
    sigma = np.sqrt(np.median(d2.min(axis=1))) / SEPARATION
    centers, owner = centers.astype(dtype), rng.integers(count, size=n)
    X = rng.standard_normal((n, p), dtype=dtype)
    X *= dtype.type(sigma)
    for start in range(0, n, BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        X[rows] += centers[owner[rows]]
    return np.asarray(X, order=order), rng.permutation(n)


def gaussians_16(n, p, seed, dtype, order):
    return gaussians(16, n, p, seed, dtype, order)


def gaussians_32(n, p, seed, dtype, order):
    return gaussians(32, n, p, seed, dtype, order)


def gaussians(count, n, p, seed, dtype, order):
    """X = centre + A z: components that overlap, with covariances AAᵀ of their own."""
    rng = np.random.default_rng(seed)
    centers = 2 * rng.standard_normal((count, p))
    A = rng.standard_normal((count, p, p)) / np.sqrt(p) + 0.3 * np.eye(p)
    owner = rng.integers(count, size=n)
    X = np.empty((n, p), dtype=dtype)
    for i in range(count):
        rows = owner == i
        X[rows] = centers[i] + rng.standard_normal((int(rows.sum()), p)) @ A[i].T
    return np.asarray(X, order=order), rng.permutation(n)


def digits(n, p, seed, dtype, order):
    """scikit-learn's 1,797 images of 8 × 8 pixels, copied with noise."""
    from sklearn.datasets import load_digits

    return copies(load_digits().data, n, p, seed, dtype, order)


def rows_of_a_file(n, p, seed, dtype, order):
    """The numbers in the file of --data (.npy, .csv, .csv.gz), copied with noise."""
    path = os.environ[DATA_FILE]
    table = np.load(path) if path.endswith(".npy") else np.loadtxt(path, delimiter=",")
    return copies(table, n, p, seed, dtype, order)


def copies(table, n, p, seed, dtype, order):
    """n rows drawn from the table, each with noise of its own, and p columns of its middle.

    An image has something to see in its middle, and a last column too many, as labels are, is out.
    """
    if table.ndim != 2 or table.shape[1] < p:
        raise ValueError(f"the table is {table.shape}: the row of the suite asks for {p} columns")
    rng = np.random.default_rng(seed)
    first = (table.shape[1] - p) // 2
    table = table[:, first : first + p]
    X = rng.standard_normal((n, p), dtype=dtype)
    X *= dtype.type(COPY_NOISE * table.std())
    X += table[rng.integers(len(table), size=n)].astype(dtype)
    return np.asarray(X, order=order), rng.permutation(n)
