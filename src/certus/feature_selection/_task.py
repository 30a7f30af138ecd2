r"""A problem of NCFS with the rows it came from, and the choice of solver.

"lbfgs" ends where the KKT conditions hold; Yang's ascent ends where F hardly changes.
"""

from copy import copy
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..data.rows import Rows
from ..solvers.ncfs import NCFSFit, NCFSObjective, NCFSProblem, lbfgs, lbfgs_float32, with_X, yang
from ..solvers.progress import OnStep
from ._scaling import MAX_ABSOLUTE_VALUE, Scaling

SOLVERS = ("lbfgs", "yang")


class SolverParameters(Protocol):
    """Parameters of an estimator that concern its solver."""

    solver: str
    max_iter: int
    tol: float
    step: float | str


class Kept(NamedTuple):
    """Rows that predictions are made from, in the columns with weight, and F."""

    X: np.ndarray  # as stored
    X_float64: np.ndarray
    F: float


class LeftOutScores(Protocol):
    """Interface: leave-one-out scores of an estimator, of all rows at once or batch by batch."""

    def _loo_score(self, task: "Task", X: np.ndarray, W: np.ndarray, /) -> float: ...

    def _batch_score(self, task: Any, columns: np.ndarray, W: np.ndarray, /) -> float: ...


class Task(NamedTuple):
    """Rows, their problem and the scaling between the two."""

    rows: Rows  # as given; y holds class indices or numbers
    problem: NCFSProblem  # in the columns that vary, scaled
    scaling: Scaling

    @property
    def batch_size(self) -> None:
        """Rows of a batch: all."""
        return None

    @property
    def remarks(self) -> tuple[str, ...]:
        return ()

    @property
    def kept_numbers(self) -> None:
        """Numbers of the rows that predictions are made from: all."""
        return None

    @property
    def kept_y(self) -> np.ndarray:
        """Return y of these rows; the caller may change his own later."""
        assert self.rows.y is not None
        return np.array(self.rows.y[:, 0])

    def at(self, alpha: float) -> "Task":
        """Return the task with another λ."""
        problem = copy(self.problem)
        problem.alpha = 0.0 if problem.scale_free else alpha
        return self._replace(problem=problem)

    def columns_in_float64(self, columns: np.ndarray) -> np.ndarray:
        """Columns of the problem in float64, whatever the type of X."""
        return self.scaling.of(self.rows.X, self.scaling.columns[columns], np.dtype(np.float64))

    def kept(self, fit: NCFSFit, columns: np.ndarray, W: np.ndarray) -> Kept:
        """Return all rows in some columns of the problem, whose weights are W, and F."""
        X = np.ascontiguousarray(self.problem.X[:, columns])
        if not self.is_float32:
            return Kept(X, X, fit.objective)
        X_float64 = self.columns_in_float64(columns)
        return Kept(X, X_float64, with_X(self.problem, X_float64).value(W))

    def solve(
        self, model: SolverParameters, W: np.ndarray, on_step: OnStep, tol: float | None,
        max_iter: int | None,
    ) -> NCFSFit:  # fmt: skip
        """Maximise F from W; rows in float32 are refined in float64."""
        if not (self.is_float32 and aims_at_kkt(model)):
            return maximize(model, self.problem, W, on_step, tol, max_iter)
        iterations = int(model.max_iter) if max_iter is None else max_iter
        tol = float(model.tol) if tol is None else tol
        exact = self.columns_in_float64
        return lbfgs_float32(self.problem, W, exact, max_iter=iterations, tol=tol, on_step=on_step)

    def score(self, model: LeftOutScores, kept: Kept, columns: np.ndarray, W: np.ndarray) -> float:
        """Leave-one-out score of all rows with weights W of some columns."""
        return model._loo_score(self, kept.X_float64, W)

    def in_float32(self) -> "Task":
        """Return the task with centred columns in float32, if the metric computes in float32."""
        problem = self.problem
        if problem.metric != "manhattan" or self.is_float32:
            return self
        X = problem.X - problem.X.mean(axis=0)
        if np.abs(X).max() > MAX_ABSOLUTE_VALUE[np.dtype(np.float32)]:
            return self
        return self._replace(problem=with_X(problem, X.astype(np.float32)))

    @property
    def is_float32(self) -> bool:
        return bool(self.problem.X.dtype == np.float32)


def aims_at_kkt(model: SolverParameters) -> bool:
    """Return whether the fit claims a local optimum."""
    return model.solver == "lbfgs"


def maximize(
    model: SolverParameters, problem: NCFSObjective, W: np.ndarray, on_step: OnStep,
    tol: float | None, max_iter: int | None,
) -> NCFSFit:  # fmt: skip
    """Maximise F from W by the model's solver; tol and max_iter default to the model's."""
    iterations = int(model.max_iter) if max_iter is None else max_iter
    tol = float(model.tol) if tol is None else tol
    if model.solver == "yang":
        step = 0.01 if model.step == "auto" else float(model.step)
        return yang(problem, W, step=step, max_iter=iterations, tol=tol, on_step=on_step)
    return lbfgs(problem, W, max_iter=iterations, tol=tol, on_step=on_step)
