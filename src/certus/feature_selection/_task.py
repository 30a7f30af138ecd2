r"""A problem of NCFS with the rows it came from, and the solver that is asked for.

"lbfgs" alone ends where the slope fulfils its conditions. Yang's ascent ends where F hardly
changes; batches and parts do not look at all rows at once.
"""

from copy import copy
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from ..data.rows import Rows
from ..solvers.ncfs import (
    Fit,
    Problem,
    average,
    lbfgs,
    lbfgs_narrow,
    minibatch_lbfgs,
    sgd,
    yang,
)
from ..solvers.progress import OnStep
from ._scaling import Scaling

SOLVERS: dict[str, Any] = {
    "lbfgs": lbfgs, "yang": yang, "sgd": sgd, "minibatch-lbfgs": minibatch_lbfgs,
}  # fmt: skip
# rows of a batch, as (share of all, least, most): an SGD of few large batches is a plain ascent
BATCH = {"sgd": (0.02, 10, 128), "minibatch-lbfgs": (0.5, 30, 1000)}


class Task(NamedTuple):
    rows: Rows  # as given, y the classes' indices or numbers
    problem: Problem  # of the columns that vary, scaled
    scaling: Scaling

    def at(self, alpha: float) -> "Task":
        """The same with another λ."""
        problem = copy(self.problem)
        problem.alpha = 0.0 if problem.scale_free else alpha
        return self._replace(problem=problem)

    def exact(self, columns: np.ndarray) -> np.ndarray:
        """Columns of the problem in float64, whatever X is kept in."""
        return self.scaling.of(self.rows.X, self.scaling.columns[columns], np.dtype(float))

    @property
    def narrow(self) -> bool:
        return bool(self.problem.X.dtype == np.float32)


def aims_at_kkt(model: Any) -> bool:
    """Does the fit claim a local optimum?"""
    return bool(model.solver == "lbfgs" and model.n_partitions == 1)


def solve(
    model: Any, task: Task, W: np.ndarray, on_step: OnStep, tol: float | None, max_iter: int | None
) -> Fit:
    """From W by the solver of ``model``'s parameters; None: its tol, its max_iter."""
    problem, name = task.problem, model.solver
    how: dict[str, Any] = {"max_iter": int(model.max_iter) if max_iter is None else max_iter}
    if name in BATCH:
        how["batch_size"] = _rows_of_a_batch(model, problem.shape[0])
    else:
        how["tol"] = float(model.tol) if tol is None else tol
    if model.step != "auto" and name in ("yang", "sgd"):
        how["step"] = float(model.step)
    if aims_at_kkt(model) and task.narrow:
        return lbfgs_narrow(problem, W, task.exact, on_step=on_step, **how)
    random_state, solver = check_random_state(model.random_state), SOLVERS[name]
    if name in BATCH:
        solver = partial(solver, random_state=random_state)
    if model.n_partitions == 1:
        fit: Fit = solver(problem, W, on_step=on_step, **how)
        return fit
    return average(
        problem, W, n_partitions=int(model.n_partitions), random_state=random_state,
        solver=solver, on_step=on_step, **how,
    )  # fmt: skip


def _rows_of_a_batch(model: Any, n: int) -> int:
    if model.batch_size != "auto":
        return min(int(model.batch_size), n)
    share, least, most = BATCH[model.solver]
    return min(max(int(share * n), least), most, n)
