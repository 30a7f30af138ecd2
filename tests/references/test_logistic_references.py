"""Logistic regression against the reference values of the mathematics.

    Q(w) = (1/n) Σ log(1 + exp(−y_i x_iᵀw)) + λ/2 ‖w‖²,   the bias a column of ones, penalised too

is F/(nC) of LogisticRegression(C = 1/(nλ), fit_intercept=False). breast_cancer: standardised
(ddof 0), bias column last, λ = 0.01, y = +1 for benign: Q* = 0.1004463038.
"""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import certus
from certus.linear_model import LogisticRegression

LAMBDA = 0.01
Q_BEST = 0.1004463038  # ten digits


@pytest.fixture(scope="module")
def cancer():
    """(X with its bias column, y = ±1, +1 benign)."""
    X, benign = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return np.column_stack([X, np.ones(len(X))]), 2 * benign - 1


def Q(w, X, y):
    return np.mean(np.logaddexp(0.0, -y * (X @ w))) + LAMBDA / 2 * (w @ w)


def gradient(w, X, y):
    return LAMBDA * w - X.T @ (y / (1 + np.exp(y * (X @ w)))) / len(y)


def fitted(X, y, **params):
    return LogisticRegression(C=1 / (len(y) * LAMBDA), fit_intercept=False, **params).fit(X, y)


SOLVERS = ["lbfgs", "newton-cg", "newton-cholesky"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_optimum_is_the_reference(cancer, solver):
    X, y = cancer
    model = fitted(X, y, solver=solver, tol=1e-10)
    w = model.coef_[0]
    assert model.coef_.shape == (1, 31)
    assert np.array_equal(model.intercept_, [0.0])
    assert Q(w, X, y) == pytest.approx(Q_BEST, abs=6e-11)
    assert np.max(np.abs(gradient(w, X, y))) < 1e-5


def test_default_fit_is_within_its_tolerance_of_the_reference(cancer):
    X, y = cancer
    model = fitted(X, y)
    null = np.log(2)  # Q(0)
    assert -6e-11 <= Q(model.coef_[0], X, y) - Q_BEST <= 1e-6 * null + 6e-11
    assert model.certificate_.certified


def test_certificate_brackets_the_reference(cancer):
    """bound ≤ F* ≤ objective, F = nC·Q = Q/λ."""
    X, y = cancer
    certificate = fitted(X, y, tol=1e-10).certificate_
    best = Q_BEST / LAMBDA
    assert certificate.bound <= best + 6e-9
    assert certificate.objective >= best - 6e-9
    assert certificate.objective - certificate.bound <= 1e-9 * np.log(2) / LAMBDA
    assert certificate.kind == "global"


def test_certificate_refuses_the_iterate_of_gradient_descent(cancer):
    """After 100 steps of 0.1 from 0, Q is .1183278273: the gap must be at least what is missing."""
    X, y = cancer
    w = np.zeros(X.shape[1])
    for _ in range(100):
        w -= 0.1 * gradient(w, X, y)
    assert Q(w, X, y) == pytest.approx(0.1183278273, abs=6e-11)
    model = fitted(X, y)
    model.coef_ = w[None, :]
    found = certus.verify(model, X, y)
    assert not found.certified
    assert found.gap >= (0.1183278273 - Q_BEST) / LAMBDA - 1e-6


def test_labels_of_any_kind_have_the_same_optimum(cancer):
    X, y = cancer
    words = np.where(y > 0, "benign", "malignant")
    by_number, by_word = fitted(X, y), fitted(X, words)
    # 'benign' is the first in order, so the sign of the score turns
    assert list(by_word.classes_) == ["benign", "malignant"]
    np.testing.assert_allclose(by_word.coef_, -by_number.coef_, rtol=1e-4, atol=1e-5)


def test_free_intercept_is_lower_by_what_the_penalised_bias_costs(cancer):
    """Q without the bias's penalty is at most Q*, and lower as the bias is not 0."""
    X, y = cancer
    C = 1 / (len(y) * LAMBDA)
    model = LogisticRegression(C=C, tol=1e-10).fit(X[:, :-1], y)
    w = np.append(model.coef_[0], model.intercept_[0])
    free = Q(w, X, y) - LAMBDA / 2 * w[-1] ** 2
    penalized = fitted(X, y, tol=1e-10).coef_[0]
    assert free < Q_BEST - 1e-6
    assert free >= Q_BEST - LAMBDA / 2 * w[-1] ** 2 - 6e-11
    assert free <= Q(penalized, X, y) - LAMBDA / 2 * penalized[-1] ** 2 + 1e-10
