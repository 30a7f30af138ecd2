"""The page of least squares and ridge regression."""

import numpy as np
import pytest
import sklearn.linear_model
from scipy.optimize import nnls

import certus
from certus.certificate.pages.regression import least_squares as adaptor
from certus.definitions.least_squares import check
from certus.linear_model import LinearRegression, Ridge
from tests.definitions.regression_claims import assert_agrees, assert_short, data, total_of


def optimum(X, y, s, alpha, intercept, positive=False):
    """min f by another route: active sets (NNLS), or a QR of the rows."""
    root = np.sqrt(s)
    if intercept:
        X, y = X - s @ X / s.sum(), y - s @ y / s.sum()
    A = np.vstack([root[:, None] * X, np.sqrt(alpha) * np.eye(X.shape[1])])
    t = np.concatenate([root * y, np.zeros(X.shape[1])])
    if positive:
        return nnls(A, t, maxiter=10_000)[1] ** 2
    Q, _ = np.linalg.qr(A)
    return np.sum((t - Q @ (Q.T @ t)) ** 2)


def test_the_page_is_short():
    assert_short("least_squares")


def test_the_objective_is_a_sum_over_rows():
    X, y, s = data(0)
    w, b, alpha = np.array([1.0, -2.0, 0.5, 3.0]), 0.7, 2.5
    f = alpha * sum(c * c for c in w)
    for i in range(len(y)):
        f += s[i] * (y[i] - sum(X[i, j] * w[j] for j in range(4)) - b) ** 2
    assert check(X, y, s, w=w, b=b, alpha=alpha).objective == pytest.approx(f, rel=1e-13)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 1e-3, 10.0])
def test_the_bound_is_the_optimum_at_every_point(alpha, intercept):
    X, y, s = data(1)
    rng, best = np.random.default_rng(0), optimum(X, y, s, alpha, intercept)
    for size in (0.0, 1e-4, 1.0, 100.0):
        w, b = size * rng.normal(size=4), intercept * size
        found = check(X, y, s, w=w, b=b, alpha=alpha, fit_intercept=intercept)
        assert found.bound == pytest.approx(best, rel=1e-9, abs=1e-12 * found.objective)
        assert not found.holds


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize(("n", "p"), [(50, 6), (12, 20)])
def test_over_w_not_negative_the_bound_lies_below_the_optimum_and_meets_it_there(n, p, alpha):
    X, y, s = data(2, n, p)
    best, rng = optimum(X, y, s, alpha, True, positive=True), np.random.default_rng(0)
    for _ in range(20):
        w = np.maximum(rng.normal(size=p), 0.0)
        found = check(X, y, s, w=w, b=rng.normal(), alpha=alpha, positive=True)
        assert found.bound <= best * (1 + 1e-9) + 1e-12 * found.objective
    kept = s > 0
    root, mean = np.sqrt(s[kept])[:, None], s @ X / s.sum()
    A = np.vstack([root * (X[kept] - mean), np.sqrt(alpha) * np.eye(p)])
    t = np.append(root[:, 0] * (y[kept] - s @ y / s.sum()), np.zeros(p))
    w = nnls(A, t, maxiter=10_000)[0]
    b = s @ (y - X @ w) / s.sum()
    assert check(X, y, s, w=w, b=b, alpha=alpha, positive=True).miss <= 1e-12 * (s @ y**2)


def test_repeated_columns_over_w_not_negative_hide_no_optimum():
    """Wide data, of which the fast proof says "not optimal" at the optimum."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 50))
    y = X @ rng.normal(size=50) + rng.normal(size=30)
    X = np.column_stack([X, X[:, 0], X[:, 0] + X[:, 1]])
    w, norm = nnls(X - X.mean(axis=0), y - y.mean(), maxiter=10_000)
    found = check(X, y, np.ones(30), w=w, b=np.mean(y - X @ w), positive=True)
    assert found.holds
    assert found.bound == pytest.approx(norm**2, rel=1e-9)


def test_a_repeated_column_changes_nothing_without_a_penalty():
    X, y, s = data(3)
    X = np.column_stack([X, X[:, 0], X[:, 1] - X[:, 0]])
    w, *_ = np.linalg.lstsq(np.sqrt(s)[:, None] * X, np.sqrt(s) * y)
    for shift in (0.0, 100.0):
        moved = w + shift * np.array([1.0, 0, 0, 0, -1.0, 0])
        assert check(X, y, s, w=moved, b=0.0, fit_intercept=False).holds


def test_a_penalty_holds_what_the_data_do_not():
    X, y, s = data(3)
    X = np.column_stack([X, X[:, 0]])
    model = Ridge(alpha=1.0).fit(X, y, sample_weight=s)
    moved = model.coef_ + np.array([0.1, 0, 0, 0, -0.1])
    at = {"b": model.intercept_, "alpha": 1.0}
    assert check(X, y, s, w=model.coef_, **at).holds
    found = check(X, y, s, w=moved, **at)
    assert found.miss == pytest.approx(
        0.02 * (1 + 10 * (model.coef_[0] - model.coef_[4])), rel=1e-6
    )
    assert found.miss > 1e-3


@pytest.mark.parametrize("distance", [1e-3, 1e-8, 1e-12])
def test_a_column_that_nearly_repeats_another_is_not_left_out(distance):
    rng = np.random.default_rng(4)
    x, z = rng.normal(size=(2, 80))
    X, y = np.column_stack([x, x + distance * z]), x + z
    w = np.array([x @ y / (x @ x), 0.0])
    found = check(X, y, np.ones(80), w=w, b=0.0, fit_intercept=False)
    assert found.miss > 0.1 * found.scale


def test_what_is_not_allowed_does_not_hold():
    X, y, s = data(5)
    model = LinearRegression().fit(X, y, sample_weight=s)
    w, b = model.coef_, model.intercept_
    assert check(X, y, s, w=w, b=b).holds
    assert not check(X, y, s, w=w, b=b, positive=True).holds
    assert not check(X, y, s, w=w, b=b, fit_intercept=False).holds


def test_a_constant_target_is_fitted_to_its_last_digits():
    X, _, s = data(6)
    y = np.full(60, 1e5 / 3)
    assert check(X, y, s, w=np.zeros(4), b=y[0]).holds
    assert not check(X, y, s, w=np.zeros(4), b=y[0] * (1 + 1e-9)).holds


MODELS = [
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    LinearRegression(positive=True),
    Ridge(alpha=3.0),
    Ridge(alpha=1e-6, fit_intercept=False),
    Ridge(alpha=2.0, positive=True),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_page_agrees_with_the_proof(model, weighted):
    X, y, s = data(7, targets=2)
    s = s if weighted else None
    model.fit(X, y, sample_weight=s)
    assert_agrees(model.certificate_, X, y, s)


def test_each_target_has_its_own_penalty():
    X, y, s = data(8, targets=3)
    model = Ridge(alpha=[0.1, 10.0, 0.0]).fit(X, y, sample_weight=s)
    assert_agrees(model.certificate_, X, y, s)
    assert not total_of(model.certificate_, X, y, s, alpha=np.array([10.0, 0.1, 0.0])).holds


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weight", [None, "balanced"])
def test_ridge_classifiers_are_least_squares_of_signs(classes, weight):
    X, z, s = data(9)
    y = np.digitize(z, np.quantile(z, [0.3, 0.8][: classes - 1]))
    model = sklearn.linear_model.RidgeClassifier(alpha=2.0, class_weight=weight)
    model.fit(X, y, sample_weight=s)
    certificate = certus.verify(model, X, y, sample_weight=s)
    assert_agrees(certificate, X, y, s)
    swapped = np.where(y == 0, 1, np.where(y == 1, 0, y))
    assert not total_of(certificate, X, swapped, s).holds


def test_other_rows_are_refused():
    X, y, _ = data(10)
    model = LinearRegression().fit(X[:50], y[:50])
    (problem,) = adaptor(model.certificate_.parameters, None)
    assert check(X[:50], *problem.targets(y[:50], np.ones(50)), **problem.arguments).holds
    assert not check(X, *problem.targets(y, np.ones(60)), **problem.arguments).holds
