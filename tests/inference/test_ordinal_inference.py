"""Standard errors, likelihood ratios and Brant's test of ordinal regression."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import chi2, kstest
from statsmodels.miscmodels.ordinal_model import OrderedModel

import certus
from certus.exceptions import AliasWarning, InferenceError, NotCertifiedWarning
from certus.inference import compare
from certus.linear_model import LogisticRegression, OrdinalRegression
from tests.contract.problems import ordered


def drawn(seed=0, n=300, thresholds=(-1.0, 0.5, 2.0), steps=(0.0, 0.0)):
    """Proportional odds, whose slopes change by ``steps`` from one threshold to the next."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    u, y = rng.random(n), np.zeros(n, dtype=int)
    for k, c in enumerate(thresholds):
        y += u < expit(X @ (np.array([1.0, -0.7]) + k * np.array(steps)) - c)
    return X, y


def inference(X, y, s=None, **parameters):
    model = OrdinalRegression(**{"tol": 1e-12, **parameters}).fit(X, y, s)
    return model.inference(X, y, s)


# --- Wald ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [3, 5])
def test_estimates_and_errors_are_those_of_statsmodels(classes):
    X, y, _ = ordered(0, n=300, p=3, classes=classes)
    found = inference(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = OrderedModel(y, X, distr="logit").fit(method="newton", disp=False, maxiter=100)
    np.testing.assert_allclose(found.coef[:3], theirs.params[:3], rtol=1e-5)
    np.testing.assert_allclose(found.standard_errors[:3], theirs.bse[:3], rtol=1e-4)
    np.testing.assert_allclose(found.pvalues[:3], theirs.pvalues[:3], rtol=1e-2, atol=1e-12)
    # their first threshold is ours, later ones are logarithms of differences
    assert found.standard_errors[3] == pytest.approx(theirs.bse[3], rel=1e-4)
    assert found.log_likelihood == pytest.approx(theirs.llf, rel=1e-9)
    assert found.null_log_likelihood == pytest.approx(theirs.llnull, rel=1e-6)
    assert found.aic == pytest.approx(theirs.aic, rel=1e-8)


def loss(theta, X, y, s, p):
    w, c = theta[:p], theta[p:]
    ends = np.concatenate([[-np.inf], c, [np.inf]])
    z = X @ w
    P = expit(ends[y + 1] - z) - expit(ends[y] - z)
    return np.inf if (P <= 0).any() else -s @ np.log(P)


def test_the_covariance_is_the_inverse_of_the_curvature_by_differences():
    X, y = drawn(1)
    s = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    found = inference(X, y, s)
    theta, h = found.coef, 1e-4 * np.eye(5)

    def F(theta):
        return loss(theta, X, y, s, 2)

    H = np.array([
        [F(theta + a + b) - F(theta + a - b) - F(theta - a + b) + F(theta - a - b) for a in h]
        for b in h
    ]) / 4e-8  # fmt: skip
    np.testing.assert_allclose(found.covariance, np.linalg.inv(H), rtol=1e-4, atol=1e-7)
    assert found.n == s.sum()


def test_two_classes_are_logistic_regression():
    X, y = drawn(2)
    y = (y > 1).astype(int)
    found = inference(X, y)
    other = LogisticRegression(C=np.inf, tol=1e-12).fit(X, y).inference(X, y)
    np.testing.assert_allclose(found.coef, [*other.coef[1:], -other.coef[0]], rtol=1e-8)
    order = [1, 2, 0]
    np.testing.assert_allclose(found.standard_errors, other.standard_errors[order], rtol=1e-8)
    np.testing.assert_allclose(found.lr_pvalues, other.lr_pvalues[order], rtol=1e-6)
    assert found.lr_pvalue == pytest.approx(other.lr_pvalue, rel=1e-6)
    with pytest.raises(InferenceError, match="two classes have one threshold"):
        found.proportional_odds()


def test_shifts_and_units_of_columns_cost_no_digits():
    X, y = drawn(3)
    found = inference(X, y)
    scale = np.array([2.0**-20, 2.0**15])
    moved = inference((X + 1000.0) * scale, y)
    np.testing.assert_allclose(
        moved.standard_errors[:2] * scale, found.standard_errors[:2], rtol=1e-7
    )
    np.testing.assert_allclose(moved.pvalues[:2], found.pvalues[:2], rtol=1e-5)
    ours, theirs = (one.conf_int(kind="lr")["high"][:2] for one in (moved, found))
    np.testing.assert_allclose(ours * scale, theirs, rtol=1e-6)


def test_a_penalised_fit_has_intervals_that_ignore_its_bias():
    X, y = drawn(4)
    found = inference(X, y, alpha=20.0)
    assert "ignores the bias of the penalty" in str(found)
    plain = inference(X, y)
    assert (found.standard_errors[:2] < plain.standard_errors[:2]).all()
    Lambda = 20 * np.diag([1.0, 1, 0, 0, 0])
    h, theta, ones = 1e-4 * np.eye(5), found.coef, np.ones(len(y))

    def F(theta):
        return loss(theta, X, y, ones, 2)

    H = np.array([
        [F(theta + a + b) - F(theta + a - b) - F(theta - a + b) + F(theta - a - b) for a in h]
        for b in h
    ]) / 4e-8  # fmt: skip
    inverse = np.linalg.inv(H + Lambda)
    np.testing.assert_allclose(found.covariance, inverse @ H @ inverse, rtol=1e-4, atol=1e-7)
    for refused in (found.odds_ratios, found.proportional_odds):
        with pytest.raises(InferenceError, match="ignores the bias"):
            refused()


# --- likelihood ratios ------------------------------------------------------------------------


@pytest.mark.parametrize("j", [0, 2, 3, 4])
def test_profile_intervals_are_where_the_deviance_reaches_its_quantile(j):
    X, y = drawn(5, n=60)
    found, s = inference(X, y), np.ones(60)

    def deviance(beta):
        free = np.delete(np.arange(5), j)

        def F(part):
            theta = np.empty(5)
            theta[free], theta[j] = part, beta
            return loss(theta, X, y, s, 2) if (np.diff(theta[2:]) > 0).all() else 1e10

        start = found.coef[free] + found.covariance[free, j] / found.covariance[j, j] * (
            beta - found.coef[j]
        )
        best = minimize(F, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
        best = minimize(F, best.x, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12})
        return 2 * (best.fun + found.log_likelihood)

    table = found.conf_int(0.9, kind="lr")
    for end in (table["low"][j], table["high"][j]):
        assert deviance(end) == pytest.approx(chi2.ppf(0.9, 1), abs=1e-5)
    assert found.lr_pvalues[j] == pytest.approx(chi2.sf(deviance(0.0), 1), rel=1e-3, abs=1e-9)


def test_a_threshold_may_be_profiled_past_its_neighbours():
    """Thresholds that are near each other move together."""
    X, y = drawn(6, n=200, thresholds=(0.0, 0.05, 0.1))
    found = inference(X, y)
    table = found.conf_int(0.999, kind="lr")
    assert (table["low"] < found.coef).all()
    assert (found.coef < table["high"]).all()
    assert np.isfinite(found.lr_pvalues).all()


def test_an_added_column_is_its_likelihood_ratio_test():
    X, y = drawn(7)
    large = inference(X, y)
    small = inference(X[:, :1], y)
    assert compare(small, large).pvalue == pytest.approx(large.lr_pvalues[1], rel=1e-6)


# --- Brant ------------------------------------------------------------------------------------


def brant_by_statsmodels(X, y):
    """X² from separate logistic fits and the sums of the definition."""
    K, A, p = int(y.max()) + 1, sm.add_constant(X), X.shape[1]
    betas, pis = [], []
    for k in range(K - 1):
        fit = sm.Logit((y > k).astype(int), A).fit(disp=0, tol=1e-13)
        betas.append(fit.params[1:])
        pis.append(fit.predict())
    V = np.empty((K - 1, p, K - 1, p))
    for k in range(K - 1):
        for l in range(K - 1):
            low, high = min(k, l), max(k, l)
            W = pis[high] * (1 - pis[low])
            sides = [np.linalg.inv((A.T * (pi * (1 - pi))) @ A) for pi in (pis[k], pis[l])]
            V[k, :, l] = (sides[0] @ ((A.T * W) @ A) @ sides[1])[1:, 1:]
    V = V.reshape((K - 1) * p, -1)
    D = np.kron(np.column_stack([np.ones(K - 2), -np.eye(K - 2)]), np.eye(p))
    d = D @ np.concatenate(betas)
    return d @ np.linalg.solve(D @ V @ D.T, d)


@pytest.mark.parametrize("seed", [8, 9])
def test_brants_statistic_is_that_of_separate_logistic_fits(seed):
    X, y = drawn(seed, steps=(0.3, 0.0))
    found = inference(X * [1e-3, 1.0] + [5.0, 0.0], y).proportional_odds()
    assert found.statistic == pytest.approx(brant_by_statsmodels(X, y), rel=1e-6)
    assert found.degrees_of_freedom == 4
    assert found.pvalue == pytest.approx(chi2.sf(found.statistic, 4), rel=1e-9)
    assert found.pvalues.shape == (2,)


def test_weights_of_two_are_repeated_rows():
    X, y = drawn(10)
    s = np.random.default_rng(10).integers(0, 3, len(y)).astype(float)
    found = inference(X, y, s)
    rows = np.repeat(np.arange(len(y)), s.astype(int))
    expected = inference(X[rows], y[rows])
    np.testing.assert_allclose(found.standard_errors, expected.standard_errors, rtol=1e-7)
    assert found.proportional_odds().statistic == pytest.approx(
        expected.proportional_odds().statistic, rel=1e-7
    )


def test_slopes_that_differ_between_thresholds_are_found():
    X, y = drawn(11, n=2000, steps=(0.4, 0.0))
    found = inference(X, y).proportional_odds()
    assert found.pvalue < 1e-3
    assert found.pvalues[0] < 1e-3
    assert found.pvalues[1] > 0.01
    text = str(found)
    assert "above 0" in text
    assert "all columns" in text


def shares_rejected(n_samples, n, steps):
    pvalues = [
        inference(*drawn(seed, n=n, steps=steps), tol=1e-6).proportional_odds().pvalue
        for seed in range(n_samples)
    ]
    return np.array(pvalues)


def test_brants_test_keeps_its_level_in_some_samples():
    pvalues = shares_rejected(60, 400, (0.0, 0.0))
    assert kstest(pvalues, "uniform").pvalue > 0.001


@pytest.mark.exhaustive
def test_brants_test_keeps_its_level_and_has_power():
    pvalues = shares_rejected(2000, 400, (0.0, 0.0))
    for level in (0.01, 0.05, 0.2):
        allowed = 4 * np.sqrt(level * (1 - level) / 2000)
        assert np.mean(pvalues < level) == pytest.approx(level, abs=allowed)
    assert np.mean(shares_rejected(200, 400, (0.4, 0.0)) < 0.05) > 0.5


def test_classes_that_a_column_separates_have_no_test():
    X, y = drawn(12)
    X = np.column_stack([X, np.where(y == 3, 5.0, np.random.default_rng(0).normal(size=300))])
    X[y == 0, 2] = 4.0
    found = inference(X, y)
    with pytest.raises(InferenceError, match="against '3' and above has no finite optimum"):
        found.proportional_odds()


def test_classes_without_an_order_along_the_columns_have_no_test():
    rng = np.random.default_rng(0)
    X = 3 * rng.normal(size=(2000, 3))
    y = (X @ rng.normal(size=(3, 4)) + rng.gumbel(size=(2000, 4))).argmax(axis=1)
    with pytest.raises(InferenceError, match="classes do not follow one order along these columns"):
        str(inference(X, y).proportional_odds())


# --- predictions, tables, refusals ------------------------------------------------------------


def test_probabilities_have_the_errors_of_the_delta_method():
    X, y = drawn(13)
    model = OrdinalRegression(tol=1e-12).fit(X, y)
    found = model.inference(X, y)
    table = found.predict(X[:6])
    P = table["probability"].reshape(4, 6).T
    np.testing.assert_allclose(P, model.predict_proba(X[:6]), rtol=1e-12)

    def logits(theta):
        ends = np.concatenate([[-np.inf], theta[2:], [np.inf]])
        P = np.diff(expit(ends - (X[:6] @ theta[:2])[:, None]), axis=1)
        return np.log(P / (1 - P)).T.ravel()

    J = np.column_stack([
        (logits(found.coef + h) - logits(found.coef - h)) / 2e-6 for h in 1e-6 * np.eye(5)
    ])  # fmt: skip
    errors = np.sqrt(np.einsum("ij,jk,ik->i", J, found.covariance, J))
    np.testing.assert_allclose(table["std error"], errors, rtol=1e-5)
    assert ((table["low"] < table["probability"]) & (table["probability"] < table["high"])).all()


def test_tables_name_columns_thresholds_and_the_order():
    X, y = drawn(14)
    X = pd.DataFrame(X, columns=["age", "dose"])
    labels = np.array(["none", "mild", "severe", "worst"])
    model = OrdinalRegression(categories=labels).fit(X, labels[y])
    found = model.inference(X, labels[y])
    assert found.names == ("age", "dose", "none|mild", "mild|severe", "severe|worst")
    assert "odds of a higher class, in the order none < mild < severe < worst" in str(found)
    odds = found.odds_ratios(per={"age": 10})
    assert list(odds["name"]) == ["age (per 10)", "dose"]
    np.testing.assert_allclose(odds["odds ratio"][0], np.exp(10 * found.coef[0]))
    with pytest.raises(ValueError, match=r"per has 'none\|mild', which is no column"):
        found.summary(per={"none|mild": 2})
    copy = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(copy.pvalues, found.pvalues)
    for ask in (lambda: copy.proportional_odds(), lambda: copy.lr_pvalues):
        with pytest.raises(InferenceError, match="not pickled with this object"):
            ask()


@pytest.mark.filterwarnings("ignore::certus.exceptions.SeparationWarning")
def test_what_has_no_errors_is_refused():
    X, y = drawn(15)
    model = OrdinalRegression().fit(X, y)
    with pytest.raises(InferenceError, match="not the rows it was fitted on"):
        model.inference(X[1:], y[1:])
    twice = np.column_stack([X, X[:, 0]])
    with pytest.warns(AliasWarning):
        model = OrdinalRegression().fit(twice, y)
    with pytest.raises(InferenceError, match="columns repeat others"):
        model.inference(twice, y)
    dose, effect = np.arange(8.0)[:, None], np.array([0, 0, 0, 1, 1, 1, 2, 2])
    with pytest.raises(InferenceError, match="no finite optimum: some score puts the rows"):
        OrdinalRegression().fit(dose, effect).inference(dose, effect)


def test_a_fit_that_was_stopped_is_finished_by_certus_inference():
    X, y = drawn(16)
    with pytest.warns(NotCertifiedWarning):
        model = OrdinalRegression(max_iter=2).fit(X, y)
    found = certus.inference(model, X, y)
    np.testing.assert_allclose(found.coef, inference(X, y).coef, rtol=1e-7)
    assert "the fit was not at the optimum" in str(found)


def test_same_bits_on_any_number_of_threads():
    X, y = drawn(17, n=20_000)
    model = OrdinalRegression().fit(X, y)
    results = []
    for threads in (1, 3):
        with certus.config_context(threads=threads):
            found = model.inference(X, y)
            results.append((found.covariance, found.proportional_odds().covariance))
    for one, other in zip(*results, strict=True):
        assert np.array_equal(one, other)
