"""The page of likelihood-ratio intervals, and its terms."""

import numpy as np
import pytest
from scipy.optimize import brentq, minimize

from certus.certificate.pages.inference import profile_intervals as adaptor
from certus.definitions.profile_intervals import check
from certus.definitions.terms.likelihoods.firth import Firth
from certus.definitions.terms.likelihoods.multinomial import MultinomialLikelihood
from certus.linear_model import FirthLogisticRegression, LogisticRegression
from tests.definitions.regression_claims import assert_short, claims_of
from tests.definitions.test_logistic_inference import classes

each_likelihood = pytest.mark.parametrize(
    ("likelihood", "K"),
    [(MultinomialLikelihood(), 2), (MultinomialLikelihood(), 3), (Firth(), 2)],
    ids=str,
)


def test_the_page_is_short_with_any_of_its_terms():
    for term in (MultinomialLikelihood, Firth):
        assert_short("profile_intervals", term)


def literal(likelihood, Phi, y, s, theta):
    """The log-likelihood as it is written."""
    value, information = 0.0, 0.0
    for x, k, weight in zip(Phi, y, s, strict=True):
        e = np.exp(np.append(0.0, theta @ x))
        p = e / e.sum()
        value += weight * np.log(p[k])
        information = information + weight * p[0] * p[1] * np.outer(x, x)
    if isinstance(likelihood, Firth):
        value += np.linalg.slogdet(information)[1] / 2
    return value


@each_likelihood
def test_value_and_derivatives_are_those_of_the_likelihood_as_written(likelihood, K):
    X, y, s = classes(0, K, n=40)
    Phi = np.column_stack([np.ones(40), (X - X.mean(axis=0)) / X.std(axis=0)])
    theta = 0.5 * np.random.default_rng(0).normal(size=(K - 1, 4))
    value, gradient, H = likelihood.at(Phi, y, s, theta)
    assert value == pytest.approx(literal(likelihood, Phi, y, s, theta), rel=1e-12)
    for j in range(theta.size):
        e = 1e-6 * np.eye(theta.size)[j].reshape(theta.shape)
        up, down = likelihood.at(Phi, y, s, theta + e), likelihood.at(Phi, y, s, theta - e)
        assert (up[0] - down[0]) / 2e-6 == pytest.approx(gradient[j], rel=1e-6, abs=1e-7)
        if isinstance(likelihood, MultinomialLikelihood):
            np.testing.assert_allclose((down[1] - up[1]) / 2e-6, H[j], rtol=1e-5, atol=1e-6)


def by_scipy(likelihood, X, y, s, j, side, q):
    """An end of the interval, by a root of the deviance whose maxima SciPy finds."""
    Phi = np.column_stack([np.ones(len(X)), X])

    def top(beta=None):
        free = np.delete(np.arange(4), j) if beta is not None else np.arange(4)
        theta = np.zeros(4)
        if beta is not None:
            theta[j] = beta

        def loss(part):
            theta[free] = part
            value, gradient, _ = likelihood.at(Phi, y, s, theta[None])
            return -value, -gradient[free]

        best = minimize(loss, np.zeros(len(free)), jac=True, method="BFGS", options={"gtol": 1e-9})
        return -best.fun, best.x

    value, estimate = top()
    far = estimate[j] + side * 8.0
    return brentq(lambda beta: 2 * (value - top(beta)[0]) - q, estimate[j], far, xtol=1e-12)


@pytest.mark.parametrize("likelihood", [MultinomialLikelihood(), Firth()], ids=str)
def test_the_ends_that_scipy_finds_hold_and_others_do_not(likelihood):
    X, y, s = classes(1, n=60)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    kind = FirthLogisticRegression() if isinstance(likelihood, Firth) else None
    model = (kind or LogisticRegression(C=np.inf)).fit(X, y, sample_weight=s)
    coef = np.append(model.intercept_, model.coef_)
    q = 3.841458820694124  # of a chi² with level 0.95
    low, high = (
        np.array([by_scipy(likelihood, X, y, s, j, side, q) for j in range(4)]) for side in (-1, 1)
    )
    how = {"coef": coef, "level": 0.95, "likelihood": likelihood}
    assert check(X, y, s, low=low, high=high, **how).miss <= 1e-6
    assert not check(X, y, s, low=low, high=high, **{**how, "level": 0.9501}).holds
    for j in range(4):
        edited = high + 1e-4 * np.eye(4)[j]
        assert not check(X, y, s, low=low, high=edited, **how).holds


@pytest.mark.parametrize("likelihood", [MultinomialLikelihood(), Firth()], ids=str)
def test_ends_on_the_wrong_side_or_nowhere_are_refused(likelihood):
    X, y, s = classes(2)
    firth = isinstance(likelihood, Firth)
    model = FirthLogisticRegression() if firth else LogisticRegression(C=np.inf)
    found = model.fit(X, y, sample_weight=s).inference(X, y, sample_weight=s)
    table = found.conf_int(kind="lr")
    low, high = np.array(table["low"]), np.array(table["high"])
    how = {"coef": found.coef, "level": 0.95, "likelihood": likelihood}
    assert check(X, y, s, low=low, high=high, **how).holds
    for wrong in (np.nan, np.inf, low[0], float(found.coef[0])):
        edited = np.append(wrong, high[1:])
        assert not check(X, y, s, low=low, high=edited, **how).holds


@each_likelihood
@pytest.mark.parametrize("level", [0.8, 0.99])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_page_agrees_with_the_estimator(likelihood, K, level, intercept):
    X, y, s = classes(3, K)
    firth = isinstance(likelihood, Firth)
    model = FirthLogisticRegression() if firth else LogisticRegression(C=np.inf)
    model.set_params(fit_intercept=intercept).fit(X, y, sample_weight=s)
    found = model.inference(X, y, sample_weight=s)
    table = found.conf_int(level, kind="lr")
    ends = np.array(table["low"]), np.array(table["high"])
    (claim,) = claims_of([adaptor(found, *ends, level, firth)], X, y, s)
    assert claim.holds
    assert claim.objective == pytest.approx(found.maximum, rel=1e-9)
    (swapped,) = claims_of([adaptor(found, *ends, level, firth)], X, (y + 1) % K, s)
    assert not swapped.holds


def test_a_starting_point_far_away_changes_nothing():
    X, y, s = classes(4)
    found = LogisticRegression(C=np.inf).fit(X, y, sample_weight=s).inference(X, y, sample_weight=s)
    table = found.conf_int(kind="lr")
    low, high = np.array(table["low"]), np.array(table["high"])
    how = {"low": low, "high": high, "level": 0.95, "likelihood": MultinomialLikelihood()}
    assert check(X, y, s, coef=0 * found.coef, **how).holds
    assert check(X, y, s, coef=2 * found.coef, **how).holds
