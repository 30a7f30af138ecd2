"""The page of regression with MCP or SCAD, and its terms."""

from math import inf

import numpy as np
import pytest
from scipy.integrate import quad

from certus import losses, penalties
from certus.definitions.concave_penalty import check
from certus.definitions.terms.penalties.mcp import MCP
from certus.definitions.terms.penalties.scad import SCAD
from certus.linear_model import PenalizedRegressor
from tests.definitions.regression_claims import assert_agrees, assert_short, data, total_of

TERMS = [MCP(6.0, 3.0), SCAD(6.0, 3.7)]
OURS = {MCP: penalties.MCP, SCAD: penalties.SCAD}
each_term = pytest.mark.parametrize("term", TERMS, ids=str)
each_loss = pytest.mark.parametrize("delta", [inf, 1.0])


def fitted(term, delta, intercept=True):
    X, y, s = data(0, p=6)
    loss = losses.Squared() if delta == inf else losses.Huber(delta)
    penalty = OURS[type(term)](term.strength, term.gamma)
    model = PenalizedRegressor(loss=loss, penalty=penalty, fit_intercept=intercept)
    return X, y, s, model.fit(X, y, sample_weight=s)


def test_the_page_is_short_with_any_of_its_terms():
    for term in (MCP, SCAD):
        assert_short("concave_penalty", term)


@each_term
def test_a_penalty_is_the_integral_of_its_slope_and_that_of_its_bend(term):
    assert term.slope(np.array([1e-12]))[0] == pytest.approx(term.strength)
    for u in (0.5, 5.9, 6.1, 17.0, 19.0, 22.0, 40.0):
        corners = [c for c in (6.0, 18.0, 22.2) if c < u]
        area, _ = quad(lambda t: term.slope(np.array([t]))[0], 0, u, points=corners or None)
        assert term.value(np.array([u, -u])) == pytest.approx(2 * area, rel=1e-9)
        fall, _ = quad(lambda t: term.bend(np.array([t]))[0], 0, u, points=corners or None)
        assert term.slope(np.array([u]))[0] == pytest.approx(6.0 - fall, abs=1e-7)


@each_term
@each_loss
def test_the_miss_is_the_largest_slope_of_the_objective(term, delta):
    """By differences of the objective, at a point with no coefficient at 0."""
    X, y, s = data(1)
    rng = np.random.default_rng(0)
    w, b, h = rng.normal(size=4), 0.3, 1e-6

    def F(w, b):
        return check(X, y, s, w=w, b=b, penalty=term, delta=delta).objective

    centered, mean = X - s @ X / s.sum(), s @ X / s.sum()
    a0 = y - s @ y / s.sum()
    N = min(np.sqrt(s @ a0**2), delta * np.sqrt(s.sum()))
    shares = [abs(F(w, b + h) - F(w, b - h)) / (2 * h) / np.sqrt(s.sum()) / N]
    for j in range(4):  # of x_j less its mean: b gives way
        step = h * np.eye(4)[j]
        slope = (F(w + step, b - step @ mean) - F(w - step, b + step @ mean)) / (2 * h)
        shares.append(abs(slope) / np.sqrt(s @ centered[:, j] ** 2) / N)
    found = check(X, y, s, w=w, b=b, penalty=term, delta=delta)
    assert found.miss == pytest.approx(max(shares), rel=1e-6)
    assert found.bound is None


@each_term
def test_a_coefficient_is_0_only_where_the_slope_is_below_the_strength(term):
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(2, 50))
    x -= x.mean()
    for slope, holds in ((5.99, True), (6.01, False)):
        target = slope * x / (x @ x) + 0 * y
        found = check(x[:, None], target, np.ones(50), w=np.zeros(1), b=0.0, penalty=term)
        assert found.holds == holds


def test_a_highest_point_is_refused():
    """½‖x‖²(w − c)² + pen is concave around its highest point, where the column is small."""
    x = np.array([-1.0, 1.0]) / 10
    term = MCP(1.0, 2.0)
    # the slope is 0 where x²(w − c) + λ − w/γ = 0
    w, square = 1.0, x @ x
    c = w + (term.strength - w / term.gamma) / square
    found = check(x[:, None], c * x, np.ones(2), w=np.array([w]), b=0.0, penalty=term)
    assert found.miss == inf
    values = [check(x[:, None], c * x, np.ones(2), w=np.array([v]), b=0.0, penalty=term).objective
              for v in (0.9, 1.0, 1.1)]  # fmt: skip
    assert values[1] > max(values[0], values[2])


def test_no_intercept_was_asked_for():
    X, y, s, model = fitted(TERMS[0], inf)
    how = {"w": model.coef_, "b": float(model.intercept_), "penalty": TERMS[0]}
    assert check(X, y, s, **how).holds
    assert not check(X, y, s, **how, fit_intercept=False).holds


@each_term
@each_loss
@pytest.mark.parametrize("intercept", [True, False])
def test_the_page_agrees_with_the_proof(term, delta, intercept):
    X, y, s, model = fitted(term, delta, intercept)
    total = assert_agrees(model.certificate_, X, y, s)
    assert model.certificate_.kind == "stationary"
    assert total.miss == pytest.approx(model.certificate_.residual, rel=1e-3, abs=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_a_fit_that_was_stopped_early_is_refused():
    X, y, s = data(3, n=30, p=40)
    model = PenalizedRegressor(loss="squared", penalty=penalties.SCAD(1.0), max_iter=2)
    certificate = model.fit(X, y, sample_weight=s).certificate_
    assert not certificate.certified
    assert not total_of(certificate, X, y, s).holds
