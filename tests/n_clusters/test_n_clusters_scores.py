"""Each number of choose_n_clusters is that of its definition."""

import itertools
import sys

import numpy as np
import pytest
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

from certus.cluster import _n_clusters_scores, _n_clusters_verdict, choose_n_clusters
from certus.proofs.n_clusters import gap_statistic, stability
from tests.n_clusters.n_clusters_cases import SMALL, THREE, blobs


def test_silhouettes_and_objectives_are_those_of_the_clusters(iris):
    X, choice = iris
    for k in range(2, 6):
        model = KMeans(k, n_init=10, random_state=0).fit(X)
        if model.inertia_ == pytest.approx(choice.at(k)["objective"], rel=1e-9):
            score = silhouette_score(X, model.labels_)
            assert choice.at(k)["silhouette"] == pytest.approx(score, abs=1e-6)
    assert choice.at(1)["objective"] == pytest.approx(((X - X.mean(axis=0)) ** 2).sum())
    assert np.isnan(choice.silhouette[0])


def test_gaps_are_those_of_the_scatters(iris):
    _, choice = iris
    gap, s = gap_statistic.gaps(np.log(choice.objective), np.log(choice.noise["objective"]))
    np.testing.assert_allclose(choice.gap, gap)
    np.testing.assert_allclose(choice.gap_error, s)
    assert choice.n_clusters_by_method["gap"] == gap_statistic.first_within_one_error(
        choice.ks, gap, s
    )


class Halves:
    """A clusterer that remembers what it was given, and cuts the first column at its mean."""

    fits = ()

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def get_params(self, deep=True):
        return {"n_clusters": self.n_clusters}

    def set_params(self, n_clusters):
        self.n_clusters = n_clusters
        return self

    def fit(self, X, y=None):
        self.edges_ = np.quantile(X[:, 0], np.arange(1, self.n_clusters) / self.n_clusters)
        Halves.fits = (*Halves.fits, X)
        return self

    def predict(self, X):
        return np.searchsorted(self.edges_, X[:, 0])


def test_stability_is_the_agreement_of_two_disjoint_halves_on_all_rows():
    X = np.random.default_rng(0).normal(size=(31, 2))
    Halves.fits = ()
    choice = choose_n_clusters(
        X, [2, 3], methods=["stability"], estimator=Halves(), n_references=2, n_resamples=3,
        random_state=0, threads=1,
    )  # fmt: skip
    rows_of_data = {tuple(row) for row in X}
    halves = [rows for rows in Halves.fits if len(rows) == 15]
    fits = [rows for rows in halves if tuple(rows[0]) in rows_of_data]  # not those of noise
    assert len(fits) == 12
    agreement = []
    for one, other in itertools.batched(fits, 2) if sys.version_info >= (3, 12) else _pairs(fits):
        assert not {tuple(row) for row in one} & {tuple(row) for row in other}
        assert {tuple(row) for row in (*one, *other)} <= rows_of_data
        k = (2, 3)[len(agreement) % 2]
        labels = [Halves(k).fit(half).predict(X) for half in (one, other)]
        agreement.append(stability.adjusted_rand(*labels))
    result = np.reshape(agreement, (3, 2))
    np.testing.assert_allclose(choice.stability, result.mean(axis=0))
    half = stats.t.ppf(0.975, 2) * result.std(axis=0, ddof=1) / np.sqrt(3)
    low = np.clip(result.mean(axis=0) - half, -1, 1)
    np.testing.assert_allclose(choice.stability_interval[:, 0], low)


def _pairs(fits):
    return zip(fits[::2], fits[1::2], strict=True)


def test_means_over_few_pairs_are_spread_as_those_over_many():
    rng = np.random.default_rng(0)
    B, few, many = 4000, 4, 20
    level = 0.1 * rng.normal(size=(B, 1, 1))
    pairs = 0.5 + level + 0.3 * rng.normal(size=(B, many, 1))
    truth = pairs.mean(axis=1).std()
    assert pairs[:, :few].mean(axis=1).std() > 1.4 * truth
    result = _n_clusters_verdict.shrink_to_pairs(pairs[:, :few], many)
    assert result.std() == pytest.approx(truth, rel=0.05)
    assert result.mean() == pytest.approx(pairs[:, :few].mean())
    constant = _n_clusters_verdict.shrink_to_pairs(np.ones((3, 2, 2)), 10)
    np.testing.assert_array_equal(constant, np.ones((3, 2)))


def test_silhouettes_of_many_rows_are_those_of_some_with_an_interval(monkeypatch):
    X = blobs(1, THREE, n=300, spread=2.0)
    queried = {**SMALL, "methods": ["silhouette"], "random_state": 0}
    every = choose_n_clusters(X, [1, 3], **queried)
    monkeypatch.setattr(_n_clusters_scores, "MAX_SILHOUETTE_ROWS", 60)
    some = choose_n_clusters(X, [1, 3], **queried)
    assert some.silhouette[1] != every.silhouette[1]
    assert np.ptp(some.silhouette_interval[1]) > 1.2 * np.ptp(every.silhouette_interval[1])
    low, high = some.silhouette_interval[1]
    assert low < every.silhouette[1] < high
