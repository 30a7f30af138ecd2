"""Huber's regression without a penalty where columns nearly repeat others."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import HuberRegressor

import certus
from certus.exceptions import NotCertifiedWarning
from certus.linear_model import PenalizedRegressor
from certus.losses import Huber
from certus.penalties import NonNegative


def problem(eps, seed, n=60):
    """y follows what is left of two columns that nearly cancel; and the same columns apart."""
    rng = np.random.default_rng(seed)
    a, b, u = rng.normal(size=(3, n))
    X = np.column_stack([a, a + eps * u, b])
    y = 2 * (X[:, 1] - X[:, 0]) / eps + 0.3 * rng.standard_t(2, size=n)
    return X, y, np.column_stack([X[:, 0], (X[:, 1] - X[:, 0]) / eps, X[:, 2]])


def fitted(X, y, penalty=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        return PenalizedRegressor(Huber(), penalty).fit(X, y)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("eps", [1e-5, 1e-8, 1e-11])
def test_the_direction_is_used_and_the_optimum_proven(eps, seed):
    X, y, apart = problem(eps, seed)
    found, reference = fitted(X, y).certificate_, fitted(apart, y).certificate_
    assert found.status == reference.status == "optimal"
    assert found.gap >= found.objective - reference.objective - 1e-12
    assert found.objective == pytest.approx(reference.objective, rel=1e-6)


@pytest.mark.parametrize("eps", [1e-4, 1e-8, 1e-12])
def test_a_fit_without_the_direction_is_not_certified(eps):
    X, y, _ = problem(eps, 0)
    model, less = fitted(X, y), fitted(X[:, [0, 2]], y)
    best = model.certificate_.objective
    model.coef_ = np.insert(less.coef_, 1, 0.0)
    model.intercept_ = less.intercept_
    found = certus.verify(model, X, y)
    assert found.objective > 5 * best
    assert not found.certified


def test_nor_is_one_that_estimates_its_scale():
    X, y, _ = problem(1e-8, 0)
    model = HuberRegressor(alpha=0.0, tol=1e-10, max_iter=10_000).fit(X[:, [0, 2]], y)
    assert certus.verify(model, X[:, [0, 2]], y, tol=1e-4).certified
    model.coef_ = np.insert(model.coef_, 1, 0.0)
    model.n_features_in_ = 3
    assert not certus.verify(model, X, y, tol=1e-4).certified


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_over_nonnegative_coefficients_holds(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 4))
    y = X @ np.array([1.0, -1.0, 0.5, 0.0]) + rng.standard_t(2, size=50)
    model = fitted(X, y, NonNegative())
    c = model.certificate_

    def loss(theta):
        r = y - X @ theta[:4] - theta[4]
        near = np.minimum(np.abs(r), Huber().delta)
        return float((near * (np.abs(r) - near / 2)).sum())

    bounds = [(0, None)] * 4 + [(None, None)]
    best = minimize(loss, np.zeros(5), bounds=bounds, method="L-BFGS-B", tol=1e-14).fun
    scale = c.objective / loss(np.append(model.coef_, model.intercept_))
    assert c.status == "optimal"
    assert c.bound <= scale * best * (1 + 1e-12)
    assert c.objective - c.gap <= scale * best
    assert c.gap <= 1e-6 * c._finding.null_objective
    moved = np.append(model.coef_ + 0.01, model.intercept_)
    model.coef_ = model.coef_ + 0.01
    found = certus.verify(model, X, y)
    assert found.gap >= scale * (loss(moved) - best) * (1 - 1e-9)
