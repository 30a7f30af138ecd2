"""Composite problems that a sequence of squares solves: w ≥ 0, and Huber's loss far beyond δ."""

import numpy as np
import pytest

from certus.linear_model import LinearRegression, PenalizedRegressor
from certus.losses import Huber
from certus.penalties import L2, GroupL2, NonNegative


@pytest.mark.parametrize("shape", [(40, 900), (90, 8)], ids=str)
@pytest.mark.parametrize("intercept", [True, False])
def test_nonnegative_squares_are_those_of_linear_regression(shape, intercept):
    rng = np.random.default_rng(0)
    X, y = np.round(rng.lognormal(4, 1.5, size=shape)), rng.random(shape[0])
    ours = PenalizedRegressor(penalty=NonNegative(), fit_intercept=intercept).fit(X, y)
    other = LinearRegression(positive=True, fit_intercept=intercept).fit(X, y)
    assert ours.solver_ == "active set"
    assert ours.n_iter_ <= 2  # of proximal gradient, after the active set
    assert ours.certificate_.certified
    np.testing.assert_allclose(ours.predict(X), other.predict(X), rtol=0, atol=1e-6)


def test_nonnegative_squares_with_a_penalty_are_proven():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 6)), rng.normal(size=50)
    model = PenalizedRegressor(penalty=L2(3.0, positive=True)).fit(X, y)
    assert model.certificate_.certified
    assert (model.coef_ >= 0).all()


def huber_problem(kind, n=100, p=6):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    signal = X @ rng.normal(size=p)
    y = {
        "scale": 1e6 * (signal + rng.standard_t(2, size=n)),
        "offset": 1e6 + signal + rng.normal(size=n),
        "both": 1e9 + 1e6 * (signal + rng.normal(size=n)),
    }
    return X, y[kind]


@pytest.mark.parametrize("kind", ["scale", "offset", "both"])
def test_hubers_loss_with_groups_converges_for_targets_about_a_million(kind):
    X, y = huber_problem(kind)
    penalty = GroupL2(1.0, groups=[[0, 1, 2], [3, 4, 5]])
    model = PenalizedRegressor(loss=Huber(), penalty=penalty, max_iter=8_000).fit(X, y)
    assert model.certificate_.status == "optimal"


def test_far_targets_change_nothing_but_the_intercept():
    X, y = huber_problem("offset")
    penalty = GroupL2(1.0, groups=[0, 0, 0, 1, 1, 2])
    far = PenalizedRegressor(loss=Huber(), penalty=penalty).fit(X, y)
    near = PenalizedRegressor(loss=Huber(), penalty=penalty).fit(X, y - 1e6)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-3)
    assert far.intercept_ - 1e6 == pytest.approx(near.intercept_, abs=1e-3)
    again = PenalizedRegressor(loss=Huber(), penalty=penalty, warm_start=True).fit(X, y)
    assert again.fit(X, y).n_iter_ <= 1


def test_reweighted_squares_heed_weights():
    X, y = huber_problem("scale", n=60)
    s = np.random.default_rng(0).integers(0, 3, size=60)
    penalty = GroupL2(10.0, groups=[[0, 1, 2], [3, 4, 5]])
    weighted = PenalizedRegressor(loss=Huber(), penalty=penalty).fit(X, y, s)
    repeated = PenalizedRegressor(loss=Huber(), penalty=penalty).fit(
        np.repeat(X, s, axis=0), np.repeat(y, s)
    )
    assert weighted.solver_ == "reweighted squares"
    assert weighted.certificate_.certified
    assert weighted.certificate_.objective == pytest.approx(
        repeated.certificate_.objective, rel=1e-6
    )
