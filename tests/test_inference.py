"""Standard errors, tests and intervals: against their meaning, exact arithmetic and statsmodels."""

import pickle
import warnings
from fractions import Fraction

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import statsmodels.api as sm
from benchmarks.suites.inference import hc3_standard_errors
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import certus
from certus.definitions.inference import inference as define
from certus.exceptions import AliasWarning, InferenceError, NotCertifiedWarning
from certus.linear_model import LinearRegression, Ridge, RidgeCV
from certus.solvers import inference as solver
from problems import collinear, regression, weights

KINDS = ("classical", "HC0", "HC1", "HC2", "HC3")
each_kind = pytest.mark.parametrize("cov", KINDS)
each_intercept = pytest.mark.parametrize("fit_intercept", [True, False])
weighted = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


def noisy(seed=0, n=60, p=4, k=None):
    """Noise that differs from row to row, so that HC and classical errors differ."""
    X, y, _ = regression(seed, n, p, k)
    rng = np.random.default_rng(seed + 1)
    return X, y + (1 + X[:, :1] ** 2 if k else 1 + X[:, 0] ** 2) * rng.normal(size=y.shape)


def fitted(X, y, s=None, alpha=None, cov="classical", fit_intercept=True):
    model = LinearRegression() if alpha is None else Ridge(alpha=alpha)
    model.set_params(fit_intercept=fit_intercept)
    return model.fit(X, y, sample_weight=s).inference(X, y, sample_weight=s, cov=cov)


# --- the definition means what it says ------------------------------------------------------------


def test_definition_is_the_textbook_in_fractions():
    x, y = [1, 2, 4, 7, 8], [1, 3, 2, 6, 5]
    n = len(x)
    mean, mean_y = Fraction(sum(x), n), Fraction(sum(y), n)
    Sxx = sum((a - mean) ** 2 for a in x)
    w = sum((a - mean) * (b - mean_y) for a, b in zip(x, y, strict=True)) / Sxx
    rss = sum((b - mean_y - w * (a - mean)) ** 2 for a, b in zip(x, y, strict=True))
    sigma2 = rss / (n - 2)
    found = define(np.array(x)[:, None], y)
    assert found["sigma2"] == pytest.approx(float(sigma2), rel=1e-13)
    exact = [
        [sigma2 * (Fraction(1, n) + mean**2 / Sxx), -sigma2 * mean / Sxx],
        [-sigma2 * mean / Sxx, sigma2 / Sxx],
    ]
    np.testing.assert_allclose(found["covariance"], np.array(exact, dtype=float), rtol=1e-13)


@weighted
@pytest.mark.parametrize("alpha", [0.0, 3.0])
def test_classical_covariance_is_that_of_a_linear_map_of_y(alpha, weighted):
    """θ̂ = Jy, so var y = σ²/s gives σ²J diag(1/s) Jᵀ; J and the hat matrix by changing y."""
    X, y = noisy(3, n=20, p=3)
    s = weights(3, 20) if weighted else np.ones(20)

    def theta(target):
        model = Ridge(alpha=alpha).fit(X, target, sample_weight=s)
        return np.concatenate([[model.intercept_], model.coef_])

    J = np.column_stack([theta(y + step) - theta(y) for step in np.eye(20)])
    H = np.column_stack([np.ones(20), X]) @ J
    found = define(X, y, s, alpha)
    expected = found["sigma2"] * (J / s) @ J.T
    np.testing.assert_allclose(found["covariance"], expected, rtol=1e-10, atol=1e-12)
    assert found["effective_parameters"] == pytest.approx(np.trace(H), rel=1e-10)
    root = np.sqrt(s)
    symmetric = root[:, None] * H / root
    nu = np.sum((np.eye(20) - symmetric) ** 2)
    assert found["degrees_of_freedom"] == pytest.approx(nu, rel=1e-10)


@pytest.mark.parametrize("alpha", [0.0, 3.0])
def test_hc3_is_what_leaving_out_each_row_does_to_the_coefficients(alpha):
    X, y = noisy(4, n=15, p=3)
    s = weights(4, 15)

    def theta(rows):
        model = Ridge(alpha=alpha).fit(X[rows], y[rows], sample_weight=s[rows])
        return np.concatenate([[model.intercept_], model.coef_])

    whole = theta(np.arange(15))
    moved = np.array([whole - theta(np.delete(np.arange(15), i)) for i in range(15)])
    found = define(X, y, s, alpha, cov="HC3")
    np.testing.assert_allclose(found["covariance"], moved.T @ moved, rtol=1e-9, atol=1e-12)


def test_log_likelihood_is_the_normal_density_at_its_maximum():
    X, y = noisy(5, n=12, p=2)
    s = weights(5, 12)
    found = define(X, y, s)

    def log_density(theta, variance):
        mean = theta[0] + X @ theta[1:]
        return np.sum(np.log(s / (2 * np.pi * variance)) / 2 - s * (y - mean) ** 2 / 2 / variance)

    variance = found["sigma2"] * found["degrees_of_freedom"] / 12
    best = log_density(found["coef"], variance)
    assert found["log_likelihood"] == pytest.approx(best, rel=1e-12)
    for step in 1e-2 * np.vstack([np.eye(4), -np.eye(4)]):
        assert log_density(found["coef"] + step[:3], variance * (1 + step[3])) < best


def test_the_benchmark_measures_against_the_same_errors():
    X, y = noisy(36, 50, 3)
    expected = define(X, y, cov="HC3")["standard_errors"]
    np.testing.assert_allclose(hc3_standard_errors(X, y), expected, rtol=1e-11)


# --- the solver finds what the definition says ----------------------------------------------------


@each_kind
@each_intercept
@weighted
@pytest.mark.parametrize("alpha", [None, 0.0, 0.5, 50.0])
@pytest.mark.parametrize("shape", [(60, 4), (9, 7)], ids=str)
def test_solver_agrees_with_the_definition(shape, alpha, weighted, fit_intercept, cov):
    n, p = shape
    X, y = noisy(6, n, p)
    s = weights(6, n) if weighted else None
    found = fitted(X, y, s, alpha, cov, fit_intercept)
    defined = define(X, y, s, alpha or 0.0, fit_intercept, cov)
    penalised = bool(alpha)
    assert defined["coef"].shape == found.coef.shape
    for name, value in defined.items():
        if penalised and name in ("log_likelihood", "aic", "bic"):
            continue
        np.testing.assert_allclose(getattr(found, name), value, rtol=1e-9, atol=1e-11, err_msg=name)


@each_kind
@pytest.mark.parametrize("shape", [(5, 8), (8, 8)], ids=str)
def test_ridge_with_fewer_rows_than_columns(shape, cov):
    X, y = noisy(7, *shape)
    found = fitted(X, y, alpha=2.0, cov=cov)
    defined = define(X, y, alpha=2.0, cov=cov)
    np.testing.assert_allclose(found.covariance, defined["covariance"], rtol=1e-9, atol=1e-12)
    assert found.degrees_of_freedom == pytest.approx(defined["degrees_of_freedom"], rel=1e-9)


@each_kind
def test_every_way_to_factor_gives_the_same(cov, monkeypatch):
    X, y = noisy(8, 200, 5)
    for alpha in (0.0, 2.0):
        cholesky = fitted(X, y, alpha=alpha, cov=cov)
        with monkeypatch.context() as patch:
            patch.setattr(solver, "CHOLESKY_BELOW", 0.0)
            by_qr = fitted(X, y, alpha=alpha, cov=cov)
        np.testing.assert_allclose(by_qr.covariance, cholesky.covariance, rtol=1e-11, atol=1e-15)
        assert by_qr.degrees_of_freedom == pytest.approx(cholesky.degrees_of_freedom, rel=1e-12)


@each_kind
def test_slices_and_blocks_do_not_show(cov, monkeypatch):
    X, y = noisy(9, 3000, 3)
    s = weights(9, 3000)
    whole = fitted(X, y, s, cov=cov)
    monkeypatch.setattr(solver, "SLICE", 64)
    monkeypatch.setattr(certus.rows, "BLOCK_BYTES", 1 << 12)
    parts = fitted(X, y, s, cov=cov)
    np.testing.assert_allclose(parts.covariance, whole.covariance, rtol=1e-12, atol=1e-18)


@each_kind
def test_same_bits_on_any_number_of_threads(cov):
    X, y = noisy(10, 30_000, 24)
    found = []
    for threads in (1, 2, 3):
        with certus.config_context(threads=threads):
            found.append(fitted(X, y, weights(10, len(y)), cov=cov))
    for other in found[1:]:
        assert np.array_equal(found[0].covariance, other.covariance)
        assert np.array_equal(found[0].standard_errors, other.standard_errors)
        assert found[0].sigma2 == other.sigma2


# --- statsmodels ----------------------------------------------------------------------------------


@each_kind
@each_intercept
@weighted
def test_agrees_with_statsmodels(weighted, fit_intercept, cov):
    X, y = noisy(11, 80, 5)
    s = np.random.default_rng(11).uniform(0.2, 5, size=80) if weighted else None
    found = fitted(X, y, s, cov=cov, fit_intercept=fit_intercept)
    Phi = sm.add_constant(X) if fit_intercept else X
    peer = (sm.OLS(y, Phi) if s is None else sm.WLS(y, Phi, weights=s)).fit()
    robust = peer if cov == "classical" else peer.get_robustcov_results(cov)
    assert robust.use_t
    names = {
        "coef": "params", "standard_errors": "bse", "statistic": "tvalues", "pvalues": "pvalues",
        "sigma2": "scale", "log_likelihood": "llf", "aic": "aic", "bic": "bic",
        "r_squared": "rsquared", "r_squared_adjusted": "rsquared_adj", "n": "nobs",
        "degrees_of_freedom": "df_resid",
    }  # fmt: skip
    for ours, theirs in names.items():
        np.testing.assert_allclose(
            getattr(found, ours), getattr(robust, theirs), rtol=1e-8, err_msg=ours
        )
    np.testing.assert_allclose(found.covariance, robust.cov_params(), rtol=1e-8, atol=1e-14)
    for level in (0.95, 0.5):
        interval = found.conf_int(level)
        expected = robust.conf_int(1 - level)
        np.testing.assert_allclose(interval["low"], expected[:, 0], rtol=1e-8)
        np.testing.assert_allclose(interval["high"], expected[:, 1], rtol=1e-8)


@each_kind
def test_rows_of_weight_zero_are_absent(cov):
    X, y = noisy(12, 40, 3)
    s = weights(12, 40)
    s[::4] = 0
    kept = s > 0
    found, without = fitted(X, y, s, cov=cov), fitted(X[kept], y[kept], s[kept], cov=cov)
    assert found.n == without.n == 30
    np.testing.assert_allclose(found.covariance, without.covariance, rtol=1e-10)
    assert found.bic == pytest.approx(without.bic, rel=1e-12)


def test_weights_are_inverse_variances_and_not_counts():
    X, y = noisy(13, 30, 2)
    s = weights(13, 30)
    found = fitted(X, y, s)
    for cov in KINDS:
        np.testing.assert_allclose(
            fitted(X, y, 7 * s, cov=cov).standard_errors,
            fitted(X, y, s, cov=cov).standard_errors,
            rtol=1e-11,
        )
    twice = np.repeat(np.arange(30), s.astype(int))
    repeated = fitted(X[twice], y[twice])
    np.testing.assert_allclose(repeated.coef, found.coef, rtol=1e-10)
    assert np.all(repeated.standard_errors < 0.9 * found.standard_errors)


# --- exact arithmetic, where float64 is tried -----------------------------------------------------


def exact_errors(X, y, cov):
    """Standard errors of (b, w) in 120 digits."""
    with mp.workdps(120):
        n, p = X.shape
        Phi = mp.matrix(n, p + 1)
        for i in range(n):
            Phi[i, 0] = mp.mpf(1)
            for j in range(p):
                Phi[i, j + 1] = mp.mpf(float(X[i, j]))
        target = mp.matrix([mp.mpf(float(v)) for v in y])
        inverse = (Phi.T * Phi) ** -1
        C = inverse * Phi.T
        e = target - Phi * (C * target)
        H = Phi * C
        sigma2 = mp.fsum(v**2 for v in e) / (n - p - 1)
        omega = {
            "classical": lambda i: sigma2,
            "HC0": lambda i: e[i] ** 2,
            "HC1": lambda i: e[i] ** 2 * mp.mpf(n) / (n - p - 1),
            "HC2": lambda i: e[i] ** 2 / (1 - H[i, i]),
            "HC3": lambda i: e[i] ** 2 / (1 - H[i, i]) ** 2,
        }[cov]
        squares = [mp.fsum(C[j, i] ** 2 * omega(i) for i in range(n)) for j in range(p + 1)]
        return np.array([float(mp.sqrt(v)) for v in squares])


@each_kind
def test_far_origins_and_odd_units_cost_no_digits(cov):
    X, y = noisy(14, 25, 3)
    X = X * [1e-9, 1.0, 1e9] + [1e-3, 2.0**20, -1e12]
    found = fitted(X, y + 2.0**20, cov=cov)
    np.testing.assert_allclose(found.standard_errors, exact_errors(X, y + 2.0**20, cov), rtol=1e-8)


@each_kind
@pytest.mark.parametrize("condition", [1e2, 1e4, 1e6])
def test_nearly_collinear_columns(condition, cov):
    X = collinear(15, 30, 3, condition)
    y = X @ [1.0, 2, 3] + np.random.default_rng(15).normal(size=30)
    found = fitted(X, y, cov=cov)
    np.testing.assert_allclose(found.standard_errors, exact_errors(X, y, cov), rtol=1e-8)


def test_rounding_is_not_taken_for_other_rows():
    """Coefficients of 1e10 that cancel: residuals keep six digits, and errors as many."""
    X = collinear(15, 30, 3, 1e10)
    y = X @ [1.0, 2, 3] + np.random.default_rng(15).normal(size=30)
    for cov in ("classical", "HC3"):
        found = fitted(X, y, cov=cov)
        np.testing.assert_allclose(found.standard_errors, exact_errors(X, y, cov), rtol=1e-5)


def test_ridge_without_a_useful_alpha_leaves_no_degrees_of_freedom():
    X, y = noisy(15, 5, 40)
    with pytest.raises(InferenceError, match=r"no degrees of freedom.*or a larger alpha"):
        fitted(X, y, alpha=1e-6)


def test_squares_out_of_range_have_standard_errors():
    X, y = noisy(16, 40, 2)
    found = fitted(X, y, cov="HC3")
    scale = np.array([2.0**700, 2.0**-600])
    odd = fitted(X * scale, y, cov="HC3")
    np.testing.assert_allclose(
        odd.standard_errors[1:] * scale, found.standard_errors[1:], rtol=1e-9
    )
    np.testing.assert_allclose(odd.pvalues, found.pvalues, rtol=1e-8)


# --- laws -----------------------------------------------------------------------------------------


@each_kind
def test_shifts_units_and_order_change_nothing_else(cov):
    X, y = noisy(17, 50, 4)
    found = fitted(X, y, cov=cov)
    moved = fitted(4 * X + 64, 8 * y + 1, cov=cov)
    np.testing.assert_allclose(moved.standard_errors[1:], 2 * found.standard_errors[1:], rtol=1e-10)
    np.testing.assert_allclose(moved.pvalues[1:], found.pvalues[1:], rtol=1e-8)
    columns = [2, 0, 3, 1]
    swapped = fitted(X[:, columns], y, cov=cov)
    np.testing.assert_allclose(
        swapped.standard_errors[1:], found.standard_errors[1:][columns], rtol=1e-11
    )
    rows = np.random.default_rng(17).permutation(50)
    shuffled = fitted(X[rows], y[rows], cov=cov)
    np.testing.assert_allclose(shuffled.covariance, found.covariance, rtol=1e-10, atol=1e-14)


@each_kind
def test_a_target_among_others_is_the_target_alone(cov):
    X, y = noisy(18, 50, 3, k=3)
    together = fitted(X, y, cov=cov)
    assert together.coef.shape == together.pvalues.shape == (4, 3)
    assert together.covariance.shape == (3, 4, 4)
    for t in range(3):
        alone = fitted(X, y[:, t], cov=cov)
        for name in ("coef", "standard_errors", "pvalues", "sigma2", "bic", "r_squared"):
            np.testing.assert_allclose(
                getattr(together, name)[..., t], getattr(alone, name), rtol=1e-10, err_msg=name
            )
    table = together.summary().to_pandas()
    assert list(table.index[:5]) == [
        ("y0", "intercept"), ("y0", "x0"), ("y0", "x1"), ("y0", "x2"), ("y1", "intercept"),
    ]  # fmt: skip
    np.testing.assert_array_equal(table["coef"].to_numpy(), together.coef.T.ravel())


@each_kind
def test_each_target_with_its_own_penalty(cov):
    X, y = noisy(19, 40, 3, k=3)
    together = fitted(X, y, alpha=[5.0, 0.0, 5.0], cov=cov)
    for t, alpha in enumerate([5.0, 0.0, 5.0]):
        alone = fitted(X, y[:, t], alpha=alpha, cov=cov)
        np.testing.assert_allclose(
            together.standard_errors[:, t], alone.standard_errors, rtol=1e-11
        )
        assert together.degrees_of_freedom[t] == pytest.approx(alone.degrees_of_freedom)


def test_float32_and_whole_numbers_are_their_float64_copies():
    rng = np.random.default_rng(20)
    X = rng.integers(-9, 9, size=(50, 3))
    y = X.sum(axis=1) + rng.normal(size=50)
    found = fitted(X.astype(float), y, cov="HC3")
    for dtype in (np.int8, np.float32):
        other = fitted(X.astype(dtype), y, cov="HC3")
        np.testing.assert_allclose(other.standard_errors, found.standard_errors, rtol=1e-12)


@pytest.mark.slow
def test_intervals_cover_as_often_as_they_say():
    rng = np.random.default_rng(21)
    X = rng.normal(size=(40, 2))
    hits = 0
    for _ in range(2000):
        table = fitted(X, 1 + X @ [1.0, -2] + rng.normal(size=40)).conf_int(0.9)
        hits += (table["low"] <= [1, 1, -2]) & (table["high"] >= [1, 1, -2])
    np.testing.assert_allclose(hits / 2000, 0.9, atol=0.025)


# --- what the rows do not determine ---------------------------------------------------------------


@each_kind
def test_only_coefficients_that_the_rows_determine_have_errors(cov):
    X, y = noisy(22, 50, 3)
    repeated = np.column_stack([X, X[:, 0] + X[:, 1]])
    with pytest.warns(AliasWarning):
        model = LinearRegression().fit(repeated, y)
    found = model.inference(repeated, y, cov=cov)
    assert list(np.isnan(found.standard_errors)) == [False, True, True, False, True]
    alone = fitted(X, y, cov=cov)
    for name in ("standard_errors", "pvalues"):
        ours = getattr(found, name)
        np.testing.assert_allclose(ours[[0, 3]], getattr(alone, name)[[0, 3]], rtol=1e-10)
    assert found.degrees_of_freedom == alone.degrees_of_freedom == 46
    assert found.aic == pytest.approx(alone.aic, rel=1e-12)
    assert np.isnan(found.covariance[1]).all()
    assert np.isnan(found.covariance[:, 1]).all()
    assert np.isfinite(found.covariance[3, 0])
    assert " ".join(str(found).split()).endswith(
        "no standard error for 'x0', 'x1', 'x3': columns repeat others, so the rows do not "
        "determine them"
    )


def test_a_constant_column_leaves_the_intercept_undetermined():
    X, y = noisy(23, 50, 2)
    X = np.column_stack([X, np.full(50, 3.0)])
    with pytest.warns(AliasWarning):
        model = LinearRegression().fit(X, y)
    found = model.inference(X, y)
    assert list(np.isnan(found.standard_errors)) == [True, False, False, True]
    np.testing.assert_allclose(
        found.standard_errors[1:3], fitted(X[:, :2], y).standard_errors[1:], rtol=1e-11
    )


def test_a_level_for_every_row_takes_the_intercept_and_nothing_else():
    X, y = noisy(24, 60, 2)
    levels = np.eye(3)[np.arange(60) % 3]
    all_levels, two = np.column_stack([X + 1e6, levels]), np.column_stack([X + 1e6, levels[:, 1:]])
    with pytest.warns(AliasWarning):
        model = LinearRegression().fit(all_levels, y)
    found = model.inference(all_levels, y, cov="HC2")
    assert list(np.isnan(found.standard_errors)) == [True, False, False, True, True, True]
    np.testing.assert_allclose(
        found.standard_errors[1:3], fitted(two, y, cov="HC2").standard_errors[1:3], rtol=1e-8
    )


def test_a_far_column_does_not_hide_a_constant_one():
    X, y = noisy(24, 50, 1)
    X = np.column_stack([X + 2.0**31, np.full(50, 0.25)])
    with pytest.warns(AliasWarning):
        model = LinearRegression().fit(X, y)
    assert np.isnan(model.inference(X, y).standard_errors[[0, 2]]).all()


@pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")
@pytest.mark.parametrize(("apart", "rank"), [(1e-3, 2), (8e-6, 1)])
def test_the_rank_is_that_of_the_fit(apart, rank):
    """float32 columns that differ by more, and by little more, than their rounding."""
    rng = np.random.default_rng(24)
    x = rng.normal(size=400)
    X = np.column_stack([x, x + apart * rng.normal(size=400)]).astype(np.float32)
    y = x + rng.normal(size=400)
    model = LinearRegression().fit(X, y)
    found = model.inference(X, y)
    assert model.rank_ == rank
    assert found.effective_parameters == 1 + rank
    assert np.isfinite(found.standard_errors[1:]).all() == (rank == 2)


@pytest.mark.parametrize(("n", "p", "coefficients"), [(4, 3, 4), (4, 6, 4), (1, 1, 1)])
def test_no_degrees_of_freedom_no_errors(n, p, coefficients):
    X, y = noisy(24, n, p)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AliasWarning)
        model = LinearRegression().fit(X, y)
    message = f"{n} rows? and {coefficients} coefficients? leave no degrees of freedom .* more rows"
    with pytest.raises(InferenceError, match=message):
        model.inference(X, y)


@pytest.mark.parametrize("cov", ["HC2", "HC3"])
def test_a_row_that_alone_determines_a_coefficient_is_named(cov):
    X, y = noisy(25, 30, 2)
    X = np.column_stack([X, np.arange(30) == 17])
    model = LinearRegression().fit(X, y)
    with pytest.raises(InferenceError, match=f"row 17 has leverage 1.*{cov}.*Use cov='HC1'"):
        model.inference(X, y, cov=cov)
    assert np.isfinite(model.inference(X, y, cov="HC1").standard_errors).all()


# --- what is refused ------------------------------------------------------------------------------


def test_selection_on_the_same_rows_is_refused():
    X, y = noisy(26)
    with pytest.raises(InferenceError, match=r"alpha was chosen on these rows.*Split the data"):
        RidgeCV().fit(X, y).inference(X, y)
    for model in (LinearRegression(positive=True), Ridge(positive=True)):
        with pytest.raises(InferenceError, match=r"positive=True the same rows select"):
            model.fit(X, y).inference(X, y)


@pytest.mark.parametrize(
    "name", ["pvalues", "statistic", "log_likelihood", "aic", "bic", "r_squared"]
)
def test_tests_of_penalised_coefficients_are_refused(name):
    X, y = noisy(27)
    found = fitted(X, y, alpha=1.0)
    with pytest.raises(InferenceError, match="ignores the bias of the penalty"):
        getattr(found, name)
    assert np.isfinite(getattr(fitted(X, y, alpha=0.0), name)).all()


def test_penalised_tables_say_what_they_ignore():
    X, y = noisy(27)
    found = fitted(X, y, alpha=1.0)
    for table in (found.summary(), found.conf_int()):
        assert "ignores the bias of the penalty" in table.title
        assert "p" not in table.columns
    assert "bias" not in str(fitted(X, y).summary())


def test_other_rows_are_refused():
    X, y = noisy(28)
    s = weights(28, len(y))
    model = LinearRegression().fit(X, y)
    refused = "not the rows it was fitted on"
    with pytest.raises(InferenceError, match=f"{refused}: it was fitted on 60 rows"):
        model.inference(X[:-1], y[:-1])
    with pytest.raises(InferenceError, match=f"{refused}: y differs"):
        model.inference(X, y + 1)
    with pytest.raises(InferenceError, match=f"{refused}: X differs"):
        model.inference(X[::-1], y)
    with pytest.raises(InferenceError, match=f"{refused}: it was fitted without sample_weight"):
        model.inference(X, y, s)
    with pytest.raises(InferenceError, match="with sample_weight: give the same weights"):
        LinearRegression().fit(X, y, s).inference(X, y)


def test_a_row_that_the_fingerprint_does_not_see_is_noticed():
    X, y = noisy(29, 20_000, 2)
    model = LinearRegression().fit(X, y)
    seen = set(certus.rows.spread(20_000, 1024))
    hidden = next(i for i in range(20_000) if i not in seen)
    y[hidden] += 10
    with pytest.raises(InferenceError, match="the objective on these rows is another"):
        model.inference(X, y)


def test_changed_coefficients_are_refused():
    X, y = noisy(30)
    model = LinearRegression().fit(X, y)
    model.coef_ = model.coef_ * 1.01
    with pytest.raises(InferenceError, match="changed after the fit: fit again"):
        model.inference(X, y)
    model.fit(X, y).coef_[0] *= 1.01
    with pytest.raises(InferenceError, match="changed"):
        model.inference(X, y)
    model.fit(X, y).intercept_ += 1
    with pytest.raises(InferenceError, match="changed"):
        model.inference(X, y)


def test_parameters_changed_after_the_fit_do_not_matter():
    X, y = noisy(30)
    model = Ridge(alpha=2.0).fit(X, y)
    found = model.inference(X, y)
    model.set_params(alpha=5.0, fit_intercept=False, positive=True)
    np.testing.assert_array_equal(model.inference(X, y).covariance, found.covariance)


def test_an_uncertified_fit_is_refused(monkeypatch, patch_everywhere):
    from certus.solvers.least_squares import solve

    def spoiled(*args, **kwargs):
        solution = solve(*args, **kwargs)
        return solution._replace(w=1.1 * solution.w)

    X, y = noisy(31)
    patch_everywhere(solve, spoiled)
    with pytest.warns(NotCertifiedWarning):
        model = LinearRegression().fit(X, y)
    with pytest.raises(InferenceError, match=r"the fit is not certified \(not optimal\)"):
        model.inference(X, y)


def test_bad_arguments_are_named():
    X, y = noisy(32)
    with pytest.raises(NotFittedError):
        LinearRegression().inference(X, y)
    model = LinearRegression().fit(X, y)
    with pytest.raises(ValueError, match=r"cov='HC4': give one of 'classical'.*Did you mean"):
        model.inference(X, y, cov="HC4")
    with pytest.raises(ValueError, match="give y"):
        model.inference(X, None)
    with pytest.raises(ValueError, match=r"level=95: give a share between 0 and 1"):
        model.inference(X, y).conf_int(95)


# --- what people see ------------------------------------------------------------------------------


def test_names_of_a_frame_are_names_of_the_table():
    X, y = noisy(33, 60, 3)
    frame = pd.DataFrame(X, columns=["age", "<b>dose</b>", "bmi"])
    found = fitted(frame, y)
    assert found.names == ("intercept", "age", "<b>dose</b>", "bmi")
    assert list(found.conf_int().to_pandas().index) == list(found.names)
    assert fitted(X, y, fit_intercept=False).names == ("x0", "x1", "x2")
    assert "&lt;b&gt;dose" in found._repr_html_()
    assert "<b>dose" not in found._repr_html_()


def test_the_last_step_of_a_pipeline_takes_what_reached_it():
    X, y = noisy(33, 60, 3)
    frame = pd.DataFrame(X, columns=["age", "dose", "bmi"])
    pipe = make_pipeline(StandardScaler().set_output(transform="pandas"), LinearRegression())
    pipe.fit(frame, y)
    found = pipe[-1].inference(pipe[:-1].transform(frame), y, cov="HC1")
    assert found.names == ("intercept", "age", "dose", "bmi")
    np.testing.assert_allclose(found.pvalues[1:], fitted(X, y, cov="HC1").pvalues[1:], rtol=1e-9)
    with pytest.raises(InferenceError, match="not the rows it was fitted on"):
        pipe[-1].inference(frame, y)


def test_summary_is_readable_and_holds_the_numbers():
    X, y = noisy(34, 60, 3)
    found = fitted(X * [1e-12, 1, 1e12], y * 1e5, cov="HC3")
    text = str(found.summary())
    assert text == repr(found)
    assert max(map(len, text.splitlines())) <= 80
    assert text.startswith("Least squares, 60 rows, HC3 standard errors\n")
    for word in ("sigma²", "degrees of freedom 56", "log-likelihood", "AIC", "BIC", "95 % low"):
        assert word in text
    table = found.summary(level=0.9)
    np.testing.assert_array_equal(table["p"], found.pvalues)
    np.testing.assert_array_equal(table["90 % low"], found.conf_int(0.9)["low"])


def test_a_perfect_fit_has_no_errors_and_does_not_warn():
    X = np.arange(8.0)[:, None]
    found = fitted(X, 2 * X[:, 0])
    assert found.sigma2 < 1e-25
    assert found.pvalues[1] < 1e-80
    assert "–" in str(fitted(X, np.zeros(8)))  # 0/0


def test_results_survive_pickling():
    X, y = noisy(35)
    found = fitted(X, y)
    copy = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(copy.pvalues, found.pvalues)
    assert str(copy) == str(found)


@pytest.mark.parametrize("cov", ["classical", "HC3"])
@pytest.mark.parametrize("n", [400, 12])
def test_sparse_rows_have_the_errors_of_dense_ones(cov, n):
    X = scipy.sparse.random_array((n, 20), density=0.3, format="csr", rng=np.random.default_rng(0))
    y = X @ np.arange(20.0) + np.random.default_rng(1).standard_normal(n)
    for dense, sparse in ((X.toarray(), X), (X.toarray(), scipy.sparse.csc_matrix(X))):
        model = Ridge(alpha=0.5, solver="svd", tol=1e-12)
        expected = model.fit(dense, y).inference(dense, y, cov=cov)
        found = model.fit(sparse, y).inference(sparse, y, cov=cov)
        np.testing.assert_allclose(found.standard_errors, expected.standard_errors, rtol=1e-9)
