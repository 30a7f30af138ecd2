"""The pages of clustered errors, ordinal inference, predictions and nested models."""

import numpy as np
import pytest
from scipy.special import expit, ndtri, stdtrit
from scipy.stats import t as student

from certus.certificate.pages import inference as adaptors
from certus.definitions.prediction import covered
from certus.definitions.terms.likelihoods.ordinal import ProportionalOdds
from certus.inference import compare
from certus.linear_model import LinearRegression, LogisticRegression, OrdinalRegression, Ridge
from tests.definitions.regression_claims import assert_short, claims_of, data
from tests.definitions.test_logistic_inference import classes


@pytest.mark.parametrize(
    "name",
    ["ordinal_inference", "proportional_odds", "prediction", "nested_models", "inference",
     "logistic_inference", "log_link_inference"],
)  # fmt: skip
def test_the_pages_are_short(name):
    assert_short(name)


def test_the_page_of_profile_intervals_is_short_with_the_ordinal_term():
    assert_short("profile_intervals", ProportionalOdds)


def claim(problem, X, y, s):
    return claims_of([problem], X, y, s)[0]


def edited(problem, **arguments):
    return problem._replace(arguments={**problem.arguments, **arguments})


def ordered(seed, K=4, n=200):
    X, _, s = classes(seed, n=n)
    rng = np.random.default_rng(seed)
    score = (X - X.mean(axis=0)) / X.std(axis=0) @ [1.0, -0.5, 0.2] + rng.logistic(size=n)
    return X, np.digitize(score, np.linspace(-1, 1, K - 1)), s


# --- clusters -------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(alpha=2.0)], ids=str)
def test_linear_clusters_agree_with_the_page(model):
    X, y, s = data(0)
    groups = np.random.default_rng(0).integers(0, 9, len(y))
    found = model.fit(X, y, s).inference(X, y, s, cov="cluster", groups=groups)
    (problem,) = adaptors.inference(found, groups)
    assert claim(problem, X, y, s).miss <= 1e-9
    assert not claim(edited(problem, groups=groups[::-1]), X, y, s).holds
    assert not claim(edited(problem, cov="HC0"), X, y, s).holds


@pytest.mark.parametrize("K", [2, 3])
def test_logistic_clusters_agree_with_the_page(K):
    X, y, s = classes(1, K)
    groups = np.random.default_rng(1).integers(0, 9, len(y))
    model = LogisticRegression(C=np.inf, tol=1e-12).fit(X, y, s)
    found = model.inference(X, y, s, cov="cluster", groups=groups)
    problem = adaptors.logistic_inference(found, groups)
    assert claim(problem, X, y, s).miss <= 1e-7
    assert not claim(edited(problem, groups=groups[::-1]), X, y, s).holds


# --- ordinal regression ---------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 3.0])
def test_ordinal_errors_agree_with_the_page(alpha):
    X, y, s = ordered(2)
    found = OrdinalRegression(alpha=alpha, tol=1e-12).fit(X, y, s).inference(X, y, s)
    problem = adaptors.ordinal_inference(found)
    result = claim(problem, X, y, s)
    assert result.miss <= 1e-8
    assert result.objective == pytest.approx(-found.maximum, rel=1e-10)
    assert not claim(edited(problem, covariance=1.00001 * found.covariance), X, y, s).holds
    assert not claim(problem, 1.001 * X, y, s).holds
    assert not claim(edited(problem, alpha=alpha + 1), X, y, s).holds


def test_the_ordinal_likelihood_and_its_derivatives_are_those_written():
    X, y, s = ordered(9, n=40)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    term, Phi = ProportionalOdds(4), np.column_stack([X, np.zeros((40, 3))])
    theta = np.array([[0.5, -0.3, 0.2, -1.0, 0.1, 1.2]])
    ends = np.concatenate([[-np.inf], theta[0, 3:], [np.inf]])
    P = expit(ends[y + 1] - X @ theta[0, :3]) - expit(ends[y] - X @ theta[0, :3])
    value, gradient, H = term.at(Phi, y, s, theta)
    assert value == pytest.approx(s @ np.log(P), rel=1e-12)
    for j, e in enumerate(1e-6 * np.eye(6)):
        up, down = term.at(Phi, y, s, theta + e), term.at(Phi, y, s, theta - e)
        assert (up[0] - down[0]) / 2e-6 == pytest.approx(gradient[j], rel=1e-6, abs=1e-7)
        np.testing.assert_allclose((down[1] - up[1]) / 2e-6, H[j], rtol=1e-5, atol=1e-6)
    assert term.at(Phi, y, s, theta[:, ::-1])[0] == -np.inf


def test_profile_intervals_of_ordinal_models_agree_with_the_page():
    X, y, s = ordered(10, n=120)
    found = OrdinalRegression(tol=1e-12).fit(X, y, s).inference(X, y, s)
    table = found.conf_int(0.9, kind="lr")
    problem = adaptors.ordinal_profile_intervals(found, table["low"], table["high"], 0.9)
    assert claim(problem, X, y, s).miss <= 1e-6
    wider = table["high"] + 0.001 * found.standard_errors
    assert not claim(edited(problem, high=wider), X, y, s).holds


@pytest.mark.parametrize("columns", [[0, 1, 2], [1]])
def test_brants_statistic_agrees_with_the_page(columns):
    X, y, s = ordered(3)
    found = OrdinalRegression(tol=1e-12).fit(X, y, s).inference(X, y, s)
    test = found.proportional_odds()
    statistic = test.statistic if len(columns) > 1 else test.statistics[columns[0]]
    problem = adaptors.proportional_odds(found, statistic, columns)
    assert claim(problem, X, y, s).miss <= 1e-6
    assert not claim(edited(problem, statistic=1.001 * statistic + 0.001), X, y, s).holds
    assert not claim(problem, X[::-1], y, s).holds


def test_brants_page_refuses_classes_that_are_separated():
    X, y, s = ordered(4)
    X[:, 0] = np.where(y == 3, 5.0, X[:, 0] / 100)
    found = OrdinalRegression(alpha=1.0).fit(X, y, s).inference(X, y, s)
    problem = adaptors.proportional_odds(found, 1.0, [0, 1, 2])
    assert claim(problem, X, y, s).miss == np.inf


# --- predictions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("nu", [1.0, 2.5, 30.0, 1e5, np.inf])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
def test_the_page_knows_the_distribution_of_t(nu, level):
    q = ndtri((1 + level) / 2) if nu == np.inf else stdtrit(nu, (1 + level) / 2)
    assert 1 - covered(q, nu) == pytest.approx(1 - level, rel=1e-8)
    assert covered(-1.0, nu) == 0
    assert covered(1.0, 3.0) == pytest.approx(student.cdf(1, 3) - student.cdf(-1, 3), rel=1e-10)


@pytest.mark.parametrize("cov", ["classical", "HC1"])
@pytest.mark.parametrize("intercept", [True, False])
def test_linear_predictions_agree_with_the_page(cov, intercept):
    X, y, s = data(5)
    model = LinearRegression(fit_intercept=intercept).fit(X, y, s)
    found = model.inference(X, y, s, cov=cov)
    problem = adaptors.prediction(found, X[:5] + 1, 0.9)
    assert claim(problem, X, y, s).miss <= 1e-8
    for name in ("fit", "std_error", "low", "high", "new_low", "new_high"):
        if name in problem.arguments:
            wrong = problem.arguments[name] + 0.001 * problem.arguments["std_error"]
            assert not claim(edited(problem, **{name: wrong}), X, y, s).holds
    assert not claim(edited(problem, level=0.901), X, y, s).holds


def test_probabilities_agree_with_the_page():
    X, y, s = classes(6)
    found = LogisticRegression(C=np.inf, tol=1e-12).fit(X, y, s).inference(X, y, s)
    problem = adaptors.probability(found, X[:5])
    assert claim(problem, X, y, s).miss <= 1e-7
    assert not claim(edited(problem, low=0.999 * problem.arguments["low"]), X, y, s).holds


# --- nested models --------------------------------------------------------------------------------


def test_the_f_statistic_agrees_with_the_page():
    X, y, s = data(7)
    s = s + 1
    small, large = (LinearRegression().fit(A, y, s).inference(A, y, s) for A in (X[:, [0, 2]], X))
    problem = adaptors.nested_models(compare(small, large).statistic, [0, 2])
    assert claim(problem, X, y, s).miss <= 1e-9
    assert not claim(edited(problem, columns=[0, 1]), X, y, s).holds


@pytest.mark.parametrize("K", [2, 3])
def test_the_likelihood_ratio_agrees_with_the_page(K):
    X, y, s = classes(8, K)
    small, large = (
        LogisticRegression(C=np.inf, tol=1e-12).fit(A, y, s).inference(A, y, s)
        for A in (X[:, [0, 2]], X)
    )
    problem = adaptors.nested_models(compare(small, large).statistic, [0, 2], K)
    assert claim(problem, X, y, s).miss <= 1e-7
    assert not claim(edited(problem, columns=[0, 1]), X, y, s).holds
