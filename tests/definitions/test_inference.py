"""The page of standard errors of least squares and ridge regression."""

import numpy as np
import pytest

from certus.certificate.pages.inference import inference as adaptor
from certus.definitions.inference import check
from certus.linear_model import LinearRegression, Ridge
from certus.proofs.inference import inference as by_matrices
from tests.definitions.regression_claims import assert_short, claims_of, data

KINDS = ["classical", "HC0", "HC1", "HC2", "HC3"]
each_kind = pytest.mark.parametrize("cov", KINDS)
each_intercept = pytest.mark.parametrize("intercept", [True, False])


def test_the_page_is_short():
    assert_short("inference")


@each_kind
@each_intercept
@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_the_covariance_is_that_of_the_matrices_as_they_are_written(cov, intercept, alpha):
    X, y, s = data(0, n=30, p=3)
    expected = by_matrices(X, y, s, alpha, intercept, cov)
    how = {"cov": cov, "alpha": alpha, "fit_intercept": intercept}
    found = check(X, y, s, covariance=expected["covariance"], **how)
    assert found.miss <= 1e-9
    rss = expected["sigma2"] * expected["degrees_of_freedom"]
    assert found.objective == pytest.approx(rss, rel=1e-9)
    for i in range(3 + intercept):
        edited = expected["covariance"].copy()
        edited[i, i] *= 1.00001
        assert not check(X, y, s, covariance=edited, **how).holds


def test_classical_errors_are_the_spread_of_estimates_under_noise():
    """θ̂ = Jy, so var y = σ²/s gives σ²J diag(1/s)Jᵀ; J by changing y."""
    X, y, s = data(1, n=20, p=3)
    s = s + 1
    Phi = np.column_stack([np.ones(20), X])
    J = np.linalg.solve(Phi.T @ (s[:, None] * Phi), Phi.T * s)
    rss = s @ (y - Phi @ (J @ y)) ** 2
    assert check(X, y, s, covariance=rss / 16 * (J / s) @ J.T).miss <= 1e-9


def test_hc3_is_what_leaving_out_each_row_does():
    X, y, s = data(2, n=15, p=3)
    s = s + 1

    def theta(rows):
        Phi = np.sqrt(s[rows])[:, None] * np.column_stack([np.ones(len(rows)), X[rows]])
        return np.linalg.lstsq(Phi, np.sqrt(s[rows]) * y[rows])[0]

    rows = np.arange(15)
    moved = np.array([theta(rows) - theta(np.delete(rows, i)) for i in rows])
    assert check(X, y, s, covariance=moved.T @ moved, cov="HC3").miss <= 1e-9


@each_kind
@each_intercept
@pytest.mark.parametrize("model", [LinearRegression(), Ridge(alpha=[3.0, 0.5])], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_page_agrees_with_the_estimator(cov, intercept, model, weighted):
    X, y, s = data(3, targets=2)
    s = s if weighted else None
    model.set_params(fit_intercept=intercept).fit(X, y, sample_weight=s)
    found = model.inference(X, y, sample_weight=s, cov=cov)
    claims = claims_of(adaptor(found), X, y, s)
    assert len(claims) == 2
    assert all(one.miss <= 1e-9 for one in claims)
    swapped = claims_of(adaptor(found), X, y[:, ::-1], s)
    assert not any(one.holds for one in swapped)
    other = "HC0" if cov != "HC0" else "HC1"
    for problem in adaptor(found):
        wrong = problem._replace(arguments={**problem.arguments, "cov": other})
        assert not claims_of([wrong], X, y, s)[0].holds


@pytest.mark.filterwarnings("ignore")
def test_coefficients_that_the_rows_do_not_determine_are_refused():
    X, y, s = data(4)
    repeated = np.column_stack([X, X[:, 0] - X[:, 1]])
    model = LinearRegression().fit(repeated, y, sample_weight=s)
    found = model.inference(repeated, y, sample_weight=s)
    assert np.isnan(found.standard_errors).any()
    assert not claims_of(adaptor(found), repeated, y, s)[0].holds
    covariance = np.nan_to_num(found.covariance, nan=1.0)
    assert not check(repeated, y, s, covariance=covariance).holds
    assert not check(X[:5], y[:5], np.ones(5), covariance=np.eye(5)).holds  # no degrees of freedom
