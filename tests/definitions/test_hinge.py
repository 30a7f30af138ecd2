"""The page of the hinge loss, against linear and quadratic programs, literal sums and the proof."""

from math import inf

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC as TheirLinearSVC

import certus
from certus.definitions import hinge
from certus.definitions.hinge import check, interior_point
from certus.svm import LinearSVC

from .classifiers import agree, claims, edited, is_short, refuse, rows


def two_classes(n=40, p=3, seed=0):
    X, k, s = rows(n, p, 2, seed)
    return X, 2.0 * k - 1, s


def l1_minimum(X, y, omega, l1, intercept):
    """min Σ ω [1 − yz]₊ + l1‖w‖₁ with w and b, a linear program."""
    n, p = X.shape
    cost = np.concatenate([omega, np.full(2 * p, l1), np.zeros(2)])
    A = -np.hstack([np.eye(n), y[:, None] * X, -y[:, None] * X, y[:, None], -y[:, None]])
    bounds = [(0, None)] * (n + 2 * p) + [(0, None if intercept else 0)] * 2
    found = linprog(cost, A, -np.ones(n), bounds=bounds)
    x = found.x[n:]
    return found.fun, x[:p] - x[p : 2 * p], x[2 * p] - x[2 * p + 1]


def l2_minimum(X, y, omega, l2, intercept):
    """max of the dual, Σ α − ‖Xᵀ(y∘α)‖²/2l2 over 0 ≤ α ≤ ω, with w and b of the optimum."""
    X, y, omega = X[omega > 0], y[omega > 0], omega[omega > 0]
    V = y[:, None] * X
    found = minimize(
        lambda t: ((V.T @ (omega * t)) @ (V.T @ (omega * t)) / (2 * l2) - omega @ t,
                   omega * (V @ (V.T @ (omega * t)) / l2 - 1)),
        np.full(len(y), 0.5), jac=True, bounds=[(0, 1)] * len(y), method="SLSQP",
        constraints=[{"type": "eq", "fun": lambda t: (omega * y) @ t,
                      "jac": lambda t: omega * y}] if intercept else [],
        options={"maxiter": 2000, "ftol": 1e-15},
    )  # fmt: skip
    w = V.T @ (omega * found.x) / l2
    kinks = y - X @ w  # Σ ω [1 − y(z + b)]₊ is linear in b between these
    losses = [omega @ np.maximum(1 - y * (X @ w + b), 0.0) for b in kinks]
    return -found.fun, w, float(kinks[np.argmin(losses)]) if intercept else 0.0


def test_the_page_is_short():
    assert is_short(hinge)


def test_the_objective_is_that_of_a_literal_loop():
    X, y, s = two_classes()
    w, b = np.array([0.5, -0.2, 0.01]), 0.3
    F = 0.4 * sum(abs(v) for v in w) + 0.35 * sum(v * v for v in w)
    for i in range(len(y)):
        z = sum(X[i, j] * w[j] for j in range(3)) + b
        F += 2.0 * s[i] * max(1 - y[i] * z, 0.0)
    claim = check(X, y, s, w=w, b=b, C=2.0, l1=0.4, l2=0.7, fit_intercept=True)
    assert claim.objective == pytest.approx(F, rel=1e-13)


def off_the_optimum(X, y, s, w, b, best, how):
    rng = np.random.default_rng(1)
    for size in (1e-6, 1e-3, 1.0):
        off = w + size * rng.normal(size=len(w)) * np.abs(w).max()
        shift = b + size * rng.normal() * how["fit_intercept"]
        claim = check(X, y, s, w=off, b=shift, **how)
        assert claim.bound <= best * (1 + 1e-9)
        assert claim.bound >= best * (1 - 1e-5)
        assert claim.miss >= claim.objective - best - 1e-9 * best


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("l1", [0.01, 1.0, 30.0])
def test_the_bound_meets_the_optimum_of_a_linear_program(l1, fit_intercept):
    X, y, s = two_classes()
    best, w, b = l1_minimum(X, y, 1.5 * s, l1, fit_intercept)
    how = {"C": 1.5, "l1": l1, "l2": 0.0, "fit_intercept": fit_intercept}
    claim = check(X, y, s, w=w, b=b, **how)
    assert claim.objective == pytest.approx(best, rel=1e-9)
    assert claim.holds
    off_the_optimum(X, y, s, w, b, best, how)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("l2", [0.1, 1.0, 30.0])
def test_the_bound_meets_the_optimum_of_a_quadratic_program(l2, fit_intercept):
    X, y, s = two_classes()
    X = X / X.max(axis=0)
    best, w, b = l2_minimum(X, y, 1.5 * s, l2, fit_intercept)
    how = {"C": 1.5, "l1": 0.0, "l2": l2, "fit_intercept": fit_intercept}
    claim = check(X, y, s, w=w, b=b, **how)
    assert claim.objective == pytest.approx(best, rel=1e-4)  # b is one of the kinks
    off_the_optimum(X, y, s, w, b, best, how)


def test_no_dual_variables_make_a_false_claim_hold():
    X, y, s = two_classes()
    best, w, b = l1_minimum(X, y, s, 1.0, True)
    rng = np.random.default_rng(2)
    n = len(y)
    for beta in (np.full(n, np.nan), np.full(n, inf), 1e300 * y, y * s, -y * s, np.zeros(n),
                 rng.normal(size=n), y * s * rng.uniform(size=n)):  # fmt: skip
        for l1, l2 in ((1.0, 0.0), (1.0, 1e-3)):
            how = {"C": 1.0, "l1": l1, "l2": l2, "fit_intercept": True}
            claim = check(X, y, s, w=w * 1.01, b=b, beta=beta, **how)
            assert not claim.holds
            assert claim.bound <= check(X, y, s, w=w, b=b, **how).objective
    assert best > 0


def test_the_optimal_dual_variables_prove_the_optimum():
    X, y, s = two_classes()
    _, w, b = l1_minimum(X, y, s, 1.0, True)
    there = s > 0
    alpha = np.zeros(len(y))
    alpha[there] = interior_point(X[there], y[there], s[there], 1.0, 0.0, True, 1e-9)
    how = {"C": 1.0, "l1": 1.0, "l2": 0.0, "fit_intercept": True}
    assert check(X, y, s, w=w, b=b, beta=y * alpha, **how).holds
    assert not check(X, y, s, w=w, b=b, beta=0.9 * y * alpha, **how).holds


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_scale_is_the_objective_of_the_best_constant(fit_intercept):
    X, y, s = two_classes()
    none, _, _ = l1_minimum(X, y, 1.5 * s, 1e9, fit_intercept)
    how = {"C": 1.5, "l1": 0.0, "l2": 1.0}
    claim = check(X, y, s, w=np.zeros(3), b=0.0, **how, fit_intercept=fit_intercept)
    assert claim.scale == pytest.approx(none, rel=1e-9)


def test_impossible_parameters_are_refused():
    X, y, s = two_classes()
    how = {"C": 1.0, "l1": 0.0, "l2": 1.0}
    for w, b, fit_intercept in [([inf, 0, 0], 0.0, True), ([np.nan, 0, 0], 0.0, True),
                                ([0, 0, 0], inf, True), ([1e200, 0, 0], 0.0, True),
                                ([0, 0, 0], 0.1, False)]:  # fmt: skip
        claim = check(X, y, s, w=np.array(w, float), b=b, **how, fit_intercept=fit_intercept)
        assert not claim.holds


def test_one_class_alone_has_the_optimum_0():
    X, y, s = two_classes()
    how = {"C": 1.0, "l1": 0.0, "l2": 1.0, "fit_intercept": True}
    assert check(X, y, s * (y > 0), w=np.zeros(3), b=1.0, **how).holds
    assert not check(X, y, s * (y > 0), w=np.zeros(3), b=0.9, **how).holds


SETTINGS = [
    {}, {"C": 100.0}, {"C": 1e-3}, {"fit_intercept": False}, {"intercept_scaling": 5.0},
    {"class_weight": "balanced"}, {"class_weight": {0: 0.2, 1: 3.0}},
]  # fmt: skip


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_page_and_proof_agree(setting, K):
    X, k, s = rows(90, 3, K)
    model = LinearSVC(loss="hinge", **setting).fit(X, k, sample_weight=s)
    c, found = agree(model, X, k, s)
    assert c.certified
    assert len(found) == (1 if K == 2 else 3)
    assert sum(f.miss for f in found) <= c.gap + 1e-12 * sum(f.scale for f in found)
    refuse(edited(model, "coef_"), X, k, s)
    refuse(edited(model, "dual_coef_", 0.5), X, k, s)
    refuse(model, X, (k + 1) % K, s)


@pytest.mark.parametrize("K", [2, 3])
def test_the_model_of_another_library_brings_no_dual_variables(K):
    X, k, s = rows(90, 3, K)
    X = X / X.max(axis=0) - 0.5
    model = TheirLinearSVC(loss="hinge", tol=1e-9, max_iter=10**6).fit(X, k, sample_weight=s)
    c, _ = agree(model, X, k, s)
    assert c.certified
    assert c.parameters.get("beta") is None
    refuse(edited(model, "coef_"), X, k, s)


@pytest.mark.parametrize("penalty", ["l1", "l2", "elasticnet"])
@pytest.mark.parametrize("alpha", [1e-4, 1e-2, 1.0])
def test_the_bound_is_no_worse_than_the_proofs(alpha, penalty):
    """For stochastic gradients, far from the optimum, with a free intercept."""
    X, k, s = rows(200, 5, 2)
    model = SGDClassifier(loss="hinge", penalty=penalty, alpha=alpha, random_state=0, max_iter=5000)
    model.fit(X, k, sample_weight=s)
    c = certus.verify(model, X, k, sample_weight=s)
    (claim,) = claims(c, X, k, s)
    assert claim.holds == c.certified
    assert c.bound is not None
    assert claim.bound >= c.bound - 1e-7 * claim.scale
    assert claim.bound <= c.objective
