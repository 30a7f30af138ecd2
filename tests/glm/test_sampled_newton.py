"""Newton's method with a sampled Hessian: it changes the path, not the optimum."""

import numpy as np
import pytest

from certus.data.rows import Rows
from certus.losses import Logistic
from certus.penalties import L2
from certus.solvers import Newton
from certus.solvers.glm import sampled_newton
from certus.solvers.glm.coordinates import coordinates
from certus.solvers.glm.newton import second_order
from certus.solvers.glm.sampled_newton import SampledNewton
from certus.solvers.loop import minimize
from certus.solvers.problem import Problem
from tests.glm.smooth_cases import SOLVERS, each_loss, each_solver, problem_of


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("l2", [0.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_hessian_of_a_sample_changes_the_way_not_the_answer(weighted, l2, order):
    fits = []
    for solver in (Newton(), SampledNewton()):
        problem = problem_of(
            "logistic",
            n=4000,
            l2=l2,
            weighted=weighted,
            change=lambda X: np.asarray(X, order=order),
        )
        heard = []
        fits.append(minimize(problem, solver, tol=1e-12, on_step=heard.append))
    assert heard[0].objective < 0.98 * problem.null[1], "the first guess is no better than none"
    assert len(heard) > 1
    assert fits[1].converged
    np.testing.assert_allclose(fits[1].w, fits[0].w, atol=1e-6)
    np.testing.assert_allclose(fits[1].b, fits[0].b, atol=1e-6)


@pytest.mark.parametrize("change", [lambda X: X + 1e5, lambda X: X.astype(np.float32)])
def test_the_gradient_of_all_rows_is_that_of_the_hessians_pass(change):
    problem = problem_of("logistic", n=500, weighted=True, change=change)
    at = coordinates(problem.rows, True)
    rng = np.random.default_rng(0)
    u, beta = rng.normal(size=(3, 1)), rng.normal(size=1)
    ours, truth = (
        sampled_newton.first_order(problem, at, u, beta),
        second_order(problem, at, u, beta),
    )
    np.testing.assert_allclose(ours.f, truth.f, rtol=1e-12)
    np.testing.assert_allclose(ours.g, truth.g, rtol=1e-9, atol=1e-9 * np.abs(truth.g).max())


def test_a_sample_that_misleads_hands_over_to_newton(monkeypatch):
    problem = problem_of("logistic", n=4000)
    right = sampled_newton.inverse
    wrong = lambda *args: (lambda g: 0.3 * right(*args)[0](g), False)  # noqa: E731
    monkeypatch.setattr(sampled_newton, "inverse", wrong)
    fit = minimize(problem, SampledNewton(), tol=1e-12)
    reference = minimize(problem, Newton(), tol=1e-12)
    assert fit.converged
    np.testing.assert_allclose(fit.w, reference.w, atol=1e-6)


@pytest.mark.parametrize("singular", [False, True])
def test_a_hessian_of_few_digits_is_enough_or_is_not_used(monkeypatch, singular):
    calls, with_hessian, inverse = [], sampled_newton.with_hessian, sampled_newton.inverse

    def listening(*args):
        calls.append(args[-1])
        return with_hessian(*args)

    def doubting(*args):
        solve, _ = inverse(*args)
        return solve, singular and calls[-1]

    monkeypatch.setattr(sampled_newton, "with_hessian", listening)
    monkeypatch.setattr(sampled_newton, "inverse", doubting)
    problem = problem_of("softmax", n=4000, weighted=True)
    reference, fit = (minimize(problem, solver, tol=1e-9) for solver in (Newton(), SampledNewton()))
    assert calls == ([True, False] if singular else [True])
    assert fit.converged
    np.testing.assert_allclose(fit.w, reference.w, atol=1e-4)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_class_that_is_not_there_weighs_nothing_at_all(sign):
    rng = np.random.default_rng(0)
    for n in range(1, 200, 7):
        s = rng.uniform(size=n)
        one = Problem(Rows(np.ones((n, 1)), np.full((n, 1), sign), s), Logistic(), L2(1.0))
        assert not one.has_every_class()
        one.rows.y[0] = -sign
        assert one.has_every_class() == (n > 1)


def test_a_sample_without_a_rare_class_is_no_harm():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(8000, 2)), -np.ones((8000, 1))
    y[[17, 4321]] = 1.0
    problem = Problem(Rows(X, y), Logistic(), L2(1.0))
    reference, fit = (
        minimize(problem, solver, tol=1e-11) for solver in (Newton(), SampledNewton())
    )
    assert fit.converged
    np.testing.assert_allclose(fit.w, reference.w, atol=1e-4)


def test_rows_larger_than_all_that_a_sample_holds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 2))
    y = np.where(X @ [1, 1] + rng.logistic(size=5000) > 0, 1.0, -1.0)[:, None]
    X[1234, 0] = 1e160
    fit = minimize(Problem(Rows(X, y), Logistic(), L2(1.0)), SampledNewton(), max_iter=50)
    assert np.isfinite(fit.w).all()


@each_solver
@each_loss
def test_the_same_bits_on_any_number_of_threads(loss, solver, monkeypatch):
    monkeypatch.setattr("certus.data.rows.SMALL_WORK", 0)
    monkeypatch.setattr("certus.data.rows.BLOCK_BYTES", 1 << 12)
    fits = []
    for threads in (1, 2, 3):
        problem = problem_of(loss, n=3000, weighted=True)
        problem.rows.threads = threads
        fits.append(minimize(problem, SOLVERS[solver](), tol=1e-9, max_iter=200))
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.w, fits[0].w)
        np.testing.assert_array_equal(fit.b, fits[0].b)
        assert fit.n_iter == fits[0].n_iter
