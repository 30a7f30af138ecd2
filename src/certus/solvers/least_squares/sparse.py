"""Which way sparse rows are solved.

    dense                 few elements with their zeros: as any array (``least_squares.py``)
    conjugate gradients   α > 0; also α = 0 where p×p is too much
    Gram                  α = 0, w ≥ 0, or conjugate gradients too slow: p×p sums from pairs of
                          entries, then as for any array with those sums
    dual                  α > 0, fewer rows than columns, and conjugate gradients too slow: the n×n
                          matrix of the rows (``dual.py``)
    svd                   … and α too small for a factor of that matrix: singular values of all rows
                          with their zeros

What is p×p or n×n is held up to ``GRAM_COLUMNS``. n×p is allocated up to ``DENSE_ELEMENTS``, for
singular values up to ``SVD_ELEMENTS``.
"""

from typing import Any

import numpy as np

from ...data.rows import Rows
from ..glm.linear_problem import Solution
from ..progress import OnStep, ignore
from .conjugate_gradients import ACCURATE, conjugate_gradients
from .dual import solve_dual
from .least_squares import solve

DENSE_ELEMENTS = 1 << 20
SVD_ELEMENTS = 1 << 25  # 256 MB
GRAM_COLUMNS = 4096  # 128 MB for each p×p matrix
PATIENCE = 60  # passes, after which pairs of entries are likely to be cheaper than more of them
ITERATIVE = ("lsqr", "sparse_cg")
FACTORING = ("svd", "cholesky")


def solve_sparse(
    rows: Rows,
    fit_intercept: bool = True,
    alpha: Any = 0.0,
    positive: bool = False,
    solver: str = "auto",
    tol: float = ACCURATE,
    max_iter: int | None = None,
    on_step: OnStep = ignore,
) -> Solution:
    """O(entries·k) a pass of conjugate gradients; O(entries²/n + p³) through Gram sums."""
    n, p = rows.shape
    assert rows.y is not None
    alpha = np.broadcast_to(np.asarray(alpha, dtype=float), rows.y.shape[1:])
    few = n * p <= DENSE_ELEMENTS
    factorable = few or (p <= GRAM_COLUMNS and n > p)
    if positive and not factorable:
        raise ValueError(
            f"positive=True on sparse X of {n:,} rows × {p:,} columns needs a matrix that is too "
            f"large: select at most {GRAM_COLUMNS:,} columns (and fewer than rows), or use "
            "positive=False"
        )
    if solver in ITERATIVE:
        return conjugate_gradients(rows, fit_intercept, alpha, tol, max_iter, on_step)
    if factorable and (few or positive or solver in FACTORING or not alpha.all()):
        return solve(rows.dense() if few else rows, fit_intercept, alpha, positive)
    few_rows = bool(n <= p and n <= GRAM_COLUMNS and alpha.all())
    if few_rows and solver in FACTORING:
        found = _from_matrix_of_rows(rows, fit_intercept, alpha)
        if found is not None:
            return found
    patience = PATIENCE if (factorable or few_rows) and max_iter is None else max_iter
    found = conjugate_gradients(rows, fit_intercept, alpha, tol, patience, on_step)
    if found.stopped_at is None or max_iter is not None:
        return found
    if factorable:
        return solve(rows, fit_intercept, alpha, positive)
    if few_rows:
        found = _from_matrix_of_rows(rows, fit_intercept, alpha)
        if found is None:
            found = conjugate_gradients(rows, fit_intercept, alpha, tol, None, on_step)
    return found


def _from_matrix_of_rows(rows: Rows, fit_intercept: bool, alpha: np.ndarray) -> Solution | None:
    """Ridge by way of n×n, or by singular values; None where neither is at hand."""
    n, p = rows.shape
    found = solve_dual(rows, fit_intercept, alpha)
    if found is None and n * p <= SVD_ELEMENTS:
        found = solve(rows.dense(), fit_intercept, alpha)
    return found
