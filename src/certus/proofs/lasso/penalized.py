r"""Penalised regression: what is minimised, and how far a given (w, b) is from the minimum.

    F(w, b) = (1/D) Σ_i s_i ℓ(y_i − x_iᵀw − b) + pen(w)

Each target is its own problem. D is Σ s, the number of rows, or 1. With a = ℓ'(r), or any other a
with Σ s a = 0 where the intercept is free, and v = (1/D) Σ s a x,

    F(w, b) ≥ (1/D) Σ_i s_i (y_i a_i − a_i²/2) − pen*(v)        for every (w, b)

since ℓ lies above its tangents (``duality``). All of a may be scaled by τ, which brings v into the
domain of pen*; the first sum is then a parabola in τ, of which the highest point is taken.

Squares without an L1 part are least squares with a penalty α = D·l2, of which more is known
(``least_squares``). Where the dual point proves too little, or nothing, slopes are looked at
(``_slopes``): MCP and SCAD are not convex, and of them no bound is known. Where no penalty
holds w, as in Huber's regression over w ≥ 0, gradient and curvature of the rows do
(``_residual_curvature``).

*Rounding.* The dual point is a as it was computed, so that only the sums over it are inexact: each
by γ times the product of two norms. The objective is also off by what r is off.
"""

from typing import Any

import numpy as np

from certus.proofs.glm.margins import shares
from certus.proofs.lasso._dual_points import DualPoint, Proven
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
from certus.proofs.least_squares.least_squares import FEW_COLUMNS, LAST_DIGITS, check_squares
from certus.proofs.linalg.linear_sums import (
    UNIT,
    choose_view,
    column_statistics,
    few_rows,
    gamma,
    viewed_intercept,
)
from certus.proofs.linalg.negligible_directions import left_out_of
from certus.proofs.types import Numbers, RowData

NO_CURVATURE = (
    "columns that nearly repeat others, along which no slope can be told from rounding, or too "
    "many of them"
)
HIDDEN_SLOPE = "columns or coefficients so large that rounding hides the slope"
ROUNDINGS = 8  # of a term before it is summed
STEPS = 60  # of Newton's method for the best constant; a few are enough


@np.errstate(over="ignore", invalid="ignore")  # what overflows proves nothing and is refused
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

    ``divisor``: D is "weights", their sum; "rows", their number; None, 1.

    One pass of O(n·p·k) operations, or two where the scales of columns differ widely.
    """
    w, b = np.asarray(w, dtype=float), np.asarray(b, dtype=float)
    term = term_of(penalty, len(w))
    plain = loss["name"] == "squared"
    if plain and isinstance(term, ElasticNetTerm) and term.l1 == 0:
        return by_least_squares(data, w, b, term, divisor, fit_intercept, tol)
    residual = SquaredResidual() if plain else HuberResidual(float(loss["delta"]))
    fit = PenalisedFit(data, w, b, residual, term, divisor, fit_intercept)
    if not term.convex:
        return fit.stationary_verdict(tol)
    found = fit.proven()
    # each proof costs more than the one before; the first that reaches tol is enough
    if not found.reaches(tol, fit.null_objective):
        fit.take_columns()
        found = fit.proven()
    if plain and (len(w) <= FEW_COLUMNS or not found.reaches(tol, fit.null_objective)):
        found = fit.proven_by_curvature(found)
    more: dict[str, Any] = {}
    if not np.isfinite(found.gap).all():
        found, more = fit.proven_without_penalty(np.asarray(b, dtype=float), found)
        slope = more.pop("slope")
    if not np.isfinite(found.gap).all():
        answer = fit.stationary_verdict(tol)
        return {**answer, **more, "residual": max(answer["residual"], slope)}
    answer = fit.verdict(found) | more
    if plain and answer["residual"] <= tol and found.coef_error is None:
        answer["not_unique"] = fit.not_unique()
    return answer


def divided_by(data: RowData, divisor: str | None) -> float:
    """D."""
    if divisor is None:
        return 1.0
    return float(data.reduce(weight_sum)[0]) if divisor == "weights" else float(data.shape[0])


class PenalisedFit:
    """One (w, b) on one data set: its sums, and the numbers that follow from them."""

    def __init__(
        self, data: RowData, w: np.ndarray, b: np.ndarray, loss: ResidualLoss, term: PenaltyTerm,
        divisor: str | float | None, fit_intercept: bool,
    ):  # fmt: skip
        self.data, self.loss, self.term, self.fit_intercept = data, loss, term, fit_intercept
        self.penalised = w
        X, y, s = data.sample_block(few_rows(data.shape[1]))
        self.view = choose_view(X, y, s, centre=fit_intercept)
        self.q = np.ones(len(w)) if self.view.q is None else self.view.q
        self.w, (self.b, self.b_error) = w / self.q[:, None], viewed_intercept(w, b, self.view)
        self.infeasible = term.excludes(w)
        if not (np.isfinite(w).all() and np.isfinite(b).all()):
            self.infeasible = "a coefficient is not a finite number"
        elif not fit_intercept and b.any():
            self.infeasible = "there is an intercept, which fit_intercept=False excludes"
        sets = loss.sets if fit_intercept else 1
        self.sums = data.reduce(loss_sums, self.w, self.b, self.view, loss, sets)
        known = {"weights": self.sums.S, "rows": data.shape[0]}
        self.D = 1.0 if divisor is None else float(known.get(str(divisor), divisor))
        self.rounding = gamma(data.depth + ROUNDINGS)
        self.mean: Any = None  # until ``take_columns``
        # no column is larger than all of them together (and a little for the rounding of that)
        self.size = np.full(len(w), 1.001 * np.sqrt(self.sums.XX))
        self.products = 1.001 * np.sqrt(self.sums.XX) * np.linalg.norm(self.w, axis=0)
        self.slope = np.sqrt(1.001 * self.sums.aa[:2].sum(axis=0))
        self._look_at_y()

    def take_columns(self) -> None:
        """One more pass, for the columns' own means and norms."""
        if self.mean is not None:
            return
        Sx, self.squares = self.data.reduce(column_statistics, self.view)
        self.mean, self.size = Sx / self.sums.S, np.sqrt(1.001 * self.squares)
        self.products = np.minimum(self.products, self.size @ np.abs(self.w))

    @property
    def objective(self) -> Any:
        return self.sums.value / self.D + self.term.value(self.penalised)

    def _look_at_y(self) -> None:
        """‖ỹ‖, and f₀, the objective of the intercept alone: neither less than y's own last digits
        make of it. Where w = 0 is not allowed, both of y − Xw for what is nearest to it."""
        sums, c_y = self.sums, self.view.c_y
        whole = sums.Syy + 2 * c_y * sums.Sy + sums.S * c_y**2
        b = sums.Sy / sums.S if self.fit_intercept else np.zeros_like(sums.Sy)
        least = (LAST_DIGITS * UNIT) ** 2 * whole + np.finfo(float).tiny
        square = sums.Syy - b * sums.Sy
        self.null = self.term.nearest_to_zero(self.penalised)
        w = self.null / self.q[:, None] if self.null.any() else None
        if w is not None:
            square = 2 * self._of_best_constant(b, SquaredResidual(), w)
        square = np.maximum(square, least)
        # the unit of slopes, no larger than it is: y² and b·Σ s y cancel
        lost = 4 * gamma(self.data.depth + ROUNDINGS) * (sums.Syy + square)
        self.spread = np.sqrt(np.maximum(square - lost, least)) * (1 - 16 * UNIT)
        total = square / 2
        if np.isfinite(self.loss.delta):
            total = np.maximum(self._of_best_constant(b, self.loss, w), least / 2)
        self.null_objective = total / self.D + self.term.value(self.null)

    def _of_best_constant(self, b: np.ndarray, loss: ResidualLoss, w: np.ndarray | None) -> Any:
        """min_b Σ s ℓ(y − b), or of y − xᵀw − b, by Newton's method from the mean, between the last
        b that was too low and the last that was too high."""
        low, high = np.full(len(b), -np.inf), np.full(len(b), np.inf)
        for _ in range(STEPS):
            value, slope, near, _ = self.data.reduce(constant_sums, b, self.view, loss, w)
            step = slope / np.maximum(near, self.sums.S / 16)
            if not self.fit_intercept or (np.abs(slope * step) <= 1e-6 * value).all():
                break
            low, high = np.where(slope > 0, b, low), np.where(slope < 0, b, high)
            new = b + step
            b = np.where((new > low) & (new < high), new, (low + high) / 2)
        return value

    @property
    def steepest(self) -> Any:
        """√Σ s a² of the intercept alone, at least: the unit of slopes."""
        all_beyond = self.loss.delta * np.sqrt(self.sums.S) * (1 - self.rounding)
        return np.minimum(self.spread, all_beyond)

    @property
    def residual_error(self) -> Any:
        """√Σ s (r̂ − r)² at most: |r̂_i − r_i| ≤ γ_{p+4} (|x_i|ᵀ|w| + |y_i| + |b|) + error of b."""
        root = np.sqrt(self.sums.S)
        total = self.products + np.sqrt(self.sums.Syy) + np.abs(self.b) * root
        return gamma(len(self.w) + 4) * total + self.b_error * root

    def evaluation(self) -> Any:
        """|F̂ − F| at most: |ℓ(r̂) − ℓ(r)| ≤ |a||r̂ − r| + ½(r̂ − r)², and the rounding of sums."""
        error = self.residual_error
        loss = (self.slope + error / 2) * error / self.D
        return loss + (2 * self.rounding + gamma(len(self.w) + 8)) * self.objective

    def dual_points(self) -> list[DualPoint]:
        """With Σ s a = 0 where the intercept is free."""
        sums, rss = self.sums, self.slope
        nothing = np.zeros_like(rss)
        all_rows = sums.sa[:2], sums.aa[:2], sums.ay[:2], sums.V[:2]
        sa, aa, ay, V = (field.sum(axis=0) for field in all_rows)
        if not self.fit_intercept:
            return [self._point(ay, aa, V, nothing)]
        if len(sums.sa) == 1:
            t = sa / sums.S
            if self.mean is None:  # t Σ s x, with |Σ s x_j| ≤ √S ‖x_j‖
                return [self._point(ay - t * sums.Sy, aa - t * sa, V, np.abs(t) * np.sqrt(sums.S))]
            V = V - np.multiply.outer(self.mean * sums.S, t)
            return [self._point(ay - t * sums.Sy, aa - t * sa, V, nothing)]
        rho, error = self._balance()
        ay_, aa_, V_ = rho * sums.ay[:2], rho**2 * sums.aa[:2], rho[:, None] * sums.V[:2]
        scaled = ay_.sum(axis=0), aa_.sum(axis=0), V_.sum(axis=0)
        points = [self._point(*scaled, error * rss)]
        inner, a_inner, y_inner, V_inner = sums.sa[2], sums.aa[2], sums.ay[2], sums.V[2]
        with np.errstate(divide="ignore", invalid="ignore"):
            t, off = sa / inner, 6 * self.rounding * rss * np.sqrt(sums.S / inner)
        few = ~(np.abs(t) <= self.loss.delta / 4)  # the rounding of t is less than the rest
        t = np.where(few, 0.0, t)
        shifted = ay - t * y_inner, aa - 2 * t * a_inner + t**2 * inner, V - t * V_inner
        return [*points, self._point(*shifted, np.where(few, np.inf, off))]

    def _point(
        self, ay: np.ndarray, aa: np.ndarray, v: np.ndarray, change: np.ndarray
    ) -> "DualPoint":
        """``change``: how far, in norm over the rows, the true a can be from that of the sums."""
        unit, change = self.q[:, None] * self.D, change + 6 * self.rounding * self.slope
        ay = ay - change * np.sqrt(self.sums.Syy)
        aa = np.maximum(aa, 0.0) + change * (3 * self.slope + change)
        return DualPoint(ay / self.D, aa / self.D, v / unit, np.outer(self.size, change) / unit)

    def _balance(self) -> tuple[Any, Any]:
        """ρ for both signs, and how far the true ρ can be: with it Σ s a = 0 exactly."""
        A = np.abs(self.sums.sa[:2])
        error = self.rounding * np.sqrt(self.sums.S) * np.sqrt(self.sums.aa[:2])
        large, known = A.max(axis=0), (2 * error < A).all(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            rho = np.where(known, np.minimum(A[::-1] / A, 1.0), 0.0)
            rho_error = np.where(known, error.sum(axis=0) / (large - error.sum(axis=0)), 0.0)
        return rho, rho_error

    def dual_bound(self, point: DualPoint) -> Any:
        """The dual objective, at least, whatever rounding did."""
        ay, aa, v, error = point
        c, limit = self.term.support(v, error)

        def dual(tau: Numbers, line: np.ndarray) -> Any:
            return tau * line - tau**2 * aa / 2

        with np.errstate(divide="ignore", invalid="ignore"):
            highest = np.where(ay > c, (ay - c) / aa, 0.0)
        D = dual(np.fmin(highest, np.minimum(limit, self.loss.most)), ay - c)
        D = np.fmax(D, dual(1.0, ay) - self.term.conjugate(v, error))
        slack = 8 * UNIT * (np.abs(ay) + np.abs(c) + aa)
        return np.fmax(D - slack, 0.0)

    def proven(self) -> Proven:
        """By the dual point."""
        if not self.term.bounded:
            nothing = np.zeros(len(self.b))
            return Proven(nothing, nothing + np.inf, None, "nothing")
        bound = np.fmax.reduce([self.dual_bound(point) for point in self.dual_points()])
        gap = (self.objective + self.evaluation() - bound) * (1 + 8 * UNIT)
        reach = None
        if self.term.l2 > 0:  # l2/2 ‖w − w*‖² ≤ F(w, b) − F*
            reach = np.sqrt(2 * np.maximum(gap, 0.0)) / np.sqrt(self.term.l2)
        return Proven(bound, gap, reach, "a dual point")

    def proven_by_curvature(self, before: Proven) -> Proven:
        """By gradient and curvature, where that proves more."""
        found = excess_of_squares(self)
        if found is None:
            return before
        excess, reach = found
        error = self.evaluation()
        gap = (excess + 2 * error) * (1 + 8 * UNIT)
        better = ~(before.gap <= gap)
        reach = reach if before.coef_error is None else np.fmin(reach, before.coef_error)
        return Proven(
            bound=np.where(better, np.fmax(self.objective - error - excess, 0.0), before.bound),
            gap=np.where(better, gap, before.gap),
            coef_error=reach,
            proof="gradient and curvature" if better.any() else before.proof,
        )

    def proven_without_penalty(
        self, b: np.ndarray, before: Proven
    ) -> tuple[Proven, dict[str, Any]]:
        """By gradient and curvature in coordinates in which columns that nearly repeat others are
        told apart; the objective is that of more digits too. With it "left_out", and the steepest
        "slope" along any direction as a share of the largest there can be."""
        self.take_columns()
        v, _ = slopes(self)
        # what presses a coefficient against a bound, as it seems: ``residual_excess`` looks again
        pressed = (self.term.distance(self.penalised, v, 0 * v) == 0) & (v != 0)
        side = np.where(pressed, -np.sign(v), 0.0)
        steepest = self.steepest
        bound, gap, left_out, slope = before.bound.copy(), before.gap.copy(), [], 0.0
        for t in range(0 if self.infeasible else len(b)):
            found = residual_excess(
                self.data, self.penalised[:, t], float(b[t]), t, self.loss.delta,
                self.fit_intercept, side[:, t],
            )  # fmt: skip
            if found is None:
                why = {"unproven": NO_CURVATURE, "at_least": 0.0, "slope": np.inf}
                return before, why
            self.sums.value[t] = found.value
            error = found.error + 2 * self.rounding * found.value  # of D, and of these operations
            bound[t] = max(found.value - error - found.excess, 0.0) / self.D
            gap[t] = (found.excess + 2 * error) / self.D * (1 + 8 * UNIT)
            left_out += left_out_of(found.left_out, len(self.w))
            slope = max(slope, found.slope / float(steepest[t]))
        proven = Proven(bound, gap, before.coef_error, "gradient and curvature")
        return proven, {"left_out": left_out, "slope": slope}

    def verdict(self, proven: Proven) -> dict[str, Any]:
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
        """Of an L1 penalty alone: columns that can take over from others."""
        term = self.term
        if not (isinstance(term, ElasticNetTerm) and term.l1 > 0 and term.l2 == 0):
            return None
        return not_unique(self, slopes(self)[0], term.l1)

    def stationary_verdict(self, tol: float) -> dict[str, Any]:
        """No bound is known: how steep F is."""
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
    """F is 1/(2D) of Σ s r² + D·l2 ‖w‖²."""
    D = divided_by(data, divisor)
    alpha = np.full(len(b), D * term.l2)
    found = check_squares(data, w, b, alpha, fit_intercept, term.positive, tol=tol)
    for name in ("objective", "bound", "gap", "null_objective"):
        found[name] /= 2 * D
    found["infeasible"] = found["infeasible"] or None
    return {"coef_error": None, **found, "kind": "global", "convex": True, "not_unique": None}
