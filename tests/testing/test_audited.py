"""Audited: the estimator inside, and a certificate of every fit."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.cluster import KMeans
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import Lasso, LogisticRegression, PoissonRegressor, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import certus
from certus import Audited
from certus.exceptions import (
    CannotVerifyError,
    NotCertifiedError,
    NotCertifiedWarning,
    SeparationWarning,
)
from certus.testing import certified, relative_gap
from tests.contract.problems import classification

X, y, _ = classification(0, n=200, p=5)
s = np.random.default_rng(1).random(len(y)) + 0.1
OPTIMAL = LogisticRegression(tol=1e-9)
LOOSE = Lasso(alpha=0.01, tol=0.5, max_iter=100_000)
CORRELATED = X @ (np.ones((5, 5)) + 0.1 * np.eye(5))


@pytest.mark.parametrize("estimator", [LogisticRegression(), Ridge()], ids=["classes", "numbers"])
@pytest.mark.filterwarnings("ignore")  # checks of estimators warn of much else
def test_scikit_learns_checks_pass(estimator):
    check_estimator(Audited(estimator), on_skip=None)


def test_answers_are_those_of_the_estimator():
    model, alone = Audited(OPTIMAL).fit(X, y), clone(OPTIMAL).fit(X, y)
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        assert np.array_equal(getattr(model, method)(X), getattr(alone, method)(X))
    assert model.score(X, y, sample_weight=s) == alone.score(X, y, sample_weight=s)
    assert np.array_equal(model.classes_, alone.classes_)
    assert model.n_features_in_ == 5
    assert is_classifier(model)
    assert is_regressor(Audited(Ridge()))
    assert not hasattr(Audited(Ridge()), "predict_proba")
    assert not hasattr(model, "transform")
    assert not hasattr(Audited(OPTIMAL), "classes_"), "not before fit"


def test_the_certificate_is_that_of_the_rows_of_the_fit():
    model = Audited(OPTIMAL).fit(X, y, sample_weight=s)
    assert model.certificate_.certified
    assert model.certificate_.objective == certus.verify(model, X, y, s).objective
    assert not any("rows given" in note for note in model.certificate_.notes)
    assert "OPTIMAL" in model.certificate_.explain()


def test_a_fit_that_misses_its_optimum_warns_once_at_the_users_line():
    with pytest.warns(NotCertifiedWarning, match="Lasso is not certified: ") as warned:
        model = Audited(LOOSE).fit(CORRELATED, X[:, 0])
    assert len(warned) == 1
    assert warned[0].filename == __file__
    assert not model.certificate_.certified


def test_or_raises_and_keeps_what_was_found():
    model = Audited(LOOSE, on_fail="raise")
    with pytest.raises(NotCertifiedError, match=r"OPTIMAL   sklearn\.linear_model\.Lasso"):
        model.fit(CORRELATED, X[:, 0])
    assert not model.certificate_.certified
    assert model.estimator_.coef_.shape == (5,)


def test_the_tolerance_decides():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Audited(LOOSE, tol=1.0).fit(CORRELATED, X[:, 0]).certificate_.tol == 1.0


def test_a_model_of_certus_that_has_warned_is_not_repeated():
    inner = certus.linear_model.LogisticRegression(max_iter=1)
    with pytest.warns(NotCertifiedWarning) as warned:
        Audited(inner).fit(X * [1, 1, 1, 1e4, 1], y)
    assert len(warned) == 1


def test_separated_classes_are_named():
    with pytest.warns(SeparationWarning, match="no finite optimum"):
        Audited(LogisticRegression(C=np.inf)).fit(X, X[:, 0] > 0)


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (RandomForestClassifier(), "RandomForestClassifier"),
        (make_pipeline(StandardScaler(), RandomForestClassifier()), "RandomForestClassifier"),
    ],
)
def test_what_cannot_be_audited_is_refused_before_it_is_fitted(estimator, name):
    model = Audited(estimator)
    with pytest.raises(CannotVerifyError, match=f"^{name} cannot be audited"):
        model.fit(X, y)
    assert not hasattr(model, "estimator_")


@pytest.mark.parametrize("outer", [BaggingClassifier, OneVsRestClassifier])
def test_models_inside_a_model_are_all_checked(outer):
    model = Audited(outer(LogisticRegression(tol=1e-9)), on_fail="raise")
    certificate = model.fit(X, np.digitize(X[:, 0] + s, [0.0, 1.0])).certificate_
    assert certificate.certified
    assert len(certificate.parts) > 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"on_fail": "ask"}, 'on_fail=\'ask\': use "warn" or "raise"'),
        ({"tol": -1}, "tol=-1: give a number that is not negative"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(ValueError, match=message):
        Audited(OPTIMAL, **parameters).fit(X, y)


def test_copies_and_pickles_answer_alike():
    model = Audited(OPTIMAL).fit(X, y)
    for again in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
        assert again.certificate_.status == "optimal"
    assert not hasattr(clone(model), "certificate_")
    assert clone(model).get_params()["estimator__tol"] == 1e-9
    assert model.set_params(estimator__C=3.0).estimator.C == 3.0


def test_clusters_and_transformers():
    model = Audited(KMeans(3, n_init=2, random_state=0, tol=0))
    assert np.array_equal(model.fit_predict(X), model.estimator_.labels_)
    assert model.certificate_.status == "local optimum"
    assert np.array_equal(model.fit_transform(X), model.transform(X))
    assert len(model.get_feature_names_out()) == 3


def test_names_of_columns():
    pd = pytest.importorskip("pandas")
    model = Audited(OPTIMAL).fit(pd.DataFrame(X, columns=list("abcde")), y)
    assert list(model.feature_names_in_) == list("abcde")


# --- weights --------------------------------------------------------------------------------------


def test_weights_of_a_step_are_those_of_the_check():
    inner = make_pipeline(StandardScaler(), OPTIMAL)
    model = Audited(inner, on_fail="raise").fit(X, y, logisticregression__sample_weight=s)
    assert model.certificate_.certified


def test_routed_weights_are_those_of_the_check():
    scaler, requests = StandardScaler(), {"sample_weight": True}
    with sklearn.config_context(enable_metadata_routing=True):
        inner = clone(OPTIMAL).set_fit_request(**requests).set_score_request(**requests)
        audited = Audited(inner, on_fail="raise")
        model = make_pipeline(scaler.set_fit_request(sample_weight=False), audited)
        search = GridSearchCV(model, {"audited__estimator__C": [0.1, 1.0]}, cv=3)
        search.fit(X, y, sample_weight=s)
        assert search.best_estimator_[-1].certificate_.certified
        ignored = clone(OPTIMAL).set_fit_request(sample_weight=False)
        model = make_pipeline(StandardScaler().set_fit_request(**requests), ignored)
        assert Audited(model, on_fail="raise").fit(X, y, sample_weight=s).certificate_.certified


def test_exposures_reach_the_check():
    rng = np.random.default_rng(0)
    exposure = rng.random(200) + 0.5
    counts = rng.poisson(exposure)
    model = Audited(certus.linear_model.PoissonRegressor(), on_fail="raise")
    assert model.fit(X, counts, exposure=exposure).certificate_.certified
    assert Audited(PoissonRegressor(tol=1e-9)).fit(X, counts).certificate_.certified


# --- searches -------------------------------------------------------------------------------------

SCORING = {"score": "accuracy", "certified": certified, "gap": relative_gap}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_certificates_of_a_search(n_jobs):
    model = make_pipeline(StandardScaler(), Audited(OPTIMAL))
    grid = {"audited__estimator__C": [0.1, 1.0], "audited__estimator__max_iter": [200, 300]}
    search = GridSearchCV(model, grid, scoring=SCORING, refit="score", cv=3, n_jobs=n_jobs)
    search.fit(X, y)
    assert np.array_equal(search.cv_results_["mean_test_certified"], np.ones(4))
    assert (search.cv_results_["mean_test_gap"] <= 1e-6).all()
    assert certified(search) == 1.0
    assert certus.verify(search, X, y).certified


def test_a_fit_that_fails_is_counted():
    model = Audited(LOOSE)
    with pytest.warns(NotCertifiedWarning):
        search = GridSearchCV(
            model, {"estimator__tol": [0.5, 1e-7]}, cv=3, refit="score",
            scoring={"score": "r2", "certified": certified},
        ).fit(CORRELATED, X[:, 0])  # fmt: skip
    assert np.array_equal(search.cv_results_["mean_test_certified"], [0.0, 1.0])


def test_models_of_certus_have_certificates_of_their_own():
    scores = cross_val_score(certus.linear_model.Ridge(), X, X[:, 0] + y, scoring=certified)
    assert np.array_equal(scores, np.ones(5))


def test_a_model_without_certificate_says_what_to_do():
    with pytest.raises(TypeError, match=r"Ridge has no certificate: put it into certus\.Audited"):
        certified(Ridge().fit(X, y), X, y)


def test_notebooks_show_the_certificate():
    assert "optimal" in Audited(OPTIMAL).fit(X, y)._repr_html_().lower()
