"""scikit-learn's expectations of an estimator, for the kernel machines."""

import copy
import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import certus
from certus import svm
from certus.svm import LSSVC, LSSVCCV, LSSVR, DensityWeightedLSSVC, DensityWeightedSVC
from tests.contract.estimator_classes import KERNEL_MACHINES
from tests.contract.problems import weights
from tests.house.naming import without_address
from tests.lssvm.svm_cases import blobs, curve

each_class = pytest.mark.parametrize("cls", KERNEL_MACHINES, ids=lambda cls: cls.__name__)
EVERY = {"dual_coef_", "intercept_", "gamma_", "objective_", "n_features_in_", "certificate_"}
OWN_NEIGHBOR = "density: two copies of a row are each other's nearest neighbour"
NOT_ITS_ROWS = "it predicts for a kernel of too few columns, which is said before NaN is"
NO_KERNEL = "it is given a matrix that is not symmetric, which no kernel is"


def data(cls, seed=1, **options):
    """Return data with targets of the right kind."""
    return curve(seed, **options) if cls is LSSVR else blobs(seed, **options)


def known_to_fail(model):
    """Checks that do not apply, with the reason."""
    if hasattr(model, "n_neighbors"):
        return {"check_sample_weight_equivalence_on_dense_data": OWN_NEIGHBOR}
    if model.kernel != "precomputed":
        return {}
    known = {"check_estimators_nan_inf": NOT_ITS_ROWS}
    if is_classifier(model):
        known["check_classifiers_one_label_sample_weights"] = NO_KERNEL
    return known


# some checks fit a few rows far from each other
@pytest.mark.filterwarnings("ignore::certus.exceptions.DegenerateWarning")
@parametrize_with_checks(
    [
        LSSVC(),
        LSSVC(kernel="linear", class_weight="balanced"),
        LSSVC(kernel="precomputed"),
        LSSVR(),
        LSSVR(kernel="linear"),
        LSSVR(kernel="precomputed"),
        LSSVCCV(Cs=3, gammas=2),
        DensityWeightedLSSVC(n_neighbors=1),
        DensityWeightedLSSVC(n_neighbors=1, formulation="primal", class_weight=None),
        DensityWeightedSVC(n_neighbors=1),
    ],
    expected_failed_checks=known_to_fail,
)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


# --- the interface --------------------------------------------------------------------------------


@each_class
def test_every_parameter_and_fitted_attribute_is_documented(cls):
    X, y = data(cls)
    model = cls().fit(pd.DataFrame(X, columns=list("abc")), y)
    doc = inspect.getdoc(cls)
    fitted = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    assert fitted >= EVERY
    for name in [*inspect.signature(cls).parameters, *fitted]:
        assert name in doc, f"{name} is not documented"
    for name, method in inspect.getmembers(cls, inspect.isfunction):
        if not name.startswith("_"):
            assert inspect.getdoc(method), name


def test_parameters_and_their_defaults():
    kernel = {"kernel": "rbf", "degree": 3, "coef0": 0.0, "verbose": 0}
    one = {**kernel, "C": 1.0, "gamma": "scale"}
    system = {"fit_intercept": True, "loo": "auto"}
    near = {"n_neighbors": 5, "density": "global", "class_weight": "balanced"}
    assert LSSVC().get_params() == {**one, **system, "class_weight": None}
    assert LSSVR().get_params() == {**one, **system}
    assert LSSVCCV().get_params() == {
        **kernel, "Cs": 10, "gammas": 10, "fit_intercept": True, "scoring": "accuracy",
        "class_weight": None,
    }  # fmt: skip
    assert DensityWeightedLSSVC().get_params() == {
        **one, **system, **near, "formulation": "dual", "epsilon": 0.0,
    }  # fmt: skip
    assert DensityWeightedSVC().get_params() == {
        **one, **near, "tol": 1e-3, "shrinking": True, "cache_size": 200, "max_iter": -1,
        "decision_function_shape": "ovr", "break_ties": False,
    }  # fmt: skip
    for cls in (LSSVC, LSSVR, DensityWeightedLSSVC, DensityWeightedSVC):
        first, *rest = inspect.signature(cls).parameters.values()
        assert first.name == "C"
        assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in rest)


@each_class
def test_it_is_a_classifier_or_a_regressor(cls):
    assert is_regressor(cls()) == (cls is LSSVR)
    assert is_classifier(cls()) == (cls is not LSSVR)
    assert not hasattr(cls(), "predict_proba")


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("cls", [LSSVC, LSSVCCV, DensityWeightedLSSVC, DensityWeightedSVC])
def test_shapes_are_scikit_learns(cls, classes):
    X, y = blobs(1, classes=classes)
    model = cls().fit(X, np.array(["a", "b", "c"])[y])
    scores = model.decision_function(X)
    assert scores.shape == ((len(X),) if classes == 2 else (len(X), classes))
    assert scores.dtype == np.float64
    assert set(model.predict(X)) == set("abc"[:classes])
    if cls is not DensityWeightedSVC:
        q = 1 if classes == 2 else classes
        assert model.dual_coef_.shape == (q, len(X))
        assert model.intercept_.shape == (q,)
        assert model.loo_scores_.shape == scores.shape
        message = scores > 0 if classes == 2 else scores.argmax(axis=1)
        np.testing.assert_array_equal(model.predict(X), model.classes_[message * 1])


@pytest.mark.parametrize("targets", [None, 1, 2])
def test_predictions_have_the_shape_of_y(targets):
    X, y = curve(1)
    y = y if targets is None else np.column_stack([y, -2 * y])[:, :targets]
    model = LSSVR().fit(X, y)
    assert model.predict(X).shape == y.shape
    assert model.loo_scores_.shape == y.shape
    assert model.dual_coef_.shape == (targets or 1, len(X))
    assert certus.verify(model, X, y).certified


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
    twin = clone(cls(kernel="poly", coef0=1.0).fit(X, y))
    assert twin.get_params()["coef0"] == 1.0
    assert not [name for name in vars(twin) if name.endswith("_")]
    with pytest.raises(NotFittedError):
        twin.predict(X)


@each_class
def test_a_fit_changes_neither_parameters_nor_data_and_keeps_its_own_rows(cls):
    X, y = data(cls)
    s = weights(1, len(X))
    model = cls()
    before = repr(model.get_params()), X.copy(), y.copy(), s.copy()
    model.fit(X, y, s)
    assert repr(model.get_params()) == before[0]
    for now, then in zip((X, y, s), before[1:], strict=True):
        np.testing.assert_array_equal(now, then)
    message = model.predict(X)
    X[:], y[:] = 0.0, y[0]
    np.testing.assert_array_equal(model.predict(before[1]), message)


@each_class
def test_a_second_fit_gives_the_same_and_forgets_the_first(cls):
    X, y = data(cls)
    once = cls().fit(X, y)
    other, target = data(cls, 2, p=4)
    twice = cls().fit(pd.DataFrame(other, columns=list("abcd")), target, 2.0).fit(X, y)
    assert set(vars(twice)) == set(vars(once))
    np.testing.assert_array_equal(twice.dual_coef_, once.dual_coef_)
    assert repr(twice.certificate_) == repr(once.certificate_)


def test_rows_of_an_earlier_fit_are_forgotten_with_a_kernel_matrix():
    X, y = blobs(1)
    model = LSSVC().fit(X, y)
    assert not hasattr(model.set_params(kernel="precomputed").fit(X @ X.T, y), "X_fit_")


# --- among others ---------------------------------------------------------------------------------


@each_class
def test_pipelines_and_cross_validation_take_them(cls):
    X, y = data(cls, n=200)
    assert cross_val_score(make_pipeline(StandardScaler(), cls()), X, y, cv=3).min() > 0.6


def test_a_search_chooses_and_is_certified():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(LSSVC(), {"C": [0.1, 10.0], "gamma": [0.1, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    assert certus.verify(search, X, y).certified


def test_a_search_over_a_kernel_matrix_cuts_rows_and_columns():
    X, y = blobs(1)
    search = GridSearchCV(LSSVC(kernel="precomputed"), {"C": [0.1, 1.0]}, cv=3).fit(X @ X.T, y)
    plain = GridSearchCV(LSSVC(kernel="linear"), {"C": [0.1, 1.0]}, cv=3).fit(X, y)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )


@pytest.mark.parametrize("cls", [LSSVC, LSSVCCV, DensityWeightedLSSVC, DensityWeightedSVC])
@pytest.mark.parametrize("classes", [2, 3])
def test_calibration_gives_probabilities(cls, classes):
    X, y = blobs(3, n=150, classes=classes)
    P = CalibratedClassifierCV(cls(), cv=3).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert (P.argmax(axis=1) == y).mean() > 0.8


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
    np.testing.assert_array_equal(pipe[-1].dual_coef_, direct.dual_coef_)
    assert score == direct.score(scaled, y, sample_weight=s)
    assert not np.array_equal(direct.intercept_, cls().fit(scaled, y).intercept_)


# --- frames and labels ----------------------------------------------------------------------------


@each_class
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table], ids=without_address)
def test_frames_are_taken_and_their_columns_asked_for(cls, library):
    X, y = data(cls)
    columns = dict(zip("abc", X.T, strict=True))
    model = cls().fit(library(columns), y)
    np.testing.assert_array_equal(model.feature_names_in_, list("abc"))
    plain = cls().fit(X, y)
    np.testing.assert_allclose(model.predict(library(columns)), plain.predict(X), rtol=1e-9)
    with pytest.raises(ValueError, match="order"):
        model.predict(library({name: columns[name] for name in "bac"}))
    assert not hasattr(model.fit(X, y), "feature_names_in_")
    assert certus.verify(cls().fit(library(columns), y), library(columns), y).certified


@pytest.mark.parametrize("cls", [LSSVC, DensityWeightedLSSVC, DensityWeightedSVC])
@pytest.mark.parametrize(
    "labels",
    [
        lambda y: y.astype(np.int8) - 1,
        lambda y: np.array(["x", "yy", "zzz"])[y],
        lambda y: np.array(["x", "yy", "zzz"], dtype=object)[y],
        lambda y: pd.Categorical.from_codes(y, ["x", "yy", "zzz"]),
        lambda y: [["x", "yy", "zzz"][k] for k in y],
        lambda y: y == 1,
    ],
)
def test_labels_of_any_kind_give_the_same_machine(cls, labels):
    X, y = blobs(1, classes=3)
    if isinstance(labels(y), np.ndarray) and labels(y).dtype == bool:
        y = (y == 1) * 1
    here, there = cls().fit(X, y), cls().fit(X, labels(y))
    np.testing.assert_array_equal(here.dual_coef_, there.dual_coef_)
    np.testing.assert_array_equal(there.predict(X), there.classes_[here.predict(X)])


@each_class
def test_float32_rows_stay_float32_and_are_the_same_numbers(cls):
    X, y = data(cls)
    X = X.astype(np.float32)
    here, there = cls().fit(X, y), cls().fit(X.astype(float), y)
    kept = here.support_vectors_ if cls is DensityWeightedSVC else here.X_fit_
    assert cls is DensityWeightedSVC or kept.dtype == np.float32
    np.testing.assert_allclose(here.dual_coef_, there.dual_coef_, rtol=1e-4, atol=1e-6)
    assert here.certificate_.certified
    assert certus.verify(here, X, y).certified


@each_class
def test_whole_numbers_are_the_same_numbers(cls):
    X, y = data(cls)
    X = np.rint(10 * X)
    here, there = cls().fit(X.astype(np.int16), y), cls().fit(X, y)
    np.testing.assert_array_equal(here.dual_coef_, there.dual_coef_)


@each_class
def test_a_fitted_model_in_a_notebook_shows_its_certificate(cls):
    X, y = data(cls)
    assert "✔ Optimal" in cls().fit(X, y)._repr_html_()
    assert "✔ Optimal" not in cls()._repr_html_()


@each_class
def test_verbose_says_what_is_done(cls, capsys):
    X, y = data(cls)
    cls().fit(X, y)
    assert capsys.readouterr().out == ""
    cls(verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert all(line.startswith(f"{cls.__name__}: ") for line in lines)


def test_the_module_is_reached_from_the_root():
    assert certus.svm is svm
