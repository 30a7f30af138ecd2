"""Fits that took minutes: losses in pieces with an L1 part, and weights of very unequal size."""

from typing import Any

import numpy as np
import pytest

from certus.data.rows import Rows
from certus.exceptions import NotCertifiedWarning
from certus.losses import SquaredHinge
from certus.penalties import ElasticNet
from certus.solvers.first_order.lbfgs import LBFGS
from certus.solvers.glm.exact_step import exact_step_from_scores
from certus.solvers.glm.newton import Newton
from certus.solvers.glm.newton_cg import NewtonCG
from certus.solvers.lasso.coordinate_descent import STALLED_MESSAGE, CoordinateDescent
from certus.solvers.loop import NO_DESCENT_MESSAGE, State, minimize
from certus.solvers.problem import Problem, objective
from certus.svm import LinearSVC

from .trials import fitted, trial


@pytest.mark.costly
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("seed", "target", "generator"),
    [
        (1874, "PenalizedClassifier, three classes", "scaled"),
        (3476, "PenalizedClassifier, three classes", "outlier"),
        (206979, "PenalizedRegressor", "normal"),
        (239254, "PenalizedClassifier, three classes", "outlier"),
    ],
)
def test_fits_of_very_unequal_weights_end_after_few_steps(
    seed: int, target: str, generator: str
) -> None:
    """Rows of weight 10⁸ to 10¹² whose losses are straight lines held every step back, and steps of
    one rounding of w went on for ever: a thousand steps and more."""
    model, certificate = fitted(trial(seed, target, generator))
    assert np.max(model.n_iter_) <= 100
    assert certificate.status in ("optimal", "nearly optimal")


@pytest.mark.parametrize("positive", [False, True])
def test_exact_step_of_scores_is_least_along_the_direction(positive: bool) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1.0, -1.0)
    penalty: Any = ElasticNet(2.0, 0.5, positive=positive)
    problem = Problem(Rows(X, y[:, None], rng.uniform(size=40), threads=1), SquaredHinge(), penalty)
    w, delta = np.array([[0.1], [0.8], [0.0]]), np.array([[0.02], [-0.05], [0.0]])
    t = exact_step_from_scores(problem, w, delta, X @ w, X @ delta)
    zero = np.zeros(1)
    values = [objective(problem, w + r * delta, zero) for r in np.linspace(0, 40, 4001)]
    assert objective(problem, w + t * delta, zero) <= min(values) * (1 + 1e-6)


def overlapping(l1_ratio: float = 0.0) -> Problem:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(40, 3))
    y = np.where(X[:, 0] + rng.normal(size=40) > 0, 1.0, -1.0)
    rows = Rows(X, y[:, None], None, threads=1)
    return Problem(rows, SquaredHinge(), ElasticNet(0.1, l1_ratio))


@pytest.mark.parametrize("solver", [Newton(), NewtonCG(), LBFGS()], ids=lambda s: s.name)
def test_a_fit_that_no_step_improves_says_so(solver: Any) -> None:
    problem = overlapping()
    fit = minimize(problem, solver, tol=-1.0, max_iter=2000)  # an excess below 0 is never reached
    assert fit.stopped_at is None
    assert fit.message == NO_DESCENT_MESSAGE


def test_coordinate_descent_that_stalls_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "certus.solvers.lasso.coordinate_descent"
    monkeypatch.setattr(f"{module}.dual_bound", lambda *_: -1.0)  # far too low: never enough
    fit = minimize(overlapping(0.5), CoordinateDescent())
    assert fit.stopped_at is None
    assert fit.message == NO_DESCENT_MESSAGE
    monkeypatch.setattr(
        f"{module}.OBJECTIVE_ROUNDING", -1.0
    )  # every step counts as one that lowers F
    fit = minimize(overlapping(0.5), CoordinateDescent())
    assert fit.stopped_at is None
    assert fit.message == STALLED_MESSAGE


@pytest.mark.parametrize("classes", [2, 3])
def test_the_warning_of_a_fit_that_stalled_gives_the_reason(
    monkeypatch: pytest.MonkeyPatch, classes: int
) -> None:
    def stalled(solver: Newton, problem: Problem, state: State) -> State:
        state.stalled, state.message = True, "The solver stalled"
        return state

    monkeypatch.setattr(Newton, "step", stalled)
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(40, 3)), rng.integers(classes, size=40)
    with pytest.warns(NotCertifiedWarning, match="The solver stalled"):
        LinearSVC().fit(X, y)
