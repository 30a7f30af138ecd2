"""What a missed optimum of counts and amounts means for predictions."""

import warnings

import numpy as np
import pytest
import sklearn.linear_model as peers

import certus
from certus.linear_model import GammaRegressor, PoissonRegressor
from certus.proofs import optimum_answers
from tests.log_link.log_link_cases import FAMILIES, case

OURS = {"poisson": PoissonRegressor, "gamma": GammaRegressor}
THEIRS = {"poisson": peers.PoissonRegressor, "gamma": peers.GammaRegressor}
each_family = pytest.mark.parametrize("family", FAMILIES)


def fitted(model, *data, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*data, **options)


@each_family
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_means_of_scikit_learn_are_compared_with_those_at_the_optimum(family, weighted, alpha):
    c = case(family, n=90, weighted=weighted)
    model = fitted(THEIRS[family](alpha=alpha, max_iter=1), c.X, c.y, c.s)
    best = OURS[family](alpha=alpha, tol=1e-12).fit(c.X, c.y, c.s)
    certificate = certus.verify(model, c.X, c.y, c.s)
    d, counts = certificate.decisions, np.ones(90, dtype=bool) if c.s is None else c.s > 0
    change = np.abs(model.predict(c.X) - best.predict(c.X))[counts]
    residual = (c.y - best.predict(c.X))[counts]
    assert certificate.status == "not optimal"
    assert d.answer == "prediction"
    assert d.n == counts.sum()
    assert d.max_change == pytest.approx(change.max(), rel=1e-5)
    assert change.max() <= d.bound <= d.max_change + 1e-2 * best.predict(c.X).max()
    s = np.ones(90) if c.s is None else c.s
    assert d.unit == pytest.approx(0.01 * np.sqrt(np.average(residual**2, weights=s[counts])))
    assert d.n_changed == (change > d.unit).sum()
    assert "At the optimum " in certificate.explain().splitlines()[1]


@each_family
@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_offsets_are_part_of_the_predictions(family, l1_ratio):
    c = case(family, n=90, offset=True)
    options = {"alpha": 0.1, "l1_ratio": l1_ratio}
    model = fitted(OURS[family](**options, max_iter=1), c.X, c.y, offset=c.o + 50)
    best = OURS[family](**options, tol=1e-11).fit(c.X, c.y, offset=c.o + 50)
    d = certus.verify(model, c.X, c.y, offset=c.o + 50, decisions=True).decisions
    change = np.abs(model.predict(c.X, offset=c.o + 50) - best.predict(c.X, offset=c.o + 50))
    assert d.max_change == pytest.approx(change.max(), rel=1e-4)
    assert change.max() <= d.bound


@each_family
def test_a_model_at_its_optimum_is_harmless(family):
    c = case(family, n=90)
    model = OURS[family](alpha=0.1).fit(c.X, c.y)
    certificate = certus.verify(model, c.X, c.y, decisions=True)
    assert certificate.decisions.n_changed == 0
    assert "harmless" in certificate.explain()


def test_counts_without_a_finite_optimum_have_nothing_to_compare_with():
    c = case("poisson", n=90)
    model = fitted(THEIRS["poisson"](alpha=0), np.column_stack([c.X, c.y > 0]), c.y)
    certificate = certus.verify(model, np.column_stack([c.X, c.y > 0]), c.y, decisions=True)
    assert certificate.decisions is None
    assert "there is no optimum" in certificate.explain()


@each_family
@pytest.mark.parametrize("seed", range(6))
def test_no_mean_is_farther_from_the_optimum_than_the_gap_allows(family, seed):
    c = case(family, "none", seed=seed, n=60)
    best = OURS[family](alpha=0, tol=1e-12).fit(c.X, c.y)
    theta, Phi = np.append(best.coef_, best.intercept_), np.column_stack([c.X, np.ones(60)])
    random = np.random.default_rng(seed)

    def half_deviance(mean):
        if family == "gamma":
            return np.sum(np.log(mean) + c.y / mean)
        return np.sum(mean - c.y * np.log(mean))

    def bound(gap, mean):
        u = np.ones(60)
        if family == "gamma":
            return optimum_answers.amount_error(gap, u, c.y, mean)
        return optimum_answers.count_error(gap, u, mean)

    optimum = np.exp(Phi @ theta)
    for size in (1e-4, 1e-3, 1e-2, 0.1, 1.0):
        mean = np.exp(Phi @ (theta + size * random.normal(size=4)))
        gap = half_deviance(mean) - half_deviance(optimum) + 1e-10
        assert (np.abs(mean - optimum) <= bound(gap, mean)).all()
