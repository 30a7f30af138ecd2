"""The page of Huber's regression with its scale."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import HuberRegressor

import certus
from certus.definitions.huber_regression import check, dual
from tests.definitions.regression_claims import assert_short, data, total_of

each_alpha = pytest.mark.parametrize("alpha", [1e-4, 0.1, 30.0])
each_intercept = pytest.mark.parametrize("intercept", [True, False])


def objective(X, y, s, w, b, sigma, epsilon, alpha):
    F = alpha * sum(c * c for c in w)
    for i in range(len(y)):
        z = abs(y[i] - sum(X[i, j] * w[j] for j in range(len(w))) - b) / sigma
        F += s[i] * (sigma + sigma * (z * z if z <= epsilon else 2 * epsilon * z - epsilon**2))
    return F


def optimum(X, y, s, epsilon, alpha, intercept):
    """By Newton's method on (w, b, σ) from SciPy's solution."""
    p = X.shape[1]
    Z = np.column_stack([X, np.ones(len(y))]) if intercept else X

    def parts(t):
        theta, sigma = t[:-1], t[-1]
        r = y - Z @ theta
        inner = np.abs(r) < epsilon * sigma
        c = np.clip(r, -epsilon * sigma, epsilon * sigma)
        value = s @ (sigma + (2 * c * r - c**2) / sigma) + alpha * theta[:p] @ theta[:p]
        g = np.append(-2 / sigma * Z.T @ (s * c), s.sum() - s @ c**2 / sigma**2)
        g[:p] += 2 * alpha * theta[:p]
        A = np.column_stack([Z, r / sigma])[inner]
        H = 2 / sigma * A.T @ (s[inner, None] * A)
        H[np.arange(p), np.arange(p)] += 2 * alpha
        return value, g, H

    t = np.append(np.linalg.lstsq(Z, y)[0], np.std(y))
    bounds = [(None, None)] * Z.shape[1] + [(1e-6, None)]
    t = minimize(lambda t: parts(t)[:2], t, jac=True, bounds=bounds, method="L-BFGS-B").x
    for _ in range(30):
        _, g, H = parts(t)
        t = t - np.linalg.solve(H, g)
    assert np.abs(parts(t)[1]).max() < 1e-8
    return t[:p], float(t[p]) if intercept else 0.0, float(t[-1])


def test_the_page_is_short():
    assert_short("huber_regression")


@each_alpha
@each_intercept
def test_the_bound_lies_below_the_optimum_everywhere_and_meets_it_there(alpha, intercept):
    X, y, s = data(0)
    w, b, sigma = optimum(X, y, s, 1.35, alpha, intercept)
    best, rng = objective(X, y, s, w, b, sigma, 1.35, alpha), np.random.default_rng(0)
    how = {"alpha": alpha, "fit_intercept": intercept}
    for size in (0.0, 1e-5, 1e-2, 1.0, 100.0):
        at = w + size * rng.normal(size=4), b + intercept * size, sigma * (1 + size)
        found = check(X, y, s, w=at[0], b=at[1], scale=at[2], **how)
        assert found.objective == pytest.approx(objective(X, y, s, *at, 1.35, alpha), rel=1e-12)
        assert found.bound <= best * (1 + 1e-12)
        assert not found.holds or found.objective - best <= 1e-6 * found.scale
        assert found.holds or size > 1e-5
    assert check(X, y, s, w=w, b=b, scale=sigma, **how).miss <= 1e-12 * best


@each_alpha
def test_near_the_optimum_the_gap_is_of_the_order_of_the_excess(alpha):
    X, y, s = data(0)
    w, b, sigma = optimum(X, y, s, 1.35, alpha, True)
    best = objective(X, y, s, w, b, sigma, 1.35, alpha)
    found = check(X, y, s, w=w * (1 + 1e-3), b=b, scale=sigma * (1 + 1e-3), alpha=alpha)
    assert found.miss <= 3 * (found.objective - best)


def test_no_dual_point_proves_too_much():
    X, y, s = data(1)
    alpha, epsilon = 0.1, 1.35
    X, y = X - s @ X / s.sum(), y - s @ y / s.sum()
    best = objective(X, y, s, *optimum(X, y, s, epsilon, alpha, True), epsilon, alpha)
    rng = np.random.default_rng(0)
    for scale in np.logspace(-2, 2, 30):
        a = np.clip(scale * (rng.normal(size=60) + 0.1 * y), -2 * epsilon, 2 * epsilon)
        assert dual(X, y, s, a, alpha, True) <= best * (1 + 1e-12)


def test_without_a_penalty_the_miss_is_the_steepest_slope():
    X, y, s = data(2)
    w, b, sigma = optimum(X, y, s, 1.35, 0.0, True)
    found = check(X, y, s, w=w, b=b, scale=sigma)
    assert found.kind == "stationary"
    assert found.bound is None
    assert found.miss <= 1e-9
    h = 1e-6
    for at in ((w, b, 1.1 * sigma), (w + 0.1, b, sigma), (w, b + 0.5, sigma)):
        c = np.clip(y - X @ at[0] - at[1], -1.35 * at[2], 1.35 * at[2])
        ends = [objective(X, y, s, *at[:2], at[2] + t, 1.35, 0.0) for t in (-h, h)]
        of_sigma = abs(ends[1] - ends[0]) / (2 * h) / s.sum()
        Z, root = np.column_stack([X, np.ones(60)]), np.sqrt(s)
        N = min(np.sqrt(s @ (y - s @ y / s.sum()) ** 2), 1.35 * at[2] * np.sqrt(s.sum()))
        d = np.linalg.solve(Z.T @ (s[:, None] * Z), Z.T @ (s * c))  # the steepest direction
        d /= np.linalg.norm(root * (Z @ d))
        ends = [objective(X, y, s, at[0] + t * d[:4], at[1] + t * d[4], at[2], 1.35, 0.0)
                for t in (-h, h)]  # fmt: skip
        steepest = (ends[0] - ends[1]) / (2 * h) * at[2] / 2 / N
        expected = pytest.approx(max(of_sigma, steepest), rel=1e-5)
        assert check(X, y, s, w=at[0], b=at[1], scale=at[2]).miss == expected


def test_what_is_not_allowed_does_not_hold():
    X, y, s = data(3)
    w, b, sigma = optimum(X, y, s, 1.35, 0.1, True)
    at = {"w": w, "b": b, "alpha": 0.1}
    assert check(X, y, s, **at, scale=sigma).holds
    assert not check(X, y, s, **at, scale=sigma, fit_intercept=False).holds
    for scale in (0.0, -sigma, np.inf, np.nan):
        assert not check(X, y, s, **at, scale=scale).holds


@pytest.mark.parametrize("epsilon", [1.1, 1.35, 2.0])
@each_alpha
@each_intercept
def test_what_the_proof_certifies_holds_and_what_holds_is_optimal(epsilon, alpha, intercept):
    """The page may hold where the proof, of a weaker dual point, is not certain: then by SciPy."""
    X, y, s = data(4)
    model = HuberRegressor(
        epsilon=epsilon, alpha=alpha, fit_intercept=intercept, tol=1e-10, max_iter=5000
    ).fit(X, y, sample_weight=s)
    certificate = certus.verify(model, X, y, sample_weight=s)
    total = total_of(certificate, X, y, s)
    assert total.objective == pytest.approx(certificate.objective, rel=1e-9)
    assert total.miss <= certificate.gap + 1e-12 * total.scale
    assert total.scale == pytest.approx(certificate._finding.null_objective, rel=1e-3)
    best = objective(X, y, s, *optimum(X, y, s, epsilon, alpha, intercept), epsilon, alpha)
    assert total.objective - total.miss <= best * (1 + 1e-12)
    assert total.holds
    w = certificate.parameters["w"]
    for edit in ({"w": 1.01 * w}, {"scale": 1.01 * model.scale_}):
        assert not total_of(certificate, X, y, s, **edit).holds


@pytest.mark.filterwarnings("ignore")
def test_a_fit_that_was_stopped_early_is_refused():
    X, y, s = data(5)
    model = HuberRegressor(max_iter=3).fit(X, y, sample_weight=s)
    certificate = certus.verify(model, X, y, sample_weight=s)
    assert not certificate.certified
    assert not total_of(certificate, X, y, s).holds
