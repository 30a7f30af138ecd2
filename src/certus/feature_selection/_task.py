r"""A problem of NCFS with the rows it came from, and the solver that is asked for.

"lbfgs" ends where the slope fulfils its conditions; Yang's ascent ends where F hardly changes.
"""

from copy import copy
from typing import NamedTuple, Protocol

import numpy as np

from ..data.rows import Rows
from ..solvers.ncfs import NCFSFit, NCFSProblem, lbfgs, lbfgs_float32, with_X, yang
from ..solvers.progress import OnStep
from ._scaling import LARGEST, Scaling

SOLVERS = ("lbfgs", "yang")


class SolverParameters(Protocol):
    """What an estimator says of its solver."""

    solver: str
    max_iter: int
    tol: float
    step: float | str


class Task(NamedTuple):
    rows: Rows  # as given, y the classes' indices or numbers
    problem: NCFSProblem  # of the columns that vary, scaled
    scaling: Scaling

    def at(self, alpha: float) -> "Task":
        """The same with another λ."""
        problem = copy(self.problem)
        problem.alpha = 0.0 if problem.scale_free else alpha
        return self._replace(problem=problem)

    def exact(self, columns: np.ndarray) -> np.ndarray:
        """Columns of the problem in float64, whatever X is kept in."""
        return self.scaling.of(self.rows.X, self.scaling.columns[columns], np.dtype(np.float64))

    def in_float32(self) -> "Task":
        """The same about the means of the columns, in float32 where the metric computes in it."""
        problem = self.problem
        if problem.metric != "manhattan" or self.narrow:
            return self
        X = problem.X - problem.X.mean(axis=0)
        if np.abs(X).max() > LARGEST[np.dtype(np.float32)]:
            return self
        return self._replace(problem=with_X(problem, X.astype(np.float32)))

    @property
    def narrow(self) -> bool:
        return bool(self.problem.X.dtype == np.float32)


def aims_at_kkt(model: SolverParameters) -> bool:
    """Does the fit claim a local optimum?"""
    return model.solver == "lbfgs"


def solve(
    model: SolverParameters, task: Task, W: np.ndarray, on_step: OnStep, tol: float | None,
    max_iter: int | None,
) -> NCFSFit:  # fmt: skip
    """From W by the solver of ``model``'s parameters; None: its tol, its max_iter."""
    problem = task.problem
    most = int(model.max_iter) if max_iter is None else max_iter
    tol = float(model.tol) if tol is None else tol
    if model.solver == "yang":
        step = 0.01 if model.step == "auto" else float(model.step)
        return yang(problem, W, step=step, max_iter=most, tol=tol, on_step=on_step)
    if task.narrow:
        return lbfgs_float32(problem, W, task.exact, max_iter=most, tol=tol, on_step=on_step)
    return lbfgs(problem, W, max_iter=most, tol=tol, on_step=on_step)
