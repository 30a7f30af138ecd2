"""Ridge: min_w,b Σ s_i (y_i − x_iᵀw − b)² + α‖w‖²."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import sklearn.linear_model as peers

import certus
from certus.exceptions import NotCertifiedWarning
from certus.linear_model import LinearRegression, Ridge
from tests.contract.problems import (
    by_normal_equations,
    collinear,
    exact,
    plain,
    regression,
    weights,
)

SHAPES = [(5, 1), (30, 3), (200, 20), (1500, 7), (25, 24), (20, 20), (12, 40), (3, 200)]


@pytest.mark.parametrize("positive", [False, True], ids=["", "w ≥ 0"])
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("targets", [None, 1, 3])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_scikit_learns_answer_on_well_posed_data(shape, targets, weighted, intercept, positive):
    X, y, _ = regression(2, *shape, targets, noise=2.0)
    s = np.random.default_rng(2).uniform(0.5, 2, size=len(X)) if weighted else None
    parameters = {"alpha": 1.5, "fit_intercept": intercept, "positive": positive}
    ours = Ridge(**parameters).fit(X, y, s)
    assert ours.certificate_.certified
    if positive:
        # scikit-learn's solver for w ≥ 0 stops early: compare with its exact one, on rows that
        # stand for the penalty
        root = np.ones(len(X)) if s is None else np.sqrt(s)
        mean = root**2 @ X / (root @ root) * intercept
        mean_y = root**2 @ y / (root @ root) * intercept
        stacked = np.vstack([root[:, None] * (X - mean), np.sqrt(1.5) * np.eye(shape[1])])
        right = (root * (y - mean_y).T).T
        right = np.concatenate([right, np.zeros((shape[1], *y.shape[1:]))])
        theirs = peers.LinearRegression(positive=True, fit_intercept=False).fit(stacked, right)
        intercept_ = mean_y - theirs.coef_ @ mean
    else:
        theirs = peers.Ridge(alpha=1.5, fit_intercept=intercept, solver="svd").fit(X, y, s)
        intercept_ = theirs.intercept_
        assert ours.score(X, y, s) == pytest.approx(theirs.score(X, y, s), rel=1e-10)
    size = np.abs(theirs.coef_).max()
    coef = theirs.coef_.reshape(ours.coef_.shape)
    np.testing.assert_allclose(ours.coef_, coef, rtol=1e-8, atol=1e-8 * size)
    np.testing.assert_allclose(ours.intercept_, intercept_, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("alpha", [1e-8, 1e-3, 1.0, 1e3, 1e8, [0.1, 1.0, 10.0], np.array([2.0])])
def test_every_penalty_agrees_with_scikit_learn(alpha):
    X, y, _ = regression(2, k=3)
    ours = Ridge(alpha=alpha).fit(X, y)
    theirs = peers.Ridge(alpha=alpha, solver="svd").fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-12)
    assert ours.certificate_.certified


def test_one_variable_has_a_closed_form_in_fractions():
    """w = S_xy/(S_xx + α)."""
    x, y, s = [1, 2, 4, 7, 11], [3, 1, 4, 1, 5], [1, 2, 1, 3, 1]
    alpha = Fraction(3, 2)
    S = sum(s)
    mean = Fraction(sum(a * b for a, b in zip(s, x, strict=True)), S)
    mean_y = Fraction(sum(a * b for a, b in zip(s, y, strict=True)), S)
    S_xx = sum(c * (a - mean) ** 2 for a, c in zip(x, s, strict=True))
    S_xy = sum(c * (a - mean) * (b - mean_y) for a, b, c in zip(x, y, s, strict=True))
    w = S_xy / (S_xx + alpha)
    model = Ridge(alpha=1.5).fit(np.array(x)[:, None], y, sample_weight=s)
    assert model.coef_[0] == pytest.approx(float(w), rel=1e-15)
    assert model.intercept_ == pytest.approx(float(mean_y - w * mean), rel=1e-15)


def test_two_variables_solve_the_normal_equations_in_fractions():
    X = [[1, 2], [3, 1], [0, 4], [5, 5]]
    y = [1, 2, 0, 7]
    alpha = Fraction(1, 2)
    A = [[sum(Fraction(r[i]) * r[j] for r in X) + alpha * (i == j) for j in (0, 1)] for i in (0, 1)]
    c = [sum(Fraction(r[i]) * t for r, t in zip(X, y, strict=True)) for i in (0, 1)]
    determinant = A[0][0] * A[1][1] - A[0][1] * A[1][0]
    w = [
        (c[0] * A[1][1] - c[1] * A[0][1]) / determinant,
        (c[1] * A[0][0] - c[0] * A[1][0]) / determinant,
    ]
    model = Ridge(alpha=0.5, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, [float(v) for v in w], rtol=1e-14)


@pytest.mark.parametrize("shape", [(40, 5), (5, 40)], ids=str)
def test_the_gradient_vanishes_at_the_answer(shape):
    """X̃ᵀ(s∘r) = αw and Σ s r = 0."""
    X, y, _ = regression(1, *shape)
    s = weights(1, shape[0])
    model = Ridge(alpha=3.0).fit(X, y, s)
    r = y - model.predict(X)
    assert abs(s @ r) < 1e-10
    np.testing.assert_allclose(X.T @ (s * r), 3.0 * model.coef_, rtol=1e-9, atol=1e-9)


def test_no_small_step_lowers_the_objective():
    X, y, _ = regression(1)
    model = Ridge(alpha=3.0).fit(X, y)

    def f(w, b):
        return ((y - X @ w - b) ** 2).sum() + 3.0 * w @ w

    rng = np.random.default_rng(0)
    least = f(model.coef_, model.intercept_)
    assert least == pytest.approx(model.certificate_.objective, rel=1e-12)
    for _ in range(200):
        step = 1e-4 * rng.normal(size=5)
        assert f(model.coef_ + step[:4], model.intercept_ + step[4]) > least


@pytest.mark.parametrize("shape", [(40, 5), (5, 40)], ids=str)
def test_rows_of_root_alpha_are_the_penalty(shape):
    X, y, _ = regression(1, *shape)
    alpha = 2.5
    ridge = Ridge(alpha=alpha, fit_intercept=False).fit(X, y)
    stacked = np.vstack([X, np.sqrt(alpha) * np.eye(shape[1])])
    plainly = LinearRegression(fit_intercept=False).fit(stacked, np.r_[y, np.zeros(shape[1])])
    np.testing.assert_allclose(ridge.coef_, plainly.coef_, rtol=1e-9, atol=1e-10)


def test_a_penalty_of_zero_is_least_squares():
    X, y, _ = regression(1)
    model = Ridge(alpha=0).fit(X, y)
    np.testing.assert_array_equal(model.coef_, LinearRegression().fit(X, y).coef_)
    with pytest.warns(certus.exceptions.AliasWarning):
        wide = Ridge(alpha=0.0).fit(X[:3], y[:3])
    np.testing.assert_allclose(wide.coef_, plain(X[:3], y[:3])[0][:, 0], atol=1e-12)


def test_a_penalty_of_zero_for_one_target_only():
    X, y, _ = regression(1, k=2)
    model = Ridge(alpha=[0.0, 5.0]).fit(X, y)
    assert model.certificate_.certified
    np.testing.assert_allclose(model.coef_[0], plain(X, y[:, 0])[0][:, 0], rtol=1e-10)
    np.testing.assert_allclose(model.coef_[1], plain(X, y[:, 1], None, 5.0)[0][:, 0], rtol=1e-10)


@pytest.mark.parametrize("shape", [(40, 5), (5, 40)], ids=str)
def test_coefficients_shrink_as_the_penalty_grows(shape):
    X, y, _ = regression(1, *shape)
    norms = [np.linalg.norm(Ridge(alpha=a).fit(X, y).coef_) for a in np.geomspace(1e-6, 1e9, 16)]
    assert all(a > b for a, b in pairwise(norms))
    assert norms[-1] < 1e-5


def test_the_intercept_is_not_penalised():
    X, y, _ = regression(1)
    model = Ridge(alpha=1e12).fit(X, y + 1000)
    assert model.intercept_ == pytest.approx(y.mean() + 1000, rel=1e-6)


def test_the_penalty_is_in_the_users_units():
    X, y, _ = regression(1)
    d = np.array([1e-3, 1.0, 1e3, 1e6])
    model = Ridge(alpha=10.0).fit(X * d, y)
    w, _ = plain(X * d, y, alpha=10.0)
    np.testing.assert_allclose(model.coef_, w[:, 0], rtol=1e-8)
    # in millimetres a coefficient is small and hardly penalised; in kilometres it is 0
    assert abs(model.coef_[0] * d[0]) < 1e-2
    assert abs(model.coef_[3] * d[3]) > 0.9


@pytest.mark.parametrize("p", [9, 10, 11])
def test_primal_and_dual_meet_where_rows_equal_columns(p):
    X, y, _ = regression(1, n=10, p=p)
    model = Ridge(alpha=0.3).fit(X, y)
    assert model.solver_ == ("cholesky" if p < 10 else "dual")
    w, b = by_normal_equations(X, y, alpha=0.3)
    np.testing.assert_allclose(model.coef_, w[:, 0], rtol=1e-10)
    assert model.intercept_ == pytest.approx(b[0], rel=1e-10)


@pytest.mark.parametrize("alpha", [1e-12, 1e-6, 1.0])
@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("shape", [(30, 6), (6, 30)], ids=str)
def test_the_answer_of_80_digits_for_small_penalties_and_far_origins(shape, offset, alpha):
    X, y, _ = regression(4, *shape)
    X = X[:, :6] + offset if shape[0] > 6 else X[:, :8] + offset
    model = Ridge(alpha=alpha).fit(X, y)
    assert model.certificate_.certified
    best = exact(X, y, alpha=alpha)
    truth = np.array([float(v) for v in best.w])
    np.testing.assert_allclose(model.coef_, truth, rtol=0, atol=1e-6 * np.abs(truth).max())


@pytest.mark.parametrize("kappa", [1e4, 1e8, 1e12])
@pytest.mark.parametrize("alpha", [1e-16, 1e-8, 1e-2])
def test_nearly_collinear_columns_with_any_penalty_are_certified(kappa, alpha):
    X = collinear(1, 60, 5, kappa)
    y = X.sum(axis=1) + 1e-3 * np.random.default_rng(0).normal(size=60)
    model = Ridge(alpha=alpha).fit(X, y)
    assert model.certificate_.certified
    best = exact(X, y, alpha=alpha)
    excess = model.certificate_.objective - float(best.objective)
    assert excess <= 1e-6 * ((y - y.mean()) ** 2).sum()


def test_duplicate_columns_share_their_coefficient():
    X, y, _ = regression(1)
    model = Ridge(alpha=1.0).fit(np.column_stack([X, X[:, 0]]), y)
    assert model.coef_[0] == pytest.approx(model.coef_[4], rel=1e-9)
    assert model.certificate_.certified


@pytest.mark.parametrize("size", [1e-120, 1e-60, 1e60, 1e120])
def test_columns_of_any_size(size):
    X, y, _ = regression(1)
    alpha = np.clip(size**2, 1e-290, 1e290)
    model = Ridge(alpha=alpha).fit(X * size, y)
    assert model.certificate_.certified
    w, _ = plain(X, y, alpha=alpha / size**2)
    np.testing.assert_allclose(model.coef_ * size, w[:, 0], rtol=1e-9)


@pytest.mark.parametrize("alpha", [1e-300, 1e300])
def test_penalties_at_the_ends_of_the_floats(alpha):
    X, y, _ = regression(1)
    model = Ridge(alpha=alpha).fit(X, y)
    assert model.certificate_.certified
    if alpha > 1:
        np.testing.assert_allclose(model.coef_, 0, atol=1e-290)
    else:
        np.testing.assert_allclose(model.coef_, plain(X, y)[0][:, 0], rtol=1e-9)


@pytest.mark.parametrize(
    ("alpha", "targets"), [([1.0, 2.0], None), ([1.0, 2.0], 3), (np.ones((2, 2)), 2)], ids=str
)
def test_penalties_that_do_not_match_the_targets_are_refused(alpha, targets):
    X, y, _ = regression(1, k=targets)
    with pytest.raises(ValueError, match=r"targets and number of penalties|alpha"):
        Ridge(alpha=alpha).fit(X, y)


@pytest.mark.parametrize("alpha", [-1.0, [-1.0, 1.0], np.inf, np.nan, "big", None, True])
def test_a_penalty_that_is_none_is_refused(alpha):
    X, y, _ = regression(1, k=2)
    with pytest.raises(ValueError, match="alpha="):
        Ridge(alpha=alpha).fit(X, y)


@pytest.mark.parametrize(
    ("shape", "parameters", "solver"),
    [
        ((60, 4), {}, "cholesky"),
        ((4, 60), {}, "dual"),
        ((60, 4), {"positive": True}, "active set"),
        ((4, 60), {"positive": True}, "active set"),
        ((60, 4), {"solver": "saga"}, "cholesky"),
        ((60, 4), {"solver": "svd"}, "cholesky"),
    ],
)
def test_solver_says_what_ran(shape, parameters, solver):
    X, y, _ = regression(1, *shape, signs=False)
    model = Ridge(**parameters).fit(X, y)
    assert model.solver_ == solver
    assert model.n_iter_ == 1


@pytest.mark.parametrize("shape", [(300, 30), (40, 300)], ids=str)
def test_the_certificate_bounds_the_error_of_the_coefficients(shape):
    X, y, _ = regression(1, *shape)
    model = Ridge(alpha=1.0).fit(X, y)
    w, _ = plain(X, y, alpha=1.0)
    error = model.certificate_.coef_error
    assert np.abs(model.coef_ - w[:, 0]).max() <= error + 1e-12
    assert error < 1e-4
    model.coef_ = model.coef_ + 0.01
    assert certus.verify(model, X, y).coef_error >= 0.01 * (1 - 1e-6)


def test_a_changed_alpha_after_the_fit_is_noticed():
    X, y, _ = regression(1)
    model = Ridge(alpha=1.0).fit(X, y)
    model.set_params(alpha=2.0)
    assert not certus.verify(model, X, y).certified


def test_weights_of_many_orders_of_magnitude():
    X, y, _ = regression(1)
    s = np.geomspace(1e-12, 1e12, len(X))
    model = Ridge(alpha=1.0).fit(X, y, s)
    w, _ = by_normal_equations(X, y, s, 1.0)
    np.testing.assert_allclose(model.coef_, w[:, 0], rtol=1e-6)


def test_a_wrong_answer_of_the_dual_warns(monkeypatch):
    from certus.solvers.least_squares import least_squares
    from certus.solvers.least_squares.dual import solve_dual

    def spoiled(*args, **kwargs):
        solution = solve_dual(*args, **kwargs)
        return solution._replace(w=solution.w * 1.01)

    monkeypatch.setattr(least_squares, "solve_dual", spoiled)
    X, y, _ = regression(1, n=5, p=40)
    with pytest.warns(NotCertifiedWarning, match="Ridge is not certified"):
        Ridge(alpha=0.01).fit(X, y)
