"""Starts of k-means: the rows drawn, their probabilities, and the quality of the result."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import KMeans, kmeans_plusplus

from certus.data.csr import CSR
from certus.data.rows import Rows
from certus.kernels.kmeans.start import candidate_potentials
from certus.solvers.kmeans import lloyd, nearest_centers, small
from certus.solvers.kmeans.starts import parallel, plus_plus, random_rows


@pytest.fixture(params=["few rows", "blocks"], autouse=True)
def variant(request, monkeypatch):
    if request.param == "blocks":
        monkeypatch.setattr(small, "MAX_SMALL_WORK", 0)


def blobs(n, p, k, seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) + 8 * rng.standard_normal((k, p))[rng.integers(0, k, n)]


def potential(X, C, s=None):
    d2 = ((X[:, None] - C[None]) ** 2).sum(axis=2).min(axis=1)
    return float(d2.sum() if s is None else s @ d2)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("shape", [(300, 2, 5), (500, 7, 12), (200, 80, 20)], ids=str)
def test_rows_drawn_are_those_of_scikit_learn(shape, seed):
    n, p, k = shape
    X = blobs(n, p, k, seed)
    s = np.random.default_rng(seed).random(n) if seed % 2 else None
    centers, rows = plus_plus(Rows(X, s=s), k, np.random.RandomState(seed))
    expected = kmeans_plusplus(X, k, sample_weight=s, random_state=seed)[1]
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(centers, X[rows])


@pytest.mark.parametrize("trials", [1, 3, 6])
def test_candidates_by_hand(trials):
    """Distances, potentials and what is not read, against all differences."""
    rng = np.random.default_rng(trials)
    X = blobs(1500, 5, 6, 1)
    C = X[[3, 77, 200]].copy()
    Y = X[rng.choice(1500, trials + 1, replace=False)]
    s = rng.random(1500)
    before = ((X[:, None] - C[None]) ** 2).sum(axis=2)
    true = ((X[:, None] - Y[None]) ** 2).sum(axis=2)
    d, a = before.min(axis=1).astype(np.float32), before.argmin(axis=1).astype(np.int32)
    reach = ((C[:, None] - Y[None]) ** 2).sum(axis=2).min(axis=1) * (1 - 1e-6)
    unread = 4 * d <= reach[a]
    assert 0 < unread.sum() < 1500
    assert (true[unread].min(axis=1) >= d[unread]).all()
    pots = np.empty((2, trials))
    candidate_potentials(X, s, 1.0, Y, reach, 3, d, a, pots)
    now = np.minimum(before.min(axis=1), true[:, 0])
    np.testing.assert_allclose(d, now, rtol=1e-6)
    np.testing.assert_array_equal(a == 3, true[:, 0] < before.min(axis=1))
    for part, rows in enumerate((slice(0, 1024), slice(1024, 1500))):
        expected = s[rows] @ np.minimum(now[rows, None], true[rows, 1:])
        np.testing.assert_allclose(pots[part], expected, rtol=1e-6)


def test_probabilities_are_those_of_squared_distances():
    X = np.array([[0.0], [0.0], [1.0], [3.0]])
    drawn = np.zeros(4)
    for seed in range(4000):
        rows = plus_plus(Rows(X, threads=1), 2, np.random.RandomState(seed), trials=1)[1]
        if rows[0] == 0:
            drawn[rows[1]] += 1
    share = drawn / drawn.sum()
    assert share[:2].sum() == 0  # rows at a centre are never drawn
    assert share[2] == pytest.approx(0.1, abs=0.03)


def test_weights_count():
    X = np.arange(6.0)[:, None]
    s = np.array([0, 0, 1.0, 0, 1.0, 0])
    for seed in range(20):
        for start in (plus_plus, random_rows):
            rows = start(Rows(X, s=s, threads=1), 2, np.random.RandomState(seed))[1]
            assert sorted(rows) == [2, 4]


def test_sparse_rows_are_drawn_as_dense_ones():
    X = np.random.default_rng(0).poisson(0.4, (300, 20)).astype(float)
    for seed in range(5):
        dense, sparse = (
            plus_plus(Rows(Z), 8, np.random.RandomState(seed))[1] for Z in (X, CSR(csr_array(X)))
        )
        np.testing.assert_array_equal(dense, sparse)


@pytest.mark.parametrize("threads", [1, 2])
def test_far_from_the_origin(threads):
    X = blobs(20_000, 3, 10, 0)
    near = plus_plus(Rows(X, threads=threads), 10, np.random.RandomState(1))[1]
    far = plus_plus(Rows(X + 2.0**26, threads=threads), 10, np.random.RandomState(1))[1]
    assert potential(X, X[far]) < 1.1 * potential(X, X[near])


@pytest.mark.parametrize("seed", range(3))
def test_all_blobs_are_found_at_once(seed):
    """k-means‖ draws from everywhere: one start of k-means++ misses some of 50 blobs."""
    X = blobs(20_000, 4, 50, seed)
    rows = Rows(X)
    at_once = parallel(rows, 50, np.random.RandomState(seed))
    one_by_one = plus_plus(rows, 50, np.random.RandomState(seed))[0]
    sums = [nearest_centers(rows, C)[1].sum() for C in (at_once, one_by_one)]
    assert at_once.shape == (50, 4)
    assert sums[0] < sums[1]


def test_few_distinct_rows():
    X = np.repeat([[0.0, 1.0], [2.0, 3.0], [5.0, 5.0]], 20, axis=0)
    for start in (plus_plus, random_rows):
        assert start(Rows(X, threads=1), 5, np.random.RandomState(0))[0].shape == (5, 2)
    C = parallel(Rows(X, threads=1), 5, np.random.RandomState(0))
    assert C.shape == (5, 2)
    assert potential(X, C) == 0


def test_random_rows_are_distinct():
    for seed in range(10):
        rows = random_rows(Rows(np.zeros((12, 1))), 12, np.random.RandomState(seed))[1]
        assert sorted(rows) == list(range(12))


@pytest.mark.parametrize("seed", range(5))
def test_a_random_start_is_that_of_scikit_learn(seed):
    X = blobs(200, 3, 4, seed)
    ours = random_rows(Rows(X), 4, np.random.RandomState(seed))[0]
    theirs = KMeans(4, init="random", n_init=1, max_iter=1, random_state=seed).fit(X)
    once = lloyd(Rows(X), ours, max_iter=1)
    np.testing.assert_allclose(once.centers, theirs.cluster_centers_, atol=1e-12)
