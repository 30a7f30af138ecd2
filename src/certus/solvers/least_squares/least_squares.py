"""Least squares and ridge on one pass over the rows, stable at any scale and offset.

    min_w,b Σ s_i (y_i − x_iᵀw − b)² + α‖w‖²

Columns are centred, and scaled to norm 1. Then, from cheap to safe:

    cholesky   C + penalty = RᵀR where the scaled matrix C = D⁻¹GD⁻¹ is well conditioned, with steps
               of refinement v ← v + (C + penalty)⁻¹h from the data's own residuals where digits
               were lost
    qr         R of X̃D⁻¹ itself, block by block, where squaring would lose too many; its singular
               values decide the rank
    svd        the same of all rows at once, where they are fewer than the columns
    dual       fewer rows than columns and α > 0 (``dual.py``), unless α is so small that only
               singular values will do

Of all minimisers the one with the least ‖w‖, in the user's units, is taken.
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
from ..linalg.cholesky import REFINE_ABOVE, cholesky_solve, factor
from ..linalg.gram import Gram, NonFiniteError, gram, power_of_two
from .dual import solve_dual
from .nearly_dependent import MOST_WORK, LeftOut, least_norm_of, left_out, solve_accurately
from .nonnegative import nonnegative

ACCURATE_BELOW = 1e-9  # the least singular value of scaled columns that plain residuals will do for
QR_ABOVE = 1e11  # condition of C from which its Cholesky factor is worth nothing


def solve(
    rows: Rows, fit_intercept: bool = True, alpha: Any = 0.0, positive: bool = False
) -> Solution:
    """Minimise for k targets; alpha one number or one for each.

    O(n·p²) time and O(p²) memory a thread for n > p; O(n²·p) and O(n·p) for n ≤ p.
    """
    n, p = rows.shape
    assert rows.y is not None
    alpha = np.broadcast_to(np.asarray(alpha, dtype=float), rows.y.shape[1:])
    if n <= p:
        if alpha.all() and not positive:
            try:
                found = solve_dual(rows, fit_intercept, alpha)
            except NonFiniteError:
                found = None
            if found is not None:
                return found
        problem, A, z = all_rows_scaled(rows, fit_intercept)
        if positive:
            return _solve_positive(problem, A, z, alpha)
        return _solve_factored(rows, problem, alpha, A, z, "svd")
    problem = scaled(gram(rows, fit_intercept), fit_intercept)
    rows = rows.dense()  # whatever else is taken from them is p×p
    if positive:
        return _solve_positive(problem, *_triangle(rows, problem), alpha)
    factors = _factors(rows, problem, alpha)
    if factors is None:
        R, z = qr_of_rows(rows, problem)
        return _solve_factored(rows, problem, alpha, R, z, "qr")
    return _solve_cholesky(rows, problem, alpha, factors)


def _triangle(rows: Rows, problem: Scaled) -> tuple[np.ndarray, np.ndarray]:
    """(R, z) as of ``qr_of_rows``, from the sums where these have the digits."""
    if problem.norm.all():
        R, condition = factor(_unit_gram(problem))
        if condition <= QR_ABOVE:
            R = np.triu(R)
            return R, solve_triangular(R, problem.sums.Xy / problem.scale[:, None], trans="T")
    return qr_of_rows(rows, problem)


# --- Cholesky -------------------------------------------------------------------------------------


class _Factors:
    """Triangles R_α with R_αᵀR_α = C + penalty(α), one for each α that occurs."""

    def __init__(self, of: dict[float, np.ndarray], condition: float):
        self.of, self.condition = of, condition

    def solve(self, alpha: np.ndarray, right: np.ndarray) -> np.ndarray:
        v = np.empty_like(right)
        for a, R in self.of.items():
            columns = alpha == a
            v[:, columns] = cholesky_solve(R, right[:, columns])
        return v


def _unit_gram(problem: Scaled) -> np.ndarray:
    """C = D⁻¹GD⁻¹."""
    C: np.ndarray = problem.sums.G / problem.scale
    C /= problem.scale[:, None]
    return C


def _factors(rows: Rows, problem: Scaled, alpha: np.ndarray) -> _Factors | None:
    """None where a matrix is too ill conditioned for its square, or where the rank is in doubt."""
    if not problem.norm.all() and not alpha.all():
        return None
    C = _unit_gram(problem)
    of, condition = {}, 1.0
    for a in (alphas := np.unique(alpha)):
        A = C if a == alphas[-1] else C.copy()
        if a > 0:
            A.flat[:: len(A) + 1] += problem.penalty(a)
        of[float(a)], kappa = factor(A)
        if kappa > QR_ABOVE or (a == 0 and rank_in_doubt(rows, problem, kappa)):
            return None
        condition = max(condition, kappa)
    return _Factors(of, condition)


def rank_in_doubt(rows: Rows, problem: Scaled, kappa: float) -> bool:
    """May a singular value of the scaled columns be rounding, C having the condition number κ?"""
    # σ_min ≥ 1/√κ for columns of norm 1
    noise = 2 * largest_rank_noise(problem, rows)
    return bool(kappa > QR_ABOVE or noise * np.sqrt(kappa) > 1)


def _solve_cholesky(rows: Rows, problem: Scaled, alpha: np.ndarray, factors: _Factors) -> Solution:
    v = factors.solve(alpha, problem.sums.Xy / problem.scale[:, None])
    if factors.condition > REFINE_ABOVE:
        for _ in range(2):
            penalty = np.column_stack([problem.penalty(a) for a in alpha])
            v += factors.solve(alpha, _half_gradient(rows, problem, v) - penalty * v)
    if alpha.any():
        return problem.solution(v, "cholesky")
    triangle = np.triu(factors.of[0.0])
    triangle /= problem.unscale
    return problem.solution(v, "cholesky", rank=len(v), triangle=triangle)


def _half_gradient(rows: Rows, problem: Scaled, v: np.ndarray) -> np.ndarray:
    """D⁻¹X̃ᵀ(s∘r) at v, from the data."""
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
    if rows.shape[0] > p and rows.shape[0] * p * p <= MOST_WORK and not alpha.any():
        out = left_out(rows, problem, sigma, Vt)
        if len(out.keep) and sigma[len(out.keep) - 1] < ACCURATE_BELOW:
            return _solve_nearly_dependent(rows, problem, A, z, out, solver)
        kept = np.arange(p) < len(out.keep)
    else:
        kept = sigma > rank_noise(sigma, Vt, problem, rows)
    U, sigma, Vt = U[:, kept], sigma[kept], Vt[kept]
    rank = len(sigma)
    v = np.empty((p, z.shape[1]))
    for t, a in enumerate(alpha):
        if rank == p and a == 0:
            v[:, t] = Vt.T @ ((U.T @ z[:, t]) / sigma)
        elif rank == p and len(A) >= p:  # stacked on √penalty the columns are independent
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
    rows: Rows, problem: Scaled, A: np.ndarray, z: np.ndarray, out: LeftOut, solver: str
) -> Solution:
    """α = 0, for columns that are independent by less than floats can be trusted with."""
    U, sigma, Vt = svd(A[:, out.keep], full_matrices=False, check_finite=False)
    w = np.zeros((A.shape[1], z.shape[1]))
    w[out.keep] = problem.unscale[out.keep, None] * (Vt.T @ ((U.T @ z) / sigma[:, None]))
    b = problem.sums.mean_y - problem.mean @ w
    w, b = solve_accurately(rows, problem, out.keep, sigma, Vt, w, b)
    w, b = least_norm_of(out, problem, w, b)
    return Solution(
        w, b, solver, rank=len(out.keep), triangle=A / problem.unscale,
        aliases=out.aliases(problem),
    )  # fmt: skip


def _in_row_space(M: np.ndarray, z: np.ndarray, unscale: np.ndarray, alpha: float) -> np.ndarray:
    """v that minimises ‖z − Mv‖² + α‖w‖², w = unscale∘v, M of full row rank; α = 0: of those with
    Mv = z, the one with the least ‖w‖.

    With (M/unscale)ᵀ = QT, T square, the answer is w = Qc: it has no part that the rows do not see,
    whatever α is. c minimises ‖z − Tᵀc‖² + α‖c‖².
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
    if fit_intercept:  # about one row, so that a far origin costs no digits
        mean, mean_y = A[s.argmax()].copy(), s @ y / S
        mean += s @ (A - mean) / S
    A -= mean
    A *= root
    norm = np.sqrt((A * A).sum(axis=0))
    norm[norm <= CONSTANT_COLUMN_ROUNDING_UNITS * np.finfo(float).eps * size] = 0.0
    A[:, norm == 0] = 0.0
    z = root * (y - mean_y)
    none = np.empty((0, 0))
    sums = Gram(S, mean, mean_y, none, none, (z * z).sum(axis=0), size, q)
    problem = Scaled.of(sums, norm, fit_intercept)
    A /= problem.scale
    return problem, A, z


def _solve_positive(problem: Scaled, A: np.ndarray, z: np.ndarray, alpha: np.ndarray) -> Solution:
    v = nonnegative(A, z, [problem.penalty(a) for a in alpha])
    return problem.solution(v, "active set")
