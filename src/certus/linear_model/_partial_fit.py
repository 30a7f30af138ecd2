"""``partial_fit``: rows that come in parts."""

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.labels import class_weights
from ..data.rows import Rows
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

ONLY = "solver='sgd', solver='asgd' or certus.solvers.SGD(…)"


def takes_parts(model: Any) -> bool:
    """For ``available_if``: a solver that can do with rows it sees once."""
    solver = model.solver
    if isinstance(solver, SGD) or (isinstance(solver, str) and solver in ("sgd", "asgd")):
        return True
    raise AttributeError(
        f"partial_fit needs a method that can do with rows it sees once, and solver={solver!r} is "
        f"none: use {ONLY}"
    )


def part_of_classes(
    model: "LinearClassifier",
    X: object,
    y: object,
    classes: object,
    sample_weight: object,
    problems_of: Callable[[Rows, np.ndarray, np.ndarray | None], tuple[SGD, list[Problem]]],
) -> None:
    """One more part for a classifier. ``problems_of(rows, classes, weights of the classes)``."""
    if isinstance(model.class_weight, str):
        raise ValueError(
            f"class_weight={model.class_weight!r} needs all rows at once, and partial_fit has a "
            "part of them: give the weights as a dict"
        )
    rows, known = classes_of_part(model, X, y, classes, sample_weight)
    assert rows.y is not None
    weight = class_weights(model.class_weight, known, rows.y[:, 0].astype(np.intp), rows.s)
    solver, problems = problems_of(rows, known, weight)
    begun = (model.densify().coef_.T, model.intercept_) if "coef_" in vars(model) else None
    w, b, parts = next_part(model, solver, problems, begun)
    model.classes_ = known
    model._set(Fit(w, b, solver.name, parts))


def next_part(
    model: "LinearClassifier | LinearRegressor", solver: SGD, problems: list[Problem], begun: Start
) -> tuple[np.ndarray, np.ndarray, int]:
    """(w, b) after these rows too, and how many parts there were; ``begun``: (w, b) to begin at, or
    None. The model keeps what is known of the rows so far."""
    streams = copy.deepcopy(vars(model).get("_streams"))  # an interrupt leaves the old ones
    if streams is None:
        columns = range(len(problems))
        starts = [
            solver.begin(problem) if begun is None else _part_of(begun, k, len(problems))
            for k, problem in zip(columns, problems, strict=True)
        ]
        streams = [StreamState.at(solver, *start) for start in starts]
    for stream, problem in zip(streams, problems, strict=True):
        if not problem.fit_intercept:  # now: there may have been one before
            stream.without_intercept()
    with blas_limiter.for_work(problems[0].rows.shape):
        w, b = fit_part_of_each(solver, problems, streams)
    if not (np.isfinite(w).all() and np.isfinite(b).all()):
        raise ValueError(
            "the steps were too long: a coefficient is no finite number any more, and the model "
            "is as it was before these rows. Give a smaller step, or scale the columns"
        )
    model._streams = streams
    model._forget("certificate_", "_direction")  # the rows before are not here
    return w, b, streams[0].parts


def _part_of(begun: tuple[np.ndarray, np.ndarray], k: int, count: int) -> Any:
    w, b = begun
    return (w, b) if count == 1 else (w[:, [k]], b[[k]])
