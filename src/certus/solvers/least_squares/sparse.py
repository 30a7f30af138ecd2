"""Choice of the method for sparse rows.

    dense                 X is small when dense: as for any array (``least_squares.py``)
    conjugate gradients   α > 0; also α = 0 if p×p is too large
    Gram                  α = 0, w ≥ 0, or conjugate gradients too slow: p×p sums from pairs of
                          entries, then as for any array with those sums
    dual                  α > 0, fewer rows than columns, and conjugate gradients too slow: the n×n
                          matrix of the rows (``dual.py``)
    svd                   as dual, but α too small for a factor of that matrix: singular values of
                          the dense rows

p×p and n×n matrices are formed up to ``MAX_GRAM_COLUMNS``, dense n×p up to ``MAX_DENSE_ELEMENTS``,
for singular values up to ``MAX_SVD_ELEMENTS``.
"""

from typing import Any

import numpy as np

from ...data.rows import Rows
from ..glm.linear_problem import Solution
from ..progress import OnStep, ignore
from .conjugate_gradients import MAX_TOL, conjugate_gradients
from .dual import solve_dual
from .least_squares import solve

MAX_DENSE_ELEMENTS = 1 << 20
MAX_SVD_ELEMENTS = 1 << 25  # 256 MB
MAX_GRAM_COLUMNS = 4096  # 128 MB for each p×p matrix
MAX_CHEAP_PASSES = 60  # of conjugate gradients; after that a factorisation is probably cheaper
ITERATIVE_SOLVERS = ("lsqr", "sparse_cg")
FACTORING_SOLVERS = ("svd", "cholesky")


def solve_sparse(
    rows: Rows,
    fit_intercept: bool = True,
    alpha: Any = 0.0,
    positive: bool = False,
    solver: str = "auto",
    tol: float = MAX_TOL,
    max_iter: int | None = None,
    on_step: OnStep = ignore,
) -> Solution:
    """Solve on sparse rows: O(entries·k) per pass of conjugate gradients, O(entries²/n + p³) by
    Gram sums."""
    n, p = rows.shape
    assert rows.y is not None
    alpha = np.broadcast_to(np.asarray(alpha, dtype=float), rows.y.shape[1:])
    is_small = n * p <= MAX_DENSE_ELEMENTS
    factorable = is_small or (p <= MAX_GRAM_COLUMNS and n > p)
    if positive and not factorable:
        raise ValueError(
            f"positive=True on sparse X of {n:,} rows × {p:,} columns needs a matrix that is too "
            f"large: select at most {MAX_GRAM_COLUMNS:,} columns (and fewer than rows), or use "
            "positive=False"
        )
    if solver in ITERATIVE_SOLVERS:
        return conjugate_gradients(rows, fit_intercept, alpha, tol, max_iter, on_step)
    if factorable and (is_small or positive or solver in FACTORING_SOLVERS or not alpha.all()):
        return solve(rows.dense() if is_small else rows, fit_intercept, alpha, positive)
    few_rows = bool(n <= p and n <= MAX_GRAM_COLUMNS and alpha.all())
    if few_rows and solver in FACTORING_SOLVERS:
        solution = _solve_by_rows(rows, fit_intercept, alpha)
        if solution is not None:
            return solution
    max_passes = MAX_CHEAP_PASSES if (factorable or few_rows) and max_iter is None else max_iter
    solution = conjugate_gradients(rows, fit_intercept, alpha, tol, max_passes, on_step)
    if solution.stopped_at is None or max_iter is not None:
        return solution
    if factorable:
        return solve(rows, fit_intercept, alpha, positive)
    if few_rows:
        solution = _solve_by_rows(rows, fit_intercept, alpha)
        if solution is None:
            solution = conjugate_gradients(rows, fit_intercept, alpha, tol, None, on_step)
    return solution


def _solve_by_rows(rows: Rows, fit_intercept: bool, alpha: np.ndarray) -> Solution | None:
    """Ridge from the n×n matrix of the rows, or by singular values; None if neither is possible."""
    n, p = rows.shape
    solution = solve_dual(rows, fit_intercept, alpha)
    if solution is None and n * p <= MAX_SVD_ELEMENTS:
        solution = solve(rows.dense(), fit_intercept, alpha)
    return solution
