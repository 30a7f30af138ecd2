"""Solvers of smooth losses and L2: their optima.

F(w, b) = Σ_i s_i ℓ(y_i, x_iᵀw + b) + l2/2 ‖w‖²
"""

from typing import Any

import numpy as np
import pytest
from scipy import optimize

from certus.data.rows import Rows
from certus.losses import Logistic
from certus.penalties import L2
from certus.solvers import LBFGS, Newton
from certus.solvers.glm.coordinates import MAX_MEAN_TO_DEVIATION
from certus.solvers.linalg.gram import NonFiniteError
from certus.solvers.loop import minimize
from certus.solvers.problem import Problem, objective
from tests.glm.smooth_cases import (
    CHANGES,
    LOSSES,
    SOLVERS,
    dense,
    each_loss,
    each_solver,
    intercepts,
    problem_of,
)


def exact_objective(problem: Problem, w: Any, b: Any) -> float:
    """F by its formula, in extended precision where that exists."""
    wide = np.longdouble
    z = np.asarray(dense(problem), dtype=wide) @ np.asarray(w, dtype=wide) + np.asarray(
        b, dtype=wide
    )
    loss = problem.loss
    value = loss.value(problem.y, z if loss.several else z[:, 0])
    s = 1.0 if problem.rows.s is None else problem.rows.s
    return np.sum(s * value) + wide(problem.l2) / 2 * np.sum(np.asarray(w, dtype=wide) ** 2)


def optimum(problem):
    """By SciPy, polished by its own Newton-free method: (w, b, F)."""
    p, K = problem.rows.shape[1], problem.outputs

    def unpack(theta):
        theta = theta.reshape(p + 1, K)
        return theta[:-1], theta[-1] * problem.fit_intercept

    def f(theta):
        w, b = unpack(theta)
        X = np.asarray(problem.rows.X, dtype=float)
        z = X @ w + b
        several = problem.loss.several
        value, slope, _ = problem.loss.evaluate(problem.y, z if several else z[:, 0])
        s = np.ones(len(z)) if problem.rows.s is None else problem.rows.s
        g = (s * slope.T).T.reshape(len(z), K)
        gradient = np.vstack([X.T @ g + problem.l2 * w, g.sum(axis=0) * problem.fit_intercept])
        return s @ value + problem.l2 / 2 * (w**2).sum(), gradient.ravel()

    start = np.zeros((p + 1) * K)
    result = optimize.minimize(
        f, start, jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000}
    )
    return *unpack(result.x), result.fun


@each_loss
@each_solver
@intercepts
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("l2", [0.0, 0.3, 30.0])
def test_every_solver_finds_the_optimum(loss, solver, intercept, weighted, l2):
    problem = problem_of(loss, l2=l2, n=200, intercept=intercept, weighted=weighted)
    fit = minimize(problem, SOLVERS[solver](), tol=1e-11, max_iter=2000)
    w, b, best = optimum(problem)
    assert fit.solver == solver
    assert fit.stopped_at is None
    ours = objective(problem, fit.w, fit.b)
    assert ours == pytest.approx(float(exact_objective(problem, fit.w, fit.b)), rel=1e-12)
    assert ours <= best * (1 + 1e-9)
    if problem.loss.several:  # what all scores share is free, where nothing penalises it
        w, ours_w = (v - v.mean(axis=1, keepdims=True) for v in (w, fit.w))
        b, ours_b = b - b.mean(), fit.b - fit.b.mean()
    else:
        ours_w, ours_b = fit.w, fit.b
    np.testing.assert_allclose(ours_w, w, atol=2e-4)
    np.testing.assert_allclose(ours_b, b, atol=2e-4)


@each_loss
@each_solver
@pytest.mark.parametrize("change", ["float32", "Fortran order", "far", "sparse"])
def test_the_dress_of_the_data_does_not_move_the_optimum(loss, solver, change):
    problem = problem_of(loss, change=CHANGES[change])
    fit = minimize(problem, SOLVERS[solver](), tol=1e-11, max_iter=2000)
    X = np.asarray(dense(problem), dtype=float) - (
        64 * MAX_MEAN_TO_DEVIATION if change == "far" else 0.0
    )
    plain = Problem(Rows(X, problem.rows.y), problem.loss, problem.penalty, True, problem.outputs)
    reference = minimize(plain, Newton(), tol=1e-12)
    np.testing.assert_allclose(fit.w, reference.w, atol=2e-4)


@each_solver
def test_excess_and_bound_of_a_state_hold(solver):
    for loss in LOSSES:
        problem = problem_of(loss, l2=0.5)
        best = minimize(problem, Newton(), tol=1e-13, max_iter=500)
        least = objective(problem, best.w, best.b)
        heard: list = []
        minimize(problem, SOLVERS[solver](), tol=1e-9, max_iter=500, on_step=heard.append)
        assert len(heard) > 1
        for step in heard:
            assert step.bound <= least * (1 + 1e-9), (loss, step.iteration)
            fit = step.parameters()
            true = objective(problem, fit.w, fit.b)
            # the last of Newton's steps is not evaluated but foretold
            assert step.objective == pytest.approx(true, rel=1e-6)
        values = [step.objective for step in heard]
        assert values == sorted(values, reverse=True)


@each_solver
@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared"])
def test_singular_hessians_are_no_obstacle(loss, solver):
    def repeated(X):
        return X[:, [0, 1, 2, 0, 1]]

    for l2 in (0.0, 1e-9, 1.0):
        problem = problem_of(loss, l2=l2, n=200, change=repeated)
        single = problem_of(loss, l2=0.0, n=200)
        fit = minimize(problem, SOLVERS[solver](), tol=1e-9, max_iter=3000)
        assert fit.stopped_at is None
        assert np.isfinite(fit.w).all()
        if l2 < 1:
            reference = minimize(single, Newton(), tol=1e-12)
            least = objective(single, reference.w, reference.b)
            assert objective(problem, fit.w, fit.b) == pytest.approx(least, rel=1e-6)


@each_solver
def test_columns_that_do_not_vary_and_rows_that_do_not_count(solver):
    problem = problem_of("logistic", change=CHANGES["constant column"])
    fit = minimize(problem, SOLVERS[solver](), tol=1e-10)
    assert fit.stopped_at is None
    assert fit.w[1, 0] == pytest.approx(0.0, abs=1e-12)
    rng = np.random.default_rng(0)
    X, y, s = rng.normal(size=(60, 2)), rng.choice([-1.0, 1.0], size=(60, 1)), np.ones(60)
    X[::3], s[::3] = 1e6, 0.0
    kept = s > 0
    fits = [
        minimize(Problem(Rows(*rows), Logistic(), L2(1.0)), SOLVERS[solver](), tol=1e-12)
        for rows in ((X, y, s), (X[kept], y[kept], s[kept]))
    ]
    np.testing.assert_allclose(fits[0].w, fits[1].w, atol=1e-6)


@each_solver
def test_separated_classes_end_the_steps(solver):
    X = np.linspace(-1, 1, 40)[:, None]
    problem = Problem(Rows(X, np.sign(X)), Logistic(), L2(0.0))
    fit = minimize(problem, SOLVERS[solver](), tol=1e-12, max_iter=500)
    assert fit.stopped_at is None
    assert fit.n_iter < 50
    assert np.isfinite(fit.w).all()
    assert (X[:, 0] * (X @ fit.w + fit.b)[:, 0] > 0).all()


@each_solver
def test_a_value_that_is_not_finite_is_an_error(solver):
    for bad in (np.nan, np.inf):
        problem = problem_of("logistic")
        problem.rows.X[5, 1] = bad
        with pytest.raises(NonFiniteError):
            minimize(problem, SOLVERS[solver]())


def test_lbfgs_keeps_as_many_pairs_as_its_memory_allows():
    problem = problem_of("logistic", n=200, p=6)
    best = minimize(problem, Newton(), tol=1e-12)
    for memory in (1, 3, 30):
        fit = minimize(problem, LBFGS(memory=memory), tol=1e-11, max_iter=2000)
        np.testing.assert_allclose(fit.w, best.w, atol=1e-4)
    with pytest.raises(ValueError, match="memory=0"):
        LBFGS(memory=0)
