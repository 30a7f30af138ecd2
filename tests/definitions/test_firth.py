"""The page of Firth's logistic regression, against determinants, differences and the proof."""

from math import exp, inf, log

import numpy as np
import pytest
from scipy.optimize import minimize

from certus.definitions import firth
from certus.definitions.firth import check
from certus.definitions.terms.independent import Independent
from certus.linear_model import FirthLogisticRegression

from .classifiers import agree, edited, is_short, refuse, rows


def two_classes(n=50, p=3, seed=0):
    X, k, s = rows(n, p, 2, seed)
    return X, 2.0 * k - 1, s


def literal(X, y, s, w, b, fit_intercept):
    """Σ s log(1 + e^{−yz}) − ½ log of the product of the eigenvalues of I that are not 0."""
    total, I = 0.0, 0.0
    for i in range(len(y)):
        x = np.append(X[i], 1.0) if fit_intercept else X[i]
        z = sum(X[i, j] * w[j] for j in range(len(w))) + b
        p = 1 / (1 + exp(-z))
        total += s[i] * log(1 + exp(-y[i] * z))
        I = I + s[i] * p * (1 - p) * np.outer(x, x)
    eigenvalues = np.linalg.eigvalsh(I)
    return total - sum(log(v) for v in eigenvalues if v > 1e-9 * eigenvalues[-1]) / 2, I


def test_the_page_is_short():
    assert is_short(firth, Independent)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_objective_is_that_of_a_literal_loop(fit_intercept):
    X, y, s = two_classes()
    w, b = np.array([0.5, -0.2, 0.01]), 0.3 * fit_intercept
    claim = check(X, y, s, w=w, b=b, fit_intercept=fit_intercept)
    assert claim.objective == pytest.approx(literal(X, y, s, w, b, fit_intercept)[0], rel=1e-11)
    X = np.column_stack([X, X[:, 0] - 2 * X[:, 1]])  # the same model, another determinant
    w = np.append(w, 0.0)
    claim = check(X, y, s, w=w, b=b, fit_intercept=fit_intercept, independent=Independent())
    assert claim.objective == pytest.approx(literal(X, y, s, w, b, fit_intercept)[0], rel=1e-10)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_miss_is_the_gain_of_a_scoring_step(fit_intercept):
    """½ ∇FᵀI⁻¹∇F with ∇F by differences of the literal objective."""
    X, y, s = two_classes()
    theta = np.array([0.5, -0.2, 0.01, 0.3 * fit_intercept])
    P = 3 + fit_intercept
    g = np.zeros(P)
    for j in range(P):
        h = 1e-5 * np.eye(4)[j]
        f = [literal(X, y, s, t[:3], t[3], fit_intercept)[0] for t in (theta + h, theta - h)]
        g[j] = (f[0] - f[1]) / 2e-5
    I = literal(X, y, s, theta[:3], theta[3], fit_intercept)[1]
    claim = check(X, y, s, w=theta[:3], b=theta[3], fit_intercept=fit_intercept)
    assert claim.miss == pytest.approx(g @ np.linalg.solve(I, g) / 2, rel=1e-5)
    assert claim.kind == "stationary"
    assert claim.bound is None


def test_the_least_objective_is_stationary_and_nothing_near_it_is():
    X, y, s = two_classes()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)

    def of(theta):
        return check(Z, y, s, w=theta[:3], b=theta[3], fit_intercept=True).objective

    found = minimize(of, np.zeros(4), method="BFGS", options={"gtol": 1e-6})
    assert check(Z, y, s, w=found.x[:3], b=found.x[3], fit_intercept=True).holds
    for off in np.eye(4) * 0.02:
        claim = check(Z, y, s, w=(found.x + off)[:3], b=(found.x + off)[3], fit_intercept=True)
        assert not claim.holds
        assert claim.objective > found.fun


def test_a_row_of_weight_2_is_the_row_twice():
    X, y, s = two_classes()
    many = np.repeat(np.arange(len(y)), s.astype(int))
    theta = {"w": np.array([0.5, -0.2, 0.01]), "b": 0.3, "fit_intercept": True}
    once = check(X, y, s, **theta)
    twice = check(X[many], y[many], np.ones(len(many)), **theta)
    assert once.objective == pytest.approx(twice.objective, rel=1e-12)
    assert once.miss == pytest.approx(twice.miss, rel=1e-10)


def test_impossible_parameters_are_refused():
    X, y, s = two_classes()
    for w, b, fit_intercept in [([inf, 0, 0], 0.0, True), ([np.nan, 0, 0], 0.0, True),
                                ([0, 0, 0], inf, True), ([1e200, 0, 0], 0.0, True),
                                ([1e3, 0, 0], 0.0, True), ([0, 0, 0], 0.1, False)]:  # fmt: skip
        claim = check(X, y, s, w=np.array(w, float), b=b, fit_intercept=fit_intercept)
        assert not claim.holds


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_page_and_proof_agree(seed, fit_intercept):
    X, k, s = rows(60, 3, 2, seed)
    model = FirthLogisticRegression(fit_intercept=fit_intercept).fit(X, k, sample_weight=s)
    c, (claim,) = agree(model, X, k, s)
    assert c.certified
    assert claim.miss <= c.residual * claim.scale + 1e-12 * claim.scale
    refuse(edited(model, "coef_"), X, k, s)
    refuse(model, X, 1 - k, s)


def test_page_and_proof_agree_where_the_classes_are_separated():
    X, k, _ = rows(40, 3, 2)
    X[:, 0] = np.where(k == 1, 1.0, -1.0) + 0.1 * X[:, 0]
    model = FirthLogisticRegression().fit(X, k)
    c, _ = agree(model, X, k)
    assert c.certified
    refuse(edited(model, "coef_"), X, k)


@pytest.mark.filterwarnings("ignore::certus.exceptions.AliasWarning")
def test_page_and_proof_agree_where_columns_depend_on_each_other():
    X, k, s = rows(150, 4, 2)
    group = np.eye(4)[np.random.default_rng(0).integers(0, 4, 150)]
    X = np.column_stack([X, group, X[:, 0] + X[:, 1] + 100.0])
    c, _ = agree(FirthLogisticRegression().fit(X, k, sample_weight=s), X, k, s)
    assert c.certified


@pytest.mark.filterwarnings("ignore")
def test_an_early_stop_is_refused():
    X, k, s = rows(60, 3, 2)
    refuse(FirthLogisticRegression(max_iter=1).fit(X, k, sample_weight=s), X, k, s)
