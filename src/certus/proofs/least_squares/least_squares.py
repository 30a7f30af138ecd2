r"""Least squares and ridge: the objective, and how far a given (w, b) is from the minimum.

    f(w, b) = Σ_i s_i (y_i − x_iᵀw − b)² + α‖w‖²          α = 0: least squares

Let r be the residuals, x̄ the weighted mean, X̃ = X − 1x̄ᵀ, G = X̃ᵀSX̃ and h = X̃ᵀ(s∘r) − αw, half the
negative gradient. f is quadratic, so its excess over the minimum is known exactly:

    f(w, b) − f* = (Σ s r)²/S + hᵀ(G + αI)⁺h

A lower bound G ⪰ λ·diag(d²) gives an upper bound of the excess,

    f(w, b) − f* ≤ (Σ s r)²/S + Σ_j h_j² / (λd_j² + α).

*A subset of the rows proves such a bound for all rows*: the matrix C of a subset, centred at its
own mean, is a lower bound of the matrix of all rows. With its columns scaled to norm 1, λ is its
smallest eigenvalue if columns are few; if they are many, τ if the Cholesky factorisation of C − τI
succeeds. Only if that is not enough (nearly collinear columns, a wrong w) are all rows factored, by
QR.

For sparse rows with many columns the matrix C is too expensive. Then only a penalty has a known
curvature; without one nothing is proven unless f itself is nearly 0. It can still be shown that w
is *not* the minimum, by a step that lowers f: for any u,

    f(w, b) − f* ≥ (hᵀu)² / uᵀ(G + αI)u.

w ≥ 0 (``positive``): h may be replaced by h + μ for any μ ≥ 0 with μᵀw = 0; the best μ is used.

Without an intercept x̄ = 0 and the first term is absent.
"""

from typing import Any

import numpy as np

from certus.proofs.least_squares._factored import from_all_rows
from certus.proofs.least_squares._passes import (
    centered_gram,
    column_sums,
    factor,
    merge,
    sparse_gram,
    squares,
)
from certus.proofs.least_squares._problem import ColumnFactor, SquaresExcess, ViewedRows
from certus.proofs.linalg.linear_sums import (
    UNIT,
    ResidualStatistics,
    choose_view,
    column_statistics,
    gamma,
    residual_error,
    statistics,
    view_sample_rows,
    viewed_intercept,
)
from certus.proofs.types import Numbers, RowData

TARGET_ROUNDING_UNITS = 2**13  # of y: the residual of a constant y is rounding, not 0
ROWS_FOR_CURVATURE = 1024
MAX_EIGENVALUE_COLUMNS = 128  # up to which eigenvalues cost less than a pass over the rows
MAX_SPARSE_COLUMNS = 4096  # up to which p×p matrices of sparse rows are formed
MAX_COEF_SHARE = 1e-3  # of ‖w‖: if coefficients may be off by more, a sharper proof is worthwhile
MIN_EIGENVALUE = 1e-6  # τ: more collinear columns (κ > 1000) need a QR factorisation


def check_squares(
    data: RowData,
    w: np.ndarray,
    b: np.ndarray,
    alpha: Numbers = 0.0,
    fit_intercept: bool = True,
    positive: bool = False,
    rank: int | None = None,
    spectrum: bool = False,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Recompute objective, bound and residual of w (p×k), b (k,) with penalties alpha (k,).

    ``rank``: the rank that the model states, to be recomputed. ``spectrum``: recompute singular
    values and the condition number as well.

    O(n·p·k) operations plus O(p³) for the curvature; O(n·p²) if all rows must be factored.
    """
    problem = LeastSquaresFit(data, w, b, alpha, fit_intercept, positive)
    penalized = bool(problem.alpha.all())
    # each proof costs more than the previous one; the first that reaches tol is enough
    lam, scale = (0.0, np.ones(len(problem.w))) if penalized else subset_curvature(problem)
    answer = problem.answer(lam, scale)
    if answer["residual"] > tol or not coefs_are_accurate(answer):
        problem.take_columns()
        if penalized:
            lam, scale = subset_curvature(problem)
        answer = problem.answer(lam, scale)
    is_requested = spectrum or (rank is not None and "rank" not in answer)
    if (
        answer["residual"] <= tol
        and not is_requested
        and (coefs_are_accurate(answer) or has_too_many_columns(data))
    ):
        return answer
    problem.take_columns()
    if has_too_many_columns(data):
        return {**answer, "unproven": too_many_columns(data), **problem.gain_of_step()}
    if data.sparse and not spectrum:
        lam, scale = sparse_curvature(problem)
        answer = problem.answer(lam, scale)
        is_proven = answer["residual"] <= tol and coefs_are_accurate(answer)
        if is_proven and (rank is None or "rank" in answer):
            return answer
    return problem.answer_from_all_rows(tol, rank)


def coefs_are_accurate(answer: dict[str, Any]) -> bool:
    """Return whether the coefficients are bounded to as many digits as a reader expects."""
    return bool(answer.get("coef_share", 0.0) <= MAX_COEF_SHARE)


check = check_squares  # the longer name is for proofs that build on it


def has_too_many_columns(data: RowData) -> bool:
    return bool(data.sparse and data.shape[1] > MAX_SPARSE_COLUMNS)


def too_many_columns(data: RowData) -> str:
    return f"{data.shape[1]:,} sparse columns: too many for the matrix that would prove more"


class LeastSquaresFit:
    """One (w, b) on one data set, with its sums and what follows from them."""

    def __init__(
        self,
        data: RowData,
        w: np.ndarray,
        b: np.ndarray,
        alpha: Numbers,
        fit_intercept: bool,
        positive: bool,
    ):
        w, b = np.asarray(w, dtype=float), np.asarray(b, dtype=float)
        self.data, self.fit_intercept, self.positive = data, fit_intercept, positive
        self.user = w, b
        X, y, s = data.sample_block(view_sample_rows(data.shape[1]))
        penalized = bool(np.any(alpha))
        self.view = view = choose_view(X, y, s, center=fit_intercept, penalized=penalized)
        self.b, self.b_error = viewed_intercept(w, b, view)
        self.q = np.ones(len(w)) if view.q is None else view.q
        # in the viewed columns the coefficients are w/q and the penalty is α q² (w/q)²
        self.w = w / self.q[:, None]
        self.alpha = np.zeros_like(w)
        if penalized:
            self.alpha += np.asarray(alpha, dtype=float) * self.q[:, None] ** 2
        self.infeasible = ""
        if positive and (w < 0).any():
            self.infeasible = "a coefficient is below 0, which positive=True excludes"
        elif not fit_intercept and b.any():
            self.infeasible = "there is an intercept, which fit_intercept=False excludes"
        self.mean: Any = None  # until ``take_columns``
        self.may_fall = np.zeros(
            len(w), dtype=bool
        )  # w_j < 0 stands for another w_i that decreases
        self.take_sums(float)

    def take_sums(self, dtype: type) -> None:
        """Sum over all rows, in float64 or in long double."""
        self.unit = float(np.finfo(dtype).eps) / 2
        sums = self.data.reduce(statistics, self.w.astype(dtype), self.b.astype(dtype), self.view)
        self.wide_sums = sums
        self.sums = ResidualStatistics(*(np.asarray(field, dtype=float) for field in sums))
        # no column is larger than all together (with a margin for rounding)
        self.find_gradient(np.full(len(self.w), 1.001 * np.sqrt(self.sums.XX)))

    def take_columns(self) -> None:
        """Compute means and norms of the columns in one more pass, which is needed if scales differ
        by many orders of magnitude, and for a wrong w."""
        if self.mean is not None:
            return
        Sx, Sxx = self.data.reduce(column_statistics, self.view)
        self.mean = Sx / self.sums.S if self.fit_intercept else 0 * Sx
        # ‖x̃_j‖² = Σ s x² − S x̄²; if that is rounding, the column is constant
        square = Sxx - self.sums.S * self.mean**2
        noise = 4 * gamma(self.data.depth + 4) * Sxx
        self.norm = np.sqrt(np.where(square > noise, square, 0.0))
        self.size = np.sqrt(Sxx)
        self.find_gradient(self.size)

    def find_gradient(self, size: np.ndarray) -> None:
        """Compute h and bounds of the rounding of h and of the residuals, for ‖x_j‖ ≤ size_j."""
        sums, alpha_w = self.sums, self.alpha * self.w
        rss, depth = np.sqrt(sums.Srr), gamma(self.data.depth + 4, self.unit)
        h, self.h_error = self.wide_sums.Xsr - alpha_w, np.multiply.outer(size, 3 * depth * rss)
        self.h_error += 2 * UNIT * np.abs(alpha_w)
        if self.fit_intercept and self.mean is not None:
            h = h - np.multiply.outer(self.mean, self.wide_sums.Sr)
            # the mean is float64 even if the sums are not
            mean_error = gamma(self.data.depth + 4) * np.abs(sums.Sr) / np.sqrt(sums.S)
            self.h_error += np.multiply.outer(size, mean_error)
        elif self.fit_intercept:  # x̄ Σ s r, with |x̄_j| ≤ ‖x_j‖/√S
            self.h_error += np.multiply.outer(size, np.abs(sums.Sr) / np.sqrt(sums.S))
        self.unclipped = h.astype(float)
        if self.positive:
            h = np.where((self.w == 0) & (h < 0) & ~self.may_fall[:, None], 0, h)
        self.h = h.astype(float)
        error = residual_error(sums, size, self.w, self.b, self.b_error, self.unit)
        self.r_error = error + depth * rss

    @property
    def objective(self) -> Any:
        # w² alone may overflow
        penalty = (np.sqrt(self.alpha) * self.w) ** 2 if self.alpha.any() else self.alpha
        return self.sums.Srr + penalty.sum(axis=0)

    @property
    def null_objective(self) -> Any:
        """f₀, the objective of the intercept alone, but not less than the rounding of y gives."""
        sums, c_y = self.sums, self.view.c_y
        total = sums.Syy - sums.Sy**2 / sums.S if self.fit_intercept else sums.Syy
        uncentered = sums.Syy + 2 * c_y * sums.Sy + sums.S * c_y**2
        return (
            np.maximum(total, (TARGET_ROUNDING_UNITS * UNIT) ** 2 * uncentered)
            + np.finfo(float).tiny
        )

    def answer(self, lam: float, scale: np.ndarray) -> dict[str, Any]:
        """Result from the curvature G ⪰ λ·diag(scale²)."""
        proof = "the penalty's curvature" if self.alpha.all() else "an objective that is nearly 0"
        proof = "the curvature of a subset of the rows" if lam > 0 else proof
        curvature = lam * scale[:, None] ** 2 + self.alpha
        root = np.sqrt(curvature)  # h² alone underflows where columns and residuals are tiny
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            excess = np.where(self.h == 0, 0.0, (self.h / root) ** 2).sum(axis=0)
            error = np.where(self.h_error == 0, 0.0, (self.h_error / root) ** 2).sum(axis=0)
        answer, excess = self.verdict(excess, error, proof)
        if np.all(curvature > 0):
            # curvature_j (w_j − w*_j)² ≤ excess, which underflows where residuals are below 1e-154
            underflows = (excess < np.finfo(float).tiny) & (self.r_error > 0)
            excess = np.where(underflows, np.finfo(float).tiny, excess)
            with np.errstate(over="ignore"):
                error = np.sqrt(excess) / root * self.q[:, None]
            answer |= self.coef_bounds(error.max(axis=0))
        if lam > 0:
            answer["rank"] = len(self.w)
        return answer

    def coef_bounds(self, error: np.ndarray) -> dict[str, Any]:
        """Bound |w_j − w*_j| ≤ error_t of target t, absolute and relative to ‖w_t‖."""
        w = self.user[0]
        largest = np.abs(w).max(axis=0, initial=0.0)
        unit = np.where(largest > 0, largest, 1.0)  # so that no square overflows
        length = np.linalg.norm(w / unit, axis=0) * unit
        share = np.divide(error, length, out=np.zeros_like(length), where=length > 0)
        return {"coef_error": float(np.max(error)), "coef_share": float(np.max(share))}

    def verdict(
        self, excess: np.ndarray, error: np.ndarray, proof: str
    ) -> tuple[dict[str, Any], Any]:
        f, sums = self.objective, self.sums
        if self.fit_intercept:
            excess = excess + sums.Sr**2 / sums.S
        # ‖projection of r‖ ≤ ‖projection of r̂‖ + ‖r̂ − r‖
        excess = (np.sqrt(excess) + np.sqrt(error) + self.r_error) ** 2
        # |f̂ − f|, from the residuals' rounding and that of their sum
        evaluation = (2 * np.sqrt(sums.Srr) + self.r_error) * self.r_error
        evaluation += gamma(self.data.depth + len(self.w) + 6) * f
        return self.claim(f, evaluation, excess, proof), excess

    def excess_share(self, nominal: np.ndarray) -> float:
        """Excess along w plus that of b, relative to f₀."""
        of_b = self.sums.Sr**2 / self.sums.S if self.fit_intercept else 0.0
        return float(np.max((nominal + of_b) / self.null_objective))

    def total_excess(self, excess: SquaresExcess) -> Any:
        """Excess of w plus that of b and all rounding, (k,)."""
        return self.verdict(excess.excess, excess.error, "")[1]

    def is_within(self, excess: SquaresExcess, tol: float) -> bool:
        """Return whether the excess is within tol, rounding included."""
        return bool(self.verdict(excess.excess, excess.error, "")[0]["residual"] <= tol)

    def claim(
        self, f: np.ndarray, evaluation: np.ndarray, excess: np.ndarray, proof: str
    ) -> dict[str, Any]:
        """Result from f, its error ``evaluation``, and a bound of its excess."""
        bound = np.maximum(f - evaluation - excess, 0.0)
        gap, f0 = f + evaluation - bound, self.null_objective
        return {
            "objective": float(f.sum()),
            "bound": float(bound.sum()),
            "gap": float(gap.sum()) * (1 + 8 * UNIT),
            "residual": float("inf") if self.infeasible else float(np.max(gap / f0)),
            "null_objective": float(f0.sum()),
            "proof": proof,
            "infeasible": self.infeasible,
        }

    def gain_of_step(self) -> dict[str, Any]:
        """Lower bound of the excess relative to f₀, from the step u = h/(‖x̃_j‖² + α)."""
        diagonal = self.norm[:, None] ** 2 + self.alpha
        u = np.divide(self.h, diagonal, out=np.zeros_like(self.h), where=diagonal > 0)
        (curvature,) = self.data.reduce(squares, u, self.mean @ u, self.view)
        curvature = curvature + (self.alpha * u * u).sum(axis=0)
        slope = np.einsum("ij,ij->j", self.h, u)
        root = np.sqrt(curvature)
        gain = np.divide(slope, root, out=np.zeros_like(slope), where=root > 0) ** 2
        return {"at_least": float(np.max(gain / self.null_objective))}

    @property
    def user_mean(self) -> Any:
        """x̄ in the user's units; 0 without an intercept."""
        return self.mean / self.q + (0.0 if self.view.c is None else self.view.c)

    def answer_from_all_rows(self, tol: float, rank: int | None) -> dict[str, Any]:
        """Factor all rows; if then only rounding is left, sum again in long double."""
        scale = np.where(self.norm > 0, self.norm, 1.0)
        arguments = self.view, self.mean, scale, self.fit_intercept
        R = self.data.reduce(factor, *arguments, combine=merge, square=True)[0]
        start = int(self.fit_intercept)
        return from_all_rows(self, ColumnFactor(R[start:, start:], scale), tol, rank)


def subset_curvature(problem: ViewedRows) -> tuple[float, Any]:
    """(λ, d) with G ⪰ λ·diag(d²), proven from a subset of the rows; λ ≤ 0 if that fails.

    d_j is the norm of the subset's column j, centred at the subset's mean.
    """
    p = problem.data.shape[1]
    is_proven = 2 * p if problem.data.sparse else p + p // 20 + 64
    subset = problem.data.sample(max(ROWS_FOR_CURVATURE, is_proven))
    m = subset.shape[0]
    no_curvature = 0.0, np.ones(p)
    if m <= p or has_too_many_columns(problem.data):
        return no_curvature
    mean = np.zeros(p)
    if problem.fit_intercept:
        S, Sx = subset.reduce(column_sums, problem.view)
        mean = Sx / max(S, np.finfo(float).tiny)
    C, t = subset.reduce(centered_gram, problem.view, mean, square=True)
    d = np.sqrt(np.diagonal(C))
    if not d.all():
        return no_curvature
    C /= d
    C /= d[:, None]
    # rounding of the product and of the factorisation: both at most γ·trace in norm, trace = p
    slack = (gamma(m + 8) + gamma(8 * p + 8)) * p
    if problem.fit_intercept:  # the mean is rounded: exactly centred, C is smaller by ttᵀ/S
        slack += float(np.sum((np.abs(t) / d / np.sqrt(S) + gamma(m + 8)) ** 2))
    return eigenvalue_bound(C, slack), d


def eigenvalue_bound(C: np.ndarray, slack: float) -> float:
    """Lower bound of λ_min(C), C accurate to ``slack``; 0 if it may be below τ."""
    p = len(C)
    if p <= MAX_EIGENVALUE_COLUMNS:
        lam = float(np.linalg.eigvalsh(C)[0])
        return lam - slack if lam > MIN_EIGENVALUE else 0.0
    C.flat[:: p + 1] -= MIN_EIGENVALUE
    try:
        np.linalg.cholesky(C)
    except np.linalg.LinAlgError:
        return 0.0
    return max(MIN_EIGENVALUE - slack, 0.0)


def sparse_curvature(problem: LeastSquaresFit) -> tuple[float, Any]:
    """(λ, d) with G ⪰ λ·diag(d²) from all sparse rows: C = Σ s x xᵀ − S x̄x̄ᵀ.

    Rounding: an entry of either term is off by γ‖x_i‖‖x_j‖ at most, so C, with columns scaled to 1,
    by γ Σ_j ‖x_j‖²/‖x̃_j‖² in norm.
    """
    p, d = len(problem.w), problem.norm
    if not d.all():
        return 0.0, np.ones(p)
    (C,) = problem.data.reduce(sparse_gram, problem.view, square=True)
    C -= problem.sums.S * np.multiply.outer(problem.mean, problem.mean)
    C /= d
    C /= d[:, None]
    terms = float(np.sum((problem.size / d) ** 2))
    slack = 4 * gamma(problem.data.depth + 8) * terms + gamma(8 * p + 8) * p
    return max(eigenvalue_bound(C, slack), 0.0), d
