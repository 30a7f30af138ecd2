"""Gradient descent, the heavy ball and Nesterov's method: recurrences, rates and limits."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from certus.data.rows import Rows
from certus.losses import Logistic
from certus.penalties import L2
from certus.solvers import GradientDescent, HeavyBall, Nesterov
from certus.solvers.first_order.step_rules import largest_curvature
from certus.solvers.linalg.gram import NonFiniteError
from certus.solvers.loop import minimize
from certus.solvers.problem import Problem, objective
from tests.first_order.optimiser_cases import (
    FULL_GRADIENT_METHODS,
    METHODS,
    Twin,
    each_layout,
    each_method,
    make_problem,
    optimum,
    plain_rows,
    trajectory,
    weights,
)
from tests.glm.smooth_cases import each_loss, intercepts, problem_of

each_whole = pytest.mark.parametrize("method", FULL_GRADIENT_METHODS)
STEPS = 25


def values(problem, path):
    S = problem.rows.S
    return np.array([objective(problem, theta[:-1], theta[-1]) for theta in path]) / S


# --- the recurrences ------------------------------------------------------------------------------


def descent(twin, alpha, steps=STEPS):
    path = [np.zeros(twin.shape)]
    for _ in range(steps):
        path.append(path[-1] - alpha * twin.gradient(path[-1]))
    return path


def heavy_ball(twin, alpha, beta, steps=STEPS):
    theta, v = np.zeros(twin.shape), np.zeros(twin.shape)
    path = [theta]
    for _ in range(steps):
        v = beta * v + twin.gradient(theta)
        theta = theta - alpha * v
        path.append(theta)
    return path


def nesterov(twin, alpha, beta=None, steps=STEPS):
    before = theta = np.zeros(twin.shape)
    path, tau = [theta], 1.0
    for _ in range(steps):
        following = (1 + np.sqrt(1 + 4 * tau**2)) / 2
        mu = (tau - 1) / following if beta is None else beta
        y = theta + mu * (theta - before)
        before, theta, tau = theta, y - alpha * twin.gradient(y), following
        path.append(theta)
    return path


@each_loss
@weights
@intercepts
@pytest.mark.parametrize("l2", [0.0, 30.0])
def test_steps_are_those_of_the_recurrences(loss, weighted, intercept, l2):
    problem = problem_of(loss, weighted=weighted, intercept=intercept, l2=l2)
    twin, L = Twin(loss, problem), largest_curvature(problem)
    for solver, path in (
        (GradientDescent(), descent(twin, 1 / L)),
        (GradientDescent(0.1), descent(twin, 0.1)),
        (HeavyBall(beta=0.7), heavy_ball(twin, 1 / L, 0.7)),
        (HeavyBall(0.02), heavy_ball(twin, 0.02, 0.9)),
        (Nesterov(), nesterov(twin, 1 / L)),
        (Nesterov(0.03, 0.6), nesterov(twin, 0.03, 0.6)),
    ):
        result = trajectory(problem, solver, STEPS)
        if len(result) <= STEPS:  # ∇Q is 0 to the last digit
            assert len(result) > STEPS / 2
            path = path[: len(result)]
        np.testing.assert_allclose(result, path, rtol=0, atol=1e-10 * np.abs(path).max())


@each_whole
@each_loss
def test_the_order_of_the_rows_and_repeated_ones_do_not_matter(method, loss):
    problem = problem_of(loss, weighted=True)
    rows, rng = problem.rows, np.random.default_rng(3)
    known = trajectory(problem, FULL_GRADIENT_METHODS[method](), 5)
    order = rng.permutation(rows.shape[0])
    repeated = np.repeat(order, rows.s[order].astype(int))  # weight 2: twice
    for i, s in ((order, rows.s[order]), (repeated, None)):
        same = Problem(
            Rows(rows.X[i], rows.y[i], s), problem.loss, problem.penalty, True, problem.outputs
        )
        result = trajectory(same, FULL_GRADIENT_METHODS[method](), 5)
        np.testing.assert_allclose(result, known, rtol=0, atol=1e-10 * np.abs(known).max())


@each_layout
def test_every_dress_of_the_data_has_the_same_steps(layout):
    for loss in ("logistic", "softmax", "huber"):
        for make in (GradientDescent, HeavyBall, Nesterov):
            problem = make_problem(loss, layout, weighted=True)
            L = largest_curvature(problem)
            plain = trajectory(make_problem(loss, "C order", weighted=True), make(1 / L), STEPS)
            result = trajectory(problem, make(1 / L), STEPS)
            near = 1e-6 if "float32" in layout else 1e-11
            np.testing.assert_allclose(result, plain, rtol=0, atol=near * np.abs(plain).max())


@each_loss
def test_a_ball_without_weight_is_gradient_descent(loss):
    problem = problem_of(loss, weighted=True)
    plain = trajectory(problem, GradientDescent(), STEPS)
    for same in (HeavyBall(beta=0), Nesterov(beta=0)):
        result = trajectory(problem, same, STEPS)
        np.testing.assert_allclose(result, plain, rtol=0, atol=1e-14 * np.abs(plain).max())


def test_columns_far_from_zero_keep_their_digits():
    """Q is evaluated about the columns' mean; the steps are those of X as it is."""
    X = np.random.default_rng(0).normal(size=(80, 3)) + 1e4
    y = np.where(X[:, 0] > 1e4, 1.0, -1.0)
    problem = Problem(plain_rows(X, y), Logistic(), L2(0.3))
    result = trajectory(problem, GradientDescent(1e-9), 20)
    path = descent(Twin("logistic", problem), 1e-9, 20)
    np.testing.assert_allclose(result, path, rtol=0, atol=1e-9 * np.abs(path).max())


# --- rates ----------------------------------------------------------------------------------------


@each_loss
@weights
def test_gradient_descent_with_one_over_l_never_raises_f_and_keeps_its_rate(loss, weighted):
    """Q(θ_t) − Q* ≤ L‖θ_0 − θ*‖²/2t, and ≤ (1 − λ/L)^t (Q(θ_0) − Q*) without an intercept."""
    for seed in range(8):
        free = seed % 2 == 0
        problem = problem_of(loss, weighted=weighted, seed=seed, n=30 + seed, intercept=free)
        theta, best = optimum(problem)
        L, S = largest_curvature(problem), problem.rows.S
        Q = values(problem, trajectory(problem, GradientDescent(), 60))
        assert (np.diff(Q) <= 1e-14 * Q[0]).all()
        t = np.arange(1, 61)
        excess, room = Q - best / S, 1e-12 * Q[0]
        assert (excess[1:] <= L * np.sum(theta**2) / (2 * t) + room).all()
        if not free:
            shrinks = (1 - problem.l2 / S / L) ** np.arange(61)
            assert (excess <= shrinks * excess[0] + room).all()


@each_loss
@weights
def test_nesterov_keeps_its_rate(loss, weighted):
    """Q(θ_t) − Q* ≤ 2L‖θ_0 − θ*‖²/(t + 1)²."""
    for seed in range(3):
        problem = problem_of(loss, weighted=weighted, seed=seed, l2=0.01)
        theta, best = optimum(problem)
        L, S = largest_curvature(problem), problem.rows.S
        Q = values(problem, trajectory(problem, Nesterov(), 100))
        t = np.arange(1, 101)
        assert (Q[1:] - best / S <= 2 * L * np.sum(theta**2) / (t + 1) ** 2 + 1e-12 * Q[0]).all()


def test_nesterov_is_faster_than_gradient_descent_where_curvatures_differ():
    X = np.random.default_rng(0).normal(size=(200, 4)) * [1.0, 0.5, 0.2, 0.1]
    y = np.where(X @ [1.0, -2, 5, -9] + np.random.default_rng(1).logistic(size=200) > 0, 1.0, -1.0)
    problem = Problem(plain_rows(X, y), Logistic(), L2(1e-3))
    steps = {}
    for name in ("gd", "nesterov"):
        fit = minimize(problem, FULL_GRADIENT_METHODS[name](), tol=1e-3, max_iter=100_000)
        assert fit.converged
        steps[name] = fit.n_iter
    assert 3 * steps["nesterov"] < steps["gd"]


# --- where they end -------------------------------------------------------------------------------


@each_loss
@each_whole
@pytest.mark.parametrize(("l2", "intercept"), [(0.0, True), (0.3, True), (0.3, False)])
def test_every_method_finds_the_optimum(loss, method, l2, intercept):
    problem = problem_of(loss, l2=l2, intercept=intercept, weighted=True)
    _, best = optimum(problem)
    heard: list = []
    fit = minimize(
        problem, FULL_GRADIENT_METHODS[method](), tol=1e-9, max_iter=20_000, on_step=heard.append
    )
    assert fit.converged, fit
    excess = objective(problem, fit.w, fit.b) - best
    # without a penalty the excess is not bounded but estimated, by the diagonal of the Hessian
    assert excess <= (1e-9 if l2 else 1e-8) * problem.null[1]
    assert heard[0].objective == pytest.approx(objective(problem, 0 * fit.w, 0 * fit.b))
    for step in heard[:: max(1, len(heard) // 9)]:
        made = step.parameters()
        assert step.objective == pytest.approx(objective(problem, made.w, made.b), rel=1e-11)
        assert step.bound is None or step.bound <= best * (1 + 1e-9)
    passes = [step.passes for step in heard]
    assert passes == sorted(passes)
    assert passes[-1] >= fit.n_iter


def test_passes_are_counted_as_the_methods_need_them():
    problem = problem_of("logistic")
    for method, each in (("gd", 1), ("agd", 1), ("nesterov", 1)):
        heard: list = []
        minimize(
            problem, FULL_GRADIENT_METHODS[method](), tol=0.0, max_iter=5, on_step=heard.append
        )
        assert [step.passes for step in heard] == [each * t for t in range(6)]
    heard.clear()
    minimize(problem, GradientDescent("wolfe"), tol=0.0, max_iter=5, on_step=heard.append)
    assert heard[0].passes == 1
    assert all(np.diff([step.passes for step in heard]) >= 1), "one for each trial"


@each_method
def test_a_start_is_zero_or_drawn_or_given(method):
    for loss in ("logistic", "softmax"):
        for intercept in (True, False):
            problem = problem_of(loss, intercept=intercept)
            solver = METHODS[method]()
            assert not np.any(trajectory(problem, solver, 0)[0])
            solver.start = "random"
            first, again = (trajectory(problem, solver, 0)[0] for _ in range(2))
            np.testing.assert_array_equal(first, again)
            assert np.std(first[:-1]) > 0.3
            assert bool(first[-1].any()) == intercept
            solver.random_state = 1
            assert not np.array_equal(trajectory(problem, solver, 0)[0], first)
            theta, _ = optimum(problem)
            result = trajectory(problem, solver, 0, (theta[:-1], theta[-1]))[0]
            np.testing.assert_array_equal(result, theta)


@each_method
def test_small_changes_end_the_steps(method):
    problem = problem_of("logistic")
    solver = METHODS[method]()
    solver.change = 1e-3
    heard: list = []
    fit = minimize(problem, solver, tol=0.0, max_iter=20_000, on_step=heard.append)
    assert fit.stopped_at is None
    assert fit.n_iter > 1
    theta = [np.vstack([made.w, made.b]) for made in (step.parameters() for step in heard)]
    changes = [np.abs(b - a).max() for a, b in itertools.pairwise(theta)]
    assert changes[-1] < 1e-3
    assert all(change >= 1e-3 for change in changes[:-1])


@pytest.mark.parametrize("method", ["gd", "agd", "nesterov"])
@pytest.mark.parametrize("loss", ["squared", "logistic", "squared hinge"])
def test_steps_that_are_too_long_end_at_numbers_and_in_words(method, loss):
    problem = problem_of(loss)
    solver = {"gd": GradientDescent, "agd": HeavyBall, "nesterov": Nesterov}[method](1e3)
    fit = minimize(problem, solver, tol=1e-9, max_iter=3000)
    assert np.isfinite(fit.w).all()
    assert np.isfinite(fit.b).all()
    assert not fit.converged
    assert "give a smaller step" in fit.message
    if loss == "squared":
        assert fit.stopped_at is None
        assert "grew without limit" in fit.message


@each_method
def test_a_value_that_is_not_finite_is_an_error(method):
    for bad in (np.nan, np.inf):
        problem = problem_of("logistic")
        problem.rows.X[5, 1] = bad
        with pytest.raises(NonFiniteError):
            minimize(problem, METHODS[method]())


# --- values of others -----------------------------------------------------------------------------


def test_the_paths_on_breast_cancer_are_the_known_ones():
    """Standardised, a column of ones last, λ = 0.01 on all 31 coefficients, y = +1 benign."""
    X, y = load_breast_cancer(return_X_y=True)
    X = np.column_stack([scale(X), np.ones(len(X))])
    rows = plain_rows(X, np.where(y == 1, 1.0, -1.0))
    problem = Problem(rows, Logistic(), L2(0.01 * len(X)), fit_intercept=False)
    for solver, known in (
        (GradientDescent(0.1), (0.5232608316, 0.2451847900, 0.1183278273)),
        (HeavyBall(0.01, 0.9), (0.6733603848, 0.3096572580, 0.1137804947)),
    ):
        Q = values(problem, trajectory(problem, solver, 100))
        np.testing.assert_allclose(Q[[1, 10, 100]], known, rtol=0, atol=1e-10)
    assert optimum(problem)[1] / len(X) == pytest.approx(0.1004463038, abs=1e-10)
    fit = minimize(problem, Nesterov(), tol=1e-10, max_iter=5000)
    assert objective(problem, fit.w, fit.b) / len(X) == pytest.approx(0.1004463038, abs=1e-9)
