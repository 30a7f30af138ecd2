"""The page of regression with a convex penalty, and its terms."""

from math import inf, sqrt

import numpy as np
import pytest

from certus import losses, penalties
from certus.definitions.penalized import check, dual
from certus.definitions.terms.penalties.elastic_net import ElasticNet
from certus.definitions.terms.penalties.group_l2 import GroupL2
from certus.definitions.terms.penalties.simplex import Simplex
from certus.linear_model import PenalizedRegressor
from tests.definitions.regression_claims import assert_agrees, assert_short, data, total_of

GROUPS = [0, 1, 1, 0, 2, 2]
TERMS = {
    "group": (GroupL2(8.0, GROUPS), penalties.GroupL2(8.0, groups=GROUPS)),
    "simplex": (Simplex(2.0), penalties.Simplex(2.0)),
    "l1": (ElasticNet(4.0, 0.0), penalties.L1(4.0)),
    "l2": (ElasticNet(0.0, 3.0), penalties.L2(3.0)),
    "elastic net": (ElasticNet(2.0, 2.0), penalties.ElasticNet(4.0, 0.5)),
    "positive": (ElasticNet(2.0, 2.0, True), penalties.ElasticNet(4.0, 0.5, positive=True)),
}
each_term = pytest.mark.parametrize("name", TERMS)
each_loss = pytest.mark.parametrize("delta", [inf, 1.0, 0.1])
each_intercept = pytest.mark.parametrize("intercept", [True, False])


def value(name, w):
    """The penalties as they are written."""
    if name == "group":
        columns = [[j for j in range(6) if GROUPS[j] == g] for g in range(3)]
        return 8.0 * sum(sqrt(len(g) * sum(w[j] ** 2 for j in g)) for g in columns)
    if name == "simplex":
        return 0.0
    term = TERMS[name][0]
    return sum(term.l1 * abs(c) + term.l2 / 2 * c * c for c in w)


def objective(X, y, s, w, b, delta, name):
    F = value(name, w)
    for i in range(len(y)):
        r = abs(y[i] - sum(X[i, j] * w[j] for j in range(len(w))) - b)
        F += s[i] * (r * r / 2 if r <= delta else delta * r - delta * delta / 2)
    return F


def fitted(name, delta, intercept, seed=1):
    X, y, s = data(seed, p=6)
    loss = losses.Squared() if delta == inf else losses.Huber(delta)
    model = PenalizedRegressor(loss=loss, penalty=TERMS[name][1], fit_intercept=intercept)
    return X, y, s, model.fit(X, y, sample_weight=s)


def test_the_page_is_short_with_any_of_its_terms():
    for term in (GroupL2, Simplex, ElasticNet):
        assert_short("penalized", term)


@each_term
@each_loss
@each_intercept
def test_the_bound_lies_below_the_optimum_everywhere_and_meets_it_there(name, delta, intercept):
    X, y, s, model = fitted(name, delta, intercept)
    w, b, rng = model.coef_, float(model.intercept_), np.random.default_rng(0)
    how = {"penalty": TERMS[name][0], "delta": delta, "fit_intercept": intercept}
    best = objective(X, y, s, w, b, delta, name)
    found = check(X, y, s, w=w, b=b, **how)
    assert found.objective == pytest.approx(best, rel=1e-12)
    assert found.holds
    assert found.bound <= best * (1 + 1e-12)
    for size in (1e-4, 0.1, 1.0, 30.0):
        away = w + size * rng.normal(size=6)
        if name in ("simplex", "positive"):
            away = np.abs(away)
        if name == "simplex":
            away *= 2.0 / away.sum()
        found = check(X, y, s, w=away, b=b, **how)
        assert found.objective == pytest.approx(objective(X, y, s, away, b, delta, name), rel=1e-12)
        assert found.bound <= best * (1 + 1e-12)
        assert not found.holds or found.objective - best <= 1e-6 * found.scale


@each_term
@each_loss
def test_no_dual_point_proves_too_much(name, delta):
    X, y, s, model = fitted(name, delta, True)
    best = objective(X, y, s, model.coef_, float(model.intercept_), delta, name)
    X, y, rng = X - s @ X / s.sum(), y - s @ y / s.sum(), np.random.default_rng(0)
    r = y - X @ model.coef_
    for scale in np.logspace(-3, 3, 20):
        for a in (scale * rng.normal(size=60), scale * y, -scale * y, scale * rng.normal() + r):
            point = np.clip(a, -delta, delta)
            assert dual(X, y, s, point, TERMS[name][0], True) <= best * (1 + 1e-9)


@each_term
def test_a_conjugate_is_the_largest_of_all_tangents(name):
    """pen*(τv) ≥ τvᵀw − pen(w) for every w, with equality for some."""
    term, rng = TERMS[name][0], np.random.default_rng(2)
    for size in (0.3, 3.0, 30.0):
        v = size * rng.normal(size=6)
        tau, conjugate = term.conjugate(v)
        assert 0 < tau <= 1
        W = rng.normal(size=(3000, 6)) * np.exp(3 * rng.normal(size=(3000, 1)))
        if name in ("simplex", "positive"):
            W = np.abs(W)
        if name == "simplex":
            W = np.vstack([2.0 * W / W.sum(axis=1, keepdims=True), 2.0 * np.eye(6)])
        W = np.vstack([W, 0 * v]) if name != "simplex" else W
        if name in ("l2", "elastic net"):
            W = np.vstack([W, np.sign(v) * np.maximum(np.abs(v) - term.l1, 0.0) / term.l2])
        most = max(tau * v @ w - value(name, w) for w in W)
        assert most <= conjugate + 1e-9
        if name != "positive":
            assert most == pytest.approx(conjugate, abs=1e-9)


@each_term
def test_the_nearest_subgradient_is_one(name):
    """pen(u) ≥ pen(w) + tᵀ(u − w) for every u."""
    term, rng = TERMS[name][0], np.random.default_rng(3)
    for _ in range(20):
        w = rng.normal(size=6) * (rng.random(6) < 0.6)
        if name in ("simplex", "positive"):
            w = np.abs(w)
        if name == "simplex":
            w = 2.0 * w / w.sum()
        t = term.nearest(w, 5 * rng.normal(size=6))
        for u in rng.normal(size=(50, 6)) * (rng.random((50, 6)) < 0.6):
            if name in ("simplex", "positive"):
                u = np.abs(u) + 1e-12
            if name == "simplex":
                u = 2.0 * u / u.sum()
            assert value(name, u) >= value(name, w) + t @ (u - w) - 1e-9


def test_what_a_penalty_excludes_is_infinite():
    assert Simplex(2.0).value(np.array([1.0, 1.0])) == 0
    assert Simplex(2.0).value(np.array([1.0, 1.0 + 1e-9])) == inf
    assert Simplex(2.0).value(np.array([2.5, -0.5])) == inf
    assert ElasticNet(1.0, 0.0, True).value(np.array([1.0, -1e-300])) == inf
    X, y, s, model = fitted("positive", 1.0, True)
    w = model.coef_.copy()
    w[w == 0] = -1e-9
    assert not check(X, y, s, w=w, b=float(model.intercept_), penalty=TERMS["positive"][0]).holds


def test_no_intercept_was_asked_for():
    X, y, s, model = fitted("l1", 1.0, True)
    how = {"w": model.coef_, "b": float(model.intercept_), "penalty": TERMS["l1"][0], "delta": 1.0}
    assert check(X, y, s, **how).holds
    assert not check(X, y, s, **how, fit_intercept=False).holds


@each_term
@each_loss
@each_intercept
def test_the_page_agrees_with_the_proof(name, delta, intercept):
    if delta == inf and name not in ("group", "simplex"):
        delta = 0.5  # squares with an elastic net have a page of their own
    X, y, s, model = fitted(name, delta, intercept, seed=4)
    if name == "simplex":
        assert model.certificate_.certified
        total = total_of(model.certificate_, X, y, s)
        assert total.holds
        assert total.miss <= model.certificate_.gap + 1e-12 * total.scale
        w = model.certificate_.parameters["w"].copy()
        w[:2] += [[1e-2], [-1e-2]]
        assert not total_of(model.certificate_, X, y, s, w=w).holds
    else:
        assert_agrees(model.certificate_, X, y, s)


@pytest.mark.filterwarnings("ignore")
def test_a_fit_that_was_stopped_early_is_refused():
    X, y, s = data(5, n=30, p=40)
    penalty = penalties.GroupL2(1.0, groups=np.arange(40) // 2)
    model = PenalizedRegressor(loss=losses.Huber(0.5), penalty=penalty, max_iter=3)
    certificate = model.fit(X, y, sample_weight=s).certificate_
    assert not certificate.certified
    assert not total_of(certificate, X, y, s).holds
