"""Least squares and ridge in one pass over the rows, stable at any scale and offset.

    min_w,b Σ s_i (y_i − x_iᵀw − b)² + α‖w‖²

Columns are centred, and scaled to norm 1. Then, from the cheapest to the most accurate method:

    cholesky   C + penalty = RᵀR if the scaled matrix C = D⁻¹GD⁻¹ is well conditioned, with
               refinement v ← v + (C + penalty)⁻¹h from the residuals if digits were lost
    qr         R of X̃D⁻¹ itself, block by block, if squaring would lose too many digits; its
               singular values decide the rank
    svd        of all rows at once, if they are fewer than the columns
    dual       fewer rows than columns and α > 0 (``dual.py``), unless α is so small that singular
               values are needed

If there are several minimisers, the one with the least ‖w‖ in the user's units is returned.
"""

from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular, svd

from ...data.rows import Rows
from ..glm.linear_problem import (
    CONSTANT_COLUMN_ROUNDING_UNITS,
    Scaled,
    Solution,
    largest_rank_noise,
    rank_noise,
    scaled,
)
from ..linalg.aliases import find_aliases
from ..linalg.cholesky import MIN_REFINED_CONDITION, cholesky_solve, factor
from ..linalg.gram import Gram, NonFiniteError, gram, power_of_two
from .dual import solve_dual
from .nearly_dependent import (
    MAX_WIDE_WORK,
    LeftOutDirections,
    least_norm_of,
    left_out,
    solve_accurately,
)
from .nonnegative import nonnegative

MIN_PLAIN_SINGULAR = 1e-9  # smallest singular value for which float64 residuals are accurate enough
MAX_CHOLESKY_CONDITION = 1e11  # condition number of C beyond which its factor is useless


def solve(
    rows: Rows, fit_intercept: bool = True, alpha: Any = 0.0, positive: bool = False
) -> Solution:
    """Minimise for k targets; ``alpha``: one number, or one for each target.

    O(n·p²) time and O(p²) memory per thread for n > p; O(n²·p) and O(n·p) for n ≤ p.
    """
    n, p = rows.shape
    assert rows.y is not None
    alpha = np.broadcast_to(np.asarray(alpha, dtype=float), rows.y.shape[1:])
    if n <= p:
        if alpha.all() and not positive:
            try:
                solution = solve_dual(rows, fit_intercept, alpha)
            except NonFiniteError:
                solution = None
            if solution is not None:
                return solution
        problem, A, z = all_rows_scaled(rows, fit_intercept)
        if positive:
            return _solve_positive(problem, A, z, alpha)
        return _solve_factored(rows, problem, alpha, A, z, "svd")
    problem = scaled(gram(rows, fit_intercept), fit_intercept)
    rows = rows.dense()  # all that follows is p×p
    if positive:
        return _solve_positive(problem, *_triangle(rows, problem), alpha)
    factors = _factors(rows, problem, alpha)
    if factors is None:
        R, z = qr_of_rows(rows, problem)
        return _solve_factored(rows, problem, alpha, R, z, "qr")
    return _solve_cholesky(rows, problem, alpha, factors)


def _triangle(rows: Rows, problem: Scaled) -> tuple[np.ndarray, np.ndarray]:
    """(R, z) as in ``qr_of_rows``, from the sums if they are accurate enough."""
    if problem.norm.all():
        R, condition = factor(_unit_gram(problem))
        if condition <= MAX_CHOLESKY_CONDITION:
            R = np.triu(R)
            return R, solve_triangular(R, problem.sums.Xy / problem.scale[:, None], trans="T")
    return qr_of_rows(rows, problem)


# --- Cholesky -------------------------------------------------------------------------------------


class _Factors:
    """Triangles R_α with R_αᵀR_α = C + penalty(α), one for each α that occurs."""

    def __init__(self, by_alpha: dict[float, np.ndarray], condition: float):
        self.by_alpha, self.condition = by_alpha, condition

    def solve(self, alpha: np.ndarray, right: np.ndarray) -> np.ndarray:
        v = np.empty_like(right)
        for a, R in self.by_alpha.items():
            columns = alpha == a
            v[:, columns] = cholesky_solve(R, right[:, columns])
        return v


def _unit_gram(problem: Scaled) -> np.ndarray:
    """C = D⁻¹GD⁻¹."""
    C: np.ndarray = problem.sums.G / problem.scale
    C /= problem.scale[:, None]
    return C


def _factors(rows: Rows, problem: Scaled, alpha: np.ndarray) -> _Factors | None:
    """Cholesky factors for every α; None if C is too ill conditioned or the rank is in doubt."""
    if not problem.norm.all() and not alpha.all():
        return None
    C = _unit_gram(problem)
    by_alpha, condition = {}, 1.0
    for a in (alphas := np.unique(alpha)):
        A = C if a == alphas[-1] else C.copy()
        if a > 0:
            A.flat[:: len(A) + 1] += problem.penalty(a)
        by_alpha[float(a)], kappa = factor(A)
        if kappa > MAX_CHOLESKY_CONDITION or (a == 0 and rank_in_doubt(rows, problem, kappa)):
            return None
        condition = max(condition, kappa)
    return _Factors(by_alpha, condition)


def rank_in_doubt(rows: Rows, problem: Scaled, kappa: float) -> bool:
    """Return whether a singular value of the scaled columns may be rounding; κ: condition of C."""
    # σ_min ≥ 1/√κ for columns of norm 1
    noise = 2 * largest_rank_noise(problem, rows)
    return bool(kappa > MAX_CHOLESKY_CONDITION or noise * np.sqrt(kappa) > 1)


def _solve_cholesky(rows: Rows, problem: Scaled, alpha: np.ndarray, factors: _Factors) -> Solution:
    v = factors.solve(alpha, problem.sums.Xy / problem.scale[:, None])
    if factors.condition > MIN_REFINED_CONDITION:
        for _ in range(2):
            penalty = np.column_stack([problem.penalty(a) for a in alpha])
            v += factors.solve(alpha, _half_gradient(rows, problem, v) - penalty * v)
    if alpha.any():
        return problem.solution(v, "cholesky")
    triangle = np.triu(factors.by_alpha[0.0])
    triangle /= problem.unscale
    return problem.solution(v, "cholesky", rank=len(v), triangle=triangle)


def _half_gradient(rows: Rows, problem: Scaled, v: np.ndarray) -> np.ndarray:
    """D⁻¹X̃ᵀ(s∘r) at v, in a pass over the rows."""
    unscale = problem.unscale[:, None]
    h: np.ndarray
    (h,) = rows.reduce(_half_gradient_block, problem.mean, problem.sums.mean_y, unscale * v)
    return unscale * h


def _half_gradient_block(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    mean: np.ndarray,
    mean_y: np.ndarray,
    w: np.ndarray,
) -> tuple[Any]:
    X = np.subtract(X, mean, dtype=float)
    r = y - mean_y - X @ w
    if s is not None:
        r *= s[:, None]
    return (X.T @ r,)


# --- QR and singular values -----------------------------------------------------------------------


def qr_of_rows(rows: Rows, problem: Scaled) -> tuple[np.ndarray, np.ndarray]:
    """(R, z): the triangle of X̃D⁻¹ and Qᵀỹ, for which ‖ỹ − X̃D⁻¹v‖² = ‖z − Rv‖² + constant."""
    p, k = problem.sums.Xy.shape
    (T,) = rows.reduce(
        _qr_block,
        problem.mean,
        problem.sums.mean_y,
        problem.unscale,
        combine=_qr_merge,
        square=True,
        block_rows=max(2 * (p + k), rows.block_rows()),
    )
    return T[:p, :p], T[:p, p:]


def _qr_block(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    mean: np.ndarray,
    mean_y: np.ndarray,
    unscale: np.ndarray,
) -> tuple[Any]:
    p = X.shape[1]
    A = np.empty((X.shape[0], p + y.shape[1]))
    np.subtract(X, mean, out=A[:, :p])
    A[:, :p] *= unscale
    np.subtract(y, mean_y, out=A[:, p:])
    if s is not None:
        A *= np.sqrt(s)[:, None]
    return (np.linalg.qr(A, mode="r"),)


def _qr_merge(left: tuple[Any], right: tuple[Any]) -> tuple[Any]:
    return (np.linalg.qr(np.vstack([left[0], right[0]]), mode="r"),)


def _solve_factored(
    rows: Rows, problem: Scaled, alpha: np.ndarray, A: np.ndarray, z: np.ndarray, solver: str
) -> Solution:
    """Minimise ‖z − Av‖² + Σ penalty v² by the singular values of A (of any number of rows)."""
    p = A.shape[1]
    U, sigma, Vt = svd(A, full_matrices=False, check_finite=False)
    if rows.shape[0] > p and rows.shape[0] * p * p <= MAX_WIDE_WORK and not alpha.any():
        excluded = left_out(rows, problem, sigma, Vt)
        if len(excluded.keep) and sigma[len(excluded.keep) - 1] < MIN_PLAIN_SINGULAR:
            return _solve_nearly_dependent(rows, problem, A, z, excluded, solver)
        retained = np.arange(p) < len(excluded.keep)
    else:
        retained = sigma > rank_noise(sigma, Vt, problem, rows)
    U, sigma, Vt = U[:, retained], sigma[retained], Vt[retained]
    rank = len(sigma)
    v = np.empty((p, z.shape[1]))
    for t, a in enumerate(alpha):
        if rank == p and a == 0:
            v[:, t] = Vt.T @ ((U.T @ z[:, t]) / sigma)
        elif rank == p and len(A) >= p:  # stacked on √penalty, the columns have full rank
            Q, R = np.linalg.qr(np.vstack([A, np.diag(np.sqrt(problem.penalty(a)))]))
            v[:, t] = solve_triangular(R, Q[: len(A)].T @ z[:, t])
        else:
            v[:, t] = _in_row_space(sigma[:, None] * Vt, U.T @ z[:, t], problem.unscale, a)
    if alpha.any():
        return problem.solution(v, solver)
    if rank == p:
        h = _half_gradient(rows, problem, v)
        v += Vt.T @ ((Vt @ h) / sigma[:, None] ** 2)
    return problem.solution(
        v,
        solver,
        rank=rank,
        triangle=A / problem.unscale,
        aliases=find_aliases(A, problem.norm, problem.unscale, rank) if rank < p else None,
    )


def _solve_nearly_dependent(
    rows: Rows,
    problem: Scaled,
    A: np.ndarray,
    z: np.ndarray,
    excluded: LeftOutDirections,
    solver: str,
) -> Solution:
    """Solve with α = 0 for columns so nearly dependent that float64 residuals lose too much."""
    U, sigma, Vt = svd(A[:, excluded.keep], full_matrices=False, check_finite=False)
    w = np.zeros((A.shape[1], z.shape[1]))
    w[excluded.keep] = problem.unscale[excluded.keep, None] * (Vt.T @ ((U.T @ z) / sigma[:, None]))
    b = problem.sums.mean_y - problem.mean @ w
    w, b = solve_accurately(rows, problem, excluded.keep, sigma, Vt, w, b)
    w, b = least_norm_of(excluded, problem, w, b)
    return Solution(
        w, b, solver, rank=len(excluded.keep), triangle=A / problem.unscale,
        aliases=excluded.aliases(problem),
    )  # fmt: skip


def _in_row_space(M: np.ndarray, z: np.ndarray, unscale: np.ndarray, alpha: float) -> np.ndarray:
    """Return v that minimises ‖z − Mv‖² + α‖w‖², w = unscale∘v, M of full row rank; for α = 0, the
    solution of Mv = z with the least ‖w‖.

    With (M/unscale)ᵀ = QT, T square, the solution is w = Qc, in the row space whatever α is. c
    minimises ‖z − Tᵀc‖² + α‖c‖².
    """
    Q, T, order = qr((M / unscale).T, mode="economic", pivoting=True)
    z = z[order]
    if alpha > 0:
        stacked = np.vstack([T.T, np.sqrt(alpha) * np.eye(len(T))])
        Q_c, R_c = np.linalg.qr(stacked)
        c = solve_triangular(R_c, Q_c[: len(T)].T @ z)
    else:
        c = solve_triangular(T, z, trans="T")
    w: np.ndarray = Q @ c
    return w / unscale


def all_rows_scaled(rows: Rows, fit_intercept: bool) -> tuple[Scaled, np.ndarray, np.ndarray]:
    """(problem, √s∘X̃D⁻¹, √s∘ỹ) of all rows at once, for n ≤ p."""
    X, y, s = rows.block(0, rows.shape[0])
    assert y is not None
    p, k = X.shape[1], y.shape[1]
    largest = np.abs(X).max(axis=0).astype(float)
    if not np.isfinite(largest).all():
        raise NonFiniteError
    q = power_of_two(largest)
    A = np.array(X, dtype=float) if q is None else X * q
    s = np.ones(len(y)) if s is None else s
    root = np.sqrt(s)[:, None]
    S = s.sum()
    size = np.sqrt(s @ (A * A))
    mean, mean_y = np.zeros(p), np.zeros(k)
    if fit_intercept:  # relative to one row, so that a distant origin costs no digits
        mean, mean_y = A[s.argmax()].copy(), s @ y / S
        mean += s @ (A - mean) / S
    A -= mean
    A *= root
    norm = np.sqrt((A * A).sum(axis=0))
    norm[norm <= CONSTANT_COLUMN_ROUNDING_UNITS * np.finfo(float).eps * size] = 0.0
    A[:, norm == 0] = 0.0
    z = root * (y - mean_y)
    empty = np.empty((0, 0))
    sums = Gram(S, mean, mean_y, empty, empty, (z * z).sum(axis=0), size, q)
    problem = Scaled.of(sums, norm, fit_intercept)
    A /= problem.scale
    return problem, A, z


def _solve_positive(problem: Scaled, A: np.ndarray, z: np.ndarray, alpha: np.ndarray) -> Solution:
    v = nonnegative(A, z, [problem.penalty(a) for a in alpha])
    return problem.solution(v, "active set")
