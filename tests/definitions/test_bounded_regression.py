"""The page of regression with bounds on the coefficients, or none."""

from math import inf

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize

from certus import losses, penalties
from certus.definitions.bounded_regression import check
from certus.linear_model import PenalizedRegressor
from tests.definitions.regression_claims import assert_agrees, assert_short, data, total_of

BOUNDS = [(-inf, inf), (0.0, inf), (-1.0, 1.0), (0.5, 0.8), ([-1.0, 0.0, -inf, 0.2], 2.0)]
each_bound = pytest.mark.parametrize("bounds", BOUNDS, ids=str)


def objective(X, y, s, w, b, delta):
    F = 0.0
    for i in range(len(y)):
        r = abs(y[i] - sum(X[i, j] * w[j] for j in range(len(w))) - b)
        F += s[i] * (r * r / 2 if r <= delta else delta * r - delta * delta / 2)
    return F


def optimum(X, y, s, low, high, delta):
    """By SciPy: bounded least squares, or L-BFGS within bounds, from there, with smaller steps."""
    Z = np.column_stack([X, np.ones(len(y))])
    low, high = (np.append(np.broadcast_to(side, X.shape[1]), end) for side, end in
                 ((low, -inf), (high, inf)))  # fmt: skip
    root = np.sqrt(s)
    theta = lsq_linear(root[:, None] * Z, root * y, (low, high), "bvls", 1e-15).x
    if delta < inf:

        def value_and_gradient(theta):
            r = y - Z @ theta
            a = np.clip(r, -delta, delta)
            return s @ (a * (r - a / 2)), -Z.T @ (s * a)

        for _ in range(5):
            theta = minimize(
                value_and_gradient, theta, jac=True, bounds=np.column_stack([low, high]),
                method="L-BFGS-B", options={"ftol": 1e-16, "gtol": 1e-12, "maxiter": 5000},
            ).x  # fmt: skip
    return theta[:-1], float(theta[-1])


def test_the_page_is_short():
    assert_short("bounded_regression")


@each_bound
@pytest.mark.parametrize("delta", [inf, 2.0, 0.3])
def test_the_bound_lies_below_the_optimum_everywhere_and_meets_it_there(bounds, delta):
    X, y, s = data(1)
    low, high = bounds
    w, b = optimum(X, y, s, low, high, delta)
    best = objective(X, y, s, w, b, delta)
    rng = np.random.default_rng(0)
    for size in (0.0, 1e-5, 0.1, 10.0):
        away = np.clip(w + size * rng.normal(size=4), low, high)
        found = check(X, y, s, w=away, b=b, low=low, high=high, delta=delta)
        assert found.objective == pytest.approx(objective(X, y, s, away, b, delta), rel=1e-12)
        assert found.bound <= best * (1 + 1e-9)
        assert not found.holds or found.objective - best <= 1e-6 * found.scale
        assert found.holds or size > 0


def test_near_the_optimum_the_miss_is_the_excess():
    X, y, s = data(2)
    model = PenalizedRegressor(loss=losses.Huber(1.0), penalty=penalties.L2(0.0)).fit(X, y, s)
    w, b = model.coef_, float(model.intercept_)
    best = check(X, y, s, w=w, b=b, delta=1.0).objective
    away = w * (1 + 1e-4 * np.array([1, -1, 1, -1]))
    found = check(X, y, s, w=away, b=b, delta=1.0)
    assert found.objective - best <= found.miss <= 3 * (found.objective - best)


def test_outside_its_bounds_nothing_is_optimal():
    X, y, s = data(3)
    w, b = optimum(X, y, s, -inf, inf, inf)
    assert check(X, y, s, w=w, b=b).holds
    assert not check(X, y, s, w=w, b=b, high=w.max() - 1e-9).holds
    assert not check(X, y, s, w=w, b=b, low=w.min() + 1e-9).holds
    assert not check(X, y, s, w=w, b=b, fit_intercept=False).holds


def test_a_coefficient_at_its_bound_is_optimal_only_if_it_is_pressed_there():
    X, y, s = data(4)
    w, _ = optimum(X, y, s, -inf, inf, inf)
    j = int(np.abs(w).argmax())
    low, high = np.full(4, -inf), np.full(4, inf)
    high[j] = w[j] - 0.5
    inside, level = optimum(X, y, s, low, high, inf)
    assert inside[j] == pytest.approx(high[j], abs=1e-9)
    inside[j] = high[j]
    assert check(X, y, s, w=inside, b=level, high=high).holds
    low[j] = high[j]
    assert not check(X, y, s, w=inside, b=level, low=low).holds  # pressed away from it


def test_repeated_columns_change_nothing():
    X, y, s = data(5)
    w, b = optimum(X, y, s, -inf, inf, 1.0)
    X = np.column_stack([X, X[:, 0]])
    for share in (0.0, 0.5, 3.0):
        both = np.append(w, share * w[0])
        both[0] *= 1 - share
        assert check(X, y, s, w=both, b=b, delta=1.0).holds


def test_rows_beyond_delta_prove_nothing():
    """All residuals are so large that no row tells how the loss curves."""
    X, y, s = data(6)
    found = check(X, y, s, w=np.full(4, 100.0), b=-1e4, delta=0.01)
    assert found.bound == 0
    assert not found.holds


PENALTIES = [
    penalties.NonNegative(), penalties.L1(0.0), penalties.Box(-1, 1), penalties.Box(0, np.inf),
    penalties.Box([0.0, -1, -np.inf, 0], [1.0, 0, 0.5, np.inf]),
]  # fmt: skip


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
@pytest.mark.parametrize("loss", [losses.Squared(), losses.Huber(1.0), losses.Huber(0.1)], ids=str)
@pytest.mark.parametrize("intercept", [True, False])
def test_the_page_agrees_with_the_proof(penalty, loss, intercept):
    X, y, s = data(7)
    model = PenalizedRegressor(loss=loss, penalty=penalty, fit_intercept=intercept)
    certificate = model.fit(X, y, sample_weight=s).certificate_
    if certificate.kind == "global":
        assert_agrees(certificate, X, y, s)
    else:  # the proof saw only that it is stationary, which the page can do better
        assert certificate.certified
        assert total_of(certificate, X, y, s).holds
