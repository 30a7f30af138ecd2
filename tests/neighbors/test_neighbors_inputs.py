"""Invalid input raises errors that name the row, the column and the remedy."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import cdist
from sklearn.exceptions import DataConversionWarning

from certus.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
    kneighbors_graph,
)

X = np.random.default_rng(0).normal(size=(30, 3))
Y = np.arange(30) % 3


def spoilt(value, row=4, column=1):
    bad = X.copy()
    bad[row, column] = value
    return bad


# --- rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [NearestNeighbors, KNeighborsClassifier, RadiusNeighborsRegressor])
def test_a_missing_value_is_named_with_the_metrics_that_take_it(cls):
    message = r"column 1 of X has 1 missing value \(NaN; row 4\).*nan_euclidean.*gower"
    with pytest.raises(ValueError, match=message):
        cls().fit(spoilt(np.nan), Y)
    model = cls().fit(X, Y)
    method = getattr(model, "predict", getattr(model, "kneighbors", None))
    with pytest.raises(ValueError, match=message):
        method(spoilt(np.nan))
    frame = pd.DataFrame(spoilt(np.nan), columns=["age", "income", "debt"])
    with pytest.raises(ValueError, match=r"column 'income' has 1 missing value \(NaN; row 4\)"):
        cls().fit(frame, Y)


@pytest.mark.parametrize("metric", ["minkowski", "nan_euclidean"])
def test_an_infinite_value_is_named_whatever_the_metric(metric):
    message = r"column 1 of X has 1 infinite value \(inf; row 4\)"
    with pytest.raises(ValueError, match=message):
        NearestNeighbors(metric=metric).fit(spoilt(np.inf))
    with pytest.raises(ValueError, match=message):
        NearestNeighbors(metric=metric).fit(X).kneighbors(spoilt(-np.inf))


def test_missing_values_of_sparse_rows_are_named():
    with pytest.raises(ValueError, match=r"column 1 of X has 1 missing value \(NaN; row 4\)"):
        NearestNeighbors().fit(sp.csr_array(spoilt(np.nan)))


def test_text_is_named():
    frame = pd.DataFrame({"a": [1.0, 2.0], "city": ["Oslo", "Bern"]})
    with pytest.raises(ValueError, match="column 'city' holds text"):
        NearestNeighbors().fit(frame)


def test_other_columns_are_named():
    model = NearestNeighbors().fit(pd.DataFrame(X, columns=["a", "b", "c"]))
    with pytest.raises(ValueError, match=r"(?s)now missing:\n- c"):
        model.kneighbors(pd.DataFrame(X[:, :2], columns=["a", "b"]))
    with pytest.raises(ValueError, match="3 features"):
        NearestNeighbors().fit(X).kneighbors(X[:, :2])


@pytest.mark.parametrize("n", [0, 1])
def test_few_rows(n):
    if n == 0:
        with pytest.raises(ValueError, match="minimum of 1 is required"):
            NearestNeighbors().fit(X[:0])
        return
    model = KNeighborsClassifier(1).fit(X[:1], [7])
    assert model.predict(X).tolist() == [7] * 30
    with pytest.raises(ValueError, match="the fit had 1 row, and a row is not its own neighbour"):
        model.predict(None)


# --- k and radius ---------------------------------------------------------------------------------


def test_more_neighbours_than_rows_are_refused_with_the_number_of_rows():
    model = KNeighborsClassifier(31).fit(X, Y)
    with pytest.raises(ValueError, match=r"n_neighbors = 31.*the fit had 30 rows.*at most 30"):
        model.predict(X[:2])
    with pytest.raises(ValueError, match=r"not its own neighbour\. Give n_neighbors of at most 29"):
        NearestNeighbors().fit(X).kneighbors(None, 30)
    assert NearestNeighbors().fit(X).kneighbors(None, 29)[1].shape == (30, 29)


@pytest.mark.parametrize("k", [0, -1, 2.5, "5", True])
def test_k_is_a_whole_number_above_zero(k):
    with pytest.raises(ValueError, match=r"n_neighbors=.*whole number above 0"):
        NearestNeighbors(n_neighbors=k).fit(X)
    with pytest.raises((ValueError, TypeError), match="n_neighbors"):
        NearestNeighbors().fit(X).kneighbors(X, k)


@pytest.mark.parametrize("radius", [-1, np.nan, "1", True])
def test_a_radius_is_a_number_from_zero(radius):
    with pytest.raises(ValueError, match=r"radius=.*give a number of at least 0"):
        RadiusNeighborsClassifier(radius).fit(X, Y)
    with pytest.raises(ValueError, match="give a number of at least 0"):
        NearestNeighbors().fit(X).radius_neighbors(X, radius)


def test_none_is_allowed_where_it_is_not_needed():
    model = NearestNeighbors(n_neighbors=None, radius=None).fit(X)
    assert model.kneighbors(X, 2)[0].shape == (30, 2)
    with pytest.raises(TypeError, match="n_neighbors=None"):
        model.kneighbors(X)
    with pytest.raises(ValueError, match="radius=None"):
        model.radius_neighbors(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"algorithm": "kdtree"}, "Did you mean 'kd_tree'"),
        ({"leaf_size": 0}, "leaf_size=0"),
        ({"p": 0}, "p=0: give a number above 0"),
        ({"p": "2"}, "p='2'"),
        ({"p": None}, "needs p"),
        ({"metric_params": [1]}, "metric_params=.*give a dict"),
        ({"n_jobs": 1.5}, "n_jobs=1.5"),
        ({"weights": "distances"}, "Did you mean 'distance'"),
    ],
)
def test_parameters_are_refused_in_words(parameters, message):
    with pytest.raises(ValueError, match=message):
        KNeighborsClassifier(**parameters).fit(X, Y)


def test_p_in_two_places_is_warned_of_as_scikit_learn_does():
    with pytest.warns(SyntaxWarning, match="Parameter p is found in metric_params"):
        model = NearestNeighbors(metric_params={"p": 1}).fit(X)
    assert model.effective_metric_ == "manhattan"


def test_sorting_needs_distances():
    with pytest.raises(ValueError, match="return_distance must be True"):
        NearestNeighbors().fit(X).radius_neighbors(X, return_distance=False, sort_results=True)
    with pytest.raises(ValueError, match="include_self"):
        kneighbors_graph(X, 2, include_self="yes")


# --- given distances ------------------------------------------------------------------------------


def test_given_distances_are_checked():
    D = np.abs(X[:, None] - X).sum(axis=2)
    with pytest.raises(ValueError, match=r"must be square\. Input is a 30x3 matrix"):
        NearestNeighbors(metric="precomputed").fit(np.abs(X))
    for value, message in ((-1.0, "-1"), (np.nan, "NaN"), (np.inf, "infinity")):
        bad = D.copy()
        bad[2, 5] = value
        with pytest.raises(ValueError, match=f"distance of row 2 to row 5 is {message}"):
            NearestNeighbors(metric="precomputed").fit(bad)
        with pytest.raises(ValueError, match=f"distance of row 2 to row 5 is {message}"):
            NearestNeighbors(metric="precomputed").fit(sp.csr_array(bad))
    model = NearestNeighbors(metric="precomputed").fit(D)
    with pytest.raises(ValueError, match="30 features"):
        model.kneighbors(D[:, :10])


# --- targets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [KNeighborsClassifier, RadiusNeighborsClassifier])
def test_labels_are_checked(cls):
    with pytest.raises(ValueError, match=r"y holds numbers that are not whole \(first: row 1"):
        cls().fit(X, Y + 0.5 * (Y == 1))
    with pytest.raises(ValueError, match=r"missing label.*row 2"):
        cls().fit(X, np.where(np.arange(30) == 2, np.nan, Y))
    with pytest.raises(ValueError, match="requires y"):
        cls().fit(X, None)
    with pytest.raises(ValueError, match="X has 30 rows, y has 29"):
        cls().fit(X, Y[:-1])
    with pytest.raises(ValueError, match="mixes text and numbers"):
        cls().fit(X, ["a", 1] * 15)
    with pytest.warns(DataConversionWarning, match="column-vector y") as warned:
        cls(10.0).fit(X, Y[:, None]) if cls is RadiusNeighborsClassifier else cls().fit(
            X, Y[:, None]
        )
    assert warned[0].filename == __file__
    with pytest.warns(UserWarning, match="unique classes is greater than 50%"):
        cls().fit(X, np.arange(30))


@pytest.mark.parametrize("cls", [KNeighborsRegressor, RadiusNeighborsRegressor])
def test_numbers_are_checked(cls):
    with pytest.raises(ValueError, match=r"y has 1 missing value \(NaN; row 2\)"):
        cls().fit(X, np.where(np.arange(30) == 2, np.nan, Y))
    with pytest.raises(ValueError, match="y holds something that is no number"):
        cls().fit(X, ["a"] * 30)
    with pytest.raises(ValueError, match="requires y"):
        cls().fit(X, None)
    with pytest.raises(ValueError, match="X has 30 rows, y has 29"):
        cls().fit(X, Y[:-1])
    assert (
        cls(10.0 if cls is RadiusNeighborsRegressor else 5).fit(X, Y * 1e200).predict(X).max() > 0
    )


@pytest.mark.parametrize("cls", [KNeighborsClassifier, KNeighborsRegressor])
def test_weights_are_checked(cls):
    with pytest.raises(ValueError, match=r"below 0 \(first: row 3"):
        cls().fit(X, Y, sample_weight=np.where(np.arange(30) == 3, -1.0, 1.0))
    with pytest.raises(ValueError, match="X has 30 rows, sample_weight has 3"):
        cls().fit(X, Y, sample_weight=[1, 2, 3])
    with pytest.raises(ValueError, match="all are 0"):
        cls().fit(X, Y, sample_weight=np.zeros(30))


def test_one_class_is_predicted_everywhere():
    model = KNeighborsClassifier().fit(X, ["only"] * 30)
    assert set(model.predict(X)) == {"only"}
    np.testing.assert_array_equal(model.predict_proba(X), 1.0)


def test_warnings_point_at_the_callers_line():
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        RadiusNeighborsRegressor(0.0).fit(X, Y).predict(X + 9)
        model = RadiusNeighborsClassifier(0.0, outlier_label=9).fit(X, Y)
        model.predict_proba(X + 9)
        NearestNeighbors(metric_params={"p": 3}).fit(X)
        NearestNeighbors(p=0.5).fit(X)
        KNeighborsClassifier().fit(X, np.arange(30))
    assert len(warned) == 5
    assert {one.filename for one in warned} == {__file__}


def test_a_function_of_sparse_rows_is_served():
    def shared(x, y):
        assert issparse(x)
        assert issparse(y)
        return x.dot(y.T).toarray().item()

    X = csr_array([[1.0, 1, 1, 1, 1], [1, 0, 1, 0, 1], [0, 0, 1, 0, 0]])
    Q = csr_array([[1.0, 1, 0, 1, 1], [1, 0, 0, 1, 1]])
    model = NearestNeighbors(n_neighbors=2, metric=shared).fit(X)
    np.testing.assert_array_equal(model.kneighbors(Q)[1], [[2, 1], [2, 1]])
    with pytest.raises(ZeroDivisionError):
        NearestNeighbors(n_neighbors=1, metric=lambda a, b: 1 / 0).fit(X).kneighbors(Q)


@pytest.mark.parametrize("form", ["dense", "sparse", "precomputed", "cosine"])
def test_a_radius_for_each_query(form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    r = rng.uniform(0, 2, 40)
    metric = form if form in ("precomputed", "cosine") else "euclidean"
    rows = {"sparse": csr_array(X), "precomputed": cdist(X, X)}.get(form, X)
    model = NearestNeighbors(metric=metric).fit(rows)
    for Q in (rows, None):
        d, i = model.radius_neighbors(Q, r, sort_results=True)
        for t in range(40):
            if Q is None:
                alone = model.radius_neighbors(None, r[t], sort_results=True)
                alone = alone[0][t], alone[1][t]
            else:
                alone = model.radius_neighbors(rows[t : t + 1], r[t], sort_results=True)
                alone = alone[0][0], alone[1][0]
            np.testing.assert_array_equal(i[t], alone[1])
            np.testing.assert_allclose(d[t], alone[0])
    graph = model.radius_neighbors_graph(rows, r)
    assert graph.nnz == sum(len(part) for part in model.radius_neighbors(rows, r)[1])


@pytest.mark.parametrize("radius", [[0.4, 0.4], np.full(10, -1.0), np.full((10, 1), 0.4)])
def test_a_radius_that_is_none_for_each_query_is_refused(radius):
    X = np.arange(10.0)[:, None]
    with pytest.raises(ValueError, match="radius="):
        NearestNeighbors().fit(X).radius_neighbors(X, radius)
