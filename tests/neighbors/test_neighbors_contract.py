"""scikit-learn's expectations of an estimator, for the neighbour estimators."""

import copy
import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.neighbors as peers
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import certus
from certus import neighbors
from tests.contract.problems import classification

CLASSES = [
    getattr(neighbors, name) for name in neighbors.__all__ if "Neighbors" in name
]  # fmt: skip
PREDICTORS = [cls for cls in CLASSES if hasattr(cls, "predict")]
each_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
each_predictor = pytest.mark.parametrize("cls", PREDICTORS, ids=lambda cls: cls.__name__)
MORE = ["abstain"]  # what scikit-learn's have not

SLOTS = "a weight multiplies a vote; a row of weight 2 is still one of the k nearest, not two"
NOT_REPETITION = {
    "check_sample_weight_equivalence_on_dense_data": SLOTS,
    "check_sample_weight_equivalence_on_sparse_data": SLOTS,
}


TIES = "of equal shares the check wants the first class; ours is the one whose voter is nearest"


def known_to_fail(model):
    k_nearest = (neighbors.KNeighborsClassifier, neighbors.KNeighborsRegressor)
    several = isinstance(model, k_nearest) and model.n_neighbors > 1
    result = dict(NOT_REPETITION) if several else {}
    if (
        is_classifier(model)
        and model.weights == "uniform"
        and model.get_params().get("n_neighbors") != 1
    ):
        result["check_classifiers_train"] = TIES
    return result


def make(cls, **parameters):
    """Return a model that predicts something for every row."""
    if cls is neighbors.RadiusNeighborsClassifier:
        parameters = {"radius": 3.0, "outlier_label": "most_frequent", **parameters}
    if cls is neighbors.RadiusNeighborsRegressor:
        parameters = {"radius": 3.0, "abstain": "prior", **parameters}
    return cls(**parameters)


def problem(seed=0, n=90, p=4):
    X, y, _ = classification(seed, n=n, p=p, classes=3)
    return X, y


@parametrize_with_checks(
    [
        *(make(cls) for cls in CLASSES),
        neighbors.KNeighborsClassifier(n_neighbors=1, abstain="prior"),
        *(make(cls, weights="distance", metric="manhattan") for cls in PREDICTORS),
        *(make(cls, metric="nan_euclidean") for cls in CLASSES),
        *(make(cls, metric="precomputed") for cls in CLASSES),
        make(neighbors.NearestNeighbors, metric="gower"),
        make(neighbors.KNeighborsRegressor, metric="chebyshev"),
    ],
    expected_failed_checks=known_to_fail,
)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


# --- the interface --------------------------------------------------------------------------------


@each_class
def test_parameters_and_defaults_are_scikit_learns(cls):
    ours = inspect.signature(cls.__init__).parameters
    theirs = inspect.signature(getattr(peers, cls.__name__).__init__).parameters
    assert [name for name in ours if name not in MORE] == list(theirs)
    for name, theirs_one in theirs.items():
        assert ours[name].default == theirs_one.default, name
        assert ours[name].kind == theirs_one.kind, name


@each_class
def test_methods_take_the_arguments_that_scikit_learns_take(cls):
    peer = getattr(peers, cls.__name__)
    methods = [
        name
        for name, _ in inspect.getmembers(peer, inspect.isfunction)
        if not name.startswith("_") and name not in ("get_metadata_routing",)
    ]
    for method in methods:
        ours = list(inspect.signature(getattr(cls, method)).parameters)
        theirs = list(inspect.signature(getattr(peer, method)).parameters)
        assert [name for name in ours if name != "sample_weight" or name in theirs] == theirs, (
            method
        )


@pytest.mark.parametrize("name", ["kneighbors_graph", "radius_neighbors_graph"])
def test_functions_take_the_arguments_that_scikit_learns_take(name):
    ours = inspect.signature(getattr(neighbors, name)).parameters
    theirs = inspect.signature(getattr(peers, name)).parameters
    assert list(ours) == list(theirs)
    for argument, one in theirs.items():
        assert ours[argument].default == one.default
        assert ours[argument].kind == one.kind


@each_class
def test_attributes_are_scikit_learns_and_documented(cls):
    X, y = problem()
    frame = pd.DataFrame(X, columns=list("abcd"))
    ours = make(cls).fit(frame, y)
    theirs = getattr(peers, cls.__name__)().fit(frame, y)
    doc = inspect.getdoc(cls)
    for name in (n for n in vars(theirs) if n.endswith("_")):
        assert hasattr(ours, name), name
        if name != "outlier_label_":
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    for name in (n for n in vars(ours) if n.endswith("_")):
        assert name in doc, f"{name} is not documented"
    for name in inspect.signature(cls).parameters:
        assert f"{name} : " in doc, f"{name} is not documented"
    for section in ("Parameters", "Attributes", "Examples"):
        assert f"{section}\n{'-' * len(section)}" in doc


@pytest.mark.parametrize(
    ("metric", "p", "params", "name", "rest"),
    [
        ("minkowski", 1, None, "manhattan", {}),
        ("minkowski", 2, None, "euclidean", {}),
        ("minkowski", np.inf, None, "chebyshev", {}),
        ("minkowski", 3, None, "minkowski", {"p": 3, "w": None}),
        ("manhattan", 2, None, "manhattan", {}),
        ("minkowski", None, {"p": 1.5}, "minkowski", {"p": 1.5, "w": None}),
    ],
)
def test_the_effective_metric_is_scikit_learns(metric, p, params, name, rest):
    X, _ = problem()
    for library in (neighbors, peers):
        model = library.NearestNeighbors(metric=metric, p=p, metric_params=params).fit(X)
        assert model.effective_metric_ == name
        assert model.effective_metric_params_ == rest


# --- copies, and among others ---------------------------------------------------------------------


@each_predictor
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_a_copy_of_a_fitted_model_predicts_the_same_bits(cls, copied):
    X, y = problem()
    model = make(cls).fit(X, y)
    twin = copied(model)
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    assert repr(twin.certificate_) == repr(model.certificate_)


@each_class
def test_a_clone_has_the_parameters_and_nothing_of_the_fit(cls):
    X, y = problem()
    twin = clone(make(cls).fit(X, y))
    assert not [name for name in vars(twin) if name.endswith("_")]
    search = twin.kneighbors if hasattr(twin, "kneighbors") else twin.radius_neighbors
    with pytest.raises(NotFittedError):
        search(X)
    with pytest.raises(NotFittedError):
        search(None)


@each_class
def test_a_fit_changes_neither_parameters_nor_data(cls):
    X, y = problem()
    params = {"p": 1}
    model = make(cls, metric_params=params, p=None)
    before = repr(model.get_params()), X.copy(), y.copy()
    model.fit(X, y)
    assert repr(model.get_params()) == before[0]
    assert params == {"p": 1}
    np.testing.assert_array_equal(X, before[1])
    np.testing.assert_array_equal(y, before[2])


@each_predictor
def test_a_second_fit_forgets_the_first(cls):
    X, y = problem()
    once = make(cls).fit(X, y)
    twice = make(cls).fit(*problem(2, n=70, p=3), sample_weight=np.arange(70.0)).fit(X, y)
    np.testing.assert_array_equal(twice.predict(X), once.predict(X))
    assert set(vars(twice)) == set(vars(once))


@each_predictor
def test_a_fit_that_fails_leaves_the_model_as_it_was(cls):
    X, y = problem()
    model = make(cls).fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError):
        model.fit(X[:, :2], np.full(len(X), np.nan))
    np.testing.assert_array_equal(model.predict(X), before)


def test_a_score_without_rows_is_leave_one_out():
    X, y = problem(3)
    model = neighbors.KNeighborsClassifier(n_neighbors=7, weights="distance").fit(X, y)
    slow = cross_val_score(clone(model), X, y, cv=LeaveOneOut()).mean()
    assert model.score(None, y) == pytest.approx(slow, abs=1e-12)


def test_a_search_over_k_and_metrics_agrees_with_scikit_learn():
    X, y = problem(4, n=150)
    grid = {
        "kneighborsregressor__n_neighbors": [1, 5, 15],
        "kneighborsregressor__p": [1, 2],
        "kneighborsregressor__weights": ["uniform", "distance"],
    }
    result = [
        GridSearchCV(make_pipeline(StandardScaler(), library.KNeighborsRegressor()), grid, cv=3)
        .fit(X, y)
        .cv_results_["mean_test_score"]
        for library in (neighbors, peers)
    ]
    np.testing.assert_allclose(*result, rtol=1e-9)


def test_folds_cut_rows_and_columns_of_given_distances():
    X, y = problem(5)
    D = np.abs(X[:, None] - X).sum(axis=2)
    given = cross_val_score(neighbors.KNeighborsClassifier(metric="precomputed"), D, y, cv=3)
    rows = cross_val_score(neighbors.KNeighborsClassifier(metric="manhattan"), X, y, cv=3)
    np.testing.assert_array_equal(given, rows)


@each_predictor
def test_sample_weight_is_routed_by_metadata(cls):
    from sklearn import config_context

    X, y = problem()
    s = np.arange(1.0, len(X) + 1)
    with config_context(enable_metadata_routing=True):
        pipe = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            make(cls).set_fit_request(sample_weight=True),
        ).fit(X, y, sample_weight=s)
    scaled = StandardScaler().fit_transform(X)
    direct = make(cls).fit(scaled, y, sample_weight=s)
    np.testing.assert_array_equal(pipe.predict(X), direct.predict(scaled))


@each_predictor
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_are_taken_and_their_columns_asked_for(cls, library):
    X, y = problem()
    frame = library(dict(zip("abcd", X.T, strict=True)))
    model = make(cls).fit(frame, y)
    np.testing.assert_array_equal(model.feature_names_in_, list("abcd"))
    np.testing.assert_array_equal(model.predict(frame), make(cls).fit(X, y).predict(X))
    with pytest.raises(ValueError, match="order"):
        model.predict(frame[["b", "a", "c", "d"]])


@each_class
def test_a_fitted_model_in_a_notebook_shows_its_certificate(cls):
    X, y = problem()
    assert cls.__name__ in make(cls).fit(X, y)._repr_html_()


def test_the_module_is_reached_from_the_root():
    assert certus.neighbors is neighbors
