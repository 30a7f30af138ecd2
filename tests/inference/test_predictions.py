"""Predictions with standard errors and intervals, against statsmodels and simulation."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import statsmodels.api as sm

from certus.exceptions import AliasWarning, InferenceError
from certus.linear_model import LinearRegression, LogisticRegression, Ridge
from certus.solvers.inference import linear as solver
from tests.contract.problems import weights
from tests.inference.inference_cases import each_intercept, noisy


def new_rows(X, m=7):
    return X[:m] + np.random.default_rng(1).normal(size=(m, X.shape[1]))


@each_intercept
@pytest.mark.parametrize("cov", ["classical", "HC3"])
@pytest.mark.parametrize("weighted", [False, True])
def test_linear_predictions_are_those_of_statsmodels(fit_intercept, cov, weighted):
    X, y = noisy(0)
    s = weights(0, len(y)) if weighted else np.ones(len(y))
    s[s == 0] = 0.5
    model = LinearRegression(fit_intercept=fit_intercept).fit(X, y, s)
    found = model.inference(X, y, s, cov=cov)

    def columns(A):
        return sm.add_constant(A, has_constant="add") if fit_intercept else A

    fit = sm.WLS(y, columns(X), weights=s).fit()
    fit = fit if cov == "classical" else fit.get_robustcov_results("HC3")
    expected = fit.get_prediction(columns(new_rows(X))).summary_frame(alpha=0.1)
    table = found.predict(new_rows(X), level=0.9)
    pairs = {
        "fit": "mean", "std error": "mean_se", "low": "mean_ci_lower", "high": "mean_ci_upper",
        "new low": "obs_ci_lower", "new high": "obs_ci_upper",
    }  # fmt: skip
    for ours, theirs in pairs.items():
        if ours in table.columns:
            np.testing.assert_allclose(table[ours], expected[theirs], rtol=1e-8, err_msg=ours)
    assert ("new low" in table.columns) == (cov == "classical")
    np.testing.assert_allclose(table["fit"], model.predict(new_rows(X)), rtol=1e-12)


def test_several_targets_are_predicted_one_after_the_other():
    X, y = noisy(1, k=3)
    table = LinearRegression().fit(X, y).inference(X, y).predict(new_rows(X))
    alone = LinearRegression().fit(X, y[:, 1]).inference(X, y[:, 1]).predict(new_rows(X))
    for column in ("fit", "std error", "low", "new high"):
        np.testing.assert_allclose(table[column][7:14], alone[column], rtol=1e-9)
    assert list(table.to_pandas().index[7]) == ["y1", 0]


def test_logistic_predictions_are_those_of_statsmodels():
    X, y = noisy(2, n=150)
    y = (y > np.median(y)).astype(int)
    found = LogisticRegression(C=np.inf, tol=1e-12).fit(X, y).inference(X, y)
    fit = sm.GLM(y, sm.add_constant(X), family=sm.families.Binomial()).fit(tol=1e-14)
    expected = fit.get_prediction(sm.add_constant(new_rows(X))).summary_frame()
    table = found.predict(new_rows(X))
    for ours, theirs in (
        ("probability", "mean"), ("low", "mean_ci_lower"), ("high", "mean_ci_upper"),
    ):  # fmt: skip
        np.testing.assert_allclose(table[ours], expected[theirs], rtol=1e-6)
    assert ((table["low"] > 0) & (table["high"] < 1)).all()


def test_softmax_errors_are_those_of_the_delta_method():
    X, y = noisy(3, n=200)
    y = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    found = LogisticRegression(C=np.inf, tol=1e-12).fit(X, y).inference(X, y)
    Phi = np.column_stack([np.ones(7), new_rows(X)])

    def logits(flat):
        z = np.column_stack([np.zeros(7), Phi @ flat.reshape(2, -1).T])
        p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        return np.log(p / (1 - p)).T.ravel()

    theta = found.coef.ravel(order="F")
    J = np.column_stack([
        (logits(theta + h) - logits(theta - h)) / 2e-6 for h in 1e-6 * np.eye(len(theta))
    ])  # fmt: skip
    table = found.predict(new_rows(X))
    np.testing.assert_allclose(table["logit"], logits(theta), rtol=1e-9)
    expected = np.sqrt(np.einsum("ij,jk,ik->i", J, found.covariance, J))
    np.testing.assert_allclose(table["std error"], expected, rtol=1e-6)
    shares = table["probability"].reshape(3, 7).sum(axis=0)
    np.testing.assert_allclose(shares, 1, rtol=1e-12)


def test_columns_far_from_zero_cost_no_digits():
    X, y = noisy(4)
    near = LinearRegression().fit(X, y).inference(X, y).predict(new_rows(X))
    far = LinearRegression().fit(X + 2.0**20, y).inference(X + 2.0**20, y)
    table = far.predict(new_rows(X) + 2.0**20)
    np.testing.assert_allclose(table["std error"], near["std error"], rtol=1e-7)


def test_the_covariance_itself_gives_the_same_errors(monkeypatch):
    """Results with many coefficients keep the covariance only."""
    X, y = noisy(8, k=2)
    expected = LinearRegression().fit(X, y).inference(X, y).predict(new_rows(X))
    monkeypatch.setattr(solver, "MAX_FACTORED_COEFFICIENTS", 2)
    found = LinearRegression().fit(X, y).inference(X, y).predict(new_rows(X))
    np.testing.assert_allclose(found["std error"], expected["std error"], rtol=1e-9)


@pytest.mark.slow
def test_prediction_intervals_contain_new_observations_as_often_as_they_say():
    rng = np.random.default_rng(5)
    X, x, hits = rng.normal(size=(20, 2)), np.array([[1.0, -2.0]]), 0
    for _ in range(2000):
        y = X @ [1.0, 2.0] + rng.normal(size=20)
        table = LinearRegression().fit(X, y).inference(X, y).predict(x, level=0.8)
        hits += table["new low"][0] < -3 + rng.normal() < table["new high"][0]
    assert hits / 2000 == pytest.approx(0.8, abs=0.03)


def test_frames_and_sparse_rows_are_read_by_the_names_of_the_fit():
    X, y = noisy(6)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    found = LinearRegression().fit(frame, y).inference(frame, y)
    expected = found.predict(X[:3])["fit"]
    np.testing.assert_array_equal(found.predict(frame[:3])["fit"], expected)
    sparse = found.predict(scipy.sparse.csr_array(X[:3]))["fit"]
    np.testing.assert_array_equal(sparse, expected)
    with pytest.raises(ValueError, match="X_new lacks the column 'c'"):
        found.predict(frame[["a", "b", "d"]])
    with pytest.raises(ValueError, match=r"in the order of the fit: \['a', 'b', 'c', 'd'\]"):
        found.predict(frame[["b", "a", "c", "d"]])
    with pytest.raises(ValueError, match=r"X_new has shape \(3, 2\): give rows of 4 columns"):
        found.predict(X[:3, :2])
    with pytest.raises(ValueError, match="X_new has nan in row 1, column 'b'"):
        found.predict([[0, 0, 0, 0], [0, np.nan, 0, 0]])
    with pytest.raises(ValueError, match="level=95: give a share"):
        found.predict(X[:3], level=95)


def test_predictions_of_penalised_and_aliased_models_say_what_they_are():
    X, y = noisy(7)
    table = Ridge().fit(X, y).inference(X, y).predict(X[:2])
    assert "ignores the bias of the penalty" in table.title
    twice = np.column_stack([X, X[:, 0]])
    with pytest.warns(AliasWarning):
        found = LinearRegression().fit(twice, y).inference(twice, y)
    with pytest.raises(InferenceError, match="columns repeat others"):
        found.predict(twice[:2])
