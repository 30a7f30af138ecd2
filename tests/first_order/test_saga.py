"""SAGA: steps, linear rate to a certified optimum, random orders (see also ``test_sgd.py``)."""

import numpy as np
import pytest

import certus
from certus.linear_model import PenalizedClassifier, PenalizedRegressor
from certus.penalties import L2
from certus.solvers import SAGA
from certus.solvers.first_order.stochastic import draw_order, row_curvature
from certus.solvers.loop import minimize
from certus.solvers.problem import objective
from tests.first_order.optimiser_cases import (
    Twin,
    each_layout,
    losses_gradient,
    make_problem,
    optimum,
    saga_path,
    trajectory,
    weights,
)
from tests.glm.smooth_cases import LOSSES, each_loss, intercepts, problem_of


@each_loss
@weights
@intercepts
def test_answers_are_those_of_the_equation(loss, weighted, intercept):
    for order, l2 in (("random", 0.3), ("shuffle", 0.0)):
        problem = problem_of(loss, n=60, weighted=weighted, intercept=intercept, l2=l2)
        solver = SAGA(order=order, random_state=3)
        result = trajectory(problem, solver, 3)
        twin, rng = Twin(loss, problem), np.random.default_rng(3)
        theta = np.zeros(twin.shape)
        stored = np.array([losses_gradient(twin, theta, i) for i in range(60)])
        for answer in result[1:]:
            theta = saga_path(
                twin, draw_order(rng, 60, order), solver.gamma(problem), theta, stored
            )[-1]
            np.testing.assert_allclose(answer, theta, rtol=0, atol=1e-10)


@each_loss
@weights
@intercepts
def test_the_excess_falls_by_a_factor_each_pass_to_the_last_digits(loss, weighted, intercept):
    """E[excess] falls like (1 − min(1/4n, μ/3L))^(n·passes) and faster, from any start."""
    problem = problem_of(loss, weighted=weighted, intercept=intercept, n=100, l2=5.0)
    theta, best = optimum(problem)
    for seed, order in ((0, "random"), (1, "random"), (0, "shuffle")):
        path = trajectory(problem, SAGA(random_state=seed, order=order), 120)
        distance = [np.linalg.norm(at - theta) for at in path]
        largest, _, lam = row_curvature(problem)
        rate = 1 - min(1 / 400, lam / (3 * (largest + lam)))
        for passes in (30, 60, 120):
            assert distance[passes] <= 10 * rate ** (50 * passes) * distance[0] + 1e-7
        excess = objective(problem, path[-1][:-1], path[-1][-1]) - best
        assert excess <= 1e-6 * problem.null[1]


@each_layout
def test_every_loss_is_certified_in_every_dress(layout):
    for loss in LOSSES:
        problem = make_problem(loss, layout, n=120, l2=3.0)
        X = problem.rows.X
        if layout in ("lazy",) or "CS" in layout:
            X = Twin(loss, problem).X[:, :-1]
        y = problem.y
        name = loss.replace(" ", "_")
        kind = PenalizedRegressor if loss in ("squared", "huber") else PenalizedClassifier
        given = LOSSES[loss] if loss == "huber" else name
        model = kind(given, L2(3.0), SAGA(), max_iter=3000).fit(X, y)
        assert model.solver_ == "saga"
        assert model.certificate_.certified
        assert model.certificate_.residual <= 1e-6
        assert certus.verify(model, X, y).certified


def test_a_step_that_the_penalty_does_not_leave_room_for_is_refused_in_words():
    problem = problem_of("logistic", l2=160.0)
    with pytest.raises(ValueError, match=r"step=0\.5 is too long.* give less than 0\.5"):
        minimize(problem, SAGA(0.5))
    assert minimize(problem, SAGA(0.3), tol=1e-9, max_iter=2000).converged


def test_the_step_is_that_of_the_theory():
    """γ = 1/(2L + min(2nμ, L)) with L of one row, μ = l2/S."""
    for l2 in (0.0, 0.3, 1e4):
        problem = problem_of("logistic", l2=l2, weighted=True)
        twin = Twin("logistic", problem)
        L = (0.25 * twin.s * twin.n / twin.S * (twin.X**2).sum(axis=1)).max() + twin.lam
        expected = 1 / (2 * L + min(2 * twin.n * twin.lam, L))
        assert SAGA().gamma(problem) == pytest.approx(expected, rel=1e-12)


def test_passes_count_the_first_look_at_all_rows():
    heard: list = []
    minimize(problem_of("logistic"), SAGA(), tol=-1.0, max_iter=4, on_step=heard.append)
    assert [step.passes for step in heard] == [1, 2, 3, 4, 5]
