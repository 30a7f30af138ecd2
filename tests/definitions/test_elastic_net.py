"""The page of lasso and elastic net."""

import numpy as np
import pytest
import sklearn.linear_model

import certus
from certus.definitions.elastic_net import check, dual
from certus.definitions.terms.targets import Averaged
from certus.linear_model import ElasticNet, Lasso
from tests.definitions.regression_claims import assert_agrees, assert_short, data, total_of


def objective(X, y, s, w, b, l1, l2):
    F = sum(l1 * abs(c) + l2 / 2 * c * c for c in w)
    for i in range(len(y)):
        F += s[i] / 2 * (y[i] - sum(x * c for x, c in zip(X[i], w, strict=True)) - b) ** 2
    return F


def by_coordinates(X, y, s, l1, l2, intercept=True, positive=False, sweeps=1000):
    """The optimum by plain coordinate descent."""
    w, b = np.zeros(X.shape[1]), 0.0
    for _ in range(sweeps):
        if intercept:
            b = s @ (y - X @ w) / s.sum()
        for j, x in enumerate(X.T):
            v = s @ (x * (y - X @ w - b + x * w[j]))
            size = v if positive else abs(v)
            w[j] = np.sign(v) * max(size - l1, 0.0) / (s @ x**2 + l2)
    return w, b


SETTINGS = [
    {"l1": 20.0, "l2": 0.0},
    {"l1": 5.0, "l2": 3.0},
    {"l1": 0.1, "l2": 0.0, "intercept": False},
    {"l1": 5.0, "l2": 0.0, "positive": True},
    {"l1": 1.0, "l2": 1.0, "positive": True, "intercept": False},
]


def arguments(l1, l2, intercept=True, positive=False):
    return {"l1": l1, "l2": l2, "fit_intercept": intercept, "positive": positive}


def test_the_page_is_short():
    assert_short("elastic_net")


def test_the_objective_is_a_sum_over_rows():
    X, y, s = data(0)
    w = np.array([1.0, -2.0, 0.0, 3.0])
    found = check(X, y, s, w=w, b=0.7, l1=2.0, l2=0.5)
    assert found.objective == pytest.approx(objective(X, y, s, w, 0.7, 2.0, 0.5), rel=1e-13)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_bound_lies_below_the_optimum_everywhere_and_meets_it_there(setting):
    X, y, s = data(1)
    w, b = by_coordinates(X, y, s, **setting)
    best = objective(X, y, s, w, b, setting["l1"], setting["l2"])
    at_best = check(X, y, s, w=w, b=b, **arguments(**setting))
    assert at_best.miss <= 1e-12 * at_best.scale
    rng = np.random.default_rng(0)
    for size in (1e-6, 1e-3, 0.1, 1.0, 100.0):
        away = w + size * rng.normal(size=4) * (rng.random(4) < 0.7)
        if setting.get("positive"):
            away = np.maximum(away, 0.0)
        found = check(X, y, s, w=away, b=b, **arguments(**setting))
        assert found.bound <= best * (1 + 1e-12)
        assert found.miss >= (found.objective - best) * (1 - 1e-9)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_near_the_optimum_the_gap_is_of_the_order_of_the_excess(setting):
    """Not of its square root, as it is for the dual point a = r."""
    X, y, s = data(2)
    w, b = by_coordinates(X, y, s, **setting)
    away = w * (1 + 1e-4 * np.array([1, -1, 1, -1]))
    found = check(X, y, s, w=away, b=b, **arguments(**setting))
    excess = found.objective - objective(X, y, s, w, b, setting["l1"], setting["l2"])
    assert found.miss <= 3 * excess


@pytest.mark.parametrize("setting", SETTINGS[:2] + SETTINGS[3:4], ids=str)
def test_no_dual_point_proves_too_much(setting):
    X, y, s = data(3)
    X, y = X - s @ X / s.sum(), y - s @ y / s.sum()
    w, b = by_coordinates(X, y, s, **setting)
    best = objective(X, y, s, w, b, setting["l1"], setting["l2"])
    rng = np.random.default_rng(0)
    for scale in np.logspace(-3, 3, 30):
        a = scale * rng.normal(size=60) + rng.integers(2) * (y - X @ w)
        a -= s @ a / s.sum()
        l1, l2, positive = setting["l1"], setting["l2"], setting.get("positive", False)
        for point in (a, -a, -y):
            assert dual(X, y, s, point, l1, l2, positive) <= best * (1 + 1e-12)


def test_repeated_columns_may_share_a_coefficient_but_not_with_opposite_signs():
    X, y, s = data(4)
    w, b = by_coordinates(X, y, s, 5.0, 0.0)
    j = int(np.abs(w).argmax())
    X = np.column_stack([X, X[:, j]])
    for share, holds in ((0.0, True), (0.4, True), (1.0, True), (1.5, False), (-0.5, False)):
        both = np.append(w, share * w[j])
        both[j] *= 1 - share
        assert check(X, y, s, w=both, b=b, l1=5.0).holds == holds


def test_all_columns_out_is_the_optimum_of_a_large_penalty_only():
    X, y, s = data(5)
    b = s @ y / s.sum()
    largest = np.abs((X - s @ X / s.sum()).T @ (s * (y - b))).max()
    for factor, holds in ((1.0001, True), (0.9, False)):
        assert check(X, y, s, w=np.zeros(4), b=b, l1=factor * largest).holds == holds


def test_what_is_not_allowed_does_not_hold():
    X, y, s = data(1)
    w, b = by_coordinates(X, y, s, 5.0, 0.0)
    assert (w < 0).any()
    assert check(X, y, s, w=w, b=b, l1=5.0).holds
    assert not check(X, y, s, w=w, b=b, l1=5.0, positive=True).holds
    assert not check(X, y, s, w=w, b=b, l1=5.0, fit_intercept=False).holds


def test_weights_are_divided_as_the_model_does():
    _, y, s = data(6)
    for divisor, D in (("weights", s.sum()), ("rows", 60), (None, 1.0)):
        _, shares = Averaged(0, divisor, 0.5)(y, s)
        np.testing.assert_allclose(shares, s / (2 * D), rtol=1e-15)


MODELS = [
    Lasso(alpha=0.1),
    Lasso(alpha=1e-3, fit_intercept=False),
    Lasso(alpha=0.1, positive=True),
    ElasticNet(alpha=0.3, l1_ratio=0.4),
    ElasticNet(alpha=0.3, l1_ratio=0.4, positive=True, fit_intercept=False),
    ElasticNet(alpha=0.3, l1_ratio=0.0),
    ElasticNet(alpha=0.0),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_page_agrees_with_the_proof(model, weighted):
    X, y, s = data(7, targets=2)
    s = s if weighted else None
    model.fit(X, y, sample_weight=s)
    assert_agrees(model.certificate_, X, y, s)


def test_more_columns_than_rows():
    X, y, s = data(8, n=25, p=40)
    model = Lasso(alpha=0.05).fit(X, y, sample_weight=s)
    assert_agrees(model.certificate_, X, y, s)


@pytest.mark.filterwarnings("ignore")
def test_models_of_scikit_learn_are_judged_by_their_own_objective():
    X, y, s = data(9)
    for model in (
        sklearn.linear_model.Lasso(alpha=0.1, tol=1e-10),
        sklearn.linear_model.LassoLars(alpha=0.1),
        sklearn.linear_model.ElasticNet(alpha=0.1, l1_ratio=0.9, tol=1e-10),
    ):
        model.fit(X, y)
        assert_agrees(certus.verify(model, X, y), X, y)
    weighted = sklearn.linear_model.Lasso(alpha=0.1, tol=1e-10).fit(X, y, sample_weight=s)
    assert_agrees(certus.verify(weighted, X, y, sample_weight=s), X, y, s)
    weighted.alpha = 0.102
    assert not total_of(certus.verify(weighted, X, y, sample_weight=s), X, y, s).holds


@pytest.mark.filterwarnings("ignore")
def test_a_fit_that_was_stopped_early_is_refused():
    X, y, _ = data(10, n=40, p=60)
    model = sklearn.linear_model.Lasso(alpha=0.01, max_iter=3).fit(X, y)
    certificate = certus.verify(model, X, y)
    assert not certificate.certified
    assert not total_of(certificate, X, y).holds
