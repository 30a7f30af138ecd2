"""The interface of KMeans that scikit-learn's tools rely on."""

import copy
import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.cluster as peers
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import certus
from certus import cluster
from certus.cluster import KMeans
from tests.contract.estimator_classes import CLUSTERERS
from tests.contract.problems import weights
from tests.kmeans.cluster_cases import blobs

each_class = pytest.mark.parametrize("cls", CLUSTERERS, ids=lambda cls: cls.__name__)

ENOUGH = 4  # of the blobs


def make(cls, **more):
    return cls(n_clusters=ENOUGH, random_state=0, **more)


STARTS = "starts are drawn from the rows in their order, and a row twice is two rows to draw"
KNOWN = dict.fromkeys(
    (
        "check_sample_weight_equivalence_on_dense_data",
        "check_sample_weight_equivalence_on_sparse_data",
    ),
    STARTS,
)


@pytest.mark.filterwarnings("ignore::certus.exceptions.DegenerateWarning")  # 4 distinct rows
@parametrize_with_checks(
    [
        KMeans(random_state=0),
        KMeans(init="random", random_state=0),
        KMeans(init="k-means||", algorithm="elkan", random_state=0),
    ],
    expected_failed_checks=lambda model: KNOWN,
)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


# --- the interface --------------------------------------------------------------------------------


@each_class
def test_parameters_and_defaults_are_scikit_learns(cls):
    ours = inspect.signature(cls.__init__).parameters
    theirs = inspect.signature(getattr(peers, cls.__name__).__init__).parameters
    own = ["single_moves"] if cls is KMeans else []  # no move of a row in scikit-learn
    assert list(ours) == [*theirs, *own]
    for name, theirs_one in theirs.items():
        assert ours[name].default == theirs_one.default, name
        assert ours[name].kind == theirs_one.kind, name


@each_class
def test_methods_take_the_arguments_that_scikit_learns_take(cls):
    peer = getattr(peers, cls.__name__)
    for method, _ in inspect.getmembers(peer, inspect.isfunction):
        if not method.startswith("_"):
            ours = list(inspect.signature(getattr(cls, method)).parameters)
            assert ours == list(inspect.signature(getattr(peer, method)).parameters), method
            assert inspect.getdoc(getattr(cls, method))


@each_class
def test_attributes_are_scikit_learns_and_documented(cls):
    frame = pd.DataFrame(blobs(1, p=4), columns=list("abcd"))
    ours, theirs = make(cls).fit(frame), make(getattr(peers, cls.__name__)).fit(frame)
    doc = inspect.getdoc(cls)
    for name in (n for n in vars(theirs) if n.endswith("_")):
        assert np.shape(getattr(ours, name)) == np.shape(getattr(theirs, name)), name
        assert np.asarray(getattr(ours, name)).dtype == np.asarray(getattr(theirs, name)).dtype
    for name in (n for n in vars(ours) if n.endswith("_")):
        assert f"{name} : " in doc, f"{name} is not documented"
    for name in inspect.signature(cls).parameters:
        assert f"{name} : " in doc, f"{name} is not documented"
    assert "minimise" in doc
    assert "Σ" in doc.split("Parameters\n")[0]
    assert "Examples\n--------" in doc


@each_class
def test_columns_of_distances_are_named_as_scikit_learn_names_them(cls):
    X = blobs(1)
    names = make(cls).fit(X).get_feature_names_out()
    np.testing.assert_array_equal(
        names, make(getattr(peers, cls.__name__)).fit(X).get_feature_names_out()
    )
    framed = make(cls).set_output(transform="pandas").fit_transform(X)
    assert list(framed.columns) == list(names)


# --- copies, pipelines and searches ---------------------------------------------------------------


@each_class
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_a_copy_of_a_fitted_model_predicts_the_same_bits(cls, copied):
    X = blobs(1)
    model = make(cls).fit(X)
    twin = copied(model)
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    assert repr(twin.certificate_) == repr(model.certificate_)
    assert set(vars(twin)) == set(vars(model))


@each_class
def test_a_clone_has_the_parameters_and_nothing_of_the_fit(cls):
    X = blobs(1)
    twin = clone(make(cls).fit(X))
    assert not [name for name in vars(twin) if name.endswith("_")]
    for method in (twin.predict, twin.transform, twin.score):
        with pytest.raises(NotFittedError):
            method(X)


@each_class
def test_a_fit_changes_neither_parameters_nor_data(cls):
    X, start = blobs(1), blobs(1)[:ENOUGH]
    s, given = weights(1, len(X)), start.copy()
    init = "random" if cls is cluster.BisectingKMeans else start  # it draws a start for each split
    for copy_x in (True, False):
        model = make(cls, init=init).set_params(**({"copy_x": copy_x} if cls is KMeans else {}))
        before = repr(model.get_params())
        model.fit(X, sample_weight=s)
        assert repr(model.get_params()) == before
        np.testing.assert_array_equal(X, blobs(1))
        np.testing.assert_array_equal(s, weights(1, len(X)))
        np.testing.assert_array_equal(start, given)


@each_class
def test_a_second_fit_forgets_the_first(cls):
    X = blobs(1)
    once = make(cls).fit(X)
    twice = make(cls).fit(pd.DataFrame(blobs(2, p=2), columns=["a", "b"]), sample_weight=3.0).fit(X)
    np.testing.assert_array_equal(twice.cluster_centers_, once.cluster_centers_)
    assert set(vars(twice)) == set(vars(once))


@each_class
def test_a_fit_that_fails_leaves_the_model_as_it_was(cls):
    X = blobs(1)
    model = make(cls).fit(X)
    before = model.predict(X)
    with pytest.raises(ValueError):
        model.fit(np.full((30, 2), np.nan))
    np.testing.assert_array_equal(model.predict(X), before)


@each_class
def test_pipelines_and_searches_take_them(cls):
    X = blobs(1, n=150) * [1, 10, 100]
    pipe = make_pipeline(StandardScaler(), make(cls))
    grid = {f"{cls.__name__.lower()}__n_clusters": [2, 3]}
    search = GridSearchCV(pipe, grid, cv=3).fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    np.testing.assert_array_equal(pipe.fit_predict(X), pipe.fit(X).predict(X))


@each_class
def test_sample_weight_is_routed_by_metadata(cls):
    X = blobs(1)
    s = np.arange(1.0, len(X) + 1)
    with config_context(enable_metadata_routing=True):
        pipe = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            make(cls).set_fit_request(sample_weight=True).set_score_request(sample_weight=True),
        ).fit(X, sample_weight=s)
        score = pipe.score(X, sample_weight=s)
    scaled = StandardScaler().fit_transform(X)
    direct = make(cls).fit(scaled, sample_weight=s)
    np.testing.assert_array_equal(pipe[-1].cluster_centers_, direct.cluster_centers_)
    assert score == direct.score(scaled, sample_weight=s)
    assert score != direct.score(scaled)


@each_class
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_are_taken_and_their_columns_asked_for(cls, library):
    X = blobs(1, p=4)
    frame = library(dict(zip("abcd", X.T, strict=True)))
    model = make(cls).fit(frame)
    np.testing.assert_array_equal(model.feature_names_in_, list("abcd"))
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    np.testing.assert_array_equal(model.labels_, make(cls).fit(X).labels_)
    with pytest.raises(ValueError, match="order"):
        model.predict(frame[["b", "a", "c", "d"]])


@each_class
def test_a_fitted_model_in_a_notebook_shows_its_certificate(cls):
    shown = make(cls).fit(blobs(1))._repr_html_()
    assert cls.__name__ in shown
    assert len(shown) > len(make(cls)._repr_html_()) + 100


def test_the_module_is_reached_from_the_root():
    assert certus.cluster is cluster
