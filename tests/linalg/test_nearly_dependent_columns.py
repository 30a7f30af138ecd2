"""Least squares with columns that nearly depend on each other, against exact arithmetic.

A direction that the stored numbers hold is used by the fit and by its proof; one that a rounding of
the columns could have made is left out, and the claim says so.
"""

from fractions import Fraction

import numpy as np
import pytest
import sklearn.linear_model as peers

import certus
from certus.exceptions import AliasWarning, NotCertifiedWarning
from certus.linear_model import LinearRegression, Ridge


def least(X, y, held=(), w=None, intercept=True):
    """min Σ r² in fractions, by Gram-Schmidt without roots; coefficients in ``held`` stay at w."""
    n, p = X.shape
    r = [Fraction(float(v)) for v in y]
    for j in held:
        c = Fraction(float(w[j]))
        r = [a - c * Fraction(float(v)) for a, v in zip(r, X[:, j], strict=True)]
    columns = [[Fraction(float(v)) for v in X[:, j]] for j in range(p) if j not in held]
    if intercept:
        columns.insert(0, [Fraction(1)] * n)
    basis = []
    for u in columns:
        for q, square in basis:
            c = dot(q, u) / square
            u = [a - c * b for a, b in zip(u, q, strict=True)]
        square = dot(u, u)
        if square:
            basis.append((u, square))
            c = dot(u, r) / square
            r = [a - c * b for a, b in zip(r, u, strict=True)]
    return dot(r, r)


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def value(X, y, w, b):
    r = []
    for row, target in zip(X, y, strict=True):
        fitted = sum((Fraction(float(v)) * Fraction(float(c)) for v, c in zip(row, w, strict=True)),
                     Fraction(float(b)))  # fmt: skip
        r.append(Fraction(float(target)) - fitted)
    return dot(r, r)


def true_excess(certificate, model, X, y):
    """Among the models that the claim names."""
    held = []
    for one in certificate._finding.left_out:
        d, size = np.zeros(X.shape[1]), np.abs(X).max(axis=0)
        d[list(one.columns)] = one.times
        d = np.abs(d) * size
        d[held] = 0
        held.append(int(np.argmax(d)))
        assert_negligible(X, one)
    w, b = np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])
    return value(X, y, w, b) - least(X, y, held, w, model.fit_intercept)


def assert_negligible(X, one):
    change = size = Fraction(0)
    for row in X:
        terms = [Fraction(float(row[j])) * Fraction(t)
                 for j, t in zip(one.columns, one.times, strict=True)]  # fmt: skip
        terms.append(Fraction(one.constant))
        change += sum(terms) ** 2
        size += sum(map(abs, terms)) ** 2
    most = (4 * Fraction(float(np.finfo(X.dtype).eps))) ** 2 * size
    assert change <= most * (1 + Fraction(1, 10**6))


def near(seed, exponent, n=16):
    """x₀ and x₀ + 10^−exponent u; y uses the difference."""
    rng = np.random.default_rng(seed)
    a, b, u, noise = rng.normal(size=(4, n))
    X = np.column_stack([a, a + 10.0**-exponent * u, b])
    return X, u + 0.5 * b + 0.5 * noise


def hilbert(n, p):
    return 1 / (np.arange(n)[:, None] + np.arange(p) + 1.0)


def years(n, p):
    return np.vander(np.linspace(0, 1, n), p + 1, increasing=True)[:, 1:]


def price_and_tax(seed, n=16):
    rng = np.random.default_rng(seed)
    price, tax, noise = rng.uniform(1, 100, (3, n))
    return np.column_stack([price, tax, price + tax]), price + 0.1 * noise


DATA = {
    **{f"1e-{k}": lambda k=k: near(k, k) for k in range(4, 16)},
    "Hilbert": lambda: (hilbert(12, 6), np.sin(np.arange(12.0))),
    "Hilbert 8": lambda: (hilbert(12, 8), np.cos(3 * np.arange(12.0))),
    "Vandermonde": lambda: (years(14, 7), np.sin(5 * np.linspace(0, 1, 14))),
    "Vandermonde 10": lambda: (years(14, 10), np.sin(5 * np.linspace(0, 1, 14))),
    "price + tax": lambda: price_and_tax(0),
    "low rank": lambda: low_rank(0),
    "offset 1e8": lambda: (1e8 + near(3, 2)[0], near(3, 2)[1]),
    "offset 1e13": lambda: (1e13 + near(3, 1)[0], near(3, 1)[1]),
    "float32": lambda: (near(5, 5)[0].astype(np.float32), near(5, 5)[1]),
}


def low_rank(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(15, 2)) @ rng.normal(size=(2, 5)), rng.normal(size=15)


@pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")
@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("library", [LinearRegression, peers.LinearRegression])
@pytest.mark.parametrize("name", DATA)
def test_the_true_excess_is_never_above_the_printed_gap(name, library, intercept):
    X, y = DATA[name]()
    model = library(fit_intercept=intercept).fit(X, y)
    found = certus.verify(model, X, y)
    if np.isfinite(found.gap):
        assert float(true_excess(found, model, X, y)) <= found.gap


@pytest.mark.parametrize("exponent", range(4, 13))
def test_what_the_columns_hold_to_many_digits_is_used_and_proven(exponent):
    X, y = near(exponent, exponent)
    model = LinearRegression().fit(X, y)
    best = float(least(X, y))
    assert model.certificate_.certified
    assert model.rank_ == 3
    assert not model.certificate_._finding.left_out
    assert model.certificate_.objective == pytest.approx(best, rel=1e-6)
    assert best < 0.8 * float(least(X[:, [0, 2]], y))  # without the difference


def test_a_sum_of_columns_is_left_out_and_the_claim_says_so():
    X, y = price_and_tax(0)
    with pytest.warns(AliasWarning, match="column 2 = column 0 \\+ column 1"):
        model = LinearRegression().fit(X, y)
    assert model.rank_ == 2
    (one,) = model.certificate_._finding.left_out
    assert np.abs(one.times).tolist() == [1, 1, 1]
    assert "among models that do not use column" in repr(model.certificate_)
    assert np.abs(model.coef_).max() < 10


def test_columns_that_repeat_others_exactly_are_no_matter_of_words():
    rng = np.random.default_rng(0)
    a, b, y = rng.normal(size=(3, 30))
    with pytest.warns(AliasWarning, match="repeats others"):
        model = LinearRegression().fit(np.column_stack([a, b, a]), y)
    assert repr(model.certificate_).startswith("Certificate(optimal: ")


def test_a_direction_of_float32_data_that_is_larger_than_their_rounding_is_used():
    rng = np.random.default_rng(0)
    a = rng.integers(2**10, 2**11, 60).astype(np.float32)
    step = rng.choice(np.float32([-1, 0, 1]), 60) * 2**-8  # 32 roundings
    X = np.column_stack([a, a + step])
    y = 5 * step.astype(float) + 0.001 * rng.normal(size=60)
    model = LinearRegression().fit(X, y)
    assert model.certificate_.certified
    assert model.rank_ == 2
    assert model.score(X, y) > 0.9


def test_a_fit_that_leaves_out_what_the_data_hold_is_not_optimal():
    X, y = near(8, 8)
    model = LinearRegression().fit(X, y)
    short = LinearRegression().fit(X[:, [0, 2]], y)
    model.coef_ = np.array([short.coef_[0], 0.0, short.coef_[1]])
    model.intercept_ = short.intercept_
    assert not certus.verify(model, X, y).certified


@pytest.mark.parametrize("alpha", [1e-6, 1e-14, 1e-22, 1e-30])
@pytest.mark.parametrize("name", ["1e-8", "1e-12", "price + tax", "Hilbert", "low rank"])
@pytest.mark.filterwarnings("ignore::certus.exceptions.NotCertifiedWarning")
def test_small_penalties_never_hide_an_excess(name, alpha):
    X, y = DATA[name]()
    model = Ridge(alpha=alpha).fit(X, y)
    found = model.certificate_
    p = X.shape[1]
    # α‖w‖² are p more rows: √α is a float, and its square is α but for its rounding
    alpha = float(np.sqrt(alpha)) ** 2
    centered = np.vstack([X, np.sqrt(alpha) * np.eye(p)])
    ones = np.concatenate([np.ones(len(X)), np.zeros(p)])
    best = least(np.column_stack([centered, ones]), np.append(y, np.zeros(p)), intercept=False)
    w = np.append(model.coef_, model.intercept_)
    f = value(np.column_stack([centered, ones]), np.append(y, np.zeros(p)), w, 0.0)
    assert float(f - best) <= found.gap * (1 + 1e-6)
    if found.status == "not proven":
        assert "alpha is too small" in found.explain()


def test_rounding_that_hides_a_direction_is_no_proof():
    """Years to the tenth power: what is left of the last columns is below all rounding."""
    X = np.vander(1950.0 + np.arange(14), 11, increasing=True)[:, 1:]
    y = np.random.default_rng(0).normal(size=14)
    with pytest.warns((AliasWarning, NotCertifiedWarning)):
        model = LinearRegression().fit(X, y)
    found = model.certificate_
    assert not found.certified or found._finding.left_out


@pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")
@pytest.mark.parametrize("positive", [False, True])
def test_nothing_is_claimed_of_the_coefficient_of_a_constant_column(positive):
    rng = np.random.default_rng(0)
    X, y = np.column_stack([rng.normal(size=20), np.full(20, 3.0)]), rng.normal(size=20)
    found = LinearRegression(positive=positive).fit(X, y).certificate_
    assert found.certified
    assert found.coef_error is None


def test_a_coefficient_above_0_that_is_too_large_is_refused_though_another_column_repeats_it():
    rng = np.random.default_rng(0)
    a = rng.uniform(1, 100, 36)
    X, y = np.column_stack([a, 0.1 * a + a]), a + 0.1 * rng.normal(size=36)
    model = peers.LinearRegression(positive=True).fit(X, y)
    assert certus.verify(model, X, y).certified
    best = model.coef_.copy()
    for share in (0.99, 1.01):
        model.coef_ = best * share
        assert not certus.verify(model, X, y).certified
    model.coef_ = np.array([best @ [1.0, 1.1], 0.0])
    assert certus.verify(model, X, y).certified
