"""Measures agree with scikit-learn's where there is one fold."""

import numpy as np
import pytest
from sklearn.metrics import r2_score, roc_auc_score

from certus.reporting.procedure.measures import Auc, ExplainedVariance, PairwiseAuc, value


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_auc_of_one_fold_with_ties_and_weights(rng):
    y, z, s = rng.integers(0, 2, 60), rng.integers(0, 7, 60) / 7, rng.random(60)
    found = value(Auc(), y, z, np.zeros(60, int), z, s)
    assert found == pytest.approx(roc_auc_score(y, z, sample_weight=s), rel=1e-12)


def test_rows_of_different_folds_are_not_compared(rng):
    y, z = rng.integers(0, 2, 60), rng.random(60)
    fold = np.arange(60) % 3
    shifted = z + 100.0 * fold
    assert value(Auc(), y, z, fold, z, None) == value(Auc(), y, shifted, fold, z, None)


def test_weight_two_equals_a_repeated_row(rng):
    y, z, fold = rng.integers(0, 2, 40), rng.random(40), np.arange(40) % 2
    twice = np.r_[np.arange(40), 7]
    s = np.ones(40)
    s[7] = 2.0
    a = value(Auc(), y, z, fold, z, s)
    assert a == pytest.approx(value(Auc(), y[twice], z[twice], fold[twice], z[twice], None))


def test_hand_and_till(rng):
    y, P = rng.integers(0, 3, 90), rng.dirichlet(np.ones(3), 90)
    found = value(PairwiseAuc(), y, P, np.zeros(90, int), P, None)
    assert found == pytest.approx(roc_auc_score(y, P, multi_class="ovo"), rel=1e-12)


def test_guessing_has_the_baseline(rng):
    y = rng.integers(0, 3, 90)
    P = np.full((90, 3), 1 / 3)
    fold = np.arange(90) % 4
    assert value(PairwiseAuc(), y, P, fold, P, None) == PairwiseAuc.baseline
    v = rng.normal(size=90)
    guess = np.full(90, v.mean())
    assert value(ExplainedVariance(), v, guess, fold, guess, None) == 0.0


def test_explained_variance(rng):
    y = rng.normal(size=50)
    z = y + rng.normal(size=50)
    guess = np.full(50, y.mean())
    found = value(ExplainedVariance(), y, z, np.zeros(50, int), guess, None)
    assert found == pytest.approx(r2_score(y, z), rel=1e-12)


def test_rows_without_an_answer_are_left_out(rng):
    y, z = rng.integers(0, 2, 40), rng.random(40)
    fold = np.where(np.arange(40) < 10, -1, 0)
    z[:10] = np.nan
    assert value(Auc(), y, z, fold, z, None) == pytest.approx(roc_auc_score(y[10:], z[10:]))


def test_no_pair_of_classes_has_no_score():
    y = np.ones(5, int)
    assert np.isnan(value(Auc(), y, np.arange(5.0), np.zeros(5, int), np.zeros(5), None))
