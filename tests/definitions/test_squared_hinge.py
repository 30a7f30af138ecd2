"""The page of the squared hinge loss, against scipy, literal sums and the proof."""

from math import inf

import numpy as np
import pytest
from sklearn.svm import LinearSVC as TheirLinearSVC

from certus.definitions import squared_hinge
from certus.definitions.squared_hinge import check
from certus.linear_model import PenalizedClassifier
from certus.penalties import L1, L2, ElasticNet
from certus.svm import LinearSVC

from .classifiers import agree, edited, is_short, refuse, rows, smooth_minimum

PENALTIES = [(0.0, 1.0), (0.0, 0.01), (0.5, 0.5), (1.0, 0.0)]


def two_classes(n=60, p=3, seed=0):
    X, k, s = rows(n, p, 2, seed)
    return X, 2.0 * k - 1, s


def loss_of(y, s, C):
    def loss(z):
        short = np.maximum(1 - y * z, 0.0)
        return C * (s @ short**2), -2 * C * s * y * short

    return loss


def test_the_page_is_short():
    assert is_short(squared_hinge)


def test_the_objective_is_that_of_a_literal_loop():
    X, y, s = two_classes()
    w, b = np.array([0.5, -0.2, 0.01]), 0.3
    F = 0.4 * sum(abs(v) for v in w) + 0.35 * sum(v * v for v in w)
    for i in range(len(y)):
        z = sum(X[i, j] * w[j] for j in range(3)) + b
        F += 2.0 * s[i] * max(1 - y[i] * z, 0.0) ** 2
    claim = check(X, y, s, w=w, b=b, C=2.0, l1=0.4, l2=0.7, fit_intercept=True)
    assert claim.objective == pytest.approx(F, rel=1e-13)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("l1", "l2"), PENALTIES)
def test_the_bound_is_below_the_optimum_and_meets_it_there(l1, l2, fit_intercept):
    X, y, s = two_classes()
    best, w, b = smooth_minimum(loss_of(y, s, 1.5), X, 1, l1, l2, fit_intercept)
    how = {"C": 1.5, "l1": l1, "l2": l2, "fit_intercept": fit_intercept}
    claim = check(X, y, s, w=w, b=b, **how)
    assert claim.objective == pytest.approx(best, rel=1e-12)
    assert claim.holds
    rng = np.random.default_rng(1)
    for size in (1e-6, 1e-4, 1e-2, 1.0):
        for _ in range(5):
            off = w + size * rng.normal(size=3) * np.abs(w).max()
            shift = b + size * rng.normal() * fit_intercept
            claim = check(X, y, s, w=off, b=shift, **how)
            assert claim.bound <= best * (1 + 1e-10)
            assert claim.miss >= claim.objective - best - 1e-10 * best


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_scale_is_the_objective_of_the_best_constant(fit_intercept):
    _, y, s = two_classes()
    X = np.zeros((len(y), 1))
    X[0] = 1.0
    none, _, b = smooth_minimum(loss_of(y, s, 1.5), X, 1, 0.0, 1e12, fit_intercept)
    how = {"C": 1.5, "l1": 0.0, "l2": 1.0, "fit_intercept": fit_intercept}
    claim = check(X, y, s, w=np.zeros(1), b=b * fit_intercept, **how)
    assert claim.scale == pytest.approx(none, rel=1e-9)
    constant = check(
        X, y, s, w=np.zeros(1), b=0.0, **{**how, "fit_intercept": False}, constant=True
    )
    free = check(X, y, s, w=np.zeros(1), b=0.0, **{**how, "fit_intercept": True})
    assert constant.scale == free.scale


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
    {}, {"C": 100.0}, {"C": 1e-3}, {"penalty": "l1"}, {"fit_intercept": False},
    {"intercept_scaling": 5.0}, {"class_weight": "balanced"}, {"class_weight": {0: 0.2, 1: 3.0}},
]  # fmt: skip


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_page_and_proof_agree(setting, K):
    X, k, s = rows(90, 3, K)
    model = LinearSVC(**setting).fit(X, k, sample_weight=s)
    c, found = agree(model, X, k, s)
    assert c.certified
    assert len(found) == (1 if K == 2 else 3)
    assert sum(f.miss for f in found) <= c.gap + 1e-12 * sum(f.scale for f in found)
    refuse(edited(model, "coef_"), X, k, s)
    refuse(model, X, (k + 1) % K, s)


@pytest.mark.parametrize("penalty", [L1(0.5), L2(2.0), ElasticNet(0.5, 0.5)], ids=str)
def test_page_and_proof_agree_on_any_penalty(penalty):
    X, k, s = rows(90, 3, 3)
    model = PenalizedClassifier(loss="squared_hinge", penalty=penalty).fit(X, k, sample_weight=s)
    c, _ = agree(model, X, k, s)
    assert c.certified
    refuse(edited(model, "coef_"), X, k, s)
    refuse(edited(model, "intercept_"), X, k, s)


def test_the_model_of_another_library():
    X, k, s = rows(90, 3, 2)
    model = TheirLinearSVC(tol=1e-10, max_iter=100000, dual=False).fit(X, k, sample_weight=s)
    c, _ = agree(model, X, k, s)
    assert c.certified
    rough = TheirLinearSVC(tol=1e-1, dual=False).fit(X, k, sample_weight=s)
    refuse(rough, X, k, s)
