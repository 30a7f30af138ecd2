"""Without drift, one verdict in twenty is a false alarm.

    alarms of B tables ~ Binomial(B, 0.05)

An interval of this distribution that holds 99.9 % is what a test accepts.
"""

import numpy as np
import pytest
from scipy import stats

import certus
from certus import linear_model as ours

LEVEL = 0.05
SURE = 0.999
W = np.array([1.0, 0.5, -0.5])
P = 4  # with the intercept


def scores(rng, n):
    X = rng.normal(size=(n, 3))
    return X, X @ W


def numbers(rng, n):
    X, z = scores(rng, n)
    return X, z + rng.normal(size=n)


def classes(rng, n):
    X, z = scores(rng, n)
    return X, z + rng.logistic(size=n) > 0.5


def ordered(rng, n):
    X, z = scores(rng, n)
    return X, np.digitize(z + rng.logistic(size=n), [-1.0, 1.0])


def counts(rng, n):
    X, z = scores(rng, n)
    return X, rng.poisson(np.exp(z / 2))


def overdispersed(rng, n):
    """Counts of which the variance is three times the mean."""
    X, z = scores(rng, n)
    mean = np.exp(1 + z / 4)
    return X, rng.negative_binomial(mean / 2, 1 / 3)


def unequal(rng, n):
    """Errors that grow with a column, which F does not know of."""
    X, z = scores(rng, n)
    return X, z + rng.normal(size=n) * X[:, 0] ** 2


LEAST_SQUARES = ours.LinearRegression()
LOGISTIC = ours.LogisticRegression(C=np.inf)
ORDINAL = ours.OrdinalRegression(alpha=0)
POISSON = ours.PoissonRegressor(alpha=0)


def alarms(model, draw, n_new, n_fit, B, **options):
    """How many of B pairs of an old and a new table without drift are called stale."""
    found = 0
    for b in range(B):
        rng = np.random.default_rng([b, n_new, n_fit])
        found += certus.staleness(model.fit(*draw(rng, n_fit)), *draw(rng, n_new), **options).stale
    return found


def accepted(found, B, level=LEVEL):
    low, high = stats.binom.interval(SURE, B, level)
    return low <= found <= high


def test_a_few_tables_without_drift():
    assert accepted(alarms(LEAST_SQUARES, numbers, 100, 100, 60), 60)


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param((200, 200), marks=pytest.mark.exhaustive),
        pytest.param((400, 4000), marks=pytest.mark.slow),
        pytest.param((1000, 500), marks=pytest.mark.slow),
    ],
    ids=str,
)
@pytest.mark.parametrize(
    ("model", "draw"),
    [
        (LEAST_SQUARES, numbers),
        (LOGISTIC, classes),
        (ORDINAL, ordered),
        (POISSON, counts),
        (POISSON, overdispersed),
    ],
    ids=["squares", "logistic", "ordinal", "poisson", "overdispersed"],
)
def test_the_level_is_held_with_the_sampling_error_of_the_old_fit(model, draw, sizes):
    assert accepted(alarms(model, draw, *sizes, B=500), 500)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("model", "draw"), [(LEAST_SQUARES, numbers), (LOGISTIC, classes)])
def test_the_level_is_held_where_the_old_coefficients_are_exact(model, draw):
    """Without the correction: the old model has the parameters of the population."""
    found, B = 0, 500
    for b in range(B):
        rng = np.random.default_rng(b)
        model.fit(*draw(rng, 100))
        model.coef_ = np.broadcast_to(W, model.coef_.shape).copy()
        model.intercept_ = np.full_like(model.intercept_, 0.0 if draw is numbers else -0.5)
        found += certus.staleness(model, *draw(rng, 400), n_old=10**12).stale
    assert accepted(found, B)


@pytest.mark.exhaustive
def test_without_the_correction_alarms_are_those_of_a_scaled_chi_squared():
    """r = 1 is ignored: P((1 + 1) χ²_p > its 95 % quantile), 31 % for four parameters."""
    B = 500
    found = alarms(LOGISTIC, classes, 1000, 1000, B, n_old=10**12)
    expected = stats.chi2.sf(stats.chi2.isf(LEVEL, P) / 2, P)
    assert expected == pytest.approx(0.31, abs=0.01)
    assert accepted(found, B, expected)


@pytest.mark.parametrize(
    ("model", "draw"),
    [
        pytest.param(ours.Ridge(1.0), numbers, marks=pytest.mark.exhaustive),
        pytest.param(ours.Lasso(0.05), numbers, marks=pytest.mark.slow),
        pytest.param(ours.LogisticRegression(), classes, marks=pytest.mark.slow),
        pytest.param(certus.svm.LinearSVC(C=0.1), classes, marks=pytest.mark.slow),
        pytest.param(LEAST_SQUARES, unequal, marks=pytest.mark.slow),
    ],
    ids=["ridge", "lasso", "logistic", "machine", "unequal errors"],
)
def test_the_bootstrap_holds_the_level(model, draw):
    B = 150
    found = alarms(model, draw, 300, 300, B, method="bootstrap", n_resamples=99)
    assert accepted(found, B)


@pytest.mark.exhaustive
def test_f_does_not_hold_it_where_the_errors_are_unequal():
    assert alarms(LEAST_SQUARES, unequal, 300, 300, 300) > stats.binom.isf(1e-3, 300, LEVEL)


@pytest.mark.exhaustive
def test_columns_that_spread_wider_give_alarms_without_drift():
    """D ~ Σ (1 + 4r) χ²_1 over the columns, where their spread has doubled since the old fit."""

    def spread(rng, n):
        X, _ = numbers(rng, n)
        X = 2 * X
        return X, X @ W + rng.normal(size=n)

    found, B = 0, 300
    for b in range(B):
        rng = np.random.default_rng(b)
        model = LEAST_SQUARES.fit(*numbers(rng, 1000))
        found += certus.staleness(model, *spread(rng, 1000)).stale
    rng, limit = np.random.default_rng(0), 2 * stats.chi2.isf(LEVEL, P)
    alarm = 5 * rng.chisquare(P - 1, 10**6) + 2 * rng.chisquare(1, 10**6)
    expected = np.mean(alarm > limit)
    assert expected == pytest.approx(0.34, abs=0.01)
    assert accepted(found, B, expected)
