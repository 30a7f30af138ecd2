"""Rows that a result of ``inference`` predicts, and the standard errors of their scores.

    z = φᵀθ̂,   var z = φᵀ(LMLᵀ)φ = ‖M^½(Lᵀφ)‖²

φ = (1, x). Lᵀφ is computed first: where columns are far from 0, the digits that b and xᵀw share
cancel there once, and not twice as they would in φᵀ(cov θ̂)φ.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..exceptions import InferenceError
from ..text.format import count, listed


def read_new_rows(X_new: Any, names: Sequence[str], fit_intercept: bool) -> np.ndarray:
    """Return [1 X] of new rows, whose columns are checked against the names of the fit."""
    columns = getattr(X_new, "columns", None)
    if columns is not None:
        given, expected = [str(name) for name in columns], list(names)
        missing = [repr(name) for name in expected if name not in given]
        if missing and not all(name == f"x{j}" for j, name in enumerate(expected)):
            raise ValueError(f"X_new lacks the column{'s' * (len(missing) > 1)} {listed(missing)}")
        if not missing and given != expected:
            raise ValueError(f"give the columns of X_new in the order of the fit: {expected}")
    X = np.asarray(X_new.toarray() if hasattr(X_new, "toarray") else X_new, dtype=float)
    if X.ndim != 2 or X.shape[1] != len(names):
        raise ValueError(
            f"X_new has shape {X.shape}: give rows of {count(len(names), 'column')}, as in the fit"
        )
    bad = np.argwhere(~np.isfinite(X))
    if len(bad):
        row, column = bad[0]
        raise ValueError(
            f"X_new has {X[row, column]} in row {row}, column {names[column]!r}: impute it or drop "
            "the row"
        )
    return np.column_stack([np.ones(len(X)), X]) if fit_intercept else X


def require_determined(standard_errors: np.ndarray) -> None:
    """Raise InferenceError if some coefficients are not determined by the rows."""
    if np.isnan(standard_errors).any():
        raise InferenceError(
            "columns repeat others, so the rows do not determine all coefficients, and new rows "
            "may lie where nothing is known: drop the repeated columns and fit again"
        )


def standard_errors_of(
    directions: np.ndarray, factors: tuple[np.ndarray | None, np.ndarray]
) -> Any:
    """Return √(φᵀLMLᵀφ) of each row φ; L = None is the identity."""
    L, M = factors
    u = directions if L is None else directions @ L
    return np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", u, M, u, optimize=True), 0.0))
