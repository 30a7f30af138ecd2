"""Without a penalty there may be no optimum, or many: the classes may be separated, columns repeat
others."""

from typing import Any

import numpy as np

from ..data.rows import Rows
from ..solvers.glm.linear_problem import Solution
from ..solvers.least_squares.least_squares import solve
from ..solvers.separation.direction import separating_direction
from ..solvers.separation.single_column import separating_column

Direction = tuple[np.ndarray, np.ndarray]


def separation(
    rows: Rows, n_classes: int, fit_intercept: bool, reached: object, thorough: bool
) -> Direction | None:
    """(u, c) that separates the classes as far as floats can tell: one column if one does.

    ``reached``: (w, b) of the solver. ``thorough``: by linear programs, if nothing cheaper does.
    """
    found = separating_column(rows, n_classes, fit_intercept)
    if found is not None and n_classes == 2:
        u = np.zeros((rows.shape[1], 1))
        u[found.feature] = 1.0 if (found.class_index == 1) == found.above else -1.0
        return u, -found.threshold * u[found.feature]
    if not thorough:
        return None
    by_any = separating_direction(rows, n_classes, fit_intercept, reached)
    return None if by_any.u is None or by_any.c is None else (by_any.u, by_any.c)


def least_norm(rows: Rows, w: np.ndarray, b: np.ndarray, fit_intercept: bool) -> Solution:
    """The smallest w with the same scores: least squares on the scores themselves."""
    if rows.shape[0] <= rows.shape[1]:  # all rows at once
        rows = rows.dense()
    z = np.empty((rows.shape[0], w.shape[1]))
    rows.map(_scores, z, w, b)
    return solve(rows.with_targets(z, rows.s), fit_intercept)


def _scores(X: Any, _y: np.ndarray, _s: Any, w: np.ndarray, b: np.ndarray) -> Any:
    return X @ w + b
