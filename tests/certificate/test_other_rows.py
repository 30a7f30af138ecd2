"""A right model on other rows is named as such, and a bad fit on its own rows is not."""

import warnings

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    RidgeCV,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC, LinearSVR

import certus
from certus.audit.rows_of_fit import rows_of_folds
from certus.exceptions import CannotVerifyError

CLASSIFIERS = [
    LogisticRegression(max_iter=10_000),
    LogisticRegression(max_iter=10_000, class_weight="balanced"),
    LogisticRegression(solver="newton-cg", C=10.0),
    LogisticRegression(solver="newton-cholesky"),
    RidgeClassifier(),
    SGDClassifier(loss="log_loss", random_state=0),
    make_pipeline(StandardScaler(), LogisticRegression()),
    make_pipeline(StandardScaler(), LinearSVC(max_iter=10_000)),
    make_pipeline(make_column_transformer((MinMaxScaler(), [0, 1, 2])), LinearSVC()),
    GridSearchCV(make_pipeline(StandardScaler(), LogisticRegression()),
                 {"logisticregression__C": [0.1, 1.0]}),
]  # fmt: skip
REGRESSORS = [
    LinearRegression(), Ridge(), RidgeCV(), Lasso(0.1), ElasticNet(0.1), HuberRegressor(),
    SGDRegressor(random_state=0), make_pipeline(StandardScaler(), Lasso(0.1)),
]  # fmt: skip
DATA = [
    *(
        (load, model)
        for load in (load_breast_cancer, load_wine, load_iris)
        for model in CLASSIFIERS
    ),
    *((load_diabetes, model) for model in REGRESSORS),
]


def fitted(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


@pytest.mark.parametrize(("load", "model"), DATA, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_model_on_the_rows_of_a_test_set_is_not_blamed_on_its_solver(load, model, seed):
    X, y = load(return_X_y=True)
    A, B, a, b = train_test_split(X, y, random_state=seed)
    model = fitted(model, A, a)
    other = certus.verify(model, B, b)
    assert not other.certified
    assert other.other_rows
    text = other.explain()
    assert text.startswith("[?] PROBABLY NOT THE ROWS IT WAS FITTED ON   ")
    assert (
        f"What is wrong  these are probably not the rows it was fitted on: {other.other_rows[0]}"
        in text
    )
    assert "give the X, y and sample_weight of the fit" in text
    assert "raise max_iter" not in text
    assert "standardise" not in text
    assert "probably not the rows it was fitted on" in repr(other)
    assert "Probably not the rows" in other._repr_html_()
    assert not certus.verify(model, A, a).other_rows


def test_what_the_scaler_saw_is_said_in_numbers():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:400], y[:400])
    assert (
        "StandardScaler saw 400 rows, these are 169"
        in certus.verify(model, X[400:], y[400:]).explain()
    )


def test_a_scaler_of_the_target_saw_the_rows_of_the_fit_too():
    X, y = load_diabetes(return_X_y=True)
    regressor = make_pipeline(HuberRegressor(fit_intercept=False))
    model = TransformedTargetRegressor(regressor, transformer=StandardScaler())
    c = certus.verify(model.fit(X[:300], y[:300]), X[300:], y[300:])
    assert "StandardScaler saw 300 rows, these are 142" in c.other_rows


def test_folds_that_name_rows_which_do_not_exist_are_evidence():
    X, y = load_diabetes(return_X_y=True)
    folds = [(np.arange(200), np.arange(200, 300)), (np.arange(100, 300), np.arange(100))]
    search = GridSearchCV(LinearSVR(max_iter=10), {}, cv=folds)
    assert next(rows_of_folds(search)).rows == 300
    search = GridSearchCV(Lasso(), {"alpha": [0.1]}, cv=folds).fit(X[:300], y[:300])
    c = certus.verify(search, X[:250], y[:250])
    assert "cv of GridSearchCV saw 300 rows, these are 250" in c.other_rows


def test_a_scaler_that_saw_as_many_other_rows_is_told_by_the_mean_it_leaves():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), LinearSVC(max_iter=10_000)).fit(X[:284], y[:284])
    (text,) = certus.verify(model, X[284:568], y[284:568]).other_rows
    assert "the scaler centred its rows" in text


def test_weights_that_were_left_out_are_noticed():
    X, y = load_diabetes(return_X_y=True)
    s = np.where(y > 150, 3.0, 1.0)
    model = Lasso(0.1).fit(X, y, sample_weight=s)
    c = certus.verify(model, X, y)
    assert "too low on average" in c.other_rows[0] or "too high on average" in c.other_rows[0]
    assert "sample_weight" in c.explain()
    assert certus.verify(model, X, y, sample_weight=s).other_rows == ()


def test_an_intercept_that_was_changed_is_named_and_not_taken_for_other_rows():
    X, y = load_diabetes(return_X_y=True)
    model = LinearRegression().fit(X, y)
    model.intercept_ += 10
    c = certus.verify(model, X, y)
    assert c.other_rows == ()
    assert "the residuals do not sum to 0" in c.explain()


def test_other_columns_are_refused_with_both_numbers():
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(CannotVerifyError, match=r"X has 3 features.*expecting 10"):
        certus.verify(LinearRegression().fit(X, y), X[:, :3], y)


def badly_stopped(seed):
    """A fit that ended early, on columns of any scale."""
    random = np.random.default_rng(seed)
    n, p, odd = int(random.integers(30, 300)), int(random.integers(1, 9)), seed % 2
    scale, shift = (
        10.0 ** random.uniform(-1, 3 * odd, p), 10.0 ** random.uniform(-1, 2 * odd, p)
    )  # fmt: skip
    X = random.normal(size=(n, p)) * scale + shift
    z = (X - X.mean(axis=0)) / X.std(axis=0) @ random.normal(size=p)
    max_iter, tol = int(10 ** random.uniform(0.5, 2.5)), 10 ** random.uniform(-8, -1)
    common = {"max_iter": max_iter, "tol": tol}
    y = z + random.normal(size=n)
    label = (random.random(n) < 1 / (1 + np.exp(-z))).astype(int)
    label[:2] = 0, 1
    C, solver = 10 ** random.uniform(-2, 3), ("lbfgs", "newton-cg", "newton-cholesky", "saga")
    model, y = [
        (LogisticRegression(C=C, solver=solver[seed // 8 % 4], **common), label),
        (LogisticRegression(C=C, class_weight="balanced", **common), np.digitize(y, [-1, 1])),
        (LogisticRegression(C=C, **common), label),
        (Lasso(10 ** random.uniform(-4, -1), **common), y),
        (Ridge(10 ** random.uniform(-4, 1), solver=("sag", "lsqr")[seed // 8 % 2], **common), y),
        (SGDClassifier(loss="log_loss", random_state=0, **common), label),
        (SGDRegressor(random_state=0, **common), y),
        (make_pipeline(StandardScaler(), LinearSVC(C=C, **common)), label),
    ][seed % 8]
    return fitted(model, X, y), X, y


def test_of_200_bad_fits_on_their_own_rows_none_is_taken_for_a_fit_on_others():
    bad, alarms = 0, []
    seed = 0
    while bad < 200:
        model, X, y = badly_stopped(seed)
        if np.isfinite(getattr(model, "coef_", np.zeros(1))).all():
            c = certus.verify(model, X, y)
            bad += not c.certified
            if c.other_rows:
                alarms.append((seed, c.other_rows))
        seed += 1
    assert not alarms
