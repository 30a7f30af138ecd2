"""The page of Poisson and Gamma regression, against 50-digit optima, literal sums and the proof."""

from math import exp, log

import numpy as np
import pytest

import certus
from certus.definitions import log_link
from certus.definitions.log_link import check
from certus.definitions.terms.direction import Direction
from certus.definitions.terms.families import GammaAmounts, PoissonCounts
from certus.definitions.terms.independent import Independent
from certus.linear_model import GammaRegressor, PoissonRegressor
from tests.log_link.log_link_cases import FAMILIES, PENALTIES, case, exact_objective, exact_optimum

from .classifiers import is_short

TERMS = {"poisson": PoissonCounts(), "gamma": GammaAmounts()}
MODELS = {"poisson": PoissonRegressor, "gamma": GammaRegressor}


def claim_of(c, w, b, **more):
    y = c.y[:, None] if c.o is None else np.column_stack([c.y, c.o])
    s = np.ones(len(y)) if c.s is None else c.s
    return check(
        c.X, y, s, family=TERMS[c.family], w=np.asarray(w, dtype=float), b=b, l1=c.l1, l2=c.l2,
        fit_intercept=c.fit_intercept, **more,
    )  # fmt: skip


def fit(c):
    total = c.l1 + c.l2
    return MODELS[c.family](
        alpha=total, l1_ratio=c.l1 / total if total else 0.0, fit_intercept=c.fit_intercept
    ).fit(c.X, c.y, c.s, offset=c.o)


@pytest.mark.parametrize("family", [PoissonCounts, GammaAmounts])
def test_the_page_is_short(family):
    assert is_short(log_link, Independent, family)  # a model has a direction or this
    assert is_short(log_link, Direction, family)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_objective_is_that_of_a_literal_loop(family):
    c = case(family, weighted=True, offset=True)._replace(l1=0.4, l2=0.7)
    w, b = [0.5, -0.2, 0.01], 0.3
    F = 0.0
    for i in range(len(c.y)):
        z = sum(c.X[i, j] * w[j] for j in range(3)) + b + c.o[i]
        if family == "poisson":
            loss = exp(z) - c.y[i] * z + (c.y[i] * log(c.y[i]) - c.y[i] if c.y[i] else 0.0)
        else:
            loss = c.y[i] * exp(-z) + z - log(c.y[i]) - 1
        F += c.s[i] * loss / sum(c.s)
    F += 0.4 * sum(abs(v) for v in w) + 0.35 * sum(v * v for v in w)
    assert claim_of(c, w, b).objective == pytest.approx(F, rel=1e-13)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("penalty", list(PENALTIES))
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_bound_is_below_the_optimum_and_meets_it_there(family, penalty, fit_intercept):
    c = case(family, penalty, weighted=True, offset=True, fit_intercept=fit_intercept)
    model = fit(c)
    best, w, b = exact_optimum(c, model.coef_, model.intercept_)
    w, b, best = np.array([float(v) for v in w]), float(b), float(best)
    claim = claim_of(c, w, b)
    assert claim.objective == pytest.approx(best, rel=1e-12)
    assert claim.holds
    rng = np.random.default_rng(1)
    for size in (1e-6, 1e-4, 1e-2, 1.0):
        for _ in range(5):
            off = w + size * rng.normal(size=3) * np.abs(w).max()
            shift = b + size * rng.normal() * fit_intercept
            claim = claim_of(c, off, shift)
            assert claim.bound <= best + 1e-12
            assert claim.miss >= float(exact_objective(c, off, shift)) - best - 1e-12


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("penalty", list(PENALTIES))
def test_page_and_proof_say_the_same(family, penalty):
    c = case(family, penalty, weighted=True)
    model = fit(c)
    proof, page = (certus.verify(model, c.X, c.y, c.s, by=by) for by in ("proof", "page"))
    assert proof.certified
    assert page.certified
    assert page.objective == pytest.approx(proof.objective, rel=1e-12)
    assert page.bound <= proof.objective * (1 + 1e-12)
    model.coef_ = model.coef_ + 0.1
    proof, page = (certus.verify(model, c.X, c.y, c.s, by=by) for by in ("proof", "page"))
    assert not proof.certified
    assert not page.certified


def test_a_negative_count_and_an_amount_of_zero_are_refused():
    for family, value in (("poisson", -1.0), ("gamma", 0.0)):
        c = case(family)
        c.y[3] = value
        assert not claim_of(c, np.zeros(3), 0.0).holds


def test_a_falling_direction_is_checked_exactly():
    c = case("poisson", "none")
    X = np.column_stack([c.X, (c.y == 0).astype(float)])
    c, w = c._replace(X=X), np.array([0.5, -0.2, 0.0, -30.0])
    falls = Direction([0.0, 0.0, 0.0, -1.0, 0.0])
    assert claim_of(c, w, 0.5, direction=falls).kind == "no finite optimum"
    c.X[np.flatnonzero(c.y)[0], 3] = 1e-300
    assert claim_of(c, w, 0.5, direction=falls).kind == "global optimum"
    c.X[np.flatnonzero(c.y)[0], 3] = 0.0
    assert claim_of(c._replace(l2=1e-9), w, 0.5, direction=falls).kind == "global optimum"


def test_columns_that_repeat_others_are_excluded():
    c = case("poisson", "none")
    model = fit(c)
    c = c._replace(X=np.column_stack([c.X, c.X[:, 0] + c.X[:, 1]]))
    w = np.append(model.coef_, 0.0)
    assert not claim_of(c, w, model.intercept_).holds
    assert claim_of(c, w, model.intercept_, independent=Independent()).holds
