"""Standard errors, tests and intervals: against their meaning and exact arithmetic."""

import pickle
from fractions import Fraction

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import certus
from benchmarks.suites.inference import hc3_standard_errors
from certus.exceptions import InferenceError
from certus.linear_model import LinearRegression, Ridge
from certus.proofs.inference import inference as define
from certus.solvers.inference import linear as solver
from tests.contract.problems import collinear, weights
from tests.inference.inference_cases import each_intercept, each_kind, fitted, noisy, weighted

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
    penalized = bool(alpha)
    assert defined["coef"].shape == found.coef.shape
    for name, value in defined.items():
        if penalized and name in ("log_likelihood", "aic", "bic"):
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
            patch.setattr(solver, "MAX_CHOLESKY_CONDITION", 0.0)
            by_qr = fitted(X, y, alpha=alpha, cov=cov)
        np.testing.assert_allclose(by_qr.covariance, cholesky.covariance, rtol=1e-11, atol=1e-15)
        assert by_qr.degrees_of_freedom == pytest.approx(cholesky.degrees_of_freedom, rel=1e-12)


@each_kind
def test_slices_and_blocks_do_not_show(cov, monkeypatch):
    X, y = noisy(9, 3000, 3)
    s = weights(9, 3000)
    whole = fitted(X, y, s, cov=cov)
    monkeypatch.setattr(solver, "SLICE_ELEMENTS", 64)
    monkeypatch.setattr(certus.data.rows, "BLOCK_BYTES", 1 << 12)
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
