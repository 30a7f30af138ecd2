"""Standard errors and likelihood ratios of logistic and softmax models: meaning, laws, peers."""

import pickle

import mpmath as mp
import numpy as np
import pytest
import scipy.sparse
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.stats import chi2

import certus
from certus.exceptions import InferenceError
from certus.linear_model import LogisticRegression
from certus.proofs.inference import logistic_inference as define
from tests.contract.problems import collinear, weights
from tests.glm.logistic_cases import fitted, labeled, optimum

each_cov = pytest.mark.parametrize("cov", ["classical", "HC0"])
each_intercept = pytest.mark.parametrize("fit_intercept", [True, False])
each_count = pytest.mark.parametrize("K", [2, 3])
each_weight = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


def relative(w, b, fit_intercept=True):
    """β (m, K − 1) against the first class."""
    theta = np.vstack([b, w]) if fit_intercept else w
    return theta if theta.shape[1] == 1 else theta[:, 1:] - theta[:, :1]


# --- the definition means what it says ------------------------------------------------------------


@each_count
def test_information_is_the_curvature_of_the_likelihood(K):
    X, y = labeled(0, 40, 2, K)
    s = weights(0, 40)
    beta = np.random.default_rng(0).normal(size=(3, K - 1))

    def log_likelihood(flat):
        return define(X, y, flat.reshape(K - 1, 3).T, s)["log_likelihood"]

    h, start = 1e-3, beta.T.ravel()
    E = h * np.eye(len(start))
    H = [
        [
            -(
                log_likelihood(start + a + b)
                - log_likelihood(start + a - b)
                - log_likelihood(start - a + b)
                + log_likelihood(start - a - b)
            )
            / (4 * h * h)
            for a in E
        ]
        for b in E
    ]
    np.testing.assert_allclose(define(X, y, beta, s)["information"], H, rtol=1e-4, atol=1e-4)


@each_cov
@pytest.mark.parametrize("alpha", [0.0, 3.0])
def test_softmax_covariance_is_that_of_all_classes_differences(alpha, cov):
    """(H + αI)⁺M(H + αI)⁺ of all K classes with its gradient, then β_k = θ_k − θ_0."""
    X, y = labeled(1, 100, 2, 3)
    w, b = optimum(X, y, alpha=alpha)
    Phi, K, m = np.column_stack([np.ones(100), X]), 3, 3
    z = X @ w + b
    P = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    curvature = P[:, :, None] * np.eye(K) - P[:, :, None] * P[:, None, :]
    H = np.einsum("ikl,ia,ib->kalb", curvature, Phi, Phi).reshape(m * K, -1)
    g = np.einsum("ik,ia->ika", P - (y[:, None] == np.arange(K)), Phi).reshape(100, -1)
    A = np.linalg.pinv(H + alpha * np.diag(np.tile(np.arange(m) > 0, K)), rcond=1e-10)
    difference = np.kron(np.column_stack([-np.ones(2), np.eye(2)]), np.eye(m))
    covariance = difference @ A @ (H if cov == "classical" else g.T @ g) @ A @ difference.T
    found = define(X, y, relative(w, b), alpha=alpha, cov=cov)
    np.testing.assert_allclose(found["covariance"], covariance, rtol=1e-8, atol=1e-10)


# --- the solver finds what the definition says ----------------------------------------------------


@each_cov
@each_intercept
@each_count
@each_weight
@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_solver_agrees_with_the_definition(alpha, weighted, K, fit_intercept, cov):
    X, y = labeled(2, 150, 3, K)
    s = weights(2, 150) if weighted else None
    w, b = optimum(X, y, s, alpha, fit_intercept)
    found = fitted(X, y, s, alpha, cov, fit_intercept, at=(w, b))
    beta = relative(w, b, fit_intercept)
    defined = define(X, y, beta, s, alpha, fit_intercept, cov)
    np.testing.assert_allclose(found.coef.reshape(beta.shape), beta, rtol=1e-14)
    np.testing.assert_allclose(found.covariance, defined["covariance"], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        found.standard_errors.reshape(beta.shape), defined["standard_errors"], rtol=1e-9
    )
    for name in ("effective_parameters", *(() if alpha else ("log_likelihood", "aic", "bic"))):
        assert getattr(found, name) == pytest.approx(defined[name], rel=1e-11), name


@each_cov
@each_count
def test_blocks_threads_and_storage_do_not_show(K, cov, monkeypatch):
    X, y = labeled(3, 4000, 6, K)
    X[np.abs(X) < 1] = 0
    at = optimum(X, y)
    whole = fitted(X, y, cov=cov, at=at)
    threads = []
    for count in (1, 2, 3):
        with certus.config_context(threads=count):
            threads.append(fitted(np.tile(X, (8, 1)), np.tile(y, 8), cov=cov, at=at))
    assert np.array_equal(threads[0].covariance, threads[1].covariance)
    assert np.array_equal(threads[0].covariance, threads[2].covariance)
    for other in (scipy.sparse.csr_array(X), scipy.sparse.csc_matrix(X)):
        sparse = fitted(other, y, cov=cov, at=at)
        np.testing.assert_allclose(sparse.covariance, whole.covariance, rtol=1e-10, atol=1e-14)
    monkeypatch.setattr(certus.data.rows, "BLOCK_BYTES", 1 << 12)
    parts = fitted(X, y, cov=cov, at=at)
    np.testing.assert_allclose(parts.covariance, whole.covariance, rtol=1e-11, atol=1e-15)


# --- statsmodels ----------------------------------------------------------------------------------

NAMES = {
    "coef": "params", "standard_errors": "bse", "statistic": "tvalues", "pvalues": "pvalues",
    "log_likelihood": "llf", "aic": "aic", "bic": "bic", "n": "nobs",
}  # fmt: skip
WHOLE = {
    "null_log_likelihood": "llnull", "lr_statistic": "llr", "lr_pvalue": "llr_pvalue",
    "pseudo_r_squared": "prsquared", "lr_degrees_of_freedom": "df_model",
}  # fmt: skip
STATSMODELS = {"classical": "nonrobust", "HC0": "HC0"}


def agree(found, peer, names):
    for ours, theirs in names.items():
        np.testing.assert_allclose(
            getattr(found, ours), getattr(peer, theirs), rtol=1e-6, err_msg=ours
        )
    np.testing.assert_allclose(found.covariance, peer.cov_params(), rtol=1e-6, atol=1e-12)


@each_cov
@each_intercept
def test_agrees_with_statsmodels_logit(fit_intercept, cov):
    X, y = labeled(4, 300, 4)
    Phi = sm.add_constant(X) if fit_intercept else X
    peer = sm.Logit(y, Phi).fit(disp=0, cov_type=STATSMODELS[cov])
    found = fitted(X, y, cov=cov, fit_intercept=fit_intercept)
    agree(found, peer, NAMES | WHOLE if fit_intercept else NAMES)
    interval = found.conf_int(0.9)
    np.testing.assert_allclose(interval["low"], peer.conf_int(0.1)[:, 0], rtol=1e-6)
    np.testing.assert_allclose(interval["high"], peer.conf_int(0.1)[:, 1], rtol=1e-6)


@each_cov
def test_agrees_with_statsmodels_mnlogit(cov):
    X, y = labeled(5, 400, 3, 3)
    peer = sm.MNLogit(y, sm.add_constant(X)).fit(disp=0, cov_type=STATSMODELS[cov])
    found = fitted(X, y, cov=cov)
    whole = {k: v for k, v in WHOLE.items() if "freedom" not in k}
    agree(found, peer, NAMES | whole)
    assert found.lr_degrees_of_freedom == 6


@each_cov
def test_weights_are_counts_as_statsmodels_frequency_weights(cov):
    X, y = labeled(6, 150, 3)
    s = weights(6, 150)
    family = sm.families.Binomial()
    peer = sm.GLM(y, sm.add_constant(X), family, freq_weights=s).fit(
        tol=1e-10, tol_criterion="params", cov_type=STATSMODELS[cov]
    )
    names = {k: v for k, v in NAMES.items() if k not in ("bic", "n")}
    found = fitted(X, y, s, cov=cov)
    agree(found, peer, names)
    assert found.n == s.sum()


@each_cov
@each_count
def test_a_weight_is_the_row_as_often(K, cov):
    X, y = labeled(7, 120, 3, K)
    s = weights(7, 120)
    s[::5] = 0
    copies = np.repeat(np.arange(120), s.astype(int))
    found, repeated = fitted(X, y, s, cov=cov), fitted(X[copies], y[copies], cov=cov)
    np.testing.assert_allclose(found.covariance, repeated.covariance, rtol=1e-9, atol=1e-13)
    for name in ("n", "aic", "bic", "lr_statistic", "lr_pvalue", "pseudo_r_squared"):
        assert getattr(found, name) == pytest.approx(getattr(repeated, name), rel=1e-10), name


def test_without_an_intercept_the_null_model_is_equal_probabilities():
    X, y = labeled(8, 100, 2, 3)
    found = fitted(X, y, fit_intercept=False)
    assert found.null_log_likelihood == pytest.approx(-100 * np.log(3))
    assert found.lr_degrees_of_freedom == 4
    assert found.lr_statistic > 0


# --- far origins, odd units -----------------------------------------------------------------------


@each_cov
@each_count
def test_far_origins_and_odd_units_cost_no_digits(K, cov):
    X, y = labeled(9, 200, 3, K)
    scale, shift = np.array([2.0**-30, 1.0, 2.0**30]), np.array([2.0**-10, 2.0**20, -(2.0**40)])
    w, b = optimum(X, y)
    found = fitted(X, y, cov=cov, at=(w, b))
    w_far = w / scale[:, None]
    moved = fitted(X * scale + shift, y, cov=cov, at=(w_far, b - shift @ w_far))
    unit = scale if K == 2 else scale[:, None]
    np.testing.assert_allclose(
        moved.standard_errors[1:] * unit, found.standard_errors[1:], rtol=1e-8
    )
    np.testing.assert_allclose(moved.log_likelihood, found.log_likelihood, rtol=1e-9)
    if cov == "classical":
        for side in ("low", "high"):
            expected = found.conf_int(kind="lr")[side].reshape(K - 1, 4)
            ends = moved.conf_int(kind="lr")[side].reshape(K - 1, 4)
            np.testing.assert_allclose(ends[:, 1:] * scale, expected[:, 1:], rtol=1e-6)


def exact_errors(X, y, w, b, cov):
    """Standard errors at (w, b) in 80 digits, two classes."""
    with mp.workdps(80):
        Phi = mp.matrix([[1, *map(float, x)] for x in X])
        z = Phi * mp.matrix([float(b[0]), *map(float, w[:, 0])])
        p = [1 / (1 + mp.exp(-v)) for v in z]
        H, M = mp.zeros(Phi.cols), mp.zeros(Phi.cols)
        for i in range(len(y)):
            outer = Phi[i, :].T * Phi[i, :]
            H += p[i] * (1 - p[i]) * outer
            M += (int(y[i]) - p[i]) ** 2 * outer
        inverse = H**-1
        covariance = inverse if cov == "classical" else inverse * M * inverse
        return np.array([float(mp.sqrt(covariance[j, j])) for j in range(Phi.cols)])


@each_cov
@pytest.mark.parametrize("condition", [1e2, 1e4, 1e6, 1e8])
def test_nearly_collinear_columns(condition, cov):
    X = collinear(9, 60, 3, condition)
    y = np.arange(60) % 2
    at = np.array([[1.0], [2.0], [-3.0]]), np.array([0.5])
    found = fitted(X, y, cov=cov, at=at)
    np.testing.assert_allclose(
        found.standard_errors, exact_errors(X, y, *at, cov), rtol=max(1e-8, 1e-15 * condition)
    )


@each_cov
def test_errors_are_those_of_the_given_intercept_far_from_the_origin(cov):
    """b is 1e9 times the scores: its digits and the columns' cancel before anything is rounded."""
    X, y = labeled(9, 60, 2)
    X += [1e9, -2e9]
    w = np.array([[1 / 3], [1 / 7]])
    at = w, np.array([-(X.mean(axis=0) @ w)[0] + 0.1])
    found = fitted(X, y, cov=cov, at=at)
    np.testing.assert_allclose(found.standard_errors, exact_errors(X, y, *at, cov), rtol=1e-9)


@each_count
def test_likelihood_ratios_of_nearly_collinear_columns(K):
    """The first coefficient is the same if the others are written in other columns."""
    rng = np.random.default_rng(9)
    Z = rng.normal(size=(100, 3))
    X = Z + 1e5 * (Z[:, [1, 2, 1]] + Z[:, [2, 1, 2]])
    y = labeled(9, 100, 3, K)[1]
    other = np.column_stack([X[:, 0], np.linalg.qr(X[:, 1:])[0]])
    at = np.zeros((3, 1 if K == 2 else K)), np.zeros(1 if K == 2 else K)
    for side in ("low", "high"):
        ends = [fitted(x, y, at=at).conf_int(kind="lr")[side][1] for x in (X, other)]
        assert ends[0] == pytest.approx(ends[1], rel=1e-5)


def test_squares_out_of_range_have_standard_errors():
    X, y = labeled(10, 100, 2)
    scale = np.array([2.0**600, 2.0**-600])
    w, b = optimum(X, y)
    found, odd = fitted(X, y, at=(w, b)), fitted(X * scale, y, at=(w / scale[:, None], b))
    np.testing.assert_allclose(odd.pvalues, found.pvalues, rtol=1e-8)


# --- likelihood ratios ----------------------------------------------------------------------------


def constrained(X, y, s, K, j, beta):
    """max log L with the j-th coefficient (class after class) held at β, by BFGS."""
    Phi = np.column_stack([np.ones(len(X)), X])
    d = Phi.shape[1] * (K - 1)
    free = np.arange(d) != j
    own = y[:, None] == np.arange(1, K)

    def loss(values):
        flat = np.empty(d)
        flat[free], flat[j] = values, beta
        z = Phi @ flat.reshape(K - 1, -1).T
        full = np.column_stack([np.zeros(len(z)), z])
        top = full.max(axis=1)
        total = np.exp(full - top[:, None]).sum(axis=1)
        value = s @ (top + np.log(total) - full[np.arange(len(y)), y])
        P = np.exp(full - top[:, None]) / total[:, None]
        g = ((s[:, None] * (P[:, 1:] - own)).T @ Phi).ravel()
        return value, g[free]

    found = minimize(loss, np.zeros(d - 1), jac=True, method="BFGS", options={"gtol": 1e-7})
    return -found.fun


@each_count
def test_ends_of_intervals_have_the_deviance_of_the_quantile(K):
    X, y = labeled(11, 80, 2, K)
    s = weights(11, 80)
    found = fitted(X, y, s)
    for level in (0.95, 0.5):
        table = found.conf_int(level, kind="lr")
        for j in range(found.coef.size):
            for side in ("low", "high"):
                deviance = 2 * (found.maximum - constrained(X, y, s, K, j, table[side][j]))
                assert deviance == pytest.approx(chi2.ppf(level, 1), rel=1e-6)
        coef = found.coef.ravel(order="F")
        assert np.all((table["low"] < coef) & (coef < table["high"]))


@each_count
def test_likelihood_ratio_tests_are_fits_without_the_coefficient(K):
    X, y = labeled(12, 120, 3, K)
    found = fitted(X, y)
    s = np.ones(120)
    expected = [
        chi2.sf(2 * (found.maximum - constrained(X, y, s, K, j, 0.0)), 1)
        for j in range(found.coef.size)
    ]
    np.testing.assert_allclose(found.lr_pvalues.ravel(order="F"), expected, rtol=1e-5)
    if K == 2:
        without = fitted(X[:, 1:], y)
        both = chi2.sf(2 * (found.maximum - without.maximum), 1)
        assert found.lr_pvalues[1] == pytest.approx(both, rel=1e-8)


def test_likelihood_ratios_do_not_need_the_exact_optimum():
    """Coefficients within the tolerance of a certificate are polished first."""
    X, y = labeled(13, 100, 2)
    w, b = optimum(X, y)
    exact, rough = fitted(X, y, at=(w, b)), fitted(X, y, at=(w + 1e-4, b - 1e-4))
    for side in ("low", "high"):
        np.testing.assert_allclose(
            rough.conf_int(kind="lr")[side], exact.conf_int(kind="lr")[side], rtol=1e-7
        )
    np.testing.assert_allclose(rough.lr_pvalues, exact.lr_pvalues, rtol=1e-6)


def test_nearly_separated_rows_have_lopsided_intervals():
    """One row keeps a strong effect finite: Wald's interval is symmetric, this one is not."""
    x = np.concatenate([np.zeros(20), np.ones(20)])
    y = np.concatenate([np.zeros(19), np.ones(21)]).astype(int)
    y[25] = 0
    found = fitted(x[:, None], y)
    table = found.conf_int(kind="lr")
    low, high = found.coef[1] - table["low"][1], table["high"][1] - found.coef[1]
    assert high > 1.2 * low
    assert found.lr_pvalues[1] < 1e-6 < found.pvalues[1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["wald", "lr"])
def test_intervals_cover_as_often_as_they_say(kind):
    rng = np.random.default_rng(14)
    X = rng.normal(size=(150, 2))
    truth = np.array([0.3, 1.0, -0.5])
    hits = np.zeros(3)
    for _ in range(1000):
        y = (rng.random(150) < 1 / (1 + np.exp(-truth[0] - X @ truth[1:]))).astype(int)
        table = fitted(X, y).conf_int(0.9, kind=kind)
        hits += (table["low"] <= truth) & (table["high"] >= truth)
    np.testing.assert_allclose(hits / 1000, 0.9, atol=0.03)


# --- what the rows do not determine ---------------------------------------------------------------


@each_cov
@each_count
def test_only_coefficients_that_the_rows_determine_have_errors(K, cov):
    X, y = labeled(15, 150, 3, K)
    repeated = np.column_stack([X, X[:, 0] + X[:, 1]])
    w, b = optimum(X, y)
    alone = fitted(X, y, cov=cov, at=(w, b))
    found = fitted(repeated, y, cov=cov, at=(np.vstack([w, 0 * w[:1]]), b))
    missing = np.isnan(found.standard_errors.reshape(5, -1))
    assert (missing == np.array([False, True, True, False, True])[:, None]).all()
    np.testing.assert_allclose(
        found.standard_errors[[0, 3]], alone.standard_errors[[0, 3]], rtol=1e-9
    )
    assert found.aic == pytest.approx(alone.aic, rel=1e-12)
    assert "no standard error for 'x0', 'x1', 'x3'" in " ".join(str(found).split())
    if cov == "classical":
        ends = found.conf_int(kind="lr")["low"].reshape(K - 1, 5)
        expected = alone.conf_int(kind="lr")["low"].reshape(K - 1, 4)
        np.testing.assert_allclose(ends[:, [0, 3]], expected[:, [0, 3]], rtol=1e-7)
        assert np.isnan(ends[:, [1, 2, 4]]).all()


def test_a_constant_column_leaves_the_intercept_undetermined():
    X, y = labeled(16, 100, 2)
    w, b = optimum(X, y)
    constant = np.column_stack([X + 2.0**20, np.full(100, 1e15 / 3)])
    at = np.vstack([w, [[0.0]]]), b - 2.0**20 * w.sum(axis=0)
    found = fitted(constant, y, at=at)
    assert list(np.isnan(found.standard_errors)) == [True, False, False, True]
    np.testing.assert_allclose(
        found.standard_errors[1:3], fitted(X, y, at=(w, b)).standard_errors[1:], rtol=1e-8
    )


def test_fewer_rows_than_coefficients_have_no_errors():
    X, _ = labeled(17, 4, 2)
    with pytest.raises(InferenceError, match="need more rows than coefficients"):
        fitted(X[:3], np.array([0, 1, 0]), at=(np.zeros((2, 1)), np.zeros(1)))


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["statistic", "pvalues", "log_likelihood", "aic", "bic", "lr_statistic", "lr_pvalue",
     "pseudo_r_squared", "lr_pvalues", "null_log_likelihood", "lr_degrees_of_freedom"],
)  # fmt: skip
def test_tests_of_penalised_coefficients_are_refused(name):
    X, y = labeled(18)
    with pytest.raises(InferenceError, match=r"ignores the bias of the penalty.*\(C=np.inf\)"):
        getattr(fitted(X, y, alpha=1.0), name)
    assert np.isfinite(getattr(fitted(X, y), name)).all()


def test_penalised_tables_say_what_they_ignore():
    X, y = labeled(18)
    found = fitted(X, y, alpha=1.0)
    for table in (found.summary(), found.conf_int()):
        assert "ignores the bias of the penalty" in table.title
        assert "p" not in table.columns
    for refused in (lambda: found.odds_ratios(), lambda: found.conf_int(kind="lr")):
        with pytest.raises(InferenceError, match="ignores the bias of the penalty"):
            refused()


def test_likelihood_ratios_and_robust_errors_exclude_each_other():
    X, y = labeled(19)
    with pytest.raises(InferenceError, match="assumes that the model is right, which cov='HC0'"):
        fitted(X, y, cov="HC0").conf_int(kind="lr")


def test_bad_arguments_are_named():
    X, y = labeled(19)
    found = fitted(X, y)
    with pytest.raises(ValueError, match=r"kind='profile': give 'wald' or 'lr'"):
        found.conf_int(kind="profile")
    for kind in ("wald", "lr"):
        with pytest.raises(ValueError, match=r"level=95: give a share between 0 and 1"):
            found.odds_ratios(95, kind)


def test_separated_rows_without_curvature_are_refused():
    X, y = labeled(20)
    far = np.full((3, 1), 1e6)
    with pytest.raises(InferenceError, match="every probability is 0 or 1"):
        fitted(np.abs(X) + 1, y, at=(far, np.zeros(1)))


# --- what people see ------------------------------------------------------------------------------


def test_odds_ratios_are_exponentials_of_the_features_coefficients():
    X, y = labeled(21)
    found = fitted(X, y)
    for kind in ("wald", "lr"):
        table, interval = found.odds_ratios(0.9, kind), found.conf_int(0.9, kind)
        assert list(table["name"]) == ["x0", "x1", "x2"]
        np.testing.assert_allclose(table["odds ratio"], np.exp(found.coef[1:]), rtol=1e-14)
        for side in ("low", "high"):
            np.testing.assert_allclose(table[side], np.exp(interval[side][1:]), rtol=1e-14)
    assert "odds of c1 against c0" in str(table)


def test_softmax_tables_go_class_after_class():
    X, y = labeled(22, 200, 2, 3)
    found = fitted(X, y)
    table = found.summary()
    assert list(table["class"]) == ["c1"] * 3 + ["c2"] * 3
    assert list(table["name"]) == ["intercept", "x0", "x1"] * 2
    np.testing.assert_array_equal(table["coef"], found.coef.T.ravel())
    np.testing.assert_allclose(
        table["std error"], np.sqrt(np.diagonal(found.covariance)), rtol=1e-12
    )
    odds = found.odds_ratios()
    assert list(zip(odds["class"], odds["name"], strict=True)) == [
        ("c1", "x0"), ("c1", "x1"), ("c2", "x0"), ("c2", "x1"),
    ]  # fmt: skip
    np.testing.assert_allclose(odds["odds ratio"], np.exp(found.coef[1:]).T.ravel())
    assert "odds of each class against c0" in str(odds)


def test_summary_is_readable_and_holds_the_numbers():
    X, y = labeled(23, 300, 3)
    found = fitted(X * [1e-12, 1, 1e12], y)
    text = str(found.summary())
    assert text == repr(found)
    assert max(map(len, text.splitlines())) <= 80
    assert text.startswith("Logistic, 300 rows, classical standard errors\n")
    for word in (
        "log-likelihood", "of the intercept alone", "LR chi²", "degrees of freedom 3", "McFadden",
        "AIC", "BIC", "95 % low", "odds of c1 against c0",
    ):  # fmt: skip
        assert word in text
    np.testing.assert_array_equal(found.summary(0.9)["90 % low"], found.conf_int(0.9)["low"])
    assert str(fitted(X, y, np.full(300, 0.5))).startswith("Logistic, 150 rows")


def test_pickles_leave_the_rows_behind():
    X, y = labeled(24, 5000)
    found = fitted(X, y)
    found.lr_pvalues
    stored = pickle.dumps(found)
    assert len(stored) < 10_000
    copy = pickle.loads(stored)
    assert str(copy) == str(found)
    with pytest.raises(InferenceError, match="are not pickled with this object"):
        copy.conf_int(kind="lr")


def test_the_title_counts_rows_or_states_their_total_weight():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, size=60)
    model = LogisticRegression(C=np.inf).fit(X, y)
    assert "Logistic, 60 rows, classical" in str(model.inference(X, y))
    s = rng.uniform(0.5, 2, size=60)
    model.fit(X, y, s)
    assert f"rows of total weight {s.sum():.4f}," in str(model.inference(X, y, s))
