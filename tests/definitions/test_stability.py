"""The page of stability, against scikit-learn and the proof."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from certus.definitions import stability
from certus.proofs.n_clusters.stability import adjusted_rand


def splits(seed, n=40, count=3):
    rng = np.random.default_rng(seed)
    first = rng.integers(3, size=(count, n))
    second = np.where(rng.uniform(size=(count, n)) < 0.7, first, rng.integers(4, size=(count, n)))
    return list(zip(first, second, strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_the_mean_is_that_of_scikit_learn_and_of_the_proof(seed):
    pairs, s = splits(seed), np.ones(40)
    mean = np.mean([adjusted_rand_score(*pair) for pair in pairs])
    claim = stability.check(None, None, s, splits=pairs, stability=mean)
    assert (claim.kind, claim.holds) == ("exact", True)
    assert claim.miss <= 1e-14
    s = np.random.default_rng(seed).uniform(0, 3, size=40)
    mean = np.mean([adjusted_rand(*pair, s) for pair in pairs])
    assert stability.check(None, None, s, splits=pairs, stability=mean).miss <= 1e-14


def test_names_of_clusters_do_not_matter_and_trivial_clusters_agree():
    (first, _), *_ = splits(0)
    s = np.ones(40)
    for pair in (
        (first, 7 - first), (first * 0, first * 0 + 3), (np.arange(40), np.arange(40)[::-1]),
    ):  # fmt: skip
        assert stability.adjusted_rand(*pair, s) == 1 == adjusted_rand(*pair, s)
    assert stability.adjusted_rand(first, 0 * first, s) == 0


def test_rows_without_weight_are_absent():
    (first, second), *_ = splits(1)
    s = np.repeat([1.0, 0.0], [30, 10])
    truth = adjusted_rand_score(first[:30], second[:30])
    assert stability.adjusted_rand(first, second, s) == pytest.approx(truth, abs=1e-14)


def test_other_numbers_and_other_labels_are_refused():
    pairs, s = splits(2), np.ones(40)
    mean = np.mean([adjusted_rand_score(*pair) for pair in pairs])
    for wrong in (1.01 * mean, mean + 2e-6, np.nan):
        assert not stability.check(None, None, s, splits=pairs, stability=wrong).holds
    assert not stability.check(None, None, s, splits=pairs[:2], stability=mean).holds
    assert not stability.check(None, None, 1 + np.arange(40.0), splits=pairs, stability=mean).holds
