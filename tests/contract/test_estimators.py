"""What scikit-learn's world expects of an estimator, over every estimator in the table."""

import copy
import inspect
import io
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as peers
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import certus
from certus import linear_model
from certus.linear_model import GammaRegressor, PoissonRegressor
from tests.contract.estimator_classes import CLASSES, CLASSIFIERS, POSITIVE, SEVERAL
from tests.contract.laws import ESTIMATORS
from tests.contract.problems import classification, regression

ONE_TARGET = [case for case in ESTIMATORS if case.targets is None]
each_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
each_case = pytest.mark.parametrize("case", ESTIMATORS, ids=str)
alias_is_right = pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")
separation_is_right = pytest.mark.filterwarnings("ignore::certus.exceptions.SeparationWarning")


def problem_for(cls, seed, **how):
    """Data with targets of its kind."""
    if cls in POSITIVE:
        X, y, s = regression(seed, **how)
        return X, np.exp(y / 4), s
    return (classification if cls in CLASSIFIERS else regression)(seed, **how)


def models_to_check():
    """Each model of the table once. Weights of named classes need those names."""
    for model in {repr(m): m for m in (case.make() for case in ONE_TARGET)}.values():
        if not isinstance(model.get_params().get("class_weight"), dict):
            yield model


def known_to_fail(model):
    """Checks of scikit-learn that its own model fails as well, with the reason."""
    if is_classifier(model) and not model.fit_intercept:
        why = "scores through the origin cannot give one class to all rows, whatever it weighs"
        return {"check_class_weight_classifiers": why}
    if isinstance(model, PoissonRegressor | GammaRegressor) and not model.fit_intercept:
        return {"check_regressors_train": "a mean of exp(xᵀw) is 1 at x = 0, and y is not"}
    return {}


@alias_is_right  # some checks fit more columns than rows
@separation_is_right  # … or a few rows of many classes
@parametrize_with_checks(list(models_to_check()), expected_failed_checks=known_to_fail)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


# --- copies ---------------------------------------------------------------------------------------


def _through_joblib(model):
    buffer = io.BytesIO()
    joblib.dump(model, buffer)
    buffer.seek(0)
    return joblib.load(buffer)


@each_case
@alias_is_right
@pytest.mark.parametrize(
    "copied",
    [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), _through_joblib],
    ids=["copy", "deepcopy", "pickle", "joblib"],
)
def test_a_copy_of_a_fitted_model_predicts_the_same_bits_and_keeps_its_certificate(case, copied):
    X, y, _ = case.draw(1)
    model = case.make().fit(X, y)
    twin = copied(model)
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    assert repr(twin.certificate_) == repr(model.certificate_)
    assert certus.verify(twin, X, y).certified
    assert set(vars(twin)) == set(vars(model))


@each_case
@alias_is_right
def test_a_clone_has_the_parameters_and_nothing_of_the_fit(case):
    X, y, _ = case.draw(1)
    model = case.make().fit(X, y)
    twin = clone(model)
    assert repr(twin.get_params()) == repr(model.get_params())
    assert not [name for name in vars(twin) if name.endswith("_")]
    with pytest.raises(NotFittedError):
        twin.predict(X)


@each_case
@alias_is_right
def test_a_fit_changes_neither_parameters_nor_data(case):
    X, y, _ = case.draw(1)
    model = case.make()
    before = repr(model.get_params()), X.copy(), y.copy()
    model.fit(X, y)
    assert repr(model.get_params()) == before[0]
    np.testing.assert_array_equal(X, before[1])
    np.testing.assert_array_equal(y, before[2])


@each_case
@alias_is_right
def test_a_second_fit_forgets_the_first(case):
    X, y, _ = case.draw(1)
    once = case.make().fit(X, y)
    twice = case.make().fit(*case.draw(2)[:2])
    certus.verify(twice, *case.draw(2)[:2])
    twice.fit(X, y)
    np.testing.assert_array_equal(twice.coef_, once.coef_)
    assert set(vars(twice)) == set(vars(once))
    assert certus.verify(twice, X, y).certified


def test_singular_values_belong_to_the_latest_fit():
    model = linear_model.LinearRegression()
    for seed in (1, 2):
        X, y, _ = regression(seed)
        values = model.fit(X, y).singular_
        truth = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
        np.testing.assert_allclose(values, truth, rtol=1e-10)
    model.set_params(positive=True).fit(X, y)
    assert not hasattr(model, "rank_")
    assert not hasattr(model, "singular_")
    assert not hasattr(model, "condition_")


@pytest.mark.parametrize(
    "cls",
    [cls for cls in CLASSES if "fit_intercept" in cls().get_params()],
    ids=lambda c: c.__name__,
)
def test_set_params_takes_effect_at_the_next_fit(cls):
    X, y, _ = problem_for(cls, 1)
    model = cls().fit(X, y)
    assert model.set_params(fit_intercept=False) is model
    assert np.all(model.fit(X, y).intercept_ == 0.0)
    with pytest.raises(ValueError, match="no_such"):
        model.set_params(no_such=1)


# --- among others ---------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_a_parallel_grid_search_gives_the_same_bits_as_a_serial_one(backend, blas_as_before):
    X, y, _ = regression(3, n=400, p=6)
    grid = {"alpha": [0.1, 1.0, 10.0], "fit_intercept": [True, False]}
    serial = GridSearchCV(linear_model.Ridge(), grid, cv=3).fit(X, y)
    with joblib.parallel_config(backend=backend):
        parallel = GridSearchCV(linear_model.Ridge(), grid, cv=3, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(
        parallel.cv_results_["mean_test_score"], serial.cv_results_["mean_test_score"]
    )
    assert parallel.best_params_ == serial.best_params_
    np.testing.assert_array_equal(parallel.best_estimator_.coef_, serial.best_estimator_.coef_)


@each_class
def test_cross_validation_and_pipelines_take_them(cls):
    X, y, _ = problem_for(cls, 3)
    model = cls(alpha=0.1) if "alpha" in cls().get_params() else cls()
    assert cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=3).min() > 0.6
    assert is_regressor(cls()) != is_classifier(cls())


@each_class
def test_sample_weight_is_routed_by_metadata(cls):
    from sklearn import config_context

    if cls is linear_model.LogisticRegressionCV:
        pytest.skip("its scorer must be asked too: see test_logistic_cv")
    X, y, _ = problem_for(cls, 3)
    s = np.arange(1.0, len(X) + 1)
    with config_context(enable_metadata_routing=True):
        pipe = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False),
            cls().set_fit_request(sample_weight=True),
        )
        pipe.fit(X, y, sample_weight=s)
    X_scaled = StandardScaler().fit_transform(X)
    np.testing.assert_allclose(pipe[-1].coef_, cls().fit(X_scaled, y, s).coef_, rtol=1e-12)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_search_routes_weights_to_the_fits_and_to_the_scores(classes):
    from sklearn import config_context

    X, y, _ = classification(3, n=300, classes=classes)
    s = np.random.default_rng(0).uniform(0, 3, size=len(X))
    grid = {"C": [1e-3, 1.0]}
    with config_context(enable_metadata_routing=True):
        found = []
        for cls in (linear_model.LogisticRegression, peers.LogisticRegression):
            model = cls(tol=1e-8).set_fit_request(sample_weight=True)
            model.set_score_request(sample_weight=True)
            found.append(GridSearchCV(model, grid, cv=3).fit(X, y, sample_weight=s))
    ours, theirs = found
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-9
    )
    np.testing.assert_allclose(ours.best_estimator_.coef_, theirs.best_estimator_.coef_, atol=1e-4)
    assert certus.verify(ours, X, y, s).certified
    unweighted = linear_model.LogisticRegression(**ours.best_params_).fit(X, y)
    assert np.abs(unweighted.coef_ - ours.best_estimator_.coef_).max() > 1e-3


def test_ridge_cv_passes_weights_to_the_fits_of_its_folds_when_routing_is_on():
    from sklearn import config_context

    X, y, _ = regression(3, noise=2.0)
    s = np.geomspace(1, 1e6, len(X))
    off = linear_model.RidgeCV(cv=3).fit(X, y, sample_weight=s)
    with config_context(enable_metadata_routing=True):
        on = linear_model.RidgeCV(cv=3).fit(X, y, sample_weight=s)
    assert on.alpha_ == off.alpha_
    assert on.best_score_ == pytest.approx(off.best_score_)


# --- frames ---------------------------------------------------------------------------------------


@each_class
def test_columns_of_a_frame_are_remembered_and_asked_for_at_predict(cls):
    X, y, _ = problem_for(cls, 3)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = cls().fit(frame, pd.Series(y))
    np.testing.assert_array_equal(model.feature_names_in_, ["a", "b", "c", "d"])
    assert model.n_features_in_ == 4
    # a frame is laid out by columns: other sums, other rounding
    np.testing.assert_allclose(model.coef_, cls().fit(X, y).coef_, rtol=1e-12)
    with pytest.raises(ValueError, match=r"'e'|- e"):
        model.predict(frame.rename(columns={"b": "e"}))
    with pytest.raises(ValueError, match="order"):
        model.predict(frame[["b", "a", "c", "d"]])
    with pytest.raises(ValueError, match="3 features"):
        cls().fit(X, y).predict(X[:, :3])


@pytest.mark.parametrize("cls", SEVERAL, ids=lambda cls: cls.__name__)
def test_a_target_frame_gives_coefficients_for_each_target(cls):
    X, y, _ = regression(3, k=2)
    model = cls().fit(pd.DataFrame(X, columns=list("abcd")), pd.DataFrame(y, columns=["u", "v"]))
    assert model.coef_.shape == (2, 4)
    assert model.intercept_.shape == (2,)
    assert model.predict(pd.DataFrame(X, columns=list("abcd"))).shape == y.shape


@each_class
def test_an_array_after_a_frame_forgets_the_names(cls):
    X, y, _ = problem_for(cls, 3)
    model = cls().fit(pd.DataFrame(X, columns=list("abcd")), y).fit(X, y)
    assert not hasattr(model, "feature_names_in_")


# --- words ----------------------------------------------------------------------------------------


@each_class
def test_the_docstring_states_the_objective_and_shows_an_example(cls):
    doc = inspect.getdoc(cls)
    assert "minimise" in doc.lower()
    assert "Σ" in doc
    assert "Examples\n--------" in doc
    assert ">>> " in doc
    for name in inspect.signature(cls).parameters:
        assert name in doc, f"{name} is not documented"


@each_class
def test_every_fitted_attribute_is_documented(cls):
    X, y, _ = problem_for(cls, 3)
    model = cls().fit(pd.DataFrame(X, columns=list("abcd")), y)
    doc = inspect.getdoc(cls)
    for name in vars(model):
        if name.endswith("_") and not name.startswith("_"):
            assert name in doc, f"{name} is not documented"


@each_class
def test_public_methods_are_documented(cls):
    more = ("decision_function", "predict_proba", "predict_log_proba", "sparsify", "densify")
    more = [name for name in more if hasattr(cls, name)]
    for name in ("fit", "predict", "score", *(more if cls in CLASSIFIERS else ())):
        assert inspect.getdoc(getattr(cls, name)), name


@each_class
def test_a_fitted_model_in_a_notebook_shows_its_certificate(cls):
    X, y, _ = problem_for(cls, 3)
    shown = cls().fit(X, y)._repr_html_()
    verdict = "✔ Stationary" if cls is linear_model.FirthLogisticRegression else "✔ Optimal"
    assert verdict in shown
    assert cls.__name__ in shown
    assert verdict not in cls()._repr_html_()
