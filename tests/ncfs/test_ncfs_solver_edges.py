"""NCFS: where F has kinks, where there is no λ, and float32 rows."""

import numpy as np
import pytest

from certus.solvers.ncfs import (
    ClassGains,
    NCFSProblem,
    ValueGains,
    lbfgs,
    lbfgs_float32,
    with_X,
)
from certus.solvers.ncfs.fit import violation
from tests.ncfs.ncfs_cases import METRICS, minmax, signal


def problem(seed, metric="manhattan", alpha=0.2, a=None, dtype=float, **how):
    X, y = signal(seed, **how)
    a = np.ones(len(X)) if a is None else a
    Z = minmax(X).astype(dtype)
    return NCFSProblem(Z, ClassGains(y, np.eye(3)), a, 1.0, alpha, metric)


# --- kinks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_from_zero_a_weight_changes_F_by_its_kink_times_its_root(seed):
    """L2 of rows that are equal but for this column."""
    p = problem(seed, "euclidean", n=25)
    p.X[5, :2] = p.X[6, :2] = p.X[7, :2]
    p = with_X(p, p.X)
    W = np.array([3.0, 2.0, 0, 0, 0])
    F, kinks = p.value(W), p.kinks(W)
    for l in (2, 3, 4):
        more = W.copy()
        more[l] = 1e-12
        assert (p.value(more) - F) / 1e-6 == pytest.approx(kinks[l], abs=1e-4)
    assert np.abs(kinks[2:]).max() > 0.01


@pytest.mark.parametrize("metric", ["manhattan", "sqeuclidean", "phi_s"])
def test_other_metrics_have_no_kinks(metric):
    assert problem(0, metric).kinks(np.ones(5)) is None


def test_a_weight_leaves_zero_where_a_kink_says_so():
    """At W = 0 all rows are at distance 0, and there is no slope at all."""
    p = problem(5, "euclidean", n=60)
    p = with_X(p, p.X + 1e-3 * np.random.default_rng(0).uniform(size=p.shape))  # no ties
    assert (p.value_and_slope(np.zeros(5)).slope == -p.alpha).all()
    assert p.kinks(np.zeros(5)).max() > 0
    fit = lbfgs(p, np.zeros(5))
    assert fit.converged
    assert fit.objective > p.value(np.zeros(5)) + 1


def test_a_weight_stays_at_zero_where_a_kink_costs_more_than_the_slope_gains():
    p = problem(0, "euclidean", n=25)
    fit = lbfgs(p, np.ones(5))
    assert fit.converged
    kinks = p.kinks(fit.W)
    tempting = (fit.W == 0) & (fit.slope > 0.01)
    assert tempting.any()
    assert (kinks[tempting] < 0).all()
    for l in np.flatnonzero(tempting):
        for w in 10.0 ** np.arange(-12, -4):
            more = fit.W.copy()
            more[l] = w
            assert p.value(more) < fit.objective


def test_weights_within_rounding_of_zero_are_zero():
    """L-BFGS-B takes W_l ≤ tol for its bound, whatever the slope."""
    X, y = signal(1)
    p = NCFSProblem(1e-9 * X, ClassGains(y, np.eye(3)), np.ones(60), 1.0, 1.0)
    fit = lbfgs(p, np.ones(5))
    assert fit.W.tolist() == [0] * 5
    assert fit.converged


# --- without λ ------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", METRICS[:2])
@pytest.mark.parametrize("seed", range(3))
def test_no_slope_is_larger_than_its_measure(metric, seed):
    rng = np.random.default_rng(seed)
    X, y = signal(seed)
    for G in (
        ClassGains(y, rng.normal(size=(3, 3))),
        ValueGains(X[:, 0], lambda u, v: (u - v) ** 2),
    ):
        p = NCFSProblem(X, G, rng.uniform(size=60), 0.7, 0.0, metric)
        size = p.slope_scale()
        for W in (np.zeros(5), 0.1 * np.ones(5), rng.uniform(size=5)):
            assert np.abs(p.value_and_slope(W).slope).max() <= size
    assert NCFSProblem(X, G, np.ones(60), 0.7, 0.3, metric).slope_scale() == 0.3


@pytest.mark.parametrize("metric", METRICS)
def test_a_fit_that_goes_on_at_its_end_is_done(metric):
    p = problem(3, metric, alpha=0.0, n=120, P=6, informative=4)
    fit = lbfgs(p, np.ones(6), max_iter=2000)
    assert fit.converged
    assert lbfgs(p, fit.W).n_iter == 0


# --- float32 --------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", METRICS)
def test_the_last_digits_of_float32_rows_are_those_of_float64(metric):
    X, y = signal(3, n=120, P=6, informative=4)
    X = np.hstack([X, np.random.default_rng(0).normal(size=(120, 30))]).astype(np.float32)
    if metric == "phi_s":
        X = X[:, :6]
    G, a, P = ClassGains(y, np.eye(3)), np.ones(120), X.shape[1]
    exact = minmax(X)
    narrow = NCFSProblem(exact.astype(np.float32), G, a, 1.0, 0.5, metric)
    wide = NCFSProblem(exact, G, a, 1.0, 0.5, metric)
    fit = lbfgs_float32(narrow, np.ones(P), lambda columns: exact[:, columns])
    assert fit.converged
    value = wide.value_and_slope(fit.W)
    slopes = value.slope if wide.kinks(fit.W) is None else value.slope[fit.W > 0]
    W = fit.W if wide.kinks(fit.W) is None else fit.W[fit.W > 0]
    assert violation(W, slopes).max() <= 2e-6 * wide.slope_scale()
    assert pytest.approx(value.F, rel=1e-12) == fit.objective


@pytest.mark.parametrize("before_the_end", [1, 7])
def test_a_listener_ends_both_halves_of_a_float32_fit(before_the_end):
    p = problem(3, n=120, P=6, informative=4, alpha=0.5, dtype=np.float32)
    heard = []

    def exact(columns):
        return p.X[:, columns].astype(float)

    def listen(step):
        heard.append((step.iteration, step.parameters()))
        return step.iteration == stop

    stop = lbfgs_float32(p, np.ones(6), exact).n_iter - before_the_end
    fit = lbfgs_float32(p, np.ones(6), exact, on_step=listen)
    assert [i for i, _ in heard] == list(range(stop + 1))
    assert all(W.shape == (6,) for _, W in heard)
    assert fit.n_iter == stop
    assert not fit.converged
    np.testing.assert_array_equal(fit.W, heard[-1][1])
    fit = lbfgs_float32(p, np.ones(6), exact, max_iter=stop)
    assert fit.n_iter == stop
    assert not fit.converged


@pytest.mark.parametrize("seed", range(8))
def test_weights_of_any_size_are_found_where_near_rows_make_F_turn_within_little(seed):
    """L2 of one column that counts: others matter to the nearest pairs, with weights of 1e-7."""
    rng = np.random.default_rng(seed)
    y = np.arange(150) % 3
    X = rng.normal(size=(150, 10))
    X[:, :2] += 1.5 * rng.normal(size=(3, 2))[y]
    p = NCFSProblem(minmax(X), ClassGains(y, np.eye(3)), np.ones(150), 1.0, 1.0, "euclidean")
    fit = lbfgs(p, np.ones(10))
    assert fit.converged
    assert violation(fit.W, p.value_and_slope(fit.W).slope).max() <= 1e-6
    assert fit.largest_decrease <= np.finfo(float).eps  # relative: one rounding
