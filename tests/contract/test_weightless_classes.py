"""A class whose rows all have weight 0: what bagging gives to its estimators."""

import numpy as np
import pytest
import sklearn.linear_model as peers
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier

import certus
from certus.linear_model import LogisticRegression, OrdinalRegression, PenalizedClassifier
from certus.svm import LSSVC, DensityWeightedLSSVC, LinearSVC

LOGISTIC = [
    LogisticRegression(),
    LogisticRegression(C=np.inf),
    LogisticRegression(l1_ratio=0.5),
    LogisticRegression(l1_ratio=1, class_weight="balanced"),
    LogisticRegression(solver="newton-cg"),
]
OTHERS = [
    LogisticRegression(fit_intercept=False),
    PenalizedClassifier(),
    PenalizedClassifier("squared_hinge"),
    PenalizedClassifier("huber", "l1"),
    LinearSVC(),
    LinearSVC(loss="hinge"),
    LinearSVC(penalty="l1", class_weight="balanced"),
    LSSVC(class_weight="balanced"),
    DensityWeightedLSSVC(),
]


def problem(K, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3))
    k = (X[:, 0] + rng.normal(size=80) > 0) + rng.integers(0, K - 1, 80)
    y = np.array(["a", "b", "c", "d"])[k]
    return X, y, np.where(y == "b", 0.0, rng.integers(1, 3, 80))


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("model", LOGISTIC + OTHERS)
def test_it_is_accepted_and_the_fit_certifies(model, K):
    X, y, s = problem(K)
    model = clone(model).fit(X, y, s)
    assert model.classes_.tolist() == ["a", "b", "c", "d"][:K]
    assert model.certificate_.certified
    assert "no row of 'b' has a weight above 0" in model.certificate_.notes or "SVC" in repr(model)
    assert certus.verify(model, X, y, s).certified


@pytest.mark.parametrize("K", [2, 3, 4])
@pytest.mark.parametrize("model", LOGISTIC)
def test_its_probability_is_0_and_the_others_are_those_without_it(model, K):
    X, y, s = problem(K)
    P = clone(model).fit(X, y, s).predict_proba(X)
    assert_array_equal(P[:, 1], 0)
    assert_allclose(P.sum(axis=1), 1)
    if K == 4 and model.class_weight is None:  # three are left, and they are a softmax as well
        there = s > 0
        other = clone(model).fit(X[there], y[there], s[there])
        assert_allclose(P[:, [0, 2, 3]], other.predict_proba(X), rtol=1e-4, atol=1e-6)


def test_with_a_penalised_intercept_its_probability_is_small():
    """liblinear takes the one class with weight for the second: scikit-learn's are exchanged."""
    X, y, s = problem(2)
    how = {"solver": "liblinear", "tol": 1e-10}
    ours = LogisticRegression(**how).fit(X, y, s)
    theirs = peers.LogisticRegression(**how).fit(X, y, s)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X)[:, ::-1], rtol=1e-6)
    assert set(ours.predict(X)) == {"a"}
    assert ours.certificate_.certified


def test_without_an_intercept_it_keeps_a_probability():
    X, y, s = problem(3)
    ours = LogisticRegression(fit_intercept=False, tol=1e-10).fit(X, y, s)
    theirs = peers.LogisticRegression(fit_intercept=False, tol=1e-10).fit(X, y, s)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-4)
    assert ours.predict_proba(X)[:, 1].min() > 0


def test_a_class_weight_of_0_leaves_a_class_out():
    X, y, _ = problem(4)
    there = y != "b"
    ours = LogisticRegression(class_weight={"b": 0, "a": 1, "c": 1, "d": 1}).fit(X, y)
    other = LogisticRegression().fit(X[there], y[there])
    assert_allclose(ours.coef_[[0, 2, 3]], other.coef_, rtol=1e-4, atol=1e-6)
    assert_array_equal(ours.coef_[1], 0)
    assert ours.certificate_.certified
    with pytest.raises(ValueError, match="leaves no row a weight above 0"):
        LogisticRegression(class_weight=dict.fromkeys("abcd", 0)).fit(X, y)


def test_a_point_that_keeps_some_probability_for_it_is_reported_with_its_cost():
    """scikit-learn stops with an intercept that is not low enough."""
    X, y, s = problem(3)
    theirs = peers.LogisticRegression(tol=1e-2).fit(X, y, s)
    ours = LogisticRegression().fit(X, y, s)
    found = certus.verify(theirs, X, y, s)
    assert not found.certified
    excess = found.objective - ours.certificate_.objective
    assert 0 < excess <= found.gap
    assert found.gap < 1.1 * excess


def test_an_edit_of_such_a_fit_is_noticed():
    X, y, s = problem(4)
    for name, at in [("intercept_", 0), ("intercept_", 1), ("coef_", (1, 0)), ("coef_", (2, 1))]:
        model = LogisticRegression().fit(X, y, s)
        values = getattr(model, name)
        values[at] = 0.3 if values[at] == 0 else values[at] / 500 if name[0] == "i" else -values[at]
        assert not certus.verify(model, X, y, s).certified, (name, at)


def test_sparse_rows():
    X, y, s = problem(3)
    sparse = LogisticRegression().fit(csr_array(X), y, s)
    dense = LogisticRegression().fit(X, y, s)
    assert_allclose(sparse.predict_proba(X), dense.predict_proba(X), rtol=1e-4, atol=1e-8)
    assert sparse.certificate_.certified


@pytest.mark.parametrize("model", LOGISTIC[:1] + OTHERS)
def test_bagging_of_few_rows(model):
    """Some of the estimators see no row of the rare class."""
    X, y, _ = problem(3)
    y = np.where(np.arange(80) == 7, "rare", np.where(y == "b", "c", y))
    ensemble = BaggingClassifier(clone(model), n_estimators=6, max_samples=0.3, random_state=0)
    assert set(ensemble.fit(X, y).predict(X)) <= {"a", "c", "rare"}


def test_ordered_classes_need_rows():
    X, y, s = problem(3)
    with pytest.raises(ValueError, match="no row whose sample_weight is above 0"):
        OrdinalRegression(categories=["a", "b", "c"]).fit(X, y, s)
