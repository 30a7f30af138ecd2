"""The squared hinge by an interior-point method, in the space of rows or columns."""

import numpy as np
import pytest

from certus.data.rows import Rows
from certus.linear_model import PenalizedClassifier
from certus.losses import SquaredHinge
from certus.penalties import L2, ElasticNet
from certus.solvers.glm.newton import Newton, coordinates_for
from certus.solvers.glm.squared_hinge_interior import MAX_STEPS, InteriorPoint
from certus.solvers.loop import minimize
from certus.solvers.problem import Problem, objective
from certus.solvers.progress import Step
from certus.svm import LinearSVC


def problem_of(
    n: int, p: int, intercept: bool, l2: float = 0.1, noise: float = 1.0, scale: float = 1.0
) -> Problem:
    rng = np.random.default_rng([n, p])
    X = scale * (rng.normal(size=(n, p)) + 2)
    y = np.where(X[:, 0] / scale - 2 + noise * rng.normal(size=n) > 0, 1.0, -1.0)[:, None]
    rows = Rows(X, y, rng.uniform(0.5, 2, size=n), threads=1)
    return Problem(rows, SquaredHinge(), ElasticNet(l2, 0.0), intercept)


def solved(problem: Problem) -> InteriorPoint:
    w, b = problem.null_w, problem.null[0]
    interior = InteriorPoint(problem, coordinates_for(problem), w, b, objective(problem, w, b))
    while not interior.done:
        interior.step()
    return interior


@pytest.mark.parametrize("noise", [0.0, 1.0])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("scale", [1.0, 1e4])
@pytest.mark.parametrize("shape", [(60, 7), (30, 30)])
def test_the_optimum_is_newtons(
    noise: float, intercept: bool, scale: float, shape: tuple[int, int]
) -> None:
    problem = problem_of(*shape, intercept, noise=noise, scale=scale)
    expected = minimize(problem, Newton(), tol=1e-14, max_iter=1000)
    least = objective(problem, expected.w, expected.b)
    result = solved(problem)
    assert result.steps <= 40
    assert result.objective == pytest.approx(objective(problem, result.w, result.b), rel=1e-9)
    assert result.objective == pytest.approx(least, rel=1e-8)


def test_the_last_step_of_losses_in_pieces_is_evaluated() -> None:
    """Newton's last step was taken unseen: F rose from 4e-8 to 9, and was reported as 6e-10."""
    problem = problem_of(30, 30, True, noise=0.0, scale=1e4)
    objectives: list[float] = []

    def listen(step: Step) -> bool:
        objectives.append(step.objective)
        return False

    fit = minimize(problem, Newton(), tol=1e-14, on_step=listen)
    assert objective(problem, fit.w, fit.b) == pytest.approx(objectives[-1], rel=1e-6)


def test_columns_of_very_different_sizes() -> None:
    problem = problem_of(50, 40, True, noise=0.0)
    problem.rows.X *= 10.0 ** np.random.default_rng(0).uniform(-100, 100, size=40)
    result = solved(problem)
    assert np.isfinite(result.objective)
    assert result.steps <= MAX_STEPS + 1
    assert result.objective <= problem.null[1]


def test_columns_of_zeros_end_at_once() -> None:
    rows = Rows(np.zeros((6, 2)), np.ones((6, 1)), None, threads=1)
    result = solved(Problem(rows, SquaredHinge(), ElasticNet(1.0, 0.0), False))
    assert result.objective == 6.0
    assert result.steps == 0


def raw(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns of sizes from 1 to 10⁴, far from 0, of two classes that are separable."""
    rng = np.random.default_rng([20261118, n, p])
    X = rng.normal(size=(n, p))
    y = X[:, :5].sum(axis=1) + rng.normal(size=n) > 0
    return 10.0 ** rng.uniform(0, 4, size=p) * (X + rng.uniform(0, 5, size=p)), y


def test_linear_svc_on_raw_square_data_takes_few_steps() -> None:
    X, y = raw(300, 300)  # 212 steps by Newton's method; of 1,000 rows and columns, minutes
    model = LinearSVC().fit(X, y)
    assert model.certificate_.certified
    assert model.certificate_.gap <= 2e-5 * model.certificate_.objective
    assert model.n_iter_ <= 80


def test_penalized_classifier_on_raw_square_data_takes_few_steps() -> None:
    X, y = raw(320, 400)
    model = PenalizedClassifier(loss="squared_hinge", penalty=L2(1.0)).fit(X, y)
    assert model.certificate_.certified
    assert np.max(model.n_iter_) <= 120  # 224 by Newton's method
