"""The page of standard errors of logistic and softmax models."""

import numpy as np
import pytest

from certus.certificate.pages.inference import logistic_inference as adaptor
from certus.definitions.logistic_inference import check
from certus.linear_model import FirthLogisticRegression, LogisticRegression
from tests.definitions.regression_claims import assert_short, claims_of


def classes(seed, K=2, n=90):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, 3.0]
    z = (X - X.mean(axis=0)) / X.std(axis=0) @ rng.normal(size=(3, K))
    y = (z + rng.gumbel(size=(n, K))).argmax(axis=1)
    return X, y, rng.integers(0, 4, n).astype(float)


def losses(X, y, beta, intercept):
    """−log p of each row."""
    Phi = np.column_stack([np.ones(len(X)), X]) if intercept else X
    z = np.column_stack([np.zeros(len(X)), Phi @ beta.reshape(-1, Phi.shape[1]).T])
    return np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(y)), y]


def curvature(f, x):
    """The second derivative by differences."""
    h = 1e-4 * np.maximum(np.abs(x), 0.1)
    E = np.diag(h)
    return np.array([
        [(f(x + a + b) - f(x + a - b) - f(x - a + b) + f(x - a - b)) / (4 * np.sum(a) * np.sum(b))
         for a in E] for b in E
    ])  # fmt: skip


def test_the_page_is_short():
    assert_short("logistic_inference")


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_covariance_is_the_inverse_of_the_curvature_by_differences(K, alpha, intercept):
    X, y, s = classes(0, K)
    X = (X - X.mean(axis=0)) / X.std(axis=0) + 0.3
    beta = 0.5 * np.random.default_rng(1).normal(size=(K - 1) * (3 + intercept))

    def f(beta, alpha=0.0):
        w = np.vstack([np.zeros(3), beta.reshape(K - 1, -1)[:, int(intercept) :]])
        penalty = np.sum((w - w.mean(axis=0)) ** 2) if K > 2 else np.sum(w**2)
        return s @ losses(X, y, beta, intercept) + alpha / 2 * penalty

    H, A = curvature(f, beta), curvature(lambda beta: f(beta, alpha), beta)
    steps = 1e-5 * np.eye(beta.size)
    g = np.array([
        (losses(X, y, beta + e, intercept) - losses(X, y, beta - e, intercept)) / 2e-5
        for e in steps
    ])  # fmt: skip
    how = {"coef": beta.reshape(K - 1, -1), "alpha": alpha, "fit_intercept": intercept, "tol": 1e-4}
    n, m = s.sum(), beta.size
    meats = {"classical": H, "HC0": (g * s) @ g.T, "HC1": n / (n - m) * (g * s) @ g.T}
    if K == 2:  # minus the second derivative of the loss of one row, along φ twice
        ones = np.eye(len(X))
        own = [curvature(lambda b, e=e: e @ losses(X, y, b, intercept), beta) for e in ones]
        h = np.array([np.trace(np.linalg.solve(A, one)) for one in own])
        meats |= {"HC2": (g * s / (1 - h)) @ g.T, "HC3": (g * s / (1 - h) ** 2) @ g.T}
    for cov, M in meats.items():
        covariance = np.linalg.inv(A) @ M @ np.linalg.inv(A)
        found = check(X, y, s, covariance=covariance, cov=cov, **how)
        assert found.holds
        assert found.objective == pytest.approx(-f(beta), rel=1e-12)
        assert not check(X, y, s, covariance=1.001 * covariance, cov=cov, **how).holds


MODELS = [
    LogisticRegression(C=np.inf),
    LogisticRegression(C=np.inf, fit_intercept=False),
    LogisticRegression(C=0.5),
    FirthLogisticRegression(),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("cov", ["classical", "HC0", "HC1", "HC2", "HC3"])
def test_the_page_agrees_with_the_estimator(model, K, cov):
    firth = isinstance(model, FirthLogisticRegression)
    if cov in ("HC2", "HC3"):
        K = 2
    if firth:
        K, cov = 2, "classical"
    X, y, s = classes(2, K)
    found = model.fit(X, y, sample_weight=s).inference(
        X, y, sample_weight=s, **({} if firth else {"cov": cov})
    )
    problem = adaptor(found)
    assert claims_of([problem], X, y, s)[0].miss <= 1e-9
    assert not claims_of([problem], 1.0001 * X, y, s)[0].holds
    if cov != "classical":  # the classical one depends on y through β alone
        assert not claims_of([problem], X, (y + 1) % K, s)[0].holds
    edited = {**problem.arguments, "covariance": found.covariance * 1.00001}
    assert not claims_of([problem._replace(arguments=edited)], X, y, s)[0].holds


def test_columns_that_repeat_others_are_refused():
    X, y, s = classes(3)
    X = np.column_stack([X, X[:, 0]])
    assert not check(X, y, s, coef=np.zeros(5), covariance=np.eye(5)).holds
