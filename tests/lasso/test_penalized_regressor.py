"""Regression with any loss and penalty: the fits, by arithmetic of their own.

What their certificates say is in ``test_penalized_regressor_certificates.py``.
"""

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize, nnls
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.linear_model import ElasticNet as TheirElasticNet
from sklearn.linear_model import Lasso as TheirLasso
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from certus.linear_model import Ridge
from certus.linear_model.penalized_regressor import PenalizedRegressor
from certus.losses import Huber, Logistic, Squared
from certus.penalties import L1, L2, MCP, SCAD, Box, ElasticNet, GroupL2, NonNegative, Simplex
from certus.solvers import LBFGS, NewtonCG, ProximalGradient, Subgradient
from tests.lasso.penalized_regressor_cases import (
    CONVEX,
    GROUPS,
    LOSSES,
    NOT_CONVEX,
    P,
    Sorted,
    drawn,
    each_convex,
    each_loss,
    objective,
    uncertified,
)

each_penalty = pytest.mark.parametrize("penalty", CONVEX + NOT_CONVEX, ids=repr)


def distances(loss, penalty, X, y, s, model):
    """Distances of the gradient to the subdifferential, by coefficient; slope of the intercept."""
    a = s * loss.slope(y, X @ model.coef_ + model.intercept_)
    penalty = penalty or L2(0.0)
    return penalty.distance(model.coef_, X.T @ a), abs(a.sum())


# --- what is found is the optimum -----------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
@each_penalty
@each_loss
def test_the_gradient_is_in_the_subdifferential(loss, penalty, fit_intercept):
    X, y, s = drawn()
    model = PenalizedRegressor(loss, penalty, fit_intercept=fit_intercept, tol=1e-10)
    model.fit(X, y, s)
    outside, of_intercept = distances(loss, penalty, X, y, s, model)
    size = np.abs(X.T @ (s * loss.slope(y, np.zeros(len(y))))).max()
    assert outside.max() <= 1e-5 * size
    assert not fit_intercept or of_intercept <= 1e-5 * size
    assert fit_intercept or model.intercept_ == 0.0
    F = objective(loss, penalty, X, y, s, model.coef_, model.intercept_)
    assert model.certificate_.objective == pytest.approx(F, rel=1e-12)


@each_convex
@each_loss
def test_no_point_nearby_or_far_is_better(loss, penalty):
    X, y, s = drawn(1)
    model = PenalizedRegressor(loss, penalty).fit(X, y, s)
    F = objective(loss, penalty, X, y, s, model.coef_, model.intercept_)
    f0 = objective(loss, None, X, y, s, np.zeros(P), y.mean())
    rng = np.random.default_rng(0)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(100):
            w = model.coef_ + size * rng.normal(size=P)
            w = w if penalty is None else penalty.prox(w, size)
            b = model.intercept_ + size * rng.normal()
            assert objective(loss, penalty, X, y, s, w, b) >= F - 1e-6 * f0


@pytest.mark.parametrize("kind", [MCP, SCAD])
@each_loss
def test_no_coordinate_alone_improves_a_fit_that_is_not_convex(loss, kind):
    X, y, s = drawn(1)
    s /= s.sum()  # a mean, so that γ is on the scale of the columns' variance
    X -= s @ X
    penalty = kind(0.5 * np.abs(X.T @ (s * loss.slope(y, np.full(len(y), y.mean())))).max())
    model = PenalizedRegressor(loss, penalty, tol=1e-10).fit(X, y, s)
    F = objective(loss, penalty, X, y, s, model.coef_, model.intercept_)
    for j in range(P):
        for step in (-1e-3, 1e-3):
            w = model.coef_.copy()
            w[j] += step
            assert objective(loss, penalty, X, y, s, w, model.intercept_) >= F - 1e-9 * F
    assert 0 < np.count_nonzero(model.coef_) < P


@pytest.mark.parametrize("penalty", [MCP(2.0, gamma=1.2), SCAD(1.0), MCP(40.0)], ids=repr)
def test_one_column_without_convexity_is_the_best_on_a_grid(penalty):
    X, y, s = drawn(2)
    X, y, s = X[:, [5]] - X[:, 5].mean(), y - 2, s / s.sum()
    model = PenalizedRegressor("squared", penalty, fit_intercept=False).fit(X, y, s)
    grid = np.linspace(-5, 5, 20_001)
    values = [objective(Squared(), penalty, X, y, s, np.array([w]), 0.0) for w in grid]
    assert model.coef_[0] == pytest.approx(grid[np.argmin(values)], abs=1e-3)


# --- agreement ------------------------------------------------------------------------------------


def test_constraints_are_scipys():
    X, y, s = drawn(3)
    root = np.sqrt(s)
    A, c = root[:, None] * X, root * y
    how = {"fit_intercept": False, "tol": 1e-11}
    ours = PenalizedRegressor("squared", NonNegative(), **how).fit(X, y, s)
    np.testing.assert_allclose(ours.coef_, nnls(A, c)[0], atol=1e-5)
    low = np.linspace(-1, 0, P)
    ours = PenalizedRegressor("squared", Box(low, 0.7), **how).fit(X, y, s)
    np.testing.assert_allclose(ours.coef_, lsq_linear(A, c, (low, 0.7)).x, atol=1e-5)
    ours = PenalizedRegressor("squared", Simplex(3.0), **how).fit(X, y, s)
    theirs = minimize(
        lambda w: np.sum((A @ w - c) ** 2) / 2, np.full(P, 0.5), method="SLSQP",
        jac=lambda w: A.T @ (A @ w - c), bounds=[(0, None)] * P, tol=1e-14,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 3, "jac": lambda w: np.ones(P)},
    )  # fmt: skip
    np.testing.assert_allclose(ours.coef_, theirs.x, atol=1e-4)
    assert ours.coef_.sum() == pytest.approx(3.0, rel=1e-12)


@pytest.mark.parametrize("positive", [False, True])
def test_lasso_and_elastic_net_are_scikit_learns_at_n_times_the_strength(positive):
    X, y, _ = drawn(4)
    n = len(y)
    theirs = TheirLasso(0.2, positive=positive, tol=1e-12).fit(X, y)
    ours = PenalizedRegressor("squared", L1(n * 0.2, positive=positive), tol=1e-11).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    theirs = TheirElasticNet(0.2, l1_ratio=0.3, positive=positive, tol=1e-12).fit(X, y)
    penalty = ElasticNet(n * 0.2, 0.3, positive=positive)
    ours = PenalizedRegressor("squared", penalty, tol=1e-11).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-4)


def test_l2_is_ridge_and_the_textbooks_lambda():
    X, y, s = drawn(5)
    ridge = Ridge(alpha=3.0).fit(X, y, s)
    ours = PenalizedRegressor("squared", L2(3.0)).fit(X, y, s)
    assert ours.solver_ == "newton"
    np.testing.assert_allclose(ours.coef_, ridge.coef_, rtol=1e-9)
    # (Φw − y)ᵀ(Φw − y) + λ‖w‖₁ is twice ½‖y − Φw‖² + λ/2‖w‖₁
    lam, Phi = 7.0, X
    ours = PenalizedRegressor("squared", L1(lam / 2), fit_intercept=False, tol=1e-11).fit(Phi, y)
    r = Phi @ ours.coef_ - y
    slope = 2 * Phi.T @ r
    on = ours.coef_ != 0
    np.testing.assert_allclose(slope[on], -lam * np.sign(ours.coef_[on]), atol=1e-3)
    assert (np.abs(slope[~on]) <= lam + 1e-3).all()


def test_every_solver_finds_the_same_optimum():
    X, y, s = drawn(6)
    for loss in LOSSES:
        for penalty, solvers in (
            (L2(3.0), ("newton", "newton-cg", "cd", "fista", "ista", LBFGS(), NewtonCG())),
            (L1(15.0), ("cd", "proximal-gradient", "ista", ProximalGradient(accelerated=False))),
        ):
            best = PenalizedRegressor(loss, penalty, tol=1e-12).fit(X, y, s)
            for solver in solvers:
                model = PenalizedRegressor(loss, penalty, solver, tol=1e-10).fit(X, y, s)
                np.testing.assert_allclose(model.coef_, best.coef_, atol=1e-4)


@uncertified
@pytest.mark.parametrize("step", ["sqrt", "polyak"])
def test_subgradient_descent_comes_near_and_keeps_its_best(step):
    X, y, s = drawn(6)
    best = PenalizedRegressor("squared", L1(15.0)).fit(X, y, s).certificate_.objective
    few, many = (
        PenalizedRegressor("squared", L1(15.0), Subgradient(step, c=8.0), max_iter=count)
        .fit(X, y, s)
        for count in (20, 400)
    )  # fmt: skip
    assert best < many.certificate_.objective < few.certificate_.objective
    assert many.certificate_.objective == pytest.approx(best, rel=0.05)
    objectives = [point.objective for point in many.certificate_.trace]
    assert (np.diff(objectives) <= 0).all()
    assert objectives[-1] == pytest.approx(many.certificate_.objective, rel=1e-12)


def test_proximal_gradient_never_raises_the_objective_and_its_bounds_hold():
    X, y, s = drawn(7)
    for loss in LOSSES:
        for penalty in (L1(15.0), GroupL2(9.0, groups=GROUPS), Box(-1.0, 0.8), Simplex(2.0)):
            best = PenalizedRegressor(loss, penalty, tol=1e-12).fit(X, y, s).certificate_.objective
            for accelerated in (True, False):
                solver = ProximalGradient(accelerated)
                model = PenalizedRegressor(loss, penalty, solver, tol=1e-6).fit(X, y, s)
                trace = model.certificate_.trace
                assert (np.diff([point.objective for point in trace]) <= 1e-9).all()
                assert all(p.bound is None or p.bound <= best * (1 + 1e-9) for p in trace)
                assert trace[-1].objective - trace[-1].bound <= 1e-6 * trace[0].objective


@parametrize_with_checks(
    [
        PenalizedRegressor(),
        PenalizedRegressor("huber", "l1"),
        PenalizedRegressor("squared", "mcp"),
        # steps of first order, whose number depends on rounding: only near the optimum are weights
        # and repeated rows the same to the 1e-7 that is asked for
        PenalizedRegressor("squared", "simplex", tol=1e-10),
    ],
)
def test_scikit_learns_own_checks_pass(estimator, check):
    check(estimator)


# --- laws -----------------------------------------------------------------------------------------


@each_penalty
def test_several_targets_are_each_its_own(penalty):
    X, y, s = drawn(8, k=3)
    together = PenalizedRegressor("huber", penalty).fit(X, y, s)
    assert together.coef_.shape == (3, P)
    assert together.intercept_.shape == together.n_iter_.shape == (3,)
    assert together.predict(X).shape == (70, 3)
    each = [PenalizedRegressor("huber", penalty).fit(X, y[:, k], s) for k in range(3)]
    np.testing.assert_allclose(together.coef_, [one.coef_ for one in each], atol=1e-12)
    np.testing.assert_array_equal(together.n_iter_, [one.n_iter_ for one in each])
    total = sum(one.certificate_.objective for one in each)
    assert together.certificate_.objective == pytest.approx(total, rel=1e-9)


@each_penalty
def test_weight_two_equals_a_repeated_row_and_storage_changes_nothing(penalty):
    X, y, s = drawn(9)
    X = np.round(8 * X) / 8
    model = PenalizedRegressor("squared", penalty, tol=1e-10)
    fit = clone(model).fit(X, y, s)
    count = s.astype(int)
    others = {
        "repeated": clone(model).fit(np.repeat(X, count, axis=0), np.repeat(y, count)),
        "sparse": clone(model).fit(csr_matrix(X), y, s),
        "float32": clone(model).fit(X.astype(np.float32), y, s),
        "Fortran": clone(model).fit(np.asfortranarray(X), y, s),
    }
    for other in others.values():
        np.testing.assert_allclose(other.coef_, fit.coef_, atol=1e-4)
        assert other.certificate_.objective == pytest.approx(fit.certificate_.objective, rel=1e-9)
    assert fit.coef_.dtype == others["float32"].coef_.dtype == np.float64


@each_penalty
def test_a_warm_start_begins_where_the_last_fit_ended(penalty):
    X, y, s = drawn(10)
    model = PenalizedRegressor("huber", penalty, "proximal-gradient", warm_start=True)
    first = model.fit(X, y, s).n_iter_
    assert model.fit(X, y, s).n_iter_ < max(first / 2, 3)
    assert model.fit(X[:, :1], y, s).coef_.shape == (1,) if penalty is None else True


@pytest.mark.parametrize("penalty", ["l1", "l2", "elasticnet", "mcp", "scad", "nonnegative",
                                     "simplex"])  # fmt: skip
def test_names_stand_for_objects(penalty):
    X, y, s = drawn(11)
    made = {"l1": L1(), "l2": L2(), "elasticnet": ElasticNet(), "mcp": MCP(), "scad": SCAD(),
            "nonnegative": NonNegative(), "simplex": Simplex()}[penalty]  # fmt: skip
    by_name = PenalizedRegressor("huber", penalty).fit(X, y, s)
    by_object = PenalizedRegressor(Huber(1.35), made).fit(X, y, s)
    np.testing.assert_array_equal(by_name.coef_, by_object.coef_)
    assert repr(by_name.penalty_) == repr(made)


def test_auto_takes_the_solver_that_fits():
    X, y, _ = drawn(12)

    def chosen(penalty, loss="squared", data=X):
        return PenalizedRegressor(loss, penalty).fit(data, y).solver_

    assert chosen(None) == chosen("l2") == chosen("l2", "huber") == "newton"
    wide = np.random.default_rng(0).normal(size=(len(y), 700))
    assert chosen("l2", data=wide) == "newton-cg"
    assert chosen(L1(2.0)) == chosen("elasticnet", "huber") == "cd"
    assert chosen(GroupL2(groups=GROUPS)) == chosen(Box(0, 1)) == "proximal gradient"


@pytest.mark.parametrize("penalty", [L1(2.0), GroupL2(groups=GROUPS), Box(-1, 1), MCP()], ids=repr)
@pytest.mark.parametrize("constant", [0.0, 3.7])
@each_loss
def test_a_constant_target_has_coefficients_of_0(loss, constant, penalty):
    X, y, s = drawn(13)
    model = PenalizedRegressor(loss, penalty).fit(X, np.full(len(y), constant), s)
    assert model.intercept_ == pytest.approx(constant, rel=1e-14)
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-14)
    assert model.certificate_.certified


def test_a_search_over_penalties_works():
    X, y, _ = drawn(13)
    grid = {"penalty": [L1(1.0), L1(50.0), GroupL2(2.0, groups=GROUPS)], "loss": ["squared"]}
    search = GridSearchCV(PenalizedRegressor(), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.5


# --- somebody's own -------------------------------------------------------------------------------


@uncertified
def test_a_penalty_known_by_its_prox_alone_is_minimised():
    X, y, s = drawn(14)
    model = PenalizedRegressor("squared", Sorted(), fit_intercept=False, tol=1e-10).fit(X, y, s)
    # w = Ld with d₂, d₃, … ≥ 0
    root, L = np.sqrt(s), np.tril(np.ones((P, P)))
    low = [-np.inf, *[0.0] * (P - 1)]
    d = lsq_linear(root[:, None] * X @ L, root * y, (low, np.inf)).x
    np.testing.assert_allclose(model.coef_, L @ d, atol=1e-4)
    assert model.certificate_.status == "not proven"


@uncertified
def test_a_classifiers_loss_is_taken_as_it_is():
    # of −1 and 1, as somebody's own may be
    X, y, _ = drawn(20)
    signs = np.where(y > np.median(y), 1.0, -1.0)
    model = PenalizedRegressor(Logistic(), L2(1.0)).fit(X, signs)
    assert model.certificate_.status == "not proven"
    assert (np.sign(model.predict(X)) == signs).mean() > 0.9
