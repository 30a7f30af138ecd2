"""Least squares: min_w,b Σ s_i (y_i − x_iᵀw − b)²."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model as peers

import certus
from certus.certificate.data import Data as _Data
from certus.data.rows import Rows
from certus.exceptions import AliasWarning
from certus.linear_model import LinearRegression, Ridge, RidgeCV
from certus.proofs.least_squares import least_squares as definition
from certus.proofs.linalg import linear_sums
from tests.contract.problems import collinear, exact, plain, regression, weights

MODELS = [LinearRegression, Ridge, RidgeCV]
each_model = pytest.mark.parametrize("cls", MODELS, ids=lambda cls: cls.__name__)


class Block:
    """All rows as one block, or cut at ``edges``: what a definition sees."""

    eps = float(np.finfo(float).eps)
    sparse = False

    def __init__(self, X, y, s=None, edges=()):
        self.X, self.y, self.s = X, np.asarray(y, dtype=float).reshape(len(X), -1), s
        self.shape, self.edges, self.depth = X.shape, [0, *edges, len(X)], len(X)

    def _rows(self, rows):
        return self.X[rows], self.y[rows], None if self.s is None else self.s[rows]

    def sample_block(self, count):
        return self._rows(slice(0, min(count, len(self.X))))

    def sample(self, count):
        return Block(*self.sample_block(count))

    def reduce(self, statistic, *args, combine=None, square=False):
        cuts = itertools.pairwise(self.edges)
        total, *parts = [statistic(*self._rows(slice(a, b)), *args) for a, b in cuts]
        for part in parts:
            if combine is not None:
                total = combine(total, part)
            else:
                total = [a + b for a, b in zip(total, part, strict=True)]
                total = tuple(total) if type(part) is tuple else type(part)(*total)
        return total


# --- the definition -------------------------------------------------------------------------------


def fractions(array):
    return [[Fraction(float(v)) for v in np.atleast_1d(row)] for row in array]


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("edges", [(), (1,), (3, 7)], ids=str)
def test_the_definitions_sums_are_those_of_exact_fractions(weighted, edges):
    rng = np.random.default_rng(0)
    X, y = rng.integers(-9, 10, size=(12, 3)) / 4.0, rng.integers(-9, 10, size=(12, 2)) / 4.0
    s = rng.integers(1, 4, size=12).astype(float) if weighted else None
    w, b = rng.integers(-4, 5, size=(3, 2)) / 2.0, np.array([0.5, -1.0])
    view = linear_sums.View(None, None, np.zeros(2))  # as they are
    data = Block(X, y, s, edges)
    sums = data.reduce(linear_sums.statistics, w, b, view)
    FX, Fy, Fw, Fb = fractions(X), fractions(y), fractions(w), [Fraction(v) for v in b]
    Fs = [Fraction(float(v)) for v in (np.ones(12) if s is None else s)]
    r = [
        [Fy[i][t] - sum(FX[i][j] * Fw[j][t] for j in range(3)) - Fb[t] for t in range(2)]
        for i in range(12)
    ]
    rows, columns, targets = range(12), range(3), range(2)
    truth = {
        "S": sum(Fs),
        "XX": sum(Fs[i] * FX[i][j] ** 2 for i in rows for j in columns),
        "Sy": [sum(Fs[i] * Fy[i][t] for i in rows) for t in targets],
        "Syy": [sum(Fs[i] * Fy[i][t] ** 2 for i in rows) for t in targets],
        "Sr": [sum(Fs[i] * r[i][t] for i in rows) for t in targets],
        "Srr": [sum(Fs[i] * r[i][t] ** 2 for i in rows) for t in targets],
        "Xsr": [[sum(FX[i][j] * Fs[i] * r[i][t] for i in rows) for t in targets] for j in columns],
    }
    assert set(sums._fields) == set(truth)
    for name, exactly in truth.items():
        assert np.asarray(getattr(sums, name)).tolist() == exactly, name
    Sx, Sxx = data.reduce(linear_sums.column_statistics, view)
    assert Sx.tolist() == [sum(Fs[i] * FX[i][j] for i in rows) for j in columns]
    assert Sxx.tolist() == [sum(Fs[i] * FX[i][j] ** 2 for i in rows) for j in columns]


def value(X, y, s, w, b, alpha):
    """f, in one line of NumPy."""
    s = np.ones(len(y)) if s is None else s
    return (s * (y - X @ w - b) ** 2).sum() + alpha * (w**2).sum()


@pytest.mark.parametrize("alpha", [0.0, 3.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_definitions_h_is_half_the_negative_gradient(alpha, intercept):
    """By central differences of f, with b at its best for each w."""
    X, y, _ = regression(0, n=20, p=3)
    s = weights(0, 20)
    w, b = np.array([0.5, -1.0, 2.0]), 0.25 if intercept else 0.0
    if intercept:
        b = float(s @ (y - X @ w) / s.sum())
    problem = definition.LeastSquaresFit(Block(X, y, s), w[:, None], [b], alpha, intercept, False)
    problem.take_columns()  # the exact mean, too

    def f(w):
        return value(X, y, s, w, s @ (y - X @ w) / s.sum() if intercept else 0.0, alpha)

    step = 1e-5
    slopes = [(f(w + step * e) - f(w - step * e)) / (2 * step) for e in np.eye(3)]
    np.testing.assert_allclose(problem.h[:, 0], -0.5 * np.array(slopes), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 3.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_definitions_excess_is_the_distance_to_the_minimum(alpha, intercept):
    X, y, _ = regression(0, n=20, p=3)
    s = weights(0, 20)
    best_w, best_b = plain(X, y, s, alpha, intercept=intercept)
    least = value(X, y, s, best_w[:, 0], best_b[0], alpha)
    rng = np.random.default_rng(1)
    for _ in range(10):
        w, b = best_w + rng.normal(size=(3, 1)), best_b + intercept * rng.normal()
        found = definition.check(Block(X, y, s), w, b, alpha, intercept, tol=0.0)
        f = value(X, y, s, w[:, 0], b[0], alpha)
        assert found["objective"] == pytest.approx(f, rel=1e-12)
        assert found["gap"] == pytest.approx(f - least, rel=1e-9)
        assert found["bound"] == pytest.approx(least, rel=1e-9)
        np.testing.assert_allclose(found["best_w"], best_w, rtol=1e-8)


@pytest.mark.parametrize("edges", [(5,), (1, 2, 3), (10, 19)], ids=str)
def test_the_definition_does_not_depend_on_how_rows_are_cut(edges):
    X, y, _ = regression(0, n=20, p=3)
    w, b = plain(X, y)
    whole = definition.check(Block(X, y), w * 1.1, b, tol=0.0)
    cut = definition.check(Block(X, y, edges=edges), w * 1.1, b, tol=0.0)
    for name in ("objective", "bound", "gap", "residual", "condition"):
        assert cut[name] == pytest.approx(whole[name], rel=1e-10)


def test_the_definition_recomputes_rank_and_condition():
    X = collinear(3, 40, 5, 100.0)
    X -= X.mean(axis=0)
    y = X.sum(axis=1)
    w, b = plain(X, y)
    found = definition.check(Block(X, y), w, b, tol=0.0)
    scaled = X / np.linalg.norm(X, axis=0)
    sigma = np.linalg.svd(scaled, compute_uv=False)
    assert found["rank"] == 5
    assert found["condition"] == pytest.approx(sigma[0] / sigma[-1], rel=1e-9)
    X = np.column_stack([X, X[:, 0] - X[:, 1]])
    found = definition.check(Block(X, y), np.vstack([w, [[0.0]]]), b, tol=0.0)
    assert found["rank"] == 5


# --- the answer -----------------------------------------------------------------------------------


@pytest.mark.parametrize("positive", [False, True], ids=["", "w ≥ 0"])
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("targets", [None, 1, 3])
@pytest.mark.parametrize("shape", [(5, 1), (30, 3), (200, 20), (1500, 7), (25, 24)], ids=str)
def test_scikit_learns_answer_on_well_posed_data(shape, targets, weighted, intercept, positive):
    X, y, _ = regression(2, *shape, targets, noise=2.0)
    s = np.random.default_rng(2).uniform(0.5, 2, size=len(X)) if weighted else None
    parameters = {"fit_intercept": intercept, "positive": positive}
    theirs = peers.LinearRegression(**parameters).fit(X, y, s)
    ours = LinearRegression(**parameters).fit(X, y, s)
    assert ours.certificate_.certified
    size = np.abs(theirs.coef_).max()
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-8 * size)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-8, atol=1e-8)
    assert np.shape(ours.coef_) == np.shape(theirs.coef_)
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    assert ours.score(X, y, s) == pytest.approx(theirs.score(X, y, s), rel=1e-10)
    if not positive:
        assert ours.rank_ == theirs.rank_
        np.testing.assert_allclose(ours.singular_, theirs.singular_, rtol=1e-8)


def test_one_variable_has_a_closed_form():
    """w₁ = S_xy/S_xx and w₀ = ȳ − w₁x̄."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=50) + 3, rng.normal(size=50)
    model = LinearRegression().fit(x[:, None], y)
    slope = ((x - x.mean()) @ (y - y.mean())) / ((x - x.mean()) @ (x - x.mean()))
    assert model.coef_[0] == pytest.approx(slope, rel=1e-13)
    assert model.intercept_ == pytest.approx(y.mean() - slope * x.mean(), rel=1e-13)


def test_whole_numbers_that_fit_exactly_are_found_exactly():
    X = np.array([[1, 1], [1, 2], [2, 2], [2, 3], [5, 1]])
    model = LinearRegression().fit(X, X @ [7, -3] + 11)
    np.testing.assert_allclose(model.coef_, [7, -3], rtol=1e-14)
    assert model.intercept_ == pytest.approx(11, rel=1e-13)
    assert model.certificate_.certified


LONGLEY = """
60323 83.0 234289 2356 1590 107608 1947
61122 88.5 259426 2325 1456 108632 1948
60171 88.2 258054 3682 1616 109773 1949
61187 89.5 284599 3351 1650 110929 1950
63221 96.2 328975 2099 3099 112075 1951
63639 98.1 346999 1932 3594 113270 1952
64989 99.0 365385 1870 3547 115094 1953
63761 100.0 363112 3578 3350 116219 1954
66019 101.2 397469 2904 3048 117388 1955
67857 104.6 419180 2822 2857 118734 1956
68169 108.4 442769 2936 2798 120445 1957
66513 110.8 444546 4681 2637 121950 1958
68655 112.6 482704 3813 2552 123366 1959
69564 114.2 502601 3931 2514 125368 1960
69331 115.7 518173 4806 2572 127852 1961
70551 116.9 554894 4007 2827 130081 1962
"""
LONGLEY_INTERCEPT = -3482258.63459582
LONGLEY_COEF = [
    15.0618722713733, -0.358191792925910e-01, -2.02022980381683, -1.03322686717359,
    -0.511041056535807e-01, 1829.15146461355,
]  # fmt: skip
LONGLEY_RESIDUAL_SQUARES = 836424.055505915


def test_nists_certified_values_of_longley_to_eleven_digits():
    """https://www.itl.nist.gov/div898/strd/lls/data/Longley.shtml, "higher difficulty"."""
    data = np.array([line.split() for line in LONGLEY.split("\n") if line], dtype=float)
    y, X = data[:, 0], data[:, 1:]
    model = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, LONGLEY_COEF, rtol=1e-11)
    assert model.intercept_ == pytest.approx(LONGLEY_INTERCEPT, rel=1e-11)
    assert model.certificate_.certified
    assert model.certificate_.objective == pytest.approx(LONGLEY_RESIDUAL_SQUARES, rel=1e-11)


def test_nists_filippelli_style_polynomial_of_degree_ten_is_certified():
    """Degree 10 on (−9, −3): scaled and centred columns still have a condition above 1e9."""
    x = np.linspace(-8.8, -3.1, 82)
    y = 0.8 + 0.1 * np.sin(3 * x)
    X = x[:, None] ** np.arange(1, 11)
    model = LinearRegression().fit(X, y)
    assert model.rank_ == 10
    assert model.condition_ > 1e8
    assert model.certificate_.certified
    best = exact(X, y)
    assert model.certificate_.objective == pytest.approx(float(best.objective), rel=1e-6)
    np.testing.assert_allclose(model.predict(X), [
        float(sum(a * float(v) for a, v in zip(best.w, row, strict=True)) + best.b) for row in X
    ], atol=1e-6)  # fmt: skip


@pytest.mark.parametrize("degree", [8, 9, 10])
@pytest.mark.parametrize("low", [0.0, 1.0])
def test_polynomials_on_an_interval_are_certified(degree, low):
    x = np.linspace(low, low + 1, 500)
    X, y = x[:, None] ** np.arange(1, degree + 1), np.cos(7 * x)
    model = LinearRegression().fit(X, y)
    assert model.certificate_.certified
    smooth = np.polynomial.Chebyshev.fit(x, y, degree)
    least = ((y - smooth(x)) ** 2).sum()
    assert model.certificate_.objective <= least + 1e-6 * ((y - y.mean()) ** 2).sum()


@pytest.mark.parametrize("exponent", range(3, 13))
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])
def test_nearly_collinear_columns_are_certified_and_as_right_as_they_can_be(exponent, intercept):
    """w is off by about ε·κ·(1 + κ·‖r‖/‖Xw‖) of it at most, as with any backward stable method."""
    condition = 10.0**exponent
    X = collinear(exponent, 60, 5, condition)
    rng = np.random.default_rng(exponent)
    y = X @ rng.normal(size=5) + 1e-6 * rng.normal(size=60)
    model = LinearRegression(fit_intercept=intercept).fit(X, y)
    assert model.certificate_.certified
    assert model.rank_ == 5
    best = exact(X, y, intercept=intercept)
    off = max(abs(float(e - a)) for e, a in zip(best.w, model.coef_, strict=True))
    size = max(abs(float(e)) for e in best.w)
    r = float(best.objective) ** 0.5 / np.linalg.norm(y)
    assert off <= 100 * 2.2e-16 * condition * (1 + condition * r) * size
    assert model.certificate_.bound <= float(best.objective) * (1 + 1e-15)


# --- columns that repeat others -------------------------------------------------------------------


def household(seed=0, n=50):
    rng = np.random.default_rng(seed)
    price, tax = rng.integers(100, 900, n) / 4, rng.integers(10, 90, n) / 4
    height = rng.integers(150, 200, n).astype(float)
    frame = pd.DataFrame(
        {
            "price": price,
            "tax": tax,
            "age": rng.integers(20, 60, n),
            "total": price + tax,
            "height_cm": height,
            "mass": rng.normal(70, 9, n),
            "height_in": 0.3937 * height,
        }
    )
    return frame, rng.normal(size=n) + price


def test_aliased_columns_are_reported_in_these_words():
    X, y = household()
    with pytest.warns(AliasWarning) as caught:
        model = LinearRegression().fit(X, y)
    assert len(caught) == 1, "one warning a fit"
    assert str(caught[0].message) == (
        "2 of 7 columns repeat others: 'total' = 'price' + 'tax'; 'height_in' = 0.3937 × "
        "'height_cm'. Predictions are unaffected. Their coefficients are not unique (the smallest "
        "were taken) and have no standard errors. Drop 'total' and 'height_in' for unique ones."
    )
    assert caught[0].filename == __file__
    assert model.rank_ == 5
    np.testing.assert_array_equal(model.aliased_, [3, 6])
    assert model.certificate_.certified
    assert "5 of 7 columns: some repeat others" in model.certificate_.explain()
    dropped = LinearRegression().fit(X.drop(columns=["total", "height_in"]), y)
    np.testing.assert_allclose(
        model.predict(X), dropped.predict(X.drop(columns=["total", "height_in"])), rtol=1e-10
    )


@pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("shape", [(40, 6), (3000, 6), (6, 20), (1, 3), (2, 2)], ids=str)
def test_of_all_optima_the_one_of_least_norm_in_the_users_units_is_taken(
    shape, weighted, intercept
):
    X, y, _ = regression(3, *shape)
    X = X * np.geomspace(1, 1000, shape[1])
    if shape[1] > 3:
        X[:, 3] = X[:, 0] + X[:, 1]
    s = weights(3, shape[0]) if weighted else None
    model = LinearRegression(fit_intercept=intercept).fit(X, y, s)
    assert model.certificate_.certified
    w, b = plain(X, y, s, intercept=intercept)  # LAPACK's least squares takes the least norm
    np.testing.assert_allclose(model.coef_, w[:, 0], rtol=1e-8, atol=1e-9 * np.abs(w).max())
    np.testing.assert_allclose(model.intercept_, b[0], rtol=1e-8, atol=1e-8)


@pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")
def test_least_norm_where_units_differ_by_1e9():
    """A duplicate in another unit: w minimises ‖w‖ on w₁ + 1e9·w₂ = c, so w ∝ (1, 1e9)."""
    rng = np.random.default_rng(0)
    x = rng.integers(-99, 99, 40).astype(float)
    model = LinearRegression().fit(np.column_stack([x, 1e9 * x]), 3 * x)
    truth = 3 / (1 + 1e18) * np.array([1, 1e9])
    np.testing.assert_allclose(model.coef_, truth, rtol=1e-6)
    np.testing.assert_allclose(model.coef_, truth, rtol=0, atol=1e-14 * truth[1])


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        (lambda a, b, c: [a, 5 * np.ones_like(a)], "column 1 is constant"),
        (lambda a, b, c: [a, np.zeros_like(a)], "column 1 is constant"),
        (lambda a, b, c: [a, a], "column 1 = column 0"),
        (lambda a, b, c: [a, -a], "column 1 = −column 0"),
        (lambda a, b, c: [a, b, 2 * a - 0.5 * b], "column 2 = 2 × column 0 − 0.5 × column 1"),
        (lambda a, b, c: [a, a + 7], "column 1 = column 0"),
        (lambda a, b, c: [a, 1000 * a], "column 1 = 1,000 × column 0"),
    ],
    ids=["constant", "zero", "twice", "negated", "combination", "shifted", "units"],
)
def test_how_a_column_repeats_others_is_stated(columns, text):
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(-50, 50, size=(3, 40)).astype(float)
    X = np.column_stack(columns(a, b, c))
    with pytest.warns(AliasWarning) as caught:
        model = LinearRegression().fit(X, a + b)
    warned = str(caught[0].message)
    assert warned.startswith(f"1 of {X.shape[1]} columns repeats others: {text}. Predictions are")
    assert f"Drop column {X.shape[1] - 1} for unique ones." in warned
    assert model.certificate_.certified
    np.testing.assert_array_equal(model.aliased_, [X.shape[1] - 1])


def test_without_an_intercept_a_constant_column_is_as_good_as_any():
    X, y, _ = regression(0, p=3)
    X[:, 1] = 4.0
    model = LinearRegression(fit_intercept=False).fit(X, y)
    assert model.rank_ == 3
    assert len(model.aliased_) == 0


@pytest.mark.parametrize("shape", [(3, 10), (10, 10), (50, 400)], ids=str)
def test_more_columns_than_rows_fit_exactly_and_say_so(shape):
    X, y, _ = regression(1, *shape)
    with pytest.warns(AliasWarning, match=f"{shape[0]} rows cannot determine {shape[1]} coeff"):
        model = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-9)
    assert model.solver_ == "svd"
    assert model.rank_ == shape[0] - 1
    assert model.certificate_.certified
    np.testing.assert_allclose(model.coef_, plain(X, y)[0][:, 0], atol=1e-9)


@pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")
@each_model
def test_columns_that_hold_nothing_get_the_coefficient_zero(cls):
    X, y, _ = regression(1)
    X[:, 1] = 0.0
    X[:, 3] = -7.0
    model = cls().fit(X, y)
    assert model.certificate_.certified
    np.testing.assert_allclose(model.coef_[[1, 3]], 0.0, atol=1e-12)
    rest = cls().fit(X[:, [0, 2]], y)
    np.testing.assert_allclose(model.coef_[[0, 2]], rest.coef_, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")
@pytest.mark.parametrize("value", [0.0, 3.0, 1e8])
@each_model
def test_all_columns_constant_leave_the_mean(cls, value):
    X, y = np.full((20, 2), value), np.arange(20.0)
    model = cls().fit(X, y)
    assert model.certificate_.certified
    np.testing.assert_allclose(model.predict(X), y.mean(), rtol=1e-12)
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-12)


# --- what ran -------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")
@pytest.mark.parametrize(
    ("X", "parameters", "solver"),
    [
        (regression(0)[0], {}, "cholesky"),
        (collinear(0, 60, 4, 1e9), {}, "qr"),
        (regression(0, 4, 9)[0], {}, "svd"),
        (regression(0)[0], {"positive": True}, "active set"),
        (regression(0, 4, 9)[0], {"positive": True}, "active set"),
        (collinear(0, 60, 4, 1e9), {"positive": True}, "active set"),
    ],
)
def test_solver_says_what_ran(X, parameters, solver):
    y = X.sum(axis=1) + 1
    model = LinearRegression(**parameters).fit(X, y)
    assert model.solver_ == solver
    assert model.certificate_.certified


def test_the_condition_number_is_that_of_centred_scaled_columns():
    for kappa in (1e1, 1e4, 1e9):
        X = collinear(1, 60, 4, kappa) * [1, 10, 1e5, 1] + 3
        centered = X - X.mean(axis=0)
        sigma = np.linalg.svd(centered / np.linalg.norm(centered, axis=0), compute_uv=False)
        model = LinearRegression().fit(X, X.sum(axis=1))
        # Cholesky's is an estimate in another norm, within √p or so
        assert 0.2 < model.condition_ / (sigma[0] / sigma[-1]) < 5


@pytest.mark.parametrize("n", [40, 5000])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_singular_values_are_those_of_the_centred_weighted_rows(n, weighted):
    X, y, _ = regression(1, n=n)
    X = X * [1, 100, 0.01, 1] + 50
    s = weights(1, n) if weighted else np.ones(n)
    model = LinearRegression().fit(X, y, s if weighted else None)
    centered = np.sqrt(s)[:, None] * (X - s @ X / s.sum())
    truth = np.linalg.svd(centered, compute_uv=False)
    np.testing.assert_allclose(model.singular_, truth, rtol=1e-9)


@pytest.mark.parametrize("p", [6, definition.MAX_EIGENVALUE_COLUMNS + 12])
@pytest.mark.parametrize("apart", [1.0, 1e-2, 1e-4, 1e-9])
def test_the_curvature_of_some_rows_is_no_more_than_that_of_all(p, apart):
    """G ⪰ λ·diag(d²), also where two columns are so alike that nothing can be proven."""
    rng = np.random.default_rng(p)
    X = rng.standard_normal((3000, p))
    X[:, 1] = X[:, 0] + apart * X[:, 1]
    y = rng.standard_normal((3000, 1))
    data = _Data(Rows(X, y))
    problem = definition.LeastSquaresFit(data, np.zeros((p, 1)), np.zeros(1), 0.0, True, False)
    lam, d = definition.subset_curvature(problem)
    centered = (X - X.mean(axis=0)) / d
    least = np.linalg.eigvalsh(centered.T @ centered)[0]
    assert lam <= max(least, 0.0)  # the least one of a singular matrix is rounding
    assert (lam > 0) == (apart >= 1e-2)


@pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")
@pytest.mark.parametrize("apart", [1e-3, 1e-4, 3e-5, 8e-6, 1e-6])
def test_fit_and_certificate_agree_on_the_rank_of_float32_columns_that_are_nearly_alike(apart):
    rng = np.random.default_rng(0)
    a = rng.standard_normal(5000)
    X = np.column_stack([a, a + apart * rng.standard_normal(5000)]).astype(np.float32)
    model = LinearRegression().fit(X, a + rng.standard_normal(5000))
    assert model.certificate_.certified
    assert model.rank_ == (2 if apart >= 1e-4 else model.certificate_._finding.facts.rank)


def test_an_edit_in_place_is_an_edit_and_not_other_rows():
    problem = regression(0)
    X, y = problem.X, problem.y
    model = LinearRegression().fit(X, y)
    model.coef_ *= 1.5
    assert certus.verify(model, X, y).status == "not optimal"


@pytest.mark.skipif(
    np.finfo(np.longdouble).eps == np.finfo(float).eps, reason="no floats wider than float64 here"
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_view_in_wider_floats_keeps_their_digits(order):
    X = np.array([[1e16, 1.0], [3e16, 2.0]], order=order)
    view = linear_sums.View(c=np.array([0.3, 1e-20]), q=None, c_y=np.zeros(1))
    exact = X.astype(np.longdouble) - view.c.astype(np.longdouble)
    assert np.array_equal(view.of(X, np.longdouble), exact)
    assert not np.array_equal(view.of(X).astype(np.longdouble), exact)
