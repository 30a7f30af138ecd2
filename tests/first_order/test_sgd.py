"""Stochastic gradient descent: random orders, steps, averages and results."""

import numpy as np
import pytest

from certus.data import rows as rows_module
from certus.data.rows import Rows
from certus.losses import Logistic
from certus.losses.base import OneScore
from certus.penalties import L2
from certus.solvers import SAGA, SGD, GradientDescent
from certus.solvers.first_order import prefetch
from certus.solvers.first_order.schedules import make_schedule
from certus.solvers.first_order.stochastic import draw_order
from certus.solvers.loop import minimize
from certus.solvers.problem import Problem, objective
from tests.first_order.optimiser_cases import (
    STOCHASTIC_METHODS,
    Twin,
    each_layout,
    each_stochastic_method,
    make_problem,
    optimum,
    sgd_path,
    trajectory,
    weights,
)
from tests.glm.smooth_cases import LOSSES, each_loss, intercepts, problem_of

PASSES = 4


def twin_answers(name, problem, solver, passes=PASSES):
    """What SGD answers after each pass, by its equations: rows in the order that its seed draws."""
    twin, rng = Twin(name, problem), np.random.default_rng(solver.random_state)
    n, B = twin.n, solver.batch_size
    batches = -(-n // B)
    theta = v = np.zeros(twin.shape)
    alpha, answers, sums = solver.alpha(problem), [theta], []
    for t in range(passes):
        order = draw_order(rng, n, solver.order)
        alphas = alpha * solver.schedule(t + np.arange(batches) / batches)
        path, v = sgd_path(twin, order, alphas, B, theta, solver.momentum, v)
        theta = path[-1]
        sums.append(np.mean(path, axis=0))
        last = sums[-solver.average :]
        answers.append(np.mean(last, axis=0) if solver.average else theta)
    return answers


VARIANTS = {
    "plain": {},
    "batches": {"batch_size": 7, "schedule": "1/t"},
    "drawn again": {"order": "random", "schedule": "geometric", "decay": 0.5},
    "momentum": {"momentum": 0.8, "batch_size": 3},
    "mean of two passes": {"average": 2, "schedule": "constant", "step": 0.05},
    "all at once": {"average": 3, "momentum": 0.5, "batch_size": 100, "random_state": 5},
}


@each_loss
@weights
@pytest.mark.parametrize("variant", VARIANTS)
def test_answers_are_those_of_the_equations(loss, weighted, variant):
    for intercept, l2 in ((True, 0.3), (False, 0.0), (True, 50.0)):
        problem = problem_of(loss, weighted=weighted, intercept=intercept, l2=l2)
        solver = SGD(**VARIANTS[variant])
        expected = twin_answers(loss, problem, solver)
        result = trajectory(problem, solver, PASSES)
        near = 1e-10 * max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(result, expected, rtol=0, atol=near)


@each_loss
@weights
@intercepts
def test_the_mean_of_the_stochastic_gradient_is_the_gradient(loss, weighted, intercept):
    """One step from θ by each row alone, all of them averaged, is a step of gradient descent."""
    problem = problem_of(loss, n=40, weighted=weighted, intercept=intercept)
    twin = Twin(loss, problem)
    theta, s = 0.3 * np.random.default_rng(3).normal(size=twin.shape), twin.s * twin.n / twin.S
    theta[-1] *= intercept
    alpha, steps = 0.01, []
    for i in range(twin.n):
        # a problem of this row alone, whose loss has the weight that it has among all
        row = Rows(twin.X[[i], :-1], problem.rows.y[[i]])
        single_row = Problem(row, problem.loss, L2(twin.lam), intercept, problem.outputs)
        going = SGD(alpha, schedule="constant").begin_at(single_row, theta[:-1], theta[-1])
        stepped = SGD(alpha, schedule="constant").one_pass(single_row, going, alpha, twin.lam, 0)
        penalty = twin.lam * twin.without_intercept(theta)
        steps.append(s[i] * ((theta - stepped) / alpha - penalty) + penalty)
    np.testing.assert_allclose(np.mean(steps, axis=0), twin.gradient(theta), atol=1e-11)


@each_loss
@weights
def test_one_batch_of_all_rows_is_gradient_descent(loss, weighted):
    problem = problem_of(loss, weighted=weighted)
    for size in (80, 1000):
        solver = SGD(0.1, batch_size=size, schedule="constant")
        result = trajectory(problem, solver, 20)
        plain = trajectory(problem, GradientDescent(0.1), 20)
        np.testing.assert_allclose(result, plain, atol=1e-12 * np.abs(plain).max())


def test_schedules_are_what_their_names_say():
    t = np.array([0.0, 0.5, 1.0, 2.75, 9.0])
    np.testing.assert_array_equal(make_schedule("constant", 0.9)(t), 1.0)
    np.testing.assert_allclose(make_schedule("1/t", 0.9)(t), [1, 2 / 3, 1 / 2, 4 / 15, 1 / 10])
    np.testing.assert_allclose(make_schedule("1/sqrt(t)", 0.9)(t) ** -2, 1 + t)
    np.testing.assert_allclose(make_schedule("geometric", 0.5)(t), [1, 1, 1 / 2, 1 / 4, 2**-9])
    problem = problem_of("logistic")
    for custom, same in (
        (lambda t: 1 / (1 + t), "1/t"),
        (lambda t: 1.0, "constant"),
        (lambda t: 1, "constant"),
    ):
        result, known = (trajectory(problem, SGD(schedule=s), 3) for s in (custom, same))
        np.testing.assert_array_equal(result, known)


def test_a_pass_takes_every_row_once_or_draws_with_the_same_chance():
    rng = np.random.default_rng(0)
    shuffles = [draw_order(rng, 50, "shuffle") for _ in range(3)]
    for order in shuffles:
        np.testing.assert_array_equal(np.sort(order), np.arange(50))
    assert not np.array_equal(shuffles[0], shuffles[1])
    counts = np.bincount(draw_order(rng, 100_000, "random") % 10, minlength=10)
    assert counts.sum() == 100_000
    assert abs(counts - 10_000).max() < 500


# --- the same answer, whatever the machine --------------------------------------------------------


@each_stochastic_method
@pytest.mark.parametrize("layout", ["C order", "float32", "Fortran order", "CSR"])
def test_the_same_bits_for_a_seed_on_any_number_of_threads(method, layout, monkeypatch):
    monkeypatch.setattr(prefetch, "WINDOW_BYTES", 1000)
    monkeypatch.setattr(rows_module, "SMALL_WORK", 0)
    result = []
    for threads in (1, 2, 5, 2):
        problem = make_problem("softmax", layout, n=300, weighted=True)
        problem.rows.threads = threads
        result.append(trajectory(problem, STOCHASTIC_METHODS[method](), 3))
    for other in result[1:]:
        np.testing.assert_array_equal(other, result[0])


@each_stochastic_method
@pytest.mark.parametrize("layout", ["C order", "Fortran order", "lazy", "CSR"])
def test_windows_do_not_matter(method, layout, monkeypatch):
    for order in ("shuffle", "random"):
        result = []
        for size in (1, 100, 777, 1 << 21):
            monkeypatch.setattr(prefetch, "WINDOW_BYTES", size)
            solver = STOCHASTIC_METHODS[method]()
            solver.order = order
            result.append(trajectory(make_problem("softmax", layout, n=120), solver, 3))
        for other in result[1:]:
            if layout == "CSR":  # products are multiplied out at the end of a window
                np.testing.assert_allclose(other, result[0], rtol=0, atol=1e-12)
            else:
                np.testing.assert_array_equal(other, result[0])


@each_stochastic_method
@each_layout
def test_every_dress_of_the_data_has_the_same_steps(method, layout):
    for loss in LOSSES:
        plain = make_problem(loss, "C order", weighted=True)
        problem = make_problem(loss, layout, weighted=True)
        result, known = (
            trajectory(one, STOCHASTIC_METHODS[method](), 3) for one in (problem, plain)
        )
        near = 1e-5 if "float32" in layout else 1e-9
        np.testing.assert_allclose(result, known, rtol=0, atol=near * np.abs(known).max())


@each_stochastic_method
def test_whole_numbers_are_taken_as_they_are(method):
    from scipy import sparse

    from certus.data.csr import CSR

    rng = np.random.default_rng(0)
    X, y = rng.integers(-2, 3, size=(60, 4)), rng.choice([-1.0, 1.0], size=(60, 1))
    dresses = (X, X.astype(np.int8), CSR(sparse.csr_array(X)), CSR(sparse.csc_array(X)))
    plain = trajectory(
        Problem(Rows(X.astype(float), y), Logistic(), L2(1.0)), STOCHASTIC_METHODS[method](), 3
    )
    for layout in dresses:
        problem = Problem(Rows(layout, y), Logistic(), L2(1.0))
        result = trajectory(problem, STOCHASTIC_METHODS[method](), 3)
        np.testing.assert_allclose(result, plain, rtol=0, atol=1e-11)


@each_stochastic_method
def test_other_seeds_are_other_draws(method):
    problem, paths = problem_of("logistic"), []
    for seed in (0, 0, 1):
        solver = STOCHASTIC_METHODS[method]()
        solver.random_state = seed
        paths.append(trajectory(problem, solver, 2))
    np.testing.assert_array_equal(paths[0], paths[1])
    assert np.abs(paths[2][-1] - paths[0][-1]).max() > 1e-6


# --- what it is worth -----------------------------------------------------------------------------


@each_loss
@weights
def test_falling_steps_come_close_to_the_optimum(loss, weighted):
    problem = problem_of(loss, weighted=weighted, n=150, l2=1.0)
    _, best = optimum(problem)
    for more in ({}, {"average": 20}, {"momentum": 0.9}, {"batch_size": 10}):
        heard: list = []
        solver = SGD(schedule="1/t", **more)
        fit = minimize(problem, solver, tol=1e-9, max_iter=150, on_step=heard.append)
        assert objective(problem, fit.w, fit.b) - best <= 0.01 * (problem.null[1] - best)
        assert [step.passes for step in heard] == list(range(len(heard)))
        for step in heard[::20]:
            made = step.parameters()
            assert step.objective == pytest.approx(objective(problem, made.w, made.b), rel=1e-11)
            assert step.bound <= best * (1 + 1e-9)


def test_the_mean_of_the_last_passes_is_nearer_than_the_last_step():
    problem = problem_of("logistic", n=200)
    _, best = optimum(problem)
    excess = {}
    for average in (0, 20):
        solver = SGD(schedule="constant", average=average)
        fit = minimize(problem, solver, tol=-1.0, max_iter=40)
        excess[average] = objective(problem, fit.w, fit.b) - best
    assert 3 * excess[20] < excess[0]


@pytest.mark.parametrize("layout", ["C order", "CSR"])
@pytest.mark.parametrize(
    "solver",
    [
        SGD(1e3, schedule="constant"),
        SGD(1e3, momentum=0.9),
        SGD(1e300),
        SGD(1e200, average=3),
        SGD(schedule=lambda t: np.nan),
        SAGA(100.0),
        SAGA(250.0),
    ],
    ids=lambda s: f"{s.name} {s.step_length}",
)
def test_steps_that_are_too_long_end_at_numbers_and_in_words(layout, solver):
    for loss in ("squared", "logistic", "softmax"):
        problem = make_problem(loss, layout)
        fit = minimize(problem, solver, tol=1e-9, max_iter=300)
        assert np.isfinite(fit.w).all()
        assert np.isfinite(fit.b).all()
        assert not fit.converged
        assert "give a smaller step" in fit.message


class Cauchy(OneScore):
    """A loss of the user's own."""

    name, curvature_bound, never_zero = "cauchy", 2.0, False

    def value(self, y, z):
        return np.log1p((z - y) ** 2)

    def slope(self, y, z):
        return 2 * (z - y) / (1 + (z - y) ** 2)

    def evaluate(self, y, z):
        return self.value(y, z), self.slope(y, z), np.ones_like(z)


@pytest.mark.parametrize("solver", [SGD(), SGD(momentum=0.5), SAGA()], ids=lambda s: s.name)
def test_a_loss_that_no_kernel_knows_is_refused_in_words(solver):
    problem = problem_of("squared")
    custom = Problem(problem.rows, Cauchy(), L2(1.0))
    message = f"solver='{solver.name}' takes the losses 'squared', .*use solver='gd', 'agd' or"
    with pytest.raises(ValueError, match=message):
        minimize(custom, solver)
    fit = minimize(custom, GradientDescent(), max_iter=30)
    assert objective(custom, fit.w, fit.b) < custom.null[1]


@each_stochastic_method
def test_over_many_sparse_entries_the_objective_is_looked_at_now_and_then(method, monkeypatch):
    problem, answers = make_problem("logistic", "CSR"), {}
    fifth = [0, 4, 9, 12] if method == "saga" else [0, 5, 10, 12]  # SAGA's start is a pass
    for many, expected in ((0, fifth), (1 << 20, list(range(13)))):
        monkeypatch.setattr(
            "certus.solvers.first_order.stochastic.MIN_ENTRIES_TO_SKIP_EVALUATION", many
        )
        heard: list = []
        fit = minimize(
            problem, STOCHASTIC_METHODS[method](), tol=0, max_iter=12, on_step=heard.append
        )
        assert [step.iteration for step in heard] == expected
        w, b = fit.w, fit.b
        assert heard[-1].objective == pytest.approx(objective(problem, w, b), rel=1e-12)
        answers[many] = np.vstack([w, b])
    np.testing.assert_array_equal(*answers.values())
