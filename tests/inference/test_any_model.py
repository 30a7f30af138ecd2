"""certus.inference: models inside pipelines and searches, loose fits, models of scikit-learn."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn import linear_model as sk
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel, SelectKBest, VarianceThreshold
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeRegressor

import certus
from certus.exceptions import InferenceError, NotCertifiedWarning
from certus.linear_model import (
    FirthLogisticRegression,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeCV,
)


def patients():
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X = X[["age", "sex", "bmi", "bp"]].assign(sex=np.where(X["sex"] == 1, "f", "m"))
    return X, y


def table_steps():
    scaled = (StandardScaler(), ["age", "bmi", "bp"])
    return make_column_transformer(scaled, (OneHotEncoder(drop="first"), ["sex"]))


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


# --- a package that can be called -----------------------------------------------------------------


def test_the_package_is_a_function_and_a_package():
    import certus.inference as package
    from certus.inference import Inference

    assert package is certus.inference
    assert certus.inference.Inference is Inference
    X, y = load_diabetes(return_X_y=True)
    assert isinstance(certus.inference(LinearRegression().fit(X, y), X, y), Inference)


# --- pipelines ------------------------------------------------------------------------------------


def test_a_pipeline_gives_its_columns_their_names():
    X, y = patients()
    pipe = make_pipeline(table_steps(), LinearRegression()).fit(X, y)
    found = certus.inference(pipe, X, y, cov="HC3")
    assert found.names == ("intercept", "age", "bmi", "bp", "sex_m")
    A = pipe[:-1].transform(X)
    expected = LinearRegression().fit(A, y).inference(A, y, cov="HC3")
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-12)
    assert "coefficients are per unit of the columns as StandardScaler scaled them" in str(found)


def test_columns_of_the_same_name_keep_the_prefix_of_their_step():
    X, y = patients()
    steps = make_column_transformer(
        (StandardScaler(), ["age"]), ("passthrough", ["age"]), (StandardScaler(), ["bmi"])
    )
    X = X[["age", "bmi"]]
    pipe = fitted(make_pipeline(steps, LinearRegression()), X, y)
    names = certus.inference(pipe, X, y).names
    assert names[1:] == ("standardscaler-1__age", "passthrough__age", "standardscaler-2__bmi")


def test_predictions_take_rows_as_the_pipeline_does():
    X, y = patients()
    pipe = make_pipeline(table_steps(), LinearRegression()).fit(X, y)
    found = certus.inference(pipe, X, y)
    np.testing.assert_allclose(found.predict(X[:5])["fit"], pipe.predict(X[:5]), rtol=1e-12)
    copy = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(copy.predict(X[:5])["high"], found.predict(X[:5])["high"])


def test_sparse_columns_of_an_encoder_are_taken():
    X, y = patients()
    X = X.assign(site=[f"s{i % 5}" for i in range(len(X))])
    pipe = make_pipeline(OneHotEncoder(drop="first"), LogisticRegression(C=np.inf))
    pipe.fit(X[["sex", "site"]], y > 140)
    found = certus.inference(pipe, X[["sex", "site"]], y > 140)
    assert found.names == ("intercept", "sex_m", "site_s1", "site_s2", "site_s3", "site_s4")
    np.testing.assert_allclose(
        found.predict(X[["sex", "site"]][:3])["probability"],
        pipe.predict_proba(X[["sex", "site"]][:3])[:, 1],
        rtol=1e-6,
    )


def test_a_transformed_target_is_named():
    X, y = patients()
    X = X[["age", "bmi"]]
    model = TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=np.exp)
    found = certus.inference(model.fit(X, y), X, y)
    expected = LinearRegression().fit(X, np.log(y)).inference(X, np.log(y))
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-12)
    assert "of the transformed target" in str(found)


def test_steps_that_looked_at_y_are_named():
    X, y = patients()
    X = X[["age", "bmi", "bp"]]
    for step, expected in (
        (SelectKBest(k=2), "SelectKBest chose or made columns by y on these rows"),
        (SelectFromModel(LinearRegression()), "SelectFromModel chose or made columns by y"),
        (VarianceThreshold(), None),
        (FeatureUnion([("best", SelectKBest(k=1)), ("scaled", StandardScaler())]), "SelectKBest"),
    ):
        pipe = fitted(make_pipeline(StandardScaler(), step, LinearRegression()), X, y)
        text = str(certus.inference(pipe, X, y))
        assert ("by y on these rows" in " ".join(text.split())) == (expected is not None)
        assert expected is None or expected in " ".join(text.split())


# --- searches -------------------------------------------------------------------------------------


def test_what_a_search_chose_on_the_rows_is_said():
    X, y = patients()
    X = X[["age", "bmi"]]
    pipe = make_pipeline(PolynomialFeatures(include_bias=False), LinearRegression())
    search = GridSearchCV(pipe, {"polynomialfeatures__degree": [1, 2]}).fit(X, y)
    found = certus.inference(search, X, y)
    assert "was chosen on these rows by GridSearchCV, which these errors ignore" in str(found)
    one = GridSearchCV(pipe, {"polynomialfeatures__degree": [2]}).fit(X, y)
    assert "chosen" not in str(certus.inference(one, X, y))


def test_a_penalty_that_was_chosen_on_the_rows_is_refused():
    X, y = patients()
    X = X[["age", "bmi"]]
    search = GridSearchCV(Ridge(), {"alpha": [1.0, 2.0]}).fit(X, y)
    with pytest.raises(InferenceError, match=r"alpha=2.0 was chosen on these rows.*Split the data"):
        certus.inference(search, X, y)
    with pytest.raises(InferenceError, match="alpha was chosen on these rows"):
        certus.inference(RidgeCV().fit(X, y), X, y)
    search = GridSearchCV(Ridge(), {"alpha": [1.0, 2.0]}, refit=False, scoring="r2").fit(X, y)
    with pytest.raises((InferenceError, NotFittedError)):
        certus.inference(search, X, y)


# --- fits that are not at their optimum -----------------------------------------------------------


def cancer():
    data = load_breast_cancer(as_frame=True)
    return data.data[["mean texture", "mean area"]], data.target_names[data.target]


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(C=np.inf, max_iter=2),
        LogisticRegression(C=2.0, max_iter=1),
        LogisticRegression(C=np.inf, solver="gd", max_iter=3),
        FirthLogisticRegression(max_iter=2),
    ],
    ids=str,
)
def test_a_fit_that_was_stopped_is_finished(model):
    X, y = cancer()
    with pytest.warns(NotCertifiedWarning):
        model.fit(X, y)
    before = model.coef_.copy()
    with pytest.raises(InferenceError, match=r"certus\.inference\(model, X, y\) fits it again"):
        model.inference(X, y)
    found = certus.inference(model, X, y)
    whole = type(model)(**{
        **model.get_params(), "max_iter": 1000, "tol": 1e-12,
        **({"solver": "lbfgs"} if "solver" in model.get_params() else {}),
    }).fit(X, y)  # fmt: skip
    np.testing.assert_allclose(found.coef, whole.inference(X, y).coef, rtol=1e-6)
    np.testing.assert_array_equal(model.coef_, before)
    assert "the fit was not at the optimum: its coefficients are up to" in str(found.summary())


def test_a_fit_by_any_tol_has_the_same_results():
    X, y = cancer()
    found = [
        certus.inference(fitted(LogisticRegression(C=np.inf, tol=tol), X, y), X, y)
        for tol in (0.5, 1e-6, 1e-12)
    ]
    for other in found[:2]:
        np.testing.assert_allclose(other.coef, found[2].coef, rtol=1e-7)
        np.testing.assert_allclose(other.pvalues, found[2].pvalues, rtol=1e-5)


# --- scikit-learn's models ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (sk.LinearRegression(), LinearRegression()),
        (sk.LinearRegression(fit_intercept=False), LinearRegression(fit_intercept=False)),
        (sk.Ridge(alpha=3.0), Ridge(alpha=3.0)),
    ],
    ids=str,
)
def test_regressors_of_scikit_learn(theirs, ours):
    X, y = load_diabetes(return_X_y=True)
    found = certus.inference(theirs.fit(X, y), X, y, cov="HC1")
    expected = ours.fit(X, y).inference(X, y, cov="HC1")
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-8)
    assert f"scikit-learn's {type(theirs).__name__}, proven optimal" in str(found)


@pytest.mark.parametrize("C", [np.inf, 0.5])
def test_logistic_models_of_scikit_learn_in_a_pipeline(C):
    X, y = cancer()
    pipe = make_pipeline(StandardScaler(), sk.LogisticRegression(C=C, tol=1e-8)).fit(X, y)
    found = certus.inference(pipe, X, y)
    A = pipe[:-1].transform(X)
    expected = LogisticRegression(C=C, tol=1e-12).fit(A, y).inference(A, y)
    np.testing.assert_allclose(found.standard_errors, expected.standard_errors, rtol=1e-6)
    assert found.names == ("intercept", "mean texture", "mean area")
    assert "proven optimal" in str(found)


@pytest.mark.filterwarnings("ignore")
def test_a_model_of_scikit_learn_that_stopped_early_is_refitted():
    X, y = cancer()
    model = sk.LogisticRegression(C=np.inf, max_iter=3).fit(X, y)
    found = certus.inference(model, X, y)
    assert "scikit-learn's LogisticRegression was not at the optimum" in " ".join(
        str(found).split()
    )
    expected = LogisticRegression(C=np.inf, tol=1e-12).fit(X, y).inference(X, y)
    np.testing.assert_allclose(found.coef, expected.coef, rtol=1e-7)


def test_what_has_no_theory_is_refused_by_name():
    X, y = patients()
    X = X[["age", "bmi"]]
    with pytest.raises(InferenceError, match="no inference for scikit-learn's Lasso"):
        certus.inference(sk.Lasso().fit(X, y), X, y)
    with pytest.raises(InferenceError, match="no inference for scikit-learn's DecisionTree"):
        certus.inference(DecisionTreeRegressor().fit(X, y), X, y)
    with pytest.raises(NotFittedError):
        certus.inference(LinearRegression(), X, y)
    with pytest.raises(InferenceError, match="no inference for object"):
        certus.inference(object(), X, y)
    X, y = cancer()
    firth = FirthLogisticRegression().fit(X, y)
    with pytest.raises(InferenceError, match="FirthLogisticRegression has classical standard"):
        certus.inference(firth, X, y, cov="HC0")
    with pytest.raises(InferenceError, match="with an L1 penalty"):
        certus.inference(
            sk.LogisticRegression(C=1e-3, l1_ratio=1.0, solver="saga", tol=1e-4).fit(
                StandardScaler().fit_transform(X), y
            ),
            StandardScaler().fit_transform(X),
            y,
        )
