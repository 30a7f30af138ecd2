"""Models without a penalty, which may have no optimum (separated classes) or many (repeated
columns)."""

from typing import Any

import numpy as np

from ..certificate.explain.linear import repeated_columns
from ..data.rows import Rows
from ..exceptions import AliasWarning
from ..runtime.user_frame import warn_user
from ..solvers.glm.linear_problem import Solution
from ..solvers.least_squares.least_squares import solve
from ..solvers.loop import Fit
from ..solvers.separation.direction import separating_direction
from ..solvers.separation.single_column import separating_column

Direction = tuple[np.ndarray, np.ndarray]


def separation(
    rows: Rows, n_classes: int, fit_intercept: bool, solver_parameters: object, thorough: bool
) -> Direction | None:
    """Return (u, c) that separates the classes in floating point, by a single column if possible.

    ``solver_parameters``: (w, b) of the solver. ``thorough``: use linear programs if needed.
    """
    column = separating_column(rows, n_classes, fit_intercept)
    if column is not None and n_classes == 2:
        u = np.zeros((rows.shape[1], 1))
        u[column.feature] = 1.0 if (column.class_index == 1) == column.above else -1.0
        return u, -column.threshold * u[column.feature]
    if not thorough:
        return None
    direction = separating_direction(rows, n_classes, fit_intercept, solver_parameters)
    return None if direction.u is None or direction.c is None else (direction.u, direction.c)


def least_norm(rows: Rows, w: np.ndarray, b: np.ndarray, fit_intercept: bool) -> Solution:
    """Return the w of least norm with the same scores, by least squares on these scores."""
    if rows.shape[0] <= rows.shape[1]:  # all rows at once
        rows = rows.dense()
    z = rows.allocate((w.shape[1],))
    rows.reduce(_fill_scores, w, b, beside=(z,))
    return solve(rows.with_targets(z, rows.s), fit_intercept)


def _fill_scores(
    X: Any, _y: np.ndarray, _s: Any, z: np.ndarray, w: np.ndarray, b: np.ndarray
) -> tuple[()]:
    z[:] = X @ w + b
    return ()


def warn_of_aliases(model: object, solution: Solution | Fit, n: int) -> None:
    """Warn if some columns of the n rows are linear combinations of others."""
    if solution.aliases is not None:
        names = vars(model).get("feature_names_in_")
        text = repeated_columns(solution.aliases, names, n, len(solution.w))
        warn_user(text, AliasWarning)
