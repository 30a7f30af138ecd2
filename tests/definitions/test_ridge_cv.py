"""The page of RidgeCV: leave-one-out errors."""

import numpy as np
import pytest
import sklearn.linear_model

from certus.audit import read
from certus.certificate.pages.regression import ridge_cv
from certus.data.rows import Rows
from certus.definitions.ridge_cv import check, left_out_errors
from certus.exceptions import DegenerateWarning
from certus.linear_model import Ridge, RidgeCV
from tests.definitions.regression_claims import assert_short, claims_of, data

ALPHAS = [1e-6, 1e-2, 1.0, 10.0, 1e3]


def test_the_page_is_short():
    assert_short("ridge_cv")


@pytest.mark.parametrize(("n", "p"), [(20, 3), (12, 20), (15, 14), (15, 15)])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_errors_are_those_of_fits_without_each_row(n, p, intercept):
    X, y, s = data(0, n, p, targets=2)
    s = s + 0.5
    errors = left_out_errors(X, y, s, ALPHAS, intercept)
    for alpha, found in zip(ALPHAS, errors, strict=True):
        expected = np.zeros(2)
        for i in range(n):
            others = np.arange(n) != i
            root = np.sqrt(s[others])[:, None]
            mean = np.average(X[others], axis=0, weights=s[others]) * intercept
            level = np.average(y[others], axis=0, weights=s[others]) * intercept
            A = np.vstack([root * (X[others] - mean), np.sqrt(alpha) * np.eye(p)])
            t = np.vstack([root * (y[others] - level), np.zeros((p, 2))])
            w = np.linalg.lstsq(A, t)[0]
            expected += s[i] * (y[i] - level - (X[i] - mean) @ w) ** 2
        np.testing.assert_allclose(found, expected, rtol=1e-7 if alpha < 1e-3 else 1e-10)


def test_repeated_columns_and_rows_of_weight_0_change_nothing():
    X, y, s = data(1, targets=1)
    doubled = left_out_errors(np.hstack([X, X[:, :2]]), y, s + 1, [1.0], True)
    fair = left_out_errors(X @ np.diag(np.sqrt([2.0, 2, 1, 1])), y, s + 1, [1.0], True)
    np.testing.assert_allclose(doubled, fair, rtol=1e-10)
    with_zeros = check(X, y, s, alpha=1.0, alphas=ALPHAS).objective
    without = check(X[s > 0], y[s > 0], s[s > 0], alpha=1.0, alphas=ALPHAS).objective
    assert with_zeros * 60 == pytest.approx(without * (s > 0).sum(), rel=1e-12)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("per_target", [True, False])
@pytest.mark.parametrize(("n", "p"), [(60, 4), (15, 25)])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_page_agrees_with_the_estimator_and_refuses_another_choice(
    intercept, per_target, n, p, weighted
):
    X, y, s = data(2, n, p, targets=2)
    s = s if weighted else np.ones(n)
    model = RidgeCV(ALPHAS, fit_intercept=intercept, alpha_per_target=per_target)
    model.fit(X, y, sample_weight=s)
    assert model.certificate_.certified
    rows = Rows(X, y, s)
    claim = read(model, rows).cv_claim
    (found,) = claims_of([ridge_cv(claim)], X, y, s)
    assert found.holds
    assert found.objective == pytest.approx(-np.mean(model.best_score_), rel=1e-9)
    wrong_score = {**claim, "best_score": np.asarray(model.best_score_) * 1.00001}
    assert not claims_of([ridge_cv(wrong_score)], X, y, s)[0].holds
    for alpha in ALPHAS:
        chosen = np.broadcast_to(alpha, np.shape(model.alpha_))
        if not (chosen == model.alpha_).all():
            other = {**claim, "alpha": chosen, "best_score": None}
            assert not claims_of([ridge_cv(other)], X, y, s)[0].holds
    strange = {**claim, "alpha": np.asarray(model.alpha_) * 1.0001, "best_score": None}
    assert not claims_of([ridge_cv(strange)], X, y, s)[0].holds


def test_the_choice_of_scikit_learn_holds_too():
    X, y, _ = data(3)
    model = sklearn.linear_model.RidgeCV(ALPHAS).fit(X, y)
    found = check(
        X, y[:, None], np.ones(60), alpha=model.alpha_, alphas=ALPHAS, score=model.best_score_
    )
    assert found.holds


def test_a_perfect_fit_is_no_contradiction():
    X, _, _ = data(4)
    y = 3.0 + 0 * X[:, 0]
    with pytest.warns(DegenerateWarning, match="y is constant"):
        model = RidgeCV(ALPHAS).fit(X, y)
    found = check(
        X, y[:, None], np.ones(60), alpha=model.alpha_, alphas=ALPHAS, score=model.best_score_
    )
    assert found.holds
    assert Ridge(model.alpha_).fit(X, y).certificate_.certified
