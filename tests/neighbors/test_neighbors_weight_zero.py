"""A row of weight 0 is absent: it is never a neighbour, in any method of the model."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, BaggingRegressor

import certus
from certus.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
    choose_k,
)

MODELS = [
    KNeighborsClassifier(3),
    KNeighborsClassifier(3, weights="distance", metric="mahalanobis"),
    KNeighborsClassifier(3, metric="cosine", algorithm="brute"),
    KNeighborsRegressor(3, weights="distance"),
    KNeighborsRegressor(3, metric=lambda A, B: np.abs(A[:, None] - B[None]).sum(axis=2)),
    RadiusNeighborsClassifier(2.0, abstain="prior"),
    RadiusNeighborsRegressor(2.0, abstain=0.0),
]


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 3))
    y = rng.integers(0, 3, 60)
    s = rng.integers(0, 3, 60).astype(float)
    return X, y, s, np.flatnonzero(s > 0)


def neighbors_of(model, Q=None):
    if hasattr(model, "kneighbors"):
        return model.kneighbors(Q)
    return model.radius_neighbors(Q)


@pytest.mark.parametrize("model", MODELS)
def test_weight_zero_is_the_fit_without_the_row(model, data, rng):
    X, y, s, there = data
    Q = rng.normal(size=(20, 3))
    left_out = clone(model).fit(X[there], y[there], s[there])
    with_all = model.fit(X, y, s)
    assert_array_equal(with_all.predict(Q), left_out.predict(Q))
    d, rows = neighbors_of(with_all, Q)
    wanted_d, wanted = neighbors_of(left_out, Q)
    for i in range(len(Q)):
        assert_array_equal(rows[i], there[wanted[i]])
        assert_allclose(d[i], wanted_d[i], rtol=1e-13)
    assert with_all.certificate_.certified
    assert certus.verify(with_all, X, y, sample_weight=s).certified


@pytest.mark.parametrize("model", [m for m in MODELS if not callable(m.metric)])
def test_rows_of_the_fit_ask_for_the_others_that_are_present(model, data):
    X, y, s, there = data
    d, rows = neighbors_of(model.fit(X, y, s))
    for i in range(len(X)):
        assert i not in rows[i]
        assert np.isin(rows[i], there).all()
    wanted_d, wanted = neighbors_of(clone(model).fit(X[there], y[there]))
    for i, row in enumerate(there):
        assert_array_equal(rows[row], there[wanted[i]])
        assert_allclose(d[row], wanted_d[i], rtol=1e-13)
    absent = np.flatnonzero(s == 0)
    wanted_d, wanted = neighbors_of(model, X[absent])
    for i, row in enumerate(absent):
        assert_array_equal(rows[row], wanted[i])


def test_leave_one_out_without_absent_rows(data):
    X, y, s, there = data
    s = (s > 0).astype(float)
    score = KNeighborsClassifier(3).fit(X, y, s).score(None, y, s)
    assert score == KNeighborsClassifier(3).fit(X[there], y[there]).score(None, y[there])
    with_all = choose_k(X, y, range(1, 8), sample_weight=s)
    left_out = choose_k(X[there], y[there], range(1, 8))
    assert_allclose(with_all.error, left_out.error, rtol=1e-12)


def test_folds_of_choose_k_without_absent_rows(data):
    X, y, s, there = data
    folds = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]
    number = np.full(60, -1)
    number[there] = np.arange(len(there))
    kept = [tuple(number[part][number[part] >= 0] for part in fold) for fold in folds]
    with_all = choose_k(X, y, range(1, 8), sample_weight=s, method=folds)
    left_out = choose_k(X[there], y[there], range(1, 8), sample_weight=s[there], method=kept)
    assert_allclose(with_all.error, left_out.error, rtol=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_sparse_rows(metric, data):
    X, y, s, _there = data
    X = np.where(np.abs(X) > 0.5, X, 0.0)
    dense = KNeighborsClassifier(3, metric=metric).fit(X, y, s)
    sparse = KNeighborsClassifier(3, metric=metric).fit(csr_array(X), y, s)
    for Q in (None, X[:7]):
        assert_array_equal(sparse.kneighbors(Q)[1], dense.kneighbors(Q)[1])
    assert certus.verify(sparse, csr_array(X), y, sample_weight=s).certified


def test_given_distances(data):
    X, y, s, _there = data
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    given = KNeighborsClassifier(3, metric="precomputed").fit(D, y, s)
    plain = KNeighborsClassifier(3).fit(X, y, s)
    assert_array_equal(given.kneighbors()[1], plain.kneighbors()[1])
    assert_array_equal(given.kneighbors(D[:5])[1], plain.kneighbors(X[:5])[1])
    assert given.certificate_.certified
    graph = KNeighborsClassifier(3, metric="precomputed").fit(csr_array(D), y, s)
    assert_array_equal(graph.kneighbors(D[:5])[1], plain.kneighbors(X[:5])[1])


def test_a_pickled_model_still_leaves_them_out(data):
    X, y, s, _ = data
    model = KNeighborsClassifier(3).fit(X, y, s)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.kneighbors()[1], model.kneighbors()[1])


def test_an_absent_row_that_is_named_is_noticed(data):
    X, y, s, _there = data
    model = KNeighborsClassifier(3).fit(X, y, s)
    everybody = KNeighborsClassifier(3).fit(X, y)
    model._index, model._present = everybody._index, None
    result = certus.verify(model, X, y, sample_weight=s)
    assert not result.certified
    assert "has weight 0" in str(result)


def test_more_neighbours_than_rows_that_are_present(data):
    X, y, s, there = data
    model = KNeighborsClassifier(len(there) + 1).fit(X, y, s)
    with pytest.raises(ValueError, match=f"the fit had {len(there)} rows of positive weight"):
        model.predict(X)


@pytest.mark.parametrize(
    ("bagging", "model"),
    [(BaggingClassifier, KNeighborsClassifier()), (BaggingRegressor, KNeighborsRegressor())],
)
def test_bagging_of_neighbours(bagging, model, data):
    X, y, _, _ = data
    ensemble = bagging(model, n_estimators=20, max_samples=0.5, random_state=0)
    assert np.isfinite(ensemble.fit(X, y).predict(X)).all()
