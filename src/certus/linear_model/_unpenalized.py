"""Unpenalised problems, with no optimum (separated classes) or many (repeated columns)."""

from typing import Any

import numpy as np

from ..data.rows import Rows
from ..solvers.glm.linear_problem import Solution
from ..solvers.least_squares.least_squares import solve
from ..solvers.separation.direction import separating_direction
from ..solvers.separation.single_column import by_one_column

Direction = tuple[np.ndarray, np.ndarray]


def separation(
    rows: Rows, n_classes: int, fit_intercept: bool, reached: object, thorough: bool
) -> Direction | None:
    """Return (u, c) that separates the classes to within rounding, a single column if possible.

    ``reached``: the solver's (w, b). ``thorough``: solve linear programs if cheaper tests fail.
    """
    found = by_one_column(rows, n_classes, fit_intercept)
    if found is not None and n_classes == 2:
        u = np.zeros((rows.shape[1], 1))
        u[found.feature] = 1.0 if (found.class_index == 1) == found.above else -1.0
        return u, -found.threshold * u[found.feature]
    if not thorough:
        return None
    by_any = separating_direction(rows, n_classes, fit_intercept, reached)
    return None if by_any.u is None or by_any.c is None else (by_any.u, by_any.c)


def least_norm(rows: Rows, w: np.ndarray, b: np.ndarray, fit_intercept: bool) -> Solution:
    """Return the w of least norm with the same scores, by least squares on the scores."""
    if rows.shape[0] <= rows.shape[1]:  # all rows at once
        rows = rows.dense()
    z = np.empty((rows.shape[0], w.shape[1]))
    rows.map(_scores, z, w, b)
    return solve(rows.with_targets(z, rows.s), fit_intercept)


def _scores(X: Any, _y: np.ndarray, _s: Any, w: np.ndarray, b: np.ndarray) -> Any:
    return X @ w + b
