"""The interface of models with a tree that scikit-learn's tools rely on."""

import copy
import inspect
import pickle
import re
from typing import ClassVar

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

from certus.cluster import AgglomerativeClustering, DivisiveClustering, VariableClustering
from tests.contract.estimator_classes import TREES
from tests.linkage.tree_cases import METHODS, rows


@pytest.mark.filterwarnings("ignore::certus.exceptions.DegenerateWarning")  # ties
@pytest.mark.filterwarnings("ignore::certus.exceptions.UnitsWarning")
@parametrize_with_checks(
    [
        *(AgglomerativeClustering(linkage=method) for method in METHODS),
        DivisiveClustering(),
        VariableClustering(),
        VariableClustering(metric="cosine", absolute=False, representation="mean"),
    ]
)
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


# --- all of them ----------------------------------------------------------------------------------

each_class = pytest.mark.parametrize("cls", TREES, ids=lambda cls: cls.__name__)


def answer(model, X):
    """Return all answers of a fitted model for rows."""
    return model.transform(X) if hasattr(model, "transform") else model.predict(X)


@each_class
def test_attributes_and_parameters_are_documented(cls):
    model = cls().fit(pd.DataFrame(rows(1), columns=list("abc")))
    doc = inspect.getdoc(cls)
    for name in (n for n in vars(model) if n.endswith("_")):
        assert re.search(rf"^.*\b{name}\b.* : ", doc, re.M), f"{name} is not documented"
    for name in inspect.signature(cls).parameters:
        assert f"{name} : " in doc, f"{name} is not documented"
    for section in ("Parameters", "Attributes", "Notes", "Examples"):
        assert f"{section}\n{'-' * len(section)}" in doc
    assert model.certificate_.status == "exact"
    assert len(model._repr_html_()) > len(cls()._repr_html_()) + 100


@each_class
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_a_copy_of_a_fitted_model_answers_the_same(cls, copied):
    model = cls().fit(rows(1))
    twin = copied(model)
    np.testing.assert_array_equal(answer(twin, rows(2)), answer(model, rows(2)))
    assert set(vars(twin)) == set(vars(model))
    assert repr(twin.certificate_) == repr(model.certificate_)


@each_class
def test_a_clone_has_nothing_of_the_fit(cls):
    twin = clone(cls(3).fit(rows(1)))
    assert not [name for name in vars(twin) if name.endswith("_")]
    assert twin.n_clusters == 3
    with pytest.raises(NotFittedError):
        answer(twin, rows(1))


@each_class
def test_a_fit_changes_neither_parameters_nor_data(cls):
    X = rows(1)
    model = cls(3)
    params = repr(model.get_params())
    model.fit(X)
    assert repr(model.get_params()) == params
    np.testing.assert_array_equal(X, rows(1))


def test_given_distances_are_not_changed():
    D = cdist(rows(1), rows(1))
    before = D.copy()
    for model in (AgglomerativeClustering(3, linkage="average"), DivisiveClustering(3)):
        model.set_params(metric="precomputed").fit(D)
        np.testing.assert_array_equal(D, before)


@each_class
def test_a_second_fit_forgets_the_first(cls):
    once = cls().fit(rows(1))
    twice = cls().fit(pd.DataFrame(rows(2), columns=list("abc"))).fit(rows(1))
    assert set(vars(twice)) == set(vars(once))
    np.testing.assert_array_equal(twice.labels_, once.labels_)


@each_class
def test_a_fit_that_fails_leaves_the_model_as_it_was(cls):
    model = cls().fit(rows(1))
    before = answer(model, rows(2))
    with pytest.raises(ValueError):
        model.fit(np.full((30, 2), np.nan))
    np.testing.assert_array_equal(answer(model, rows(2)), before)


def test_pipelines_take_them():
    pipe = make_pipeline(StandardScaler(), VariableClustering(2), DivisiveClustering(3))
    assert len(set(pipe.fit_predict(rows(1)))) == 3
    assert pipe.predict(rows(2)).shape == (30,)


@each_class
def test_labels_are_numbered_by_first_appearance_and_as_many_as_asked_for(cls):
    for k in (1, 2, 3):
        labels = cls(k).fit(rows(1)).labels_
        _, first = np.unique(labels, return_index=True)
        assert len(first) == k
        assert (np.diff(first) > 0).all()


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
@each_class
def test_frames_are_taken_and_their_columns_asked_for(cls, library):
    X = rows(1)
    frame = library(dict(zip("abc", X.T, strict=True)))
    model, plain = cls(3).fit(frame), cls(3).fit(X)
    np.testing.assert_array_equal(model.feature_names_in_, list("abc"))
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(answer(model, frame), answer(plain, X))
    with pytest.raises(ValueError, match="order"):
        answer(model, frame[["b", "a", "c"]])


class Counting:
    """A callback that counts its calls, and tries to stop at the first."""

    heard: ClassVar[list] = []

    def setup(self, estimator, context):
        self.heard.clear()

    def on_fit_task_begin(self, estimator, context, **data):
        pass

    def on_fit_task_end(self, estimator, context, **data):
        self.heard.append(context.task_name)
        return True

    def teardown(self, estimator, context):
        pass


@each_class
def test_callbacks_hear_of_merges_and_cannot_stop_at_half_a_tree(cls):
    model = cls(2).set_callbacks(Counting()).fit(rows(1))
    assert Counting.heard.count("merges") >= (2 if cls is VariableClustering else 25)
    assert model.tree_.n_leaves == (3 if cls is VariableClustering else 30)
