"""HC1, HC2 and HC3 of models fitted by maximum likelihood: least squares, the jackknife, refusals.

statsmodels has them for least squares. (Its GLM and Logit accept these names, and return HC0.)
"""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit

import certus
from certus.exceptions import InferenceError
from certus.linear_model import GammaRegressor, LogisticRegression, PoissonRegressor
from tests.streams import ArrayTable

MODELS = {
    "logistic": LogisticRegression(C=np.inf, tol=1e-10),
    "poisson": PoissonRegressor(alpha=0, tol=1e-10),
    "gamma": GammaRegressor(alpha=0, tol=1e-10),
}
each_model = pytest.mark.parametrize("name", MODELS)
each_cov = pytest.mark.parametrize("cov", ["HC0", "HC1", "HC2", "HC3"])


def draw(name, seed=0, n=80):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) * [1.0, 20.0] + [0.0, 100.0]
    X[:3] += [3.0, 40.0]  # rows of high leverage
    z = 0.8 * X[:, 0] - 0.02 * (X[:, 1] - 100)
    y = {
        "logistic": rng.uniform(size=n) < expit(z),
        "poisson": rng.poisson(np.exp(z)),
        "gamma": np.exp(z) * rng.gamma(2.0, 0.5, size=n),
    }[name]
    y = y.astype(int if name == "logistic" else float)
    return X, y, rng.integers(0, 3, size=n)


def working(name, X, y, model):
    """Curvature W and working response of each row at the optimum, with Φ."""
    Phi = np.column_stack([np.ones(len(X)), X]) if model.fit_intercept else X
    z = X @ np.ravel(model.coef_) + np.ravel(model.intercept_)
    if name == "logistic":
        r, W = y - expit(z), expit(z) * expit(-z)
    elif name == "poisson":
        r, W = y - np.exp(z), np.exp(z)
    else:
        r, W = y * np.exp(-z) - 1, y * np.exp(-z)
    return Phi, W, z + r / W


@each_model
@each_cov
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_errors_are_those_of_weighted_least_squares_at_the_optimum(name, cov, fit_intercept):
    X, y, s = draw(name)
    model = MODELS[name].set_params(fit_intercept=fit_intercept).fit(X, y, s)
    found = model.inference(X, y, s, cov=cov)
    again = np.repeat(np.arange(len(y)), s)
    Phi, W, target = working(name, X[again], y[again], model)
    expected = sm.WLS(target, Phi, weights=W).fit().get_robustcov_results(cov)
    np.testing.assert_allclose(found.covariance, expected.cov_params(), rtol=1e-6, atol=1e-10)


@each_model
def test_hc3_is_close_to_the_jackknife(name):
    X, y, _ = draw(name, 1)
    model = MODELS[name].set_params(fit_intercept=True).fit(X, y)
    found = model.inference(X, y, cov="HC3").covariance
    without = np.array([
        np.append(*(np.ravel(part) for part in (one.intercept_, one.coef_)))
        for one in (model.fit(np.delete(X, i, 0), np.delete(y, i)) for i in range(len(y)))
    ])  # fmt: skip
    whole = model.fit(X, y)
    change = without - np.append(np.ravel(whole.intercept_), np.ravel(whole.coef_))
    np.testing.assert_allclose(np.sqrt(np.diag(found)), np.linalg.norm(change, axis=0), rtol=0.1)
    plain = model.inference(X, y, cov="HC0").standard_errors
    assert np.all(np.linalg.norm(change, axis=0) > plain)


@each_model
@each_cov
def test_blocks_threads_and_tables_do_not_show(name, cov, monkeypatch):
    X, y, s = draw(name, 2, n=3000)
    model = MODELS[name].set_params(fit_intercept=True).fit(X, y, s)
    whole = model.inference(X, y, s, cov=cov)
    monkeypatch.setattr(certus.data.rows, "BLOCK_BYTES", 1 << 12)
    parts = []
    for threads in (1, 3):
        with certus.config_context(threads=threads):
            parts.append(model.inference(X, y, s, cov=cov).covariance)
    np.testing.assert_allclose(parts[0], whole.covariance, rtol=1e-9)
    assert np.array_equal(*parts)
    table = ArrayTable(X, y, classes=np.array([0, 1]) if name == "logistic" else None)
    on_table = model.fit(table).inference(table, cov=cov)
    on_arrays = model.fit(X, y).inference(X, y, cov=cov)
    np.testing.assert_allclose(on_table.covariance, on_arrays.covariance, rtol=1e-9)


def test_hc1_of_softmax_has_its_factor_and_leverages_of_many_classes_are_refused():
    X, _, _ = draw("poisson", 3)
    y = np.digitize(X[:, 0] + np.random.default_rng(3).normal(size=80), [-0.5, 0.5])
    model = LogisticRegression(C=np.inf).fit(X, y)
    hc0, hc1 = (model.inference(X, y, cov=cov).covariance for cov in ("HC0", "HC1"))
    np.testing.assert_allclose(hc1, hc0 * 80 / (80 - 6), rtol=1e-10)
    with pytest.raises(InferenceError, match="for two classes only: use cov='HC0' or 'HC1'"):
        model.inference(X, y, cov="HC3")


@pytest.mark.parametrize("weighted", [False, True])
def test_a_row_that_alone_determines_a_coefficient_is_named(weighted):
    X, y, _ = draw("poisson", 4)
    y[[5, 9]] = 3.0
    X = np.column_stack([X, np.arange(80) == 9])
    s = np.where(np.arange(80) < 4, 0.0, 1.0) if weighted else None
    model = PoissonRegressor(alpha=0).fit(X, y, s)
    with pytest.raises(InferenceError, match=r"row 9 has leverage 1: .*HC2 divides by 0"):
        model.inference(X, y, s, cov="HC2")
    assert np.isfinite(model.inference(X, y, s, cov="HC1").standard_errors).all()


def test_a_row_without_weight_has_no_leverage():
    X, y, _ = draw("logistic", 5)
    s = np.ones(80)
    s[0], X[0] = 0.0, [1e3, 1e4]
    model = MODELS["logistic"].set_params(fit_intercept=True)
    found = model.fit(X, y, s).inference(X, y, s, cov="HC3")
    expected = model.fit(X[1:], y[1:]).inference(X[1:], y[1:], cov="HC3")
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-7)


def test_a_correction_for_coefficients_needs_more_rows_than_coefficients():
    X, y, _ = draw("poisson", 6)
    model = PoissonRegressor(alpha=1.0).fit(X[:3], y[:3] + 1)
    assert np.isfinite(model.inference(X[:3], y[:3] + 1, cov="HC0").standard_errors).all()
    with pytest.raises(InferenceError, match="need more rows than coefficients"):
        model.inference(X[:3], y[:3] + 1, cov="HC1")
