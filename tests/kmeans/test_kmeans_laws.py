"""How the answer of KMeans changes when the problem does, besides the laws of ``contract/laws.py``.

| law | what changes |
|---|---|
| shift and scale | nothing in what is drawn |
| scale by up to 1e±60 | centres grow along, the objective with the square |
| order of the start's centres | labels and centres follow |
| weight 3 | is the row three times, with a tolerance, too |
| float32 | centres are float32, and new rows are labelled as the old ones |
| threads | nothing, not a bit, from any kind of start |
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import certus
from certus.cluster import KMeans
from tests.contract.problems import weights
from tests.kmeans.cluster_cases import blobs

few = settings(max_examples=15, deadline=None, derandomize=True)
SEEDS = range(4)
INITS = ["k-means++", "random", "k-means||"]


def noise(seed, n=200, p=3):
    """Return rows without clusters, on a grid of 1/64."""
    return np.round(64 * np.random.default_rng(seed).uniform(-4, 4, size=(n, p))) / 64


def fit(X, start, s=None, **params):
    return KMeans(len(start), init=start, tol=0, **params).fit(X, sample_weight=s)


def same(transformed, original, centers=None, rtol=1e-12):
    np.testing.assert_array_equal(transformed.labels_, original.labels_)
    centers = original.cluster_centers_ if centers is None else centers
    size = np.abs(centers).max()
    np.testing.assert_allclose(transformed.cluster_centers_, centers, rtol=0, atol=rtol * size)
    assert transformed.certificate_.certified


@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_drawn_does_not_depend_on_the_origin_or_the_unit(init, seed):
    X = noise(seed)
    params = {"n_clusters": 5, "init": init, "n_init": 1, "random_state": seed}
    original = KMeans(**params).fit(X)
    same(KMeans(**params).fit(X + 2.0**20), original, original.cluster_centers_ + 2.0**20)
    same(KMeans(**params).fit(X * 2.0**-9), original, original.cluster_centers_ * 2.0**-9)


@few
@given(seed=st.integers(0, 99), e=st.floats(-60, 60))
def test_scaled_rows_have_scaled_centres(seed, e):
    X, c = noise(seed), 10.0**e
    transformed, original = fit(c * X, c * X[:4]), fit(X, X[:4])
    same(transformed, original, c * original.cluster_centers_)
    assert transformed.inertia_ == pytest.approx(c**2 * original.inertia_, rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_labels_follow_the_centres_of_the_start(seed):
    X, s = noise(seed), weights(seed, 200)
    original, start = fit(X, X[:5], s), X[:5]
    order = np.random.default_rng(seed).permutation(5)
    transformed = fit(X, start[order], s)
    np.testing.assert_array_equal(order[transformed.labels_], original.labels_)
    np.testing.assert_allclose(
        transformed.cluster_centers_, original.cluster_centers_[order], atol=1e-12
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_a_whole_weight_is_a_row_repeated_with_a_tolerance_too(seed):
    X, tol = noise(seed), 1e-2
    s = np.random.default_rng(seed).integers(0, 4, size=len(X))
    start = X[:5]
    weighted = fit(X, start, s.astype(float)).set_params(tol=tol).fit(X, sample_weight=s)
    repeated = fit(X, start).set_params(tol=tol).fit(np.repeat(X, s, axis=0))
    np.testing.assert_array_equal(np.repeat(weighted.labels_, s), repeated.labels_)
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, atol=1e-12)
    assert weighted.inertia_ == pytest.approx(repeated.inertia_, rel=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", [blobs, noise])
def test_float32_rows_have_float32_centres(make, seed):
    X = (make(seed) + 0.1).astype(np.float32)
    transformed, original = fit(X, X[:3].astype(float)), fit(X.astype(float), X[:3].astype(float))
    assert transformed.cluster_centers_.dtype == np.float32
    np.testing.assert_allclose(transformed.cluster_centers_, original.cluster_centers_, rtol=1e-6)
    np.testing.assert_array_equal(transformed.predict(X.astype(float)), transformed.labels_)
    assert transformed.certificate_.certified


@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")
@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_same_bits_on_any_number_of_threads(init, weighted, monkeypatch):
    monkeypatch.setattr("certus.data.rows.SMALL_WORK", 0)  # threads, whether they pay or not
    X = np.random.default_rng(0).uniform(size=(20_000, 4))
    s = weights(1, len(X)) if weighted else None
    result = []
    for threads in (1, 2, 3):
        with certus.config_context(threads=threads):
            model = KMeans(9, init=init, n_init=2, max_iter=5, random_state=0)
            result.append(model.fit(X, sample_weight=s))
            D = model.transform(X)
        for name in ("cluster_centers_", "labels_", "inertia_", "restarts_"):
            np.testing.assert_array_equal(getattr(model, name), getattr(result[0], name))
        np.testing.assert_array_equal(D, result[0].transform(X))
        assert model.certificate_.objective == result[0].certificate_.objective
