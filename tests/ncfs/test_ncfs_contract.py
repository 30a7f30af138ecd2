"""What scikit-learn's world expects of NCFS."""

import copy
import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel, SelectorMixin
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import certus
from certus import feature_selection
from certus.feature_selection import NCFSClassifier, NCFSRegressor
from certus.neighbors import KNeighborsClassifier
from tests.contract.estimator_classes import SELECTORS
from tests.contract.problems import weights
from tests.house.naming import without_address
from tests.ncfs.ncfs_cases import curve, signal

each_class = pytest.mark.parametrize("cls", SELECTORS, ids=lambda cls: cls.__name__)
FITTED = {
    "weights_", "weights_in_units_", "support_", "objective_", "alpha_", "n_iter_",
    "n_evaluations_", "solver_", "loo_score_", "n_features_in_", "certificate_", "shift_", "scale_",
}  # fmt: skip
ASKED_NOT_HEARD = (
    "a weight says how much it counts what a row is told, not how often the row is there to be "
    "asked: two copies of a row are each other's nearest neighbour"
)


def data(cls, seed=1, **how):
    """With targets of its kind."""
    X, y = curve(seed, **how)
    return (X, y) if cls is NCFSRegressor else (X, np.array(["a", "b"])[(y > np.median(y)) * 1])


# some checks fit noise, a few rows, or three rows of three classes
@pytest.mark.filterwarnings("ignore::certus.exceptions.DegenerateWarning")
@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")
@pytest.mark.filterwarnings("ignore:No features were selected")
@parametrize_with_checks(
    [
        NCFSClassifier(),
        NCFSClassifier(metric="sqeuclidean", prior="balanced", scale="standard", form="mean"),
        NCFSClassifier(solver="yang", max_iter=10),
        NCFSRegressor(),
        NCFSRegressor(metric="euclidean", loss="epsilon_insensitive", scale=None),
    ],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": ASKED_NOT_HEARD
    },
)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


# --- the interface --------------------------------------------------------------------------------


@each_class
def test_every_parameter_and_fitted_attribute_is_documented(cls):
    X, y = data(cls)
    model = cls().fit(pd.DataFrame(X, columns=list("abcdef")), y)
    doc = inspect.getdoc(cls)
    fitted = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert fitted >= FITTED
    for name in [*inspect.signature(cls).parameters, *fitted, "feature_importances_"]:
        assert name in doc, f"{name} is not documented"
    head = doc.split("Parameters\n")[0]
    assert "maximise" in head
    assert "Σ" in head
    for section in ("Parameters", "Attributes", "Notes", "Examples"):
        assert f"{section}\n{'-' * len(section)}" in doc
    for name, method in inspect.getmembers(cls, inspect.isfunction):
        if not name.startswith("_"):
            assert inspect.getdoc(method), name


def test_parameters_and_their_defaults():
    shared = {
        "alpha": "auto", "sigma": 1.0, "metric": "manhattan", "form": "sum", "scale": "minmax",
        "batch_size": None, "solver": "lbfgs", "max_iter": 1000, "tol": 1e-6, "step": "auto",
        "warm_start": False, "threshold": "0.01*max",
        "n_features_to_select": None, "verbose": 0,
    }  # fmt: skip
    assert NCFSClassifier().get_params() == {**shared, "prior": "empirical", "loss": None}
    assert NCFSRegressor().get_params() == {**shared, "loss": "absolute", "epsilon": "auto"}
    for cls in (NCFSClassifier, NCFSRegressor):
        first, *rest = list(inspect.signature(cls).parameters.values())
        assert first.name == "alpha"
        assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in rest)


@each_class
def test_it_is_a_selector(cls):
    X, y = data(cls)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = cls().fit(frame, y)
    assert isinstance(model, SelectorMixin)
    names = [name for name, chosen in zip("abcdef", model.support_, strict=True) if chosen]
    assert 0 < len(names) < 6
    assert model.get_feature_names_out().tolist() == names
    np.testing.assert_array_equal(model.transform(frame), X[:, model.support_])
    framed = cls().set_output(transform="pandas").fit(frame, y).transform(frame)
    pd.testing.assert_frame_equal(framed, frame[names])
    np.testing.assert_array_equal(cls().fit_transform(X, y), X[:, model.support_])
    assert cls().fit(X, y).transform(X.astype(np.float32)[:5]).dtype == np.float32
    taken = SelectFromModel(cls(), threshold=-np.inf, max_features=2).fit(X, y)
    assert taken.get_support().sum() == 2


@each_class
@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_a_copy_of_a_fitted_model_predicts_the_same_bits(cls, copied):
    X, y = data(cls)
    model = cls().fit(X, y)
    twin = copied(model)
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    assert repr(twin.certificate_) == repr(model.certificate_)
    assert certus.verify(twin, X, y).certified
    assert set(vars(twin)) == set(vars(model))


@each_class
def test_a_clone_has_the_parameters_and_nothing_of_the_fit(cls):
    X, y = data(cls)
    twin = clone(cls(0.3, sigma=2.0).fit(X, y))
    assert twin.get_params()["alpha"] == 0.3
    assert not [name for name in vars(twin) if name.endswith("_")]
    for method in (twin.predict, twin.transform, twin.get_support):
        with pytest.raises(NotFittedError):
            method(*([] if method == twin.get_support else [X]))
    with pytest.raises(NotFittedError):
        twin.feature_importances_


@each_class
def test_a_fit_changes_neither_parameters_nor_data(cls):
    X, y = data(cls)
    s = weights(1, len(X))
    for scale in ("minmax", None):
        model = cls(scale=scale)
        before = repr(model.get_params()), X.copy(), y.copy(), s.copy()
        model.fit(X, y, s)
        assert repr(model.get_params()) == before[0]
        for now, then in zip((X, y, s), before[1:], strict=True):
            np.testing.assert_array_equal(now, then)
        predicted = model.predict(X)
        X[:], y[:] = 0.0, y[0]  # what was fitted is the model's own
        np.testing.assert_array_equal(model.predict(before[1]), predicted)
        X[:], y[:] = before[1], before[2]


@each_class
def test_a_second_fit_gives_the_same_and_forgets_the_first(cls):
    X, y = data(cls)
    once = cls().fit(X, y)
    other, target = data(cls, 2, P=7)
    twice = cls().fit(pd.DataFrame(other, columns=list("abcdefg")), target, 2.0).fit(X, y)
    assert set(vars(twice)) == set(vars(once))
    for name in FITTED - {"certificate_"}:
        np.testing.assert_array_equal(getattr(twice, name), getattr(once, name))
    assert repr(twice.certificate_) == repr(once.certificate_)


# --- among others ---------------------------------------------------------------------------------


def test_pipelines_and_searches_take_them():
    X, y = load_iris(return_X_y=True)
    X = np.hstack([X, np.random.default_rng(0).normal(size=(150, 20))])
    pipe = make_pipeline(NCFSClassifier(), KNeighborsClassifier())
    bare = make_pipeline(StandardScaler(), KNeighborsClassifier())
    assert cross_val_score(pipe, X, y).mean() > cross_val_score(bare, X, y).mean() + 0.05
    search = GridSearchCV(NCFSClassifier(), {"alpha": [0.5, 2.0], "sigma": [1.0, 2.0]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.9
    assert certus.verify(search, X, y).certified
    assert search.best_estimator_.get_support(indices=True).max() < 4


@each_class
def test_sample_weight_is_routed_by_metadata(cls):
    X, y = data(cls)
    s = weights(1, len(X))
    with config_context(enable_metadata_routing=True):
        pipe = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            cls().set_fit_request(sample_weight=True).set_score_request(sample_weight=True),
        ).fit(X, y, sample_weight=s)
        score = pipe.score(X, y, sample_weight=s)
    scaled = StandardScaler().fit_transform(X)
    direct = cls().fit(scaled, y, sample_weight=s)
    np.testing.assert_array_equal(pipe[-1].weights_, direct.weights_)
    assert score == direct.score(scaled, y, sample_weight=s)
    assert score != direct.score(scaled, y)
    assert not np.array_equal(direct.weights_, cls().fit(scaled, y).weights_)


# --- frames and labels ----------------------------------------------------------------------------


@each_class
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table], ids=without_address)
def test_frames_are_taken_and_their_columns_asked_for(cls, library):
    X, y = data(cls)
    columns = dict(zip("abcdef", X.T, strict=True))
    model = cls().fit(library(columns), y)
    np.testing.assert_array_equal(model.feature_names_in_, list("abcdef"))
    plain = cls().fit(X, y)
    np.testing.assert_array_equal(model.weights_, plain.weights_)
    np.testing.assert_array_equal(model.predict(library(columns)), plain.predict(X))
    with pytest.raises(ValueError, match="order"):
        model.predict(library({name: columns[name] for name in "bacdef"}))
    assert not hasattr(model.fit(X, y), "feature_names_in_")


@pytest.mark.parametrize(
    "labels",
    [
        lambda y: y,
        lambda y: y.astype(np.int8) - 1,
        lambda y: np.array(["x", "yy", "zzz"])[y],
        lambda y: np.array(["x", "yy", "zzz"], dtype=object)[y],
        lambda y: pd.Categorical.from_codes(y, ["x", "yy", "zzz"]),
        lambda y: pd.Series(["x", "yy", "zzz"]).iloc[y].reset_index(drop=True),
        lambda y: [["x", "yy", "zzz"][k] for k in y],
    ],
)
def test_labels_of_any_kind_give_the_same_weights(labels):
    X, y = signal(1)
    here, there = NCFSClassifier(0.2).fit(X, y), NCFSClassifier(0.2).fit(X, labels(y))
    np.testing.assert_array_equal(here.weights_, there.weights_)
    np.testing.assert_array_equal(there.predict(X), there.classes_[here.predict(X)])


@pytest.mark.parametrize("metric", ["manhattan", "sqeuclidean", "euclidean"])
def test_float32_rows_stay_float32(metric):
    X, y = signal(2, n=90)
    model = NCFSClassifier(0.2, metric=metric).fit(X.astype(np.float32), y)
    assert model._fit_X.dtype == np.float32
    assert model._fit_X.shape == (90, np.count_nonzero(model.weights_))
    assert model.weights_.dtype == np.float64
    assert model.certificate_.certified
    assert certus.verify(model, X.astype(np.float32), y).certified


@each_class
def test_a_fitted_model_in_a_notebook_shows_its_certificate(cls):
    X, y = data(cls)
    shown = cls().fit(X, y)._repr_html_()
    assert "Local optimum" in shown
    assert cls.__name__ in shown
    assert "Local optimum" not in cls()._repr_html_()


def test_the_module_is_reached_from_the_root():
    assert certus.feature_selection is feature_selection
