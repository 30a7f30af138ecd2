r"""Penalised regression: the objective, and how far a given (w, b) is from the minimum.

    F(w, b) = (1/D) Σ_i s_i ℓ(y_i − x_iᵀw − b) + pen(w)

Each target is a separate problem. D is Σ s, the number of rows, or 1. With a = ℓ'(r), or any other
a with Σ s a = 0 if there is an intercept, and v = (1/D) Σ s a x,

    F(w, b) ≥ (1/D) Σ_i s_i (y_i a_i − a_i²/2) − pen*(v)        for every (w, b)

since ℓ lies above its tangents (``duality``). All of a may be scaled by τ, which brings v into the
domain of pen*; the first sum is then a parabola in τ, and its maximum is taken.

Squares without an L1 part are least squares with a penalty α = D·l2, for which there are sharper
bounds (``least_squares``). If the dual point proves too little, slopes are used (``_slopes``): MCP
and SCAD are not convex and have no bound. If there is no penalty, as in Huber's regression over
w ≥ 0, gradient and curvature of the rows give the bound (``_residual_curvature``).

*Rounding.* The dual point is a as computed, so only the sums over it are inexact: each by γ times
the product of two norms. The objective also has the error of r.
"""

from typing import Any

import numpy as np

from certus.proofs.glm.margins import shares
from certus.proofs.lasso._dual_points import DualPoint, ProvenGap
from certus.proofs.lasso._residual_curvature import residual_excess
from certus.proofs.lasso._slopes import excess_of_squares, slopes, stationary
from certus.proofs.lasso._uniqueness import not_unique
from certus.proofs.lasso.penalty_terms import ElasticNetTerm, PenaltyTerm, term_of
from certus.proofs.lasso.residual_sums import (
    HuberResidual,
    ResidualLoss,
    SquaredResidual,
    constant_sums,
    loss_sums,
    weight_sum,
)
from certus.proofs.least_squares.least_squares import (
    MAX_EIGENVALUE_COLUMNS,
    TARGET_ROUNDING_UNITS,
    check_squares,
)
from certus.proofs.linalg.linear_sums import (
    UNIT,
    choose_view,
    column_statistics,
    gamma,
    view_sample_rows,
    viewed_intercept,
)
from certus.proofs.linalg.negligible_directions import left_out_findings
from certus.proofs.types import Numbers, RowData

NO_CURVATURE = (
    "columns that nearly repeat others, along which slopes cannot be distinguished from rounding, "
    "or too many such columns"
)
HIDDEN_SLOPE = "columns or coefficients so large that rounding hides the slope"
TERM_ROUNDINGS = 8  # operations on a term before it is summed
MAX_NEWTON_STEPS = 60  # for the best constant; a few are enough


@np.errstate(over="ignore", invalid="ignore")  # overflow proves nothing and is refused
def check(
    data: RowData,
    *,
    w: np.ndarray,
    b: np.ndarray,
    loss: dict[str, Any],
    penalty: dict[str, Any],
    divisor: str | None = None,
    fit_intercept: bool = True,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Recompute objective, bound and residual of w (p×k), b (k,).

    ``divisor``: D is the sum of "weights", the number of "rows", or 1 (None).

    One pass of O(n·p·k) operations, or two if the scales of columns differ widely.
    """
    w, b = np.asarray(w, dtype=float), np.asarray(b, dtype=float)
    term = term_of(penalty, len(w))
    is_squared = loss["name"] == "squared"
    if is_squared and isinstance(term, ElasticNetTerm) and term.l1 == 0:
        return by_least_squares(data, w, b, term, divisor, fit_intercept, tol)
    residual = SquaredResidual() if is_squared else HuberResidual(float(loss["delta"]))
    fit = PenalizedFit(data, w, b, residual, term, divisor, fit_intercept)
    if not term.convex:
        return fit.stationary_verdict(tol)
    proven = fit.proven()
    # each proof costs more than the previous one; the first that reaches tol is enough
    if not proven.reaches(tol, fit.null_objective):
        fit.take_columns()
        proven = fit.proven()
    if is_squared and (
        len(w) <= MAX_EIGENVALUE_COLUMNS or not proven.reaches(tol, fit.null_objective)
    ):
        proven = fit.proven_by_curvature(proven)
    extra: dict[str, Any] = {}
    if not np.isfinite(proven.gap).all():
        proven, extra = fit.proven_without_penalty(np.asarray(b, dtype=float), proven)
        slope = extra.pop("slope")
    if not np.isfinite(proven.gap).all():
        result = fit.stationary_verdict(tol)
        return {**result, **extra, "residual": max(result["residual"], slope)}
    result = fit.verdict(proven) | extra
    if is_squared and result["residual"] <= tol and proven.coef_error is None:
        result["not_unique"] = fit.not_unique()
    return result


def divided_by(data: RowData, divisor: str | None) -> float:
    """The divisor D."""
    if divisor is None:
        return 1.0
    return float(data.reduce(weight_sum)[0]) if divisor == "weights" else float(data.shape[0])


class PenalizedFit:
    """One (w, b) on one data set, with its sums and what follows from them."""

    def __init__(
        self, data: RowData, w: np.ndarray, b: np.ndarray, loss: ResidualLoss, term: PenaltyTerm,
        divisor: str | float | None, fit_intercept: bool,
    ):  # fmt: skip
        self.data, self.loss, self.term, self.fit_intercept = data, loss, term, fit_intercept
        self.penalized = w
        X, y, s = data.sample_block(view_sample_rows(data.shape[1]))
        self.view = choose_view(X, y, s, center=fit_intercept)
        self.q = np.ones(len(w)) if self.view.q is None else self.view.q
        self.w, (self.b, self.b_error) = w / self.q[:, None], viewed_intercept(w, b, self.view)
        self.infeasible = term.excludes(w)
        if not (np.isfinite(w).all() and np.isfinite(b).all()):
            self.infeasible = "a coefficient is not a finite number"
        elif not fit_intercept and b.any():
            self.infeasible = "there is an intercept, which fit_intercept=False excludes"
        sets = loss.sets if fit_intercept else 1
        self.sums = data.reduce(loss_sums, self.w, self.b, self.view, loss, sets)
        divisors = {"weights": self.sums.S, "rows": data.shape[0]}
        self.D = 1.0 if divisor is None else float(divisors.get(str(divisor), divisor))
        self.rounding = gamma(data.depth + TERM_ROUNDINGS)
        self.mean: Any = None  # until ``take_columns``
        # no column is larger than all together (with a margin for rounding)
        self.size = np.full(len(w), 1.001 * np.sqrt(self.sums.XX))
        self.products = 1.001 * np.sqrt(self.sums.XX) * np.linalg.norm(self.w, axis=0)
        self.slope = np.sqrt(1.001 * self.sums.aa[:2].sum(axis=0))
        self._scale_by_targets()

    def take_columns(self) -> None:
        """Compute means and norms of the columns, in one more pass."""
        if self.mean is not None:
            return
        Sx, self.squares = self.data.reduce(column_statistics, self.view)
        self.mean, self.size = Sx / self.sums.S, np.sqrt(1.001 * self.squares)
        self.products = np.minimum(self.products, self.size @ np.abs(self.w))

    @property
    def objective(self) -> Any:
        return self.sums.value / self.D + self.term.value(self.penalized)

    def _scale_by_targets(self) -> None:
        """Compute ‖ỹ‖ and f₀, the objective of the intercept alone, neither less than the rounding
        of y gives; if w = 0 is infeasible, of y − Xw for the w that stands for it."""
        sums, c_y = self.sums, self.view.c_y
        uncentered = sums.Syy + 2 * c_y * sums.Sy + sums.S * c_y**2
        b = sums.Sy / sums.S if self.fit_intercept else np.zeros_like(sums.Sy)
        least = (TARGET_ROUNDING_UNITS * UNIT) ** 2 * uncentered + np.finfo(float).tiny
        square = sums.Syy - b * sums.Sy
        self.null = self.term.nearest_to_zero(self.penalized)
        w = self.null / self.q[:, None] if self.null.any() else None
        if w is not None:
            square = 2 * self._loss_of_best_constant(b, SquaredResidual(), w)
        square = np.maximum(square, least)
        # a lower bound, since it is the unit of slopes: y² and b·Σ s y cancel
        rounding = 4 * gamma(self.data.depth + TERM_ROUNDINGS) * (sums.Syy + square)
        self.spread = np.sqrt(np.maximum(square - rounding, least)) * (1 - 16 * UNIT)
        total = square / 2
        if np.isfinite(self.loss.delta):
            total = np.maximum(self._loss_of_best_constant(b, self.loss, w), least / 2)
        self.null_objective = total / self.D + self.term.value(self.null)

    def _loss_of_best_constant(
        self, b: np.ndarray, loss: ResidualLoss, w: np.ndarray | None
    ) -> Any:
        """min_b Σ s ℓ(y − b), or of y − xᵀw − b, by Newton's method from the mean, safeguarded by a
        bracket."""
        low, high = np.full(len(b), -np.inf), np.full(len(b), np.inf)
        for _ in range(MAX_NEWTON_STEPS):
            value, slope, n_inner, _ = self.data.reduce(constant_sums, b, self.view, loss, w)
            step = slope / np.maximum(n_inner, self.sums.S / 16)
            if not self.fit_intercept or (np.abs(slope * step) <= 1e-6 * value).all():
                break
            low, high = np.where(slope > 0, b, low), np.where(slope < 0, b, high)
            new = b + step
            b = np.where((new > low) & (new < high), new, (low + high) / 2)
        return value

    @property
    def steepest(self) -> Any:
        """Lower bound of √Σ s a² for the intercept alone: the unit of slopes."""
        all_beyond = self.loss.delta * np.sqrt(self.sums.S) * (1 - self.rounding)
        return np.minimum(self.spread, all_beyond)

    @property
    def residual_error(self) -> Any:
        """Bound of √Σ s (r̂ − r)²: |r̂_i − r_i| ≤ γ_{p+4} (|x_i|ᵀ|w| + |y_i| + |b|) + error of b."""
        root = np.sqrt(self.sums.S)
        total = self.products + np.sqrt(self.sums.Syy) + np.abs(self.b) * root
        return gamma(len(self.w) + 4) * total + self.b_error * root

    def evaluation(self) -> Any:
        """Bound of |F̂ − F|: |ℓ(r̂) − ℓ(r)| ≤ |a||r̂ − r| + ½(r̂ − r)², plus the rounding of sums."""
        error = self.residual_error
        loss = (self.slope + error / 2) * error / self.D
        return loss + (2 * self.rounding + gamma(len(self.w) + 8)) * self.objective

    def dual_points(self) -> list[DualPoint]:
        """Dual points, with Σ s a = 0 if there is an intercept."""
        sums, rss = self.sums, self.slope
        zeros = np.zeros_like(rss)
        all_rows = sums.sa[:2], sums.aa[:2], sums.ay[:2], sums.V[:2]
        sa, aa, ay, V = (field.sum(axis=0) for field in all_rows)
        if not self.fit_intercept:
            return [self._point(ay, aa, V, zeros)]
        if len(sums.sa) == 1:
            t = sa / sums.S
            if self.mean is None:  # t Σ s x, with |Σ s x_j| ≤ √S ‖x_j‖
                return [self._point(ay - t * sums.Sy, aa - t * sa, V, np.abs(t) * np.sqrt(sums.S))]
            V = V - np.multiply.outer(self.mean * sums.S, t)
            return [self._point(ay - t * sums.Sy, aa - t * sa, V, zeros)]
        rho, error = self._balance()
        ay_, aa_, V_ = rho * sums.ay[:2], rho**2 * sums.aa[:2], rho[:, None] * sums.V[:2]
        scaled = ay_.sum(axis=0), aa_.sum(axis=0), V_.sum(axis=0)
        points = [self._point(*scaled, error * rss)]
        inner, a_inner, y_inner, V_inner = sums.sa[2], sums.aa[2], sums.ay[2], sums.V[2]
        with np.errstate(divide="ignore", invalid="ignore"):
            t, off = sa / inner, 6 * self.rounding * rss * np.sqrt(sums.S / inner)
        too_few = ~(
            np.abs(t) <= self.loss.delta / 4
        )  # the rounding of t is smaller than the margin
        t = np.where(too_few, 0.0, t)
        shifted = ay - t * y_inner, aa - 2 * t * a_inner + t**2 * inner, V - t * V_inner
        return [*points, self._point(*shifted, np.where(too_few, np.inf, off))]

    def _point(
        self, ay: np.ndarray, aa: np.ndarray, v: np.ndarray, change: np.ndarray
    ) -> "DualPoint":
        """Dual point from its sums; ``change`` bounds the distance of a, in norm over the rows,
        from the a that was summed."""
        unit, change = self.q[:, None] * self.D, change + 6 * self.rounding * self.slope
        ay = ay - change * np.sqrt(self.sums.Syy)
        aa = np.maximum(aa, 0.0) + change * (3 * self.slope + change)
        return DualPoint(ay / self.D, aa / self.D, v / unit, np.outer(self.size, change) / unit)

    def _balance(self) -> tuple[Any, Any]:
        """ρ for both signs, and a bound of its distance to the ρ with Σ s a = 0 exactly."""
        A = np.abs(self.sums.sa[:2])
        error = self.rounding * np.sqrt(self.sums.S) * np.sqrt(self.sums.aa[:2])
        larger, is_known = A.max(axis=0), (2 * error < A).all(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            rho = np.where(is_known, np.minimum(A[::-1] / A, 1.0), 0.0)
            rho_error = np.where(is_known, error.sum(axis=0) / (larger - error.sum(axis=0)), 0.0)
        return rho, rho_error

    def dual_bound(self, point: DualPoint) -> Any:
        """Lower bound of the dual objective, rounding included."""
        ay, aa, v, error = point
        c, limit = self.term.support(v, error)

        def dual(tau: Numbers, line: np.ndarray) -> Any:
            return tau * line - tau**2 * aa / 2

        with np.errstate(divide="ignore", invalid="ignore"):
            highest = np.where(ay > c, (ay - c) / aa, 0.0)
        D = dual(np.fmin(highest, np.minimum(limit, self.loss.max_tau)), ay - c)
        D = np.fmax(D, dual(1.0, ay) - self.term.conjugate(v, error))
        slack = 8 * UNIT * (np.abs(ay) + np.abs(c) + aa)
        return np.fmax(D - slack, 0.0)

    def proven(self) -> ProvenGap:
        """Gap proven by dual points."""
        if not self.term.bounded:
            zeros = np.zeros(len(self.b))
            return ProvenGap(zeros, zeros + np.inf, None, "nothing")
        bound = np.fmax.reduce([self.dual_bound(point) for point in self.dual_points()])
        gap = (self.objective + self.evaluation() - bound) * (1 + 8 * UNIT)
        reach = None
        if self.term.l2 > 0:  # l2/2 ‖w − w*‖² ≤ F(w, b) − F*
            reach = np.sqrt(2 * np.maximum(gap, 0.0)) / np.sqrt(self.term.l2)
        return ProvenGap(bound, gap, reach, "a dual point")

    def proven_by_curvature(self, before: ProvenGap) -> ProvenGap:
        """Gap proven by gradient and curvature, if that is smaller."""
        bounds = excess_of_squares(self)
        if bounds is None:
            return before
        excess, reach = bounds
        error = self.evaluation()
        gap = (excess + 2 * error) * (1 + 8 * UNIT)
        better = ~(before.gap <= gap)
        reach = reach if before.coef_error is None else np.fmin(reach, before.coef_error)
        return ProvenGap(
            bound=np.where(better, np.fmax(self.objective - error - excess, 0.0), before.bound),
            gap=np.where(better, gap, before.gap),
            coef_error=reach,
            proof="gradient and curvature" if better.any() else before.proof,
        )

    def proven_without_penalty(
        self, b: np.ndarray, before: ProvenGap
    ) -> tuple[ProvenGap, dict[str, Any]]:
        """Gap proven by gradient and curvature in orthogonal coordinates, for columns that nearly
        repeat others; the objective is recomputed with more digits, too. Also returns "left_out",
        and the steepest "slope" along any direction relative to the largest possible one."""
        self.take_columns()
        v, _ = slopes(self)
        # coefficients that seem to be pushed against a bound; ``residual_excess`` checks again
        pressed = (self.term.distance(self.penalized, v, 0 * v) == 0) & (v != 0)
        side = np.where(pressed, -np.sign(v), 0.0)
        steepest = self.steepest
        bound, gap, left_out, slope = before.bound.copy(), before.gap.copy(), [], 0.0
        for t in range(0 if self.infeasible else len(b)):
            excess = residual_excess(
                self.data, self.penalized[:, t], float(b[t]), t, self.loss.delta,
                self.fit_intercept, side[:, t],
            )  # fmt: skip
            if excess is None:
                reason = {"unproven": NO_CURVATURE, "at_least": 0.0, "slope": np.inf}
                return before, reason
            self.sums.value[t] = excess.value
            error = (
                excess.error + 2 * self.rounding * excess.value
            )  # rounding of D, and of these operations
            bound[t] = max(excess.value - error - excess.excess, 0.0) / self.D
            gap[t] = (excess.excess + 2 * error) / self.D * (1 + 8 * UNIT)
            left_out += left_out_findings(excess.left_out, len(self.w))
            slope = max(slope, excess.slope / float(steepest[t]))
        proven = ProvenGap(bound, gap, before.coef_error, "gradient and curvature")
        return proven, {"left_out": left_out, "slope": slope}

    def verdict(self, proven: ProvenGap) -> dict[str, Any]:
        reach, f0 = proven.coef_error, self.null_objective
        return {
            "objective": float(self.objective.sum()),
            "bound": float(proven.bound.sum()),
            "gap": float(proven.gap.sum()),
            "residual": float("inf") if self.infeasible else float(shares(proven.gap, f0).max()),
            "null_objective": float(f0.sum()),
            "null_allowed": not self.null.any(),
            "proof": proven.proof,
            "infeasible": self.infeasible or None,
            "coef_error": None if reach is None else float(np.max(reach, initial=0.0)),
            "kind": "global",
            "convex": True,
            "not_unique": None,
        }

    def not_unique(self) -> Any:
        """Columns that can replace others, if the penalty is L1 alone."""
        term = self.term
        if not (isinstance(term, ElasticNetTerm) and term.l1 > 0 and term.l2 == 0):
            return None
        return not_unique(self, slopes(self)[0], term.l1)

    def stationary_verdict(self, tol: float) -> dict[str, Any]:
        """Result without a bound: the largest slope of F."""
        residual, seems, wrong = stationary(self)
        self.infeasible = self.infeasible or wrong
        rounded = seems <= tol < residual and not self.infeasible
        return ({"unproven": HIDDEN_SLOPE, "at_least": seems} if rounded else {}) | {
            "objective": float(self.objective.sum()),
            "bound": None,
            "gap": float("inf"),
            "residual": float("inf") if self.infeasible else residual,
            "null_objective": float(self.null_objective.sum()),
            "null_allowed": not self.null.any(),
            "proof": "slopes",
            "infeasible": self.infeasible or None,
            "coef_error": None,
            "kind": "stationary",
            "convex": self.term.convex,
            "not_unique": None,
        }


def by_least_squares(
    data: RowData, w: np.ndarray, b: np.ndarray, term: ElasticNetTerm, divisor: str | None,
    fit_intercept: bool, tol: float,
) -> dict[str, Any]:  # fmt: skip
    """Check F = (Σ s r² + D·l2 ‖w‖²)/(2D) by the proof of least squares."""
    D = divided_by(data, divisor)
    alpha = np.full(len(b), D * term.l2)
    result = check_squares(data, w, b, alpha, fit_intercept, term.positive, tol=tol)
    for name in ("objective", "bound", "gap", "null_objective"):
        result[name] /= 2 * D
    result["infeasible"] = result["infeasible"] or None
    return {"coef_error": None, **result, "kind": "global", "convex": True, "not_unique": None}
