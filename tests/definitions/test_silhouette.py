"""The page of silhouettes, against scikit-learn, the proof and the solver."""

import numpy as np
import pytest
from sklearn.metrics import silhouette_score

from certus.definitions import silhouette
from certus.proofs.n_clusters.silhouette import mean_silhouette
from certus.solvers.n_clusters.silhouette import mean_silhouettes


def clustered(seed, n=50, k=4, far=0.0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(k, size=n)
    labels[:k] = np.arange(k)
    return rng.normal(size=(n, 3)) + 2 * labels[:, None] + far, labels


def check(X, labels, mean, s=None, **how):
    s = np.ones(len(X)) if s is None else s
    return silhouette.check(X, None, s, labels=labels, mean=mean, **how)


@pytest.mark.parametrize("far", [0.0, 1e8])
@pytest.mark.parametrize("seed", range(3))
def test_the_mean_is_that_of_scikit_learn_the_proof_and_the_solver(seed, far):
    X, labels = clustered(seed, far=far)
    labels[7] = 99  # alone
    claim = check(X, labels, mean_silhouette(X, labels))
    assert claim.kind == "exact"
    assert claim.miss <= 1e-13
    assert claim.objective == pytest.approx(silhouette_score(X - X[0], labels), abs=1e-12)
    codes = np.unique(labels, return_inverse=True)[1]
    assert check(X, labels, mean_silhouettes(X, codes[:, None])[0]).holds


@pytest.mark.parametrize("seed", range(3))
def test_a_weight_of_three_is_the_row_three_times_and_one_of_zero_no_row(seed):
    X, labels = clustered(seed, n=30)
    s = np.random.default_rng(seed).integers(0, 4, size=30)
    labels[3], s[3] = 9, 3  # a cluster of one row
    labels[4], s[4] = 10, 0  # a cluster without weight
    rows = np.repeat(np.arange(30), s)
    truth = silhouette_score(X[rows], labels[rows])
    assert (
        check(X, labels, truth, s.astype(float)).miss <= 1e-7
    )  # scikit-learn's distances of copies


def test_some_rows_are_compared_with_all():
    X, labels = clustered(1)
    rows = np.array([4, 17, 30, 8])
    mean = mean_silhouettes(X, labels[:, None], rows=rows)[0]
    assert check(X, labels, mean, rows=rows).holds
    assert not check(X, labels, mean).holds


def test_one_cluster_and_rows_that_are_all_equal_have_silhouettes_of_zero():
    X, labels = clustered(2)
    assert check(X, 0 * labels, 0.0) == ("exact", 0.0, 0.0, 1.0, 1e-6, None)
    assert check(0 * X, labels, 0.0).objective == 0.0


def test_other_numbers_and_other_labels_are_refused():
    X, labels = clustered(3)
    mean = mean_silhouette(X, labels)
    for wrong in (1.01 * mean, mean + 2e-6, np.nan):
        assert not check(X, labels, wrong).holds
    swapped = labels.copy()
    swapped[[5, 6]] = (labels[[5, 6]] + 1) % 4
    assert not check(X, swapped, mean).holds
