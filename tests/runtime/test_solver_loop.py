"""The loop around solvers: when it stops, what it tells, where it starts."""

import numpy as np
import pytest

from certus.solvers import Newton
from certus.solvers.loop import GOAL_SAFETY_FACTOR, Fit, State, minimize
from certus.solvers.problem import objective
from tests.glm.smooth_cases import each_loss, problem_of

# --- the loop -------------------------------------------------------------------------------------


class Halving:
    """Excess 1, ½, ¼ …, or what a test says."""

    name = "halving"

    def __init__(self, stuck_at=None):
        self.stuck_at, self.steps = stuck_at, 0

    def init(self, problem, w, b):
        return State(w, b, 2.0, 1.0, 1.0)

    def step(self, problem, state):
        self.steps += 1
        if self.steps == self.stuck_at:
            state.stalled = True
            return state
        e = state.excess / 2
        return State(state.w + 1, state.b, 1.0 + e, e, 1.0)


@pytest.fixture
def plain():
    problem = problem_of("logistic")
    problem.null = (np.zeros(1), 1.0)
    return problem


def test_it_stops_when_the_excess_is_small_enough_with_some_to_spare(plain):
    fit = minimize(plain, Halving(), tol=2.0**-8)
    assert fit.n_iter == 8 + int(np.log2(GOAL_SAFETY_FACTOR))
    assert (fit.converged, fit.stopped_at) == (True, None)
    assert (fit.w == fit.n_iter).all()
    assert isinstance(fit, Fit)


@pytest.mark.parametrize("max_iter", [0, 1, 5])
def test_it_stops_at_max_iter_and_says_so(plain, max_iter):
    fit = minimize(plain, Halving(), tol=1e-9, max_iter=max_iter)
    assert (fit.n_iter, fit.stopped_at, fit.converged) == (max_iter, max_iter, False)


def test_arriving_in_the_last_step_is_arriving(plain):
    fit = minimize(plain, Halving(), tol=GOAL_SAFETY_FACTOR * 2.0**-5, max_iter=5)
    assert (fit.n_iter, fit.stopped_at, fit.converged) == (5, None, True)


def test_it_stops_where_a_solver_is_stuck(plain):
    fit = minimize(plain, Halving(stuck_at=3), tol=1e-9)
    assert (fit.n_iter, fit.stopped_at, fit.converged) == (3, None, False)
    assert (fit.w == 2).all(), "the best so far"


def test_it_tells_every_step_and_stops_when_told(plain):
    heard = []

    def on_step(step):
        heard.append(step)
        return step.iteration == 3

    fit = minimize(plain, Halving(), tol=1e-9, on_step=on_step)
    assert [step.iteration for step in heard] == [0, 1, 2, 3]
    assert (fit.n_iter, fit.stopped_at, fit.converged) == (3, None, False)
    assert [step.objective for step in heard] == [2.0, 1.5, 1.25, 1.125]
    assert all(step.bound == 1.0 for step in heard)
    assert [step.parameters().n_iter for step in heard] == [0, 1, 2, 3]


def test_going_on_counts_from_before_and_tells_no_step_twice(plain):
    heard = []
    fit = minimize(plain, Halving(), tol=1e-3, on_step=heard.append, before=4)
    assert heard[0].iteration == 5
    assert fit.n_iter == heard[-1].iteration


def test_a_start_that_is_worse_than_nothing_or_not_finite_is_not_used():
    problem = problem_of("logistic")
    truth = minimize(problem, Newton(), tol=1e-12)
    for start in (1e3, -1e6, np.nan, np.inf):
        heard = []
        fit = minimize(
            problem, Newton(), (np.full((3, 1), start), np.zeros(1)), tol=1e-12,
            on_step=heard.append,
        )  # fmt: skip
        assert heard[0].objective == pytest.approx(problem.null[1])
        np.testing.assert_allclose(fit.w, truth.w, atol=1e-6)
    heard.clear()
    minimize(problem, Newton(), (truth.w, truth.b), on_step=heard.append)
    assert len(heard) == 1


# --- the model without columns --------------------------------------------------------------------


@each_loss
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_null_model_is_the_best_constant(loss, weighted):
    problem = problem_of(loss, weighted=weighted)
    b, f0 = problem.null
    w = np.zeros((3, problem.outputs))
    assert f0 == pytest.approx(objective(problem, w, b), rel=1e-12)
    rng = np.random.default_rng(0)
    for size in (1e-3, 0.1, 1.0):
        for _ in range(10):
            other = b + size * rng.normal(size=b.shape)
            assert objective(problem, w, other) >= f0 * (1 - 1e-12)
    free = problem_of(loss, weighted=weighted, intercept=False)
    np.testing.assert_array_equal(free.null[0], 0)
