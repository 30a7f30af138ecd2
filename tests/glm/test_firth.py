"""Firth's logistic regression, against published numbers, closed forms and 50-digit optima.

The endometrial cancer study of Heinze and Schemper (Statistics in Medicine 21, 2002): 79 patients,
neovasculation NV, pulsatility index PI, endometrium height EH, and the histological grade HG. All
13 patients with NV are of high grade, so that its maximum likelihood estimate is infinite.
"""

import warnings

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csc_array, csr_array
from scipy.special import chdtrc

import certus
from certus.certificate.data import Data
from certus.data.rows import Rows
from certus.derivatives.check import check_gradient
from certus.exceptions import (
    AliasWarning,
    InferenceError,
    NotCertifiedWarning,
    SeparationWarning,
)
from certus.linear_model import FirthLogisticRegression, LogisticRegression
from certus.proofs.glm import firth as definition
from certus.solvers.glm import firth as solver
from tests.contract.problems import classification, weights

LOW = """13 1.64  16 2.26  8 3.14  34 2.68  20 1.28  5 2.31  17 1.80  10 1.68  26 1.56  17 2.31
8 2.01  7 1.89  20 3.15  10 1.23  18 1.27  16 1.76  18 2.00  28 1.50  11 1.33  19 2.37  10 1.82
10 3.13  18 1.31  14 1.92  21 1.64  11 2.01  17 1.88  25 1.93  16 2.11  19 1.29  15 1.72  33 0.75
24 1.92  29 2.02  15 2.29  12 2.33  3 2.90  20 1.70  23 1.41  12 2.25  22 1.54  42 1.97  15 1.75
13 2.16  14 2.57  19 1.37  12 3.61  13 2.04  10 2.17"""
HIGH = """8 2.64  29 0.88  12 1.27  20 1.37  7 0.97  48 1.84  12 1.11  19 1.61  2 1.18  21 1.19
15 1.06  12 1.69  6 1.84  5 1.30  17 0.96  5 0.35  33 0.85"""
HIGH_WITH_NV = """38 0.97  22 1.14  7 0.88  25 0.91  15 0.58  22 1.44  40 1.18  5 0.93  0 1.17
49 0.27  11 1.01  21 0.98  19 1.02"""


def endometrial():
    """(X, y): columns NV, PI, EH; y = HG."""
    parts = [
        np.array(text.split(), dtype=float).reshape(-1, 2) for text in (LOW, HIGH, HIGH_WITH_NV)
    ]
    nv = np.repeat([0.0, 0.0, 1.0], [len(part) for part in parts])
    y = np.repeat([0, 1, 1], [len(part) for part in parts])
    return np.column_stack([nv, np.vstack(parts)]), y


def fit(X, y, s=None, **parameters):
    return FirthLogisticRegression(**{"tol": 1e-12, **parameters}).fit(X, y, s)


# --- truths ---------------------------------------------------------------------------------------


def test_the_published_estimates_of_the_endometrial_cancer_study():
    X, y = endometrial()
    assert X.shape == (79, 3)
    assert (X[:, 0].sum(), y.sum()) == (13, 30)
    model = fit(X, y)
    # as R's logistf and brglm2 print them
    np.testing.assert_allclose(model.intercept_, 3.77455951, rtol=1e-6)
    np.testing.assert_allclose(model.coef_[0], [2.92927330, -0.03475175, -2.60416387], rtol=1e-6)
    with pytest.warns(SeparationWarning, match="column 0 .* Use FirthLogisticRegression, a finite"):
        LogisticRegression(C=np.inf).fit(X, y)


TABLES = [(10, 40, 0, 50), (1, 0, 0, 1), (7, 0, 3, 9), (0, 5, 6, 0), (3, 4, 5, 6), (0, 900, 1, 2)]


@pytest.mark.parametrize("counted", [False, True], ids=["rows", "weights"])
@pytest.mark.parametrize("table", TABLES, ids=str)
def test_a_two_by_two_table_gets_half_a_row_in_each_cell(table, counted):
    X, y, n = np.array([[1.0], [1.0], [0.0], [0.0]]), np.array([1, 0, 1, 0]), np.array(table)
    model = fit(X, y, n) if counted else fit(np.repeat(X, n, axis=0), np.repeat(y, n))
    a, b, c, d = n + 0.5
    np.testing.assert_allclose(model.intercept_, np.log(c / d), rtol=1e-9)
    np.testing.assert_allclose(model.coef_, np.log(a / b * d / c), rtol=1e-9)


def test_the_intercept_alone_adds_half_a_row_to_each_class():
    y = np.repeat([0, 1], [17, 3])
    model = fit(np.ones((20, 1)), y, fit_intercept=False)
    np.testing.assert_allclose(model.coef_, np.log(3.5 / 17.5), rtol=1e-12)


def exact_objective(X, y, s, intercept):
    """F in 50-digit floats."""
    rows = [[mp.mpf(float(v)) for v in x] + [mp.mpf(1)] * intercept for x in X]
    s = [mp.mpf(float(v)) for v in (np.ones(len(y)) if s is None else s)]

    def F(*theta):
        m = len(theta)
        loss, I = mp.mpf(0), mp.zeros(m)
        for x, label, weight in zip(rows, y, s, strict=True):
            z = mp.fsum(a * b for a, b in zip(x, theta, strict=True))
            p = 1 / (1 + mp.exp(-z))
            loss -= weight * mp.log(p if label else 1 - p)
            for i in range(m):
                for j in range(m):
                    I[i, j] += weight * p * (1 - p) * x[i] * x[j]
        return loss - mp.log(mp.det(I)) / 2

    return F


def exact_optimum(F, start):
    """Newton's method with 50-digit central differences."""
    theta = [mp.mpf(float(v)) for v in start]
    m, h = len(theta), mp.mpf(10) ** -12

    def moved(*steps):
        other = list(theta)
        for j, step in steps:
            other[j] += step
        return F(*other)

    for _ in range(6):
        g = mp.matrix([(moved((j, h)) - moved((j, -h))) / (2 * h) for j in range(m)])
        H = mp.zeros(m)
        for i in range(m):
            for j in range(m):
                H[i, j] = (
                    moved((i, h), (j, h)) - moved((i, h), (j, -h))
                    - moved((i, -h), (j, h)) + moved((i, -h), (j, -h))
                ) / (4 * h * h)  # fmt: skip
        step = mp.lu_solve(H, -g)
        theta = [a + b for a, b in zip(theta, step, strict=True)]
    return theta, F(*theta)


@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_fit_is_the_fifty_digit_optimum(intercept, weighted):
    X, y, _ = classification(5, n=12, p=2)
    s = weights(1, 12) if weighted else None
    model = fit(X, y, s, fit_intercept=intercept)
    with mp.workdps(50):
        F = exact_objective(X, y, s, intercept)
        start = [*model.coef_[0], *(model.intercept_ if intercept else [])]
        theta, best = exact_optimum(F, start)
        assert abs(F(*map(float, start)) - mp.mpf(model.certificate_.objective)) < 1e-12
        assert abs(mp.mpf(model.certificate_.objective) - best) < 1e-12
        np.testing.assert_allclose(start, [float(v) for v in theta], rtol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_a_general_minimiser_finds_the_same(seed):
    X, y, _ = classification(seed, n=40, p=3)
    s = weights(seed, 40)
    data = Data(Rows(X, y.astype(float)[:, None], s))

    def F(theta):
        return definition.check(data, w=theta[:3, None], b=theta[3:])["objective"]

    result = minimize(F, np.zeros(4), method="BFGS", options={"gtol": 1e-9})
    model = fit(X, y, s)
    assert model.certificate_.objective <= result.fun + 1e-9
    np.testing.assert_allclose(np.append(model.coef_[0], model.intercept_), result.x, atol=1e-4)


# --- derivatives ----------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_definitions_gradient_is_that_of_its_objective(weighted):
    X, y = endometrial()
    s = weights(2, len(y)) if weighted else None
    data = Data(Rows(X, y.astype(float)[:, None], s))

    def at(theta):
        return definition.Fitted(data, theta[:3, None], theta[3:], 1.0, 0.0, 0.0, True, None)

    def gradient(theta):
        other = at(theta)
        assert other.view.plain  # else this is the gradient in other columns
        I = definition.information_of(data, other, 1.0)
        sums = data.reduce(
            definition.scores, other.w, other.b, other.b_error, other.view, 1.0, I,
            combine=definition.sums_added,
        )  # fmt: skip
        return sums.g

    def F(theta):
        return definition.check(data, w=theta[:3, None], b=theta[3:])["objective"]

    check_gradient(F, gradient, np.array([1.5, -0.1, -1.0, 2.0]))


def test_the_solvers_step_is_newtons_by_finite_differences():
    X, y, _ = classification(3, n=30, p=2)
    rows = Rows(X, y.astype(float)[:, None], weights(3, 30))
    design = solver.Design(solver.coordinates(rows, True), True)
    theta, h = np.array([0.4, -0.3, 0.2]), 1e-5
    point = solver._point(rows, design, theta)
    slopes = solver._derivatives(rows, design, point, True)

    def gradient(other):
        at = solver._point(rows, design, other)
        return np.linalg.solve(at.C.T, solver._derivatives(rows, design, at, False).g)

    def F(other):
        return solver._point(rows, design, other).F

    differences = [(F(theta + h * e) - F(theta - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(gradient(theta), differences, atol=1e-7)
    H = np.array([(gradient(theta + h * e) - gradient(theta - h * e)) / (2 * h) for e in np.eye(3)])
    step = point.C @ solver._newton_step(slopes)
    np.testing.assert_allclose(step, np.linalg.solve(H, gradient(theta)), rtol=1e-6)


def test_many_columns_take_other_steps_to_the_same_point(monkeypatch):
    X, y = endometrial()
    reference = fit(X, y)
    monkeypatch.setattr(solver, "MAX_THIRD_MOMENT_COEFFICIENTS", 0)
    other = fit(X, y)
    assert other.n_iter_ > reference.n_iter_
    np.testing.assert_allclose(other.coef_, reference.coef_, rtol=1e-8)


# --- what the penalty is for ----------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(20, 3), (2000, 10), (40, 30)], ids=str)
def test_separated_classes_have_a_finite_certified_fit(shape):
    X = np.random.default_rng(0).normal(size=shape)
    model = fit(X, X[:, 0] > 0)
    assert model.certificate_.certified
    assert np.isfinite(model.coef_).all()
    assert (model.predict(X) == (X[:, 0] > 0)).mean() > 0.95


def test_coefficients_follow_every_linear_change_of_columns():
    X, y = endometrial()
    A = np.array([[2.0, 1.0, 0.0], [0.0, 0.1, -1.0], [3.0, 0.0, 5.0]])
    other, reference = fit(X @ A, y), fit(X, y)
    np.testing.assert_allclose(A @ other.coef_[0], reference.coef_[0], rtol=1e-9)
    np.testing.assert_allclose(other.intercept_, reference.intercept_, rtol=1e-9)


def test_estimates_shrink_and_tend_to_maximum_likelihood_as_rows_are_repeated():
    X, y, _ = classification(3, n=60, p=3)
    likely = LogisticRegression(C=np.inf, tol=1e-12).fit(X, y).coef_
    apart = [np.abs(fit(X, y, np.full(60, n)).coef_ - likely).max() for n in (1, 10, 100)]
    assert np.linalg.norm(fit(X, y).coef_) < np.linalg.norm(likely)
    np.testing.assert_allclose(apart[:-1], 10 * np.array(apart[1:]), rtol=0.2)  # O(1/n)


def test_weights_of_one_are_no_weights():
    X, y = endometrial()
    np.testing.assert_allclose(fit(X, y, np.ones(79)).coef_, fit(X, y).coef_, rtol=1e-12)


def test_the_penalty_is_not_convex_so_that_no_bound_is_claimed():
    # log det I of one column whose entries differ much, along its coefficient
    x = np.array([[1.0], [100.0]])
    data = Data(Rows(x, np.array([[0.0], [1.0]]), np.array([1.0, 1.0])))

    def log_det(w):
        return definition.check(data, w=np.array([[w]]), b=[0.0], fit_intercept=False)["log_det"]

    assert log_det(0.15) < (log_det(0.05) + log_det(0.25)) / 2 - 0.1
    c = fit(*endometrial()).certificate_
    assert (c.kind, c.status, c.bound, c.gap) == ("stationary", "stationary", None, np.inf)


# --- columns that repeat others -------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_repeated_columns_are_named_and_change_no_probability(sparse):
    X, y = endometrial()
    more = np.column_stack([X, X[:, 0] + X[:, 2], np.full(79, 4.0)])
    with pytest.warns(AliasWarning, match="2 of 5 columns repeat others: column 3 = ") as warned:
        model = fit(csr_array(more) if sparse else more, y)
    assert [w.filename for w in warned] == [__file__]
    assert model.certificate_.certified
    np.testing.assert_allclose(model.predict_proba(more), fit(X, y).predict_proba(X), rtol=1e-9)
    assert model.coef_[0, 4] == 0
    np.testing.assert_allclose(model.coef_[0, 3], model.coef_[0, 0] + model.coef_[0, 2])  # smallest
    assert certus.verify(model, more, y).certified
    model.coef_ = 1.01 * model.coef_
    assert not certus.verify(model, more, y).certified


def test_as_many_columns_as_rows_give_every_row_three_quarters():
    X = np.random.default_rng(0).normal(size=(12, 30))
    y = np.arange(12) % 2
    with pytest.warns(AliasWarning):
        model = fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X)[np.arange(12), y], 0.75, rtol=1e-9)


# --- tests and intervals --------------------------------------------------------------------------


def test_the_published_intervals_of_the_endometrial_cancer_study():
    X, y = endometrial()
    result = fit(X, y).inference(X, y)
    # as R's logistf prints them
    low, high = (np.array(result.conf_int()[side]) for side in ("low", "high"))
    np.testing.assert_allclose(low, [1.0825371, 0.6097244, -0.1244587, -4.3651832], rtol=1e-5)
    np.testing.assert_allclose(high, [7.2092805, 7.85463171, 0.04045547, -1.23272106], rtol=1e-5)


def test_the_ratios_of_penalised_likelihoods_are_those_of_a_general_minimiser():
    X, y = endometrial()
    s = weights(4, 79)
    result = fit(X, y, s).inference(X, y, s)
    data = Data(Rows(X, y.astype(float)[:, None], s))

    def least(held):
        """The least F with some of (b, w) held at 0."""
        free = np.setdiff1d(np.arange(4), held)

        def F(part):
            theta = np.zeros(4)
            theta[free] = part
            return definition.check(data, w=theta[1:, None], b=theta[:1])["objective"]

        start = result.coef[free] / 2
        return minimize(F, start, method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10}).fun

    best = -result.log_likelihood
    assert best == pytest.approx(least([]), abs=1e-7)
    statistic = [2 * (least([j]) - best) for j in range(4)]
    np.testing.assert_allclose(result.lr_pvalues, chdtrc(1, statistic), rtol=1e-4)
    assert result.lr_statistic == pytest.approx(2 * (least([1, 2, 3]) - best), rel=1e-6)
    assert result.lr_degrees_of_freedom == 3


def test_standard_errors_are_those_of_the_information():
    X, y = endometrial()
    model = fit(X, y)
    result, p = model.inference(X, y), model.predict_proba(X)[:, 1]
    A = np.column_stack([np.ones(79), X])
    covariance = np.linalg.inv(A.T @ ((p * (1 - p))[:, None] * A))
    np.testing.assert_allclose(result.covariance, covariance, rtol=1e-7)
    np.testing.assert_allclose(result.standard_errors, np.sqrt(np.diagonal(covariance)), rtol=1e-7)
    title, header, *lines = str(result.summary()).splitlines()
    assert title == "Firth, 79 rows, tests and intervals by penalised likelihood"
    assert header.split()[:5] == ["name", "coef", "std", "error", "chi²"]
    assert lines[1].startswith("x0 ")
    assert lines[1].split()[1:] == ["2.93", "1.55", "6.80", "0.0091", "0.61", "7.85"]
    assert "LR chi² 43.6558; degrees of freedom 3; p < 0.001" in lines[-1]


def test_what_inference_cannot_say_is_refused():
    X, y = endometrial()
    model = fit(X, y)
    result = model.inference(X, y)
    for name in ("aic", "bic", "pseudo_r_squared"):
        with pytest.raises(
            InferenceError, match="compares likelihoods, but the maximised likelihood is"
        ):
            getattr(result, name)
    with pytest.raises(InferenceError, match="not the rows it was fitted on"):
        model.inference(X[:-1], y[:-1])
    swapped = y.copy()
    swapped[[0, -1]] = swapped[[-1, 0]]
    with pytest.raises(InferenceError, match="not the rows it was fitted on"):
        model.inference(X, swapped)
    model.coef_ = model.coef_ * 1.01
    with pytest.raises(InferenceError, match="changed after the fit"):
        model.inference(X, y)


def test_coefficients_of_repeated_columns_have_no_intervals():
    X, y = endometrial()
    more = np.column_stack([X, X[:, 1]])
    with pytest.warns(AliasWarning):
        model = fit(more, y)
    result, alone = model.inference(more, y), fit(X, y).inference(X, y)
    np.testing.assert_array_equal(np.isnan(result.lr_pvalues), [False, False, True, False, True])
    np.testing.assert_allclose(result.lr_pvalues[[0, 1, 3]], alone.lr_pvalues[[0, 1, 3]], rtol=1e-6)


# --- people ---------------------------------------------------------------------------------------


def test_the_certificate_in_words():
    X, y = endometrial()
    model = FirthLogisticRegression().fit(X, np.array(["low", "high"])[y])
    text = model.certificate_.explain()
    for line in (
        "[OK] STATIONARY   FirthLogisticRegression, 79 rows × 3 columns",
        "Minimised      −Σ log P(yᵢ|xᵢ) − ½ log det Σ pᵢ(1 − pᵢ)x̃ᵢx̃ᵢᵀ, x̃ = (x, 1)",
        "Objective      24.03727: losses 28.2877, log det of the information 8.500859",
        "Stationary     one more scoring step would gain ",
        "Not known      whether another point is better: the objective need not be convex",
        "Probabilities  mean 0.622, observed share 0.62 of 'low': the penalty is why they differ",
        "Checked by     certus.proofs.glm.firth, from the data; the solver was not asked",
    ):
        assert line in text
    assert repr(model.certificate_).startswith(
        "Certificate(stationary: objective 24.03727, a stationary point: no small change of the "
    )
    assert "is at a stationary point" in model.certificate_.note()
    assert "✔ Stationary" in model._repr_html_()


def test_a_fit_that_ends_early_says_so():
    with pytest.warns(
        NotCertifiedWarning, match=r"stopped at max_iter=2 before a stationary point"
    ):
        model = FirthLogisticRegression(max_iter=2).fit(*endometrial())
    assert model.certificate_.status == "not stationary"
    text = model.certificate_.explain()
    assert "one scoring step would lower the objective by about 0.26" in text
    assert "it stopped at max_iter=2" in text


def test_other_rows_are_recognised():
    X, y = endometrial()
    model = fit(X, y)
    c = certus.verify(model, X[:-1], y[:-1])
    assert (c.status, c.certified) == ("other rows", False)


def test_a_warm_start_from_the_answer_stays_there():
    X, y = endometrial()
    model = FirthLogisticRegression(warm_start=True).fit(X, y)
    coef = model.coef_.copy()
    model.fit(X, y)
    assert model.n_iter_ == [0]
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-12)


def test_sparse_rows_are_the_same_rows():
    X, y, _ = classification(4, n=300, p=6)
    X[np.abs(X) < 0.7] = 0.0
    reference = fit(X, y).coef_
    for kind in (csr_array, csc_array):
        np.testing.assert_allclose(fit(kind(X), y).coef_, reference, rtol=1e-9)
        assert certus.verify(fit(X, y), kind(X), y).certified


def test_nearly_dependent_columns_are_fitted_or_refused_with_the_reason():
    X, y = endometrial()
    rng = np.random.default_rng(0)
    for size in (1e-3, 1e-5, 1e-6, 1e-8):
        more = np.column_stack([X, X[:, 2] + size * rng.normal(size=79)])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotCertifiedWarning)
            c = fit(more, y, tol=1e-6).certificate_
        assert c.certified or "columns that nearly repeat others" in c.explain(), size


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({}, [0, 1, 2] * 5, "Only binary classification is supported.*y has 3: 0, 1"),
        ({}, [1] * 15, "y holds only one class, 1"),
        ({"fit_intercept": "yes"}, [0, 1, 1] * 5, "fit_intercept='yes'"),
        ({"tol": -1.0}, [0, 1, 1] * 5, "tol=-1.0"),
        ({"max_iter": 2.5}, [0, 1, 1] * 5, "max_iter=2.5: give a whole number"),
        ({"warm_start": 1}, [0, 1, 1] * 5, "warm_start=1"),
    ],
    ids=lambda v: str(v)[:30],
)
def test_bad_input_is_named(parameters, y, message):
    X = np.random.default_rng(0).normal(size=(15, 2))
    with pytest.raises(ValueError, match=message):
        FirthLogisticRegression(**parameters).fit(X, y)


def test_a_missing_value_is_named_by_row_and_column():
    X, y = endometrial()
    X[7, 1] = np.nan
    with pytest.raises(ValueError, match=r"column 1 .*row 7"):
        FirthLogisticRegression().fit(X, y)


def test_of_a_rare_class_the_mean_probability_is_above_its_share():
    X = np.random.default_rng(0).normal(size=(500, 3))
    model = fit(X, np.arange(500) < 4)
    facts = model.certificate_._finding.facts
    assert facts.share[1] == 0.008
    np.testing.assert_allclose(facts.mean_probability[1], model.predict_proba(X)[:, 1].mean())
    assert facts.mean_probability[1] > 0.01


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e200, 1e300])
def test_columns_near_the_limits_of_floats_are_columns_in_other_units(size):
    X, y = endometrial()
    model = fit(X * size, y, tol=1e-6)
    assert model.certificate_.certified
    np.testing.assert_allclose(model.coef_ * size, fit(X, y).coef_, rtol=1e-6)


def test_rows_that_are_all_alike_leave_the_intercept(capfd):
    with pytest.warns(AliasWarning, match="is constant"):
        model = fit(np.ones((20, 2)), np.arange(20) < 5)
    np.testing.assert_allclose(model.intercept_, np.log(5.5 / 15.5), rtol=1e-9)
    np.testing.assert_array_equal(model.coef_, 0.0)
    assert capfd.readouterr().err == ""
