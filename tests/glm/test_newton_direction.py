"""Newton's direction by QR, exact steps, and Newton's method in the row space."""

from typing import Any

import numpy as np
import pytest

from certus.data.rows import Rows
from certus.losses import Huber, Logistic, SquaredHinge
from certus.penalties import ElasticNet
from certus.solvers.glm.coordinates import coordinates
from certus.solvers.glm.exact_step import exact_step
from certus.solvers.glm.newton import Newton, _state
from certus.solvers.glm.newton_cg import NewtonCG
from certus.solvers.glm.newton_direction import direction_by_qr
from certus.solvers.glm.row_space import FactoredProblem
from certus.solvers.loop import minimize
from certus.solvers.problem import Problem, objective
from certus.svm import LinearSVC

LOSSES = [SquaredHinge(), Huber(0.5), Logistic()]


def problem_of(
    loss: Any, n: int, p: int, intercept: bool = True, l2: float = 0.1, seed: int = 0
) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 1
    y = np.where(X[:, 0] + rng.normal(size=n) > 1, 1.0, -1.0)[:, None]
    rows = Rows(X, y, rng.uniform(0.5, 2, size=n), threads=1)
    return Problem(rows, loss, ElasticNet(l2, 0.0), intercept)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("intercept", [True, False])
def test_direction_by_qr_is_newtons(loss: Any, intercept: bool) -> None:
    problem = problem_of(loss, 60, 5, intercept)
    rng = np.random.default_rng(1)
    at = coordinates(problem.rows, intercept)
    u, beta = rng.normal(size=(5, 1)), np.array([0.3 if intercept else 0.0])
    expected = _state(problem, at, u, beta).solver_state[2]
    result = direction_by_qr(problem, at, u, beta)
    assert result is not None
    np.testing.assert_allclose(result, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("loss", LOSSES[:2], ids=lambda loss: loss.name)
def test_exact_step_is_least_along_the_direction(loss: Any) -> None:
    problem = problem_of(loss, 80, 4)
    at = coordinates(problem.rows, True)
    theta = np.array([[2.0], [-3.0], [1.0], [4.0], [-2.0]])
    delta = _state(problem, at, theta[:-1], theta[-1]).solver_state[2]
    t = exact_step(problem, at, theta, delta)

    def value(t: float) -> float:
        moved = theta + t * delta
        return objective(problem, *at.to_user(moved[:-1], moved[-1]))

    assert value(t) <= min(map(value, np.linspace(0, 4, 401))) * (1 + 1e-6)


@pytest.mark.parametrize("loss", LOSSES[:2], ids=lambda loss: loss.name)
@pytest.mark.parametrize("shape", [(20, 45), (45, 20)])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_factored_problem_has_the_same_optimum(
    loss: Any, shape: tuple[int, int], intercept: bool
) -> None:
    problem = problem_of(loss, *shape, intercept)
    expected = minimize(problem, Newton(), tol=1e-12)
    factored = problem_of(loss, *shape, intercept)
    factored.cache["factored"] = FactoredProblem(factored)
    result = minimize(factored, NewtonCG(), tol=1e-12)
    np.testing.assert_allclose(result.w, expected.w, atol=1e-6)
    np.testing.assert_allclose(result.b, expected.b, atol=1e-6)


def test_the_factored_problem_leaves_the_goal_as_it_is() -> None:
    problem = problem_of(SquaredHinge(), 45, 20)
    problem.cache["factored"] = FactoredProblem(problem)
    minimize(problem, NewtonCG(), tol=1e-3)
    assert problem.goal > 0


def test_columns_of_very_different_sizes_keep_their_digits_in_the_row_space() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(8, 20)) * 10.0 ** rng.integers(-6, 7, size=20)
    factored = FactoredProblem(
        Problem(Rows(X, np.ones((8, 1)), None, threads=1), SquaredHinge(), ElasticNet(1.0, 0.0))
    )
    assert factored.Q is not None
    error = np.abs(factored.problem.rows.X @ factored.Q.T - X)
    assert (error.max(axis=0) <= 1e-13 * np.abs(X).max(axis=0)).all()


def raw_microarray(n: int, p: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Intensities of very different sizes, far from 0, of two groups: separable."""
    rng = np.random.default_rng(seed)
    level = 10.0 ** rng.uniform(1, 4, size=p)
    X = np.round(level * (1 + 0.4 * rng.normal(size=(n, p))))
    y = rng.random(n) < 0.4
    X[:, : p // 50] += np.round(0.5 * level[: p // 50] * y[:, None])
    return X, y


def test_squared_hinge_on_raw_microarrays_takes_few_steps() -> None:
    X, y = raw_microarray(60, 2000, 5)  # 300 steps and more, and 10 s, by conjugate gradients
    model = LinearSVC().fit(X, y)
    assert model.certificate_.certified
    assert model.certificate_.gap <= 1e-3 * model.certificate_.objective
    assert model.n_iter_ <= 100


def test_squared_hinge_on_overlapping_blobs_takes_few_steps() -> None:
    from sklearn.datasets import make_blobs

    X, y = make_blobs(500, 100, centers=3, cluster_std=15, random_state=0)
    model = LinearSVC().fit(X, y)  # 587 steps with halvings of Newton's
    assert model.certificate_.certified
    assert model.n_iter_ <= 150


def test_a_step_after_one_that_all_but_ended_is_no_overflow() -> None:
    """The square of λ²/λ²_before is too large for a float where the step before gained nothing."""
    problem = problem_of(Logistic(), 60, 5)
    at = coordinates(problem.rows, True)
    state = _state(problem, at, np.zeros((5, 1)), np.zeros(1))
    state.solver_state = (*state.solver_state[:-1], 1e-200)
    assert Newton().step(problem, state).objective < state.objective
