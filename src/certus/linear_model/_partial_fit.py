"""``partial_fit``: rows that arrive in parts."""

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.labels import class_weights
from ..data.rows import Rows
from ..data.streamed import StreamedTable
from ..data.types import Start
from ..runtime.pool import blas_limiter
from ..solvers.first_order.partial_fit import StreamState, fit_part_of_each
from ..solvers.first_order.sgd import SGD
from ..solvers.loop import Fit
from ..solvers.problem import Problem
from ._partial_fit_data import classes_of_part

if TYPE_CHECKING:
    from ._base import LinearRegressor
    from ._classifier import LinearClassifier

PARTIAL_FIT_SOLVERS = "solver='sgd', solver='asgd' or certus.solvers.SGD(…)"


def supports_partial_fit(model: Any) -> bool:
    """Return True, for ``available_if``, if the solver needs each row only once; else raise."""
    solver = model.solver
    if isinstance(solver, SGD) or (isinstance(solver, str) and solver in ("sgd", "asgd")):
        return True
    raise AttributeError(
        f"partial_fit needs a solver that reads each row only once, and solver={solver!r} does "
        f"not: use {PARTIAL_FIT_SOLVERS}"
    )


def fit_class_part(
    model: "LinearClassifier",
    X: object,
    y: object,
    classes: object,
    sample_weight: object,
    problems_of: Callable[[Rows, np.ndarray, np.ndarray | None], tuple[SGD, list[Problem]]],
) -> None:
    """Fit a classifier to one more part.

    ``problems_of(rows, classes, class weights)`` returns the solver and the problems.
    """
    if isinstance(X, StreamedTable):
        raise ValueError(
            "partial_fit takes one part of the rows, as arrays: give the blocks of table.batches() "
            "one by one, or the table to fit"
        )
    if isinstance(model.class_weight, str):
        raise ValueError(
            f"class_weight={model.class_weight!r} needs all rows at once, and partial_fit has only "
            "a part of them: give the weights as a dict"
        )
    rows, all_classes = classes_of_part(model, X, y, classes, sample_weight)
    assert rows.y is not None
    weight = class_weights(model.class_weight, all_classes, rows.y[:, 0].astype(np.intp), rows.s)
    solver, problems = problems_of(rows, all_classes, weight)
    start = (model.densify().coef_.T, model.intercept_) if "coef_" in vars(model) else None
    w, b, parts = fit_next_part(model, solver, problems, start)
    model.classes_ = all_classes
    model._set(Fit(w, b, solver.name, parts))


def fit_next_part(
    model: "LinearClassifier | LinearRegressor", solver: SGD, problems: list[Problem], start: Start
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return (w, b) after these rows, and the number of parts so far.

    ``start``: (w, b) to start from, or None. The model keeps the state of the stream.
    """
    streams = copy.deepcopy(vars(model).get("_streams"))  # an interrupt leaves the old ones
    if streams is None:
        columns = range(len(problems))
        starts = [
            solver.begin(problem) if start is None else _part_of(start, k, len(problems))
            for k, problem in zip(columns, problems, strict=True)
        ]
        streams = [StreamState.at(solver, *start) for start in starts]
    for stream, problem in zip(streams, problems, strict=True):
        if not problem.fit_intercept:  # there may have been one in earlier parts
            stream.without_intercept()
    with blas_limiter.for_work(problems[0].rows.shape):
        w, b = fit_part_of_each(solver, problems, streams)
    if not (np.isfinite(w).all() and np.isfinite(b).all()):
        raise ValueError(
            "the steps were too long: a coefficient is no longer finite. The model is as it was "
            "before these rows. Give a smaller step, or scale the columns"
        )
    model._streams = streams
    model._forget("certificate_", "_direction")  # earlier rows are not available
    return w, b, streams[0].parts


def _part_of(start: tuple[np.ndarray, np.ndarray], k: int, count: int) -> Any:
    w, b = start
    return (w, b) if count == 1 else (w[:, [k]], b[[k]])
