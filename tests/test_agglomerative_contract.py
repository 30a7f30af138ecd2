"""What scikit-learn's world expects of AgglomerativeClustering."""

import copy
import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.cluster as peers
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from certus.cluster import AgglomerativeClustering
from tree_cases import METHODS, rows


@pytest.mark.filterwarnings("ignore::certus.exceptions.DegenerateWarning")  # ties
@pytest.mark.filterwarnings("ignore::certus.exceptions.UnitsWarning")
@parametrize_with_checks([AgglomerativeClustering(linkage=method) for method in METHODS])
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


def test_parameters_are_scikit_learns_and_more():
    ours = inspect.signature(AgglomerativeClustering.__init__).parameters
    theirs = inspect.signature(peers.AgglomerativeClustering.__init__).parameters
    assert list(ours)[: len(theirs)] == list(theirs)
    for name, theirs_one in theirs.items():
        assert ours[name].default == theirs_one.default, name
        assert ours[name].kind == theirs_one.kind, name
    for name in ("metric_params", "scale", "dtype"):
        assert ours[name].default is None


@pytest.mark.parametrize(
    "parameters",
    [
        {"metric": metric, "linkage": linkage, "compute_full_tree": full, "compute_distances": far}
        for metric in ("euclidean", "l1", "l2", "manhattan", "cosine")
        for linkage in ("complete", "average", "single")
        for full in ("auto", True, False)
        for far in (True, False)
    ],
    ids=lambda p: "-".join(map(str, p.values())),
)
def test_every_value_that_scikit_learn_takes_is_taken(parameters):
    X = rows(1)
    ours = AgglomerativeClustering(3, **parameters).fit(X)
    theirs = peers.AgglomerativeClustering(3, **parameters).fit(X)
    for name in (n for n in vars(theirs) if n.endswith("_")):
        assert np.shape(getattr(ours, name)) == np.shape(getattr(theirs, name)), name
        assert np.asarray(getattr(ours, name)).dtype == np.asarray(getattr(theirs, name)).dtype


def test_a_cache_is_accepted(tmp_path):
    AgglomerativeClustering(memory=str(tmp_path)).fit(rows(1))
    with pytest.raises(ValueError, match="memory"):
        AgglomerativeClustering(memory=3).fit(rows(1))


def test_attributes_and_parameters_are_documented():
    model = AgglomerativeClustering().fit(pd.DataFrame(rows(1), columns=list("abc")))
    doc = inspect.getdoc(AgglomerativeClustering)
    for name in (n for n in vars(model) if n.endswith("_")):
        assert f"{name} : " in doc, f"{name} is not documented"
    for name in inspect.signature(AgglomerativeClustering).parameters:
        assert f"{name} : " in doc, f"{name} is not documented"
    assert "Examples\n--------" in doc


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_a_copy_of_a_fitted_model_predicts_the_same(copied):
    model = AgglomerativeClustering(3).fit(rows(1))
    twin = copied(model)
    np.testing.assert_array_equal(twin.predict(rows(2)), model.predict(rows(2)))
    assert set(vars(twin)) == set(vars(model))


def test_a_clone_has_nothing_of_the_fit():
    twin = clone(AgglomerativeClustering(3, scale="range").fit(rows(1)))
    assert not [name for name in vars(twin) if name.endswith("_")]
    assert twin.scale == "range"
    with pytest.raises(NotFittedError):
        twin.predict(rows(1))


def test_a_fit_changes_neither_parameters_nor_data():
    X = rows(1)
    D = cdist(X, X)
    before = D.copy()
    for given, metric in ((X, "euclidean"), (D, "precomputed")):
        model = AgglomerativeClustering(3, linkage="average", metric=metric)
        params = repr(model.get_params())
        model.fit(given)
        assert repr(model.get_params()) == params
    np.testing.assert_array_equal(X, rows(1))
    np.testing.assert_array_equal(D, before)


def test_a_second_fit_forgets_the_first():
    once = AgglomerativeClustering(3).fit(rows(1))
    twice = AgglomerativeClustering(3).fit(pd.DataFrame(rows(2), columns=list("abc"))).fit(rows(1))
    assert set(vars(twice)) == set(vars(once))
    np.testing.assert_array_equal(twice.labels_, once.labels_)


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    model = AgglomerativeClustering(3).fit(rows(1))
    before = model.predict(rows(2))
    with pytest.raises(ValueError):
        model.fit(np.full((30, 2), np.nan))
    np.testing.assert_array_equal(model.predict(rows(2)), before)


def test_pipelines_take_it():
    pipe = make_pipeline(StandardScaler(), AgglomerativeClustering(3, linkage="average"))
    assert len(set(pipe.fit_predict(rows(1)))) == 3
    assert pipe.predict(rows(2)).shape == (30,)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_are_taken_and_their_columns_asked_for(library):
    X = rows(1)
    frame = library(dict(zip("abc", X.T, strict=True)))
    model = AgglomerativeClustering(3).fit(frame)
    np.testing.assert_array_equal(model.feature_names_in_, list("abc"))
    plain = AgglomerativeClustering(3).fit(X)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.predict(frame), plain.predict(X))
    with pytest.raises(ValueError, match="order"):
        model.predict(frame[["b", "a", "c"]])


def test_callbacks_hear_of_merges():
    from sklearn.callback import ProgressBar

    model = AgglomerativeClustering(3).set_callbacks(ProgressBar())
    model.fit(rows(1))
    assert model.n_clusters_ == 3
