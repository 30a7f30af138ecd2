"""NCFSRegressor: relevant columns, losses, predictions by loops."""

import numpy as np
import pytest
from sklearn.metrics import r2_score

from certus.exceptions import DegenerateWarning, NotCertifiedWarning
from certus.feature_selection import NCFSRegressor
from tests.contract.problems import weights
from tests.house.naming import without_address
from tests.ncfs.ncfs_cases import METRICS, chances, curve, minmax, objective
from tests.runtime.progress_cases import Recorder


def insensitive(u, v):
    return np.maximum(abs(u - v) - 0.3, 0.0)


LOSSES = {
    "absolute": lambda u, v: abs(u - v),
    "squared": lambda u, v: (u - v) ** 2,
    "epsilon_insensitive": insensitive,
}


@pytest.mark.parametrize("loss", [*LOSSES, lambda u, v: abs(u - v) ** 1.5], ids=without_address)
@pytest.mark.parametrize("seed", range(3))
def test_the_columns_that_tell_y_are_found(loss, seed):
    X, y = curve(seed, n=150)
    model = NCFSRegressor(loss=loss).fit(X, y)
    assert model.get_support(indices=True).tolist() == [1, 4]
    assert model.loo_score_ > 0.8
    assert model.certificate_.certified
    assert model.certificate_.status == "local optimum"


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("form", ["sum", "mean"])
def test_the_objective_is_that_of_loops(loss, form):
    X, y = curve(1, n=60)
    s = weights(1, 60)
    model = NCFSRegressor(0.01, loss=loss, epsilon=0.3, form=form, sigma=0.8).fit(X, y, s)
    a = s if form == "sum" else s / s.sum()
    G = -LOSSES[loss](y[:, None], y)
    F = objective(minmax(X), model.weights_, G, a, 0.8, 0.01, "manhattan")
    assert model.objective_ == pytest.approx(F, rel=1e-10)
    assert model.certificate_.certified
    by_function = NCFSRegressor(0.01, loss=LOSSES[loss], form=form, sigma=0.8).fit(X, y, s)
    np.testing.assert_allclose(by_function.weights_, model.weights_, atol=1e-4)
    assert by_function.certificate_.certified


def test_epsilon_is_a_tenth_of_the_spread_of_normal_numbers():
    X, _ = curve(0, n=400)
    y = X[:, 1] + np.random.default_rng(0).normal(size=400)
    model = NCFSRegressor(loss="epsilon_insensitive").fit(X, y)
    low, high = np.percentile(y, [25, 75])
    assert model.epsilon_ == (high - low) / 13.49
    assert model.epsilon_ == pytest.approx(y.std() / 10, rel=0.15)
    assert NCFSRegressor(loss="epsilon_insensitive", epsilon=0.5).fit(X, y).epsilon_ == 0.5
    assert NCFSRegressor().fit(X, y).epsilon_ is None


def test_without_a_margin_the_insensitive_loss_is_the_absolute_one():
    X, y = curve(2)
    one, two = (
        NCFSRegressor(0.1, **how).fit(X, y)
        for how in ({}, {"loss": "epsilon_insensitive", "epsilon": 0.0})
    )
    np.testing.assert_array_equal(one.weights_, two.weights_)


def test_lambda_is_the_mean_loss_of_all_pairs():
    X, y = curve(3)
    n = len(y)
    mean = abs(y[:, None] - y).sum() / (n * (n - 1))
    assert NCFSRegressor().fit(X, y).alpha_ == pytest.approx(mean, rel=1e-12)
    assert NCFSRegressor(form="mean").fit(X, y).alpha_ == pytest.approx(mean / n, rel=1e-12)
    assert NCFSRegressor(0.5).fit(X, y).alpha_ == 0.5


@pytest.mark.parametrize("c", [1e-6, 1e6])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_unit_and_the_origin_of_y_change_nothing(c, loss):
    X, y = curve(4)
    y = np.round(64 * y) / 64
    here, there = (NCFSRegressor(loss=loss).fit(X, t) for t in (y, c * (y + 32)))
    np.testing.assert_allclose(there.weights_, here.weights_, atol=1e-4)
    assert there.loo_score_ == pytest.approx(here.loo_score_, abs=1e-5)
    np.testing.assert_allclose(there.predict(X) / c - 32, here.predict(X), atol=1e-4)


@pytest.mark.parametrize("metric", METRICS[:3])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_predictions_are_means_by_loops(metric, dtype):
    X, y = curve(5)
    new = np.random.default_rng(0).uniform(size=(15, 6)).astype(dtype)
    model = NCFSRegressor(metric=metric, sigma=0.9).fit(X.astype(dtype), y)
    Z, queries = ((rows - model.shift_) / model.scale_ for rows in (X, new))
    predicted = chances(Z, model.weights_, 0.9, metric, queries) @ y
    rtol = 1e-10 if dtype == np.float64 else 1e-4
    np.testing.assert_allclose(model.predict(new), predicted, atol=rtol)
    assert model.predict(new).dtype == np.float64


def test_the_left_out_score_is_that_of_loops():
    X, y = curve(6)
    s = weights(3, len(y))
    model = NCFSRegressor().fit(X, y, s)
    predicted = chances(minmax(X), model.weights_, 1.0, "manhattan") @ y
    assert model.loo_score_ == pytest.approx(r2_score(y, predicted, sample_weight=s), abs=1e-10)
    assert model.score(X, y) == pytest.approx(r2_score(y, model.predict(X)))


def test_without_weights_the_mean_is_predicted():
    X, y = curve(7)
    message = r"All weights are 0, .* The prediction is the mean of y. Lower alpha below"
    with pytest.warns(DegenerateWarning, match=message):
        model = NCFSRegressor(1000.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X[:4]), y.mean())
    assert model.certificate_.certified


def test_numbers_that_are_all_the_same_need_no_column():
    X, _ = curve(8)
    with pytest.warns(DegenerateWarning, match="none makes nearby rows agree better"):
        model = NCFSRegressor().fit(X, np.full(len(X), 0.1))
    assert model.predict(X).tolist() == [0.1] * len(X)
    assert model.loo_score_ == 1
    assert model.objective_ == 0
    assert model.certificate_.certified


def test_yangs_ascent_comes_near():
    X, y = curve(9, n=200)
    best = NCFSRegressor().fit(X, y)
    start = best.certificate_.trace[0].objective
    model = NCFSRegressor(solver="yang").fit(X, y)
    assert 0 < best.objective_ - model.objective_ < 0.1 * (best.objective_ - start)
    assert model.get_support(indices=True).tolist() == [1, 4]


def test_max_iter_and_callbacks_end_a_fit_in_plain_words():
    X, y = curve(10)
    with pytest.warns(NotCertifiedWarning, match="NCFSRegressor stopped at max_iter=1 before"):
        NCFSRegressor(max_iter=1).fit(X, y)
    with pytest.warns(NotCertifiedWarning, match="stopped by a callback after 2 iterations"):
        model = NCFSRegressor().set_callbacks(Recorder(stop_after=2)).fit(X, y)
    assert model.certificate_.status == "stopped"


def test_one_target_at_a_time():
    X, y = curve(11)
    with pytest.raises(ValueError, match="got 2 targets: each is a model of its own"):
        NCFSRegressor().fit(X, np.column_stack([y, y]))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "absolut"}, "loss='absolut': give one of .* Did you mean 'absolute'"),
        ({"loss": lambda u, v: u}, r"has shape \(3, 1\): give a function that broadcasts"),
        ({"loss": lambda u, v: np.full((3, 3), np.nan)}, "costs must be finite"),
        ({"epsilon": -1.0}, "epsilon=-1.0: give a number that is not negative, or 'auto'"),
        ({"epsilon": "large"}, "epsilon='large'"),
        ({"alpha": -0.1}, "alpha=-0.1: give a number that is not negative, or 'auto'"),
    ],
)
def test_a_bad_parameter_is_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        NCFSRegressor(**parameters).fit(*curve(0))
