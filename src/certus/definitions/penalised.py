r"""Penalised regression: what is minimised, and how far a given (w, b) is from the minimum.

    F(w, b) = (1/D) Σ_i s_i ℓ(y_i − x_iᵀw − b) + pen(w)

Each target is its own problem. D is Σ s, the number of rows, or 1. With a = ℓ'(r), or any other a
with Σ s a = 0 where the intercept is free, and v = (1/D) Σ s a x,

    F(w, b) ≥ (1/D) Σ_i s_i (y_i a_i − a_i²/2) − pen*(v)        for every (w, b)

since ℓ lies above its tangents (``duality``). All of a may be scaled by τ, which brings v into the
domain of pen*; the first sum is then a parabola in τ, of which the highest point is taken.

Squares without an L1 part are least squares with a penalty α = D·l2, of which more is known
(``least_squares``).

*Rounding.* The dual point is a as it was computed, so that only the sums over it are inexact: each
by γ times the product of two norms. The objective is also off by what r is off.
"""

from typing import Any

import numpy as np

from certus.definitions.least_squares import LAST_DIGITS, check_squares
from certus.definitions.linear_sums import (
    UNIT,
    choose_view,
    column_statistics,
    few_rows,
    gamma,
    viewed_intercept,
)
from certus.definitions.margins import shares
from certus.definitions.penalty_terms import ElasticNetTerm, term_of
from certus.definitions.residual_sums import (
    HuberResidual,
    SquaredResidual,
    constant_sums,
    loss_sums,
    weight_sum,
)

ROUNDINGS = 8  # of a term before it is summed
STEPS = 60  # of Newton's method for the best constant; a few are enough


@np.errstate(over="ignore", invalid="ignore")  # what overflows proves nothing and is refused
def check(
    data: Any,
    *,
    w: Any,
    b: Any,
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
    bound, gap = fit.gaps()
    if not (shares(gap, fit.null_objective) <= tol).all():
        fit.take_columns()
        bound, gap = fit.gaps()
    return fit.verdict(bound, gap)


def divided_by(data: Any, divisor: str | None) -> float:
    """D."""
    if divisor is None:
        return 1.0
    return float(data.reduce(weight_sum)[0]) if divisor == "weights" else float(data.shape[0])


class PenalisedFit:
    """One (w, b) on one data set: its sums, and the numbers that follow from them."""

    def __init__(
        self, data: Any, w: Any, b: Any, loss: Any, term: Any, divisor: str | None,
        fit_intercept: bool,
    ):  # fmt: skip
        self.data, self.loss, self.term, self.fit_intercept = data, loss, term, fit_intercept
        self.penalised = w
        X, y, s = data.some(few_rows(data.shape[1]))
        self.view = choose_view(X, y, s, centre=fit_intercept)
        self.q = np.ones(len(w)) if self.view.q is None else self.view.q
        self.w, (self.b, self.b_error) = w / self.q[:, None], viewed_intercept(w, b, self.view)
        self.infeasible = term.excludes(w)
        if not (np.isfinite(w).all() and np.isfinite(b).all()):
            self.infeasible = "a coefficient is not a finite number"
        elif not fit_intercept and b.any():
            self.infeasible = "there is an intercept, which fit_intercept=False excludes"
        signs = loss.signs if fit_intercept else 1
        self.sums = data.reduce(loss_sums, self.w, self.b, self.view, loss, signs)
        rows = {"weights": float(self.sums.S), "rows": float(data.shape[0])}
        self.D = 1.0 if divisor is None else rows[divisor]
        self.rounding = gamma(data.depth + ROUNDINGS)
        self.mean: Any = None
        # no column is larger than all of them together (and a little for the rounding of that)
        self.size = np.full(len(w), 1.001 * np.sqrt(self.sums.XX))
        self.products = 1.001 * np.sqrt(self.sums.XX) * np.linalg.norm(self.w, axis=0)
        self.slope = np.sqrt(1.001 * self.sums.aa.sum(axis=0))
        self.null_objective = self._null_objective()

    def take_columns(self) -> None:
        """One more pass, for the columns' own means and norms."""
        Sx, Sxx = self.data.reduce(column_statistics, self.view)
        self.mean, self.size = Sx / self.sums.S, np.sqrt(1.001 * Sxx)
        self.products = np.minimum(self.products, self.size @ np.abs(self.w))

    @property
    def objective(self) -> Any:
        return self.sums.value / self.D + self.term.value(self.penalised)

    def _null_objective(self) -> Any:
        """f₀, of the intercept alone, but no less than y's own last digits make of it."""
        sums, c_y = self.sums, self.view.c_y
        whole = sums.Syy + 2 * c_y * sums.Sy + sums.S * c_y**2
        b = sums.Sy / sums.S if self.fit_intercept else np.zeros_like(sums.Sy)
        total = (sums.Syy - b * sums.Sy) / 2
        if np.isfinite(self.loss.delta):
            total = self._of_best_constant(b)
        least = (LAST_DIGITS * UNIT) ** 2 * whole / 2
        return np.maximum(total, least) / self.D + np.finfo(float).tiny

    def _of_best_constant(self, b: Any) -> Any:
        """min_b Σ s ℓ(y − b) by Newton's method from the mean; a step is at most δ where no row is
        near, and the best value is kept."""
        best = np.full(len(b), np.inf)
        for _ in range(STEPS if self.fit_intercept else 1):
            value, slope, near = self.data.reduce(constant_sums, b, self.view, self.loss)
            if not (value < best * (1 - 1e-6)).any():
                break
            best = np.fmin(best, value)
            b = b + slope / np.maximum(near, self.sums.S / 16)
        return best

    def evaluation(self) -> Any:
        """|F̂ − F| at most: |ℓ(r̂) − ℓ(r)| ≤ |a||r̂ − r| + ½(r̂ − r)², and the rounding of sums.

        |r̂_i − r_i| ≤ γ_{p+4} (|x_i|ᵀ|w| + |y_i| + |b|) + error of b, in norm over the rows.
        """
        sums, p = self.sums, len(self.w)
        root = np.sqrt(sums.S)
        total = self.products + np.sqrt(sums.Syy) + np.abs(self.b) * root
        r_error = gamma(p + 4) * total + self.b_error * root
        loss = (self.slope + r_error / 2) * r_error / self.D
        return loss + (2 * self.rounding + gamma(p + 8)) * self.objective

    def dual_point(self) -> tuple[Any, Any, Any, Any]:
        """Σ s y a, Σ s a², v and its error, with Σ s a = 0 where the intercept is free; all over D,
        v in the user's units."""
        sums, rss = self.sums, self.slope
        v, error = sums.V.sum(axis=0), np.multiply.outer(self.size, 6 * self.rounding * rss)
        ay, aa = sums.ay.sum(axis=0), sums.aa.sum(axis=0)
        if self.fit_intercept and len(sums.a) == 1:
            rho = sums.a[0] / sums.S
            ay, aa = ay - rho * sums.Sy, aa - rho * sums.a[0]
            if self.mean is None:  # ρ Σ s x, with |Σ s x_j| ≤ √S ‖x_j‖
                error = error + np.multiply.outer(self.size, np.abs(rho) * np.sqrt(sums.S))
            else:
                v = v - np.multiply.outer(self.mean * sums.S, rho)
        elif self.fit_intercept:
            rho, rho_error = self._balance()
            v = (rho[:, None, :] * sums.V).sum(axis=0)
            ay, aa = (rho * sums.ay).sum(axis=0), (rho**2 * sums.aa).sum(axis=0)
            error = error + np.multiply.outer(self.size, rho_error * rss)
            norm = np.sqrt(sums.Syy) * rss
            ay, aa = ay - rho_error * norm, aa + 2 * rho_error * rss**2
        unit = self.q[:, None] * self.D
        ay = ay - 6 * self.rounding * np.sqrt(sums.Syy) * rss
        aa = np.maximum(aa, 0.0) + 6 * self.rounding * rss**2
        return ay / self.D, aa / self.D, v / unit, error / unit

    def _balance(self) -> tuple[Any, Any]:
        """ρ for both signs, and how far the true ρ can be: with it Σ s a = 0 exactly."""
        sums = self.sums
        A = np.abs(sums.a)
        error = self.rounding * np.sqrt(sums.S) * np.sqrt(sums.aa)
        large, known = A.max(axis=0), (2 * error < A).all(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            rho = np.where(known, np.minimum(A[::-1] / A, 1.0), 0.0)
            rho_error = np.where(known, error.sum(axis=0) / (large - error.sum(axis=0)), 0.0)
        return rho, rho_error

    def bound(self) -> Any:
        """The dual objective, at least, whatever rounding did."""
        ay, aa, v, error = self.dual_point()

        def dual(tau: Any) -> Any:
            return tau * ay - tau**2 * aa / 2

        with np.errstate(divide="ignore", invalid="ignore"):
            highest = np.where(ay > 0, ay / aa, 0.0)
        limit = np.minimum(self.term.scale(v, error), self.loss.most)
        D = dual(np.fmin(highest, limit))  # here pen* = 0
        D = np.fmax(D, dual(1.0) - self.term.conjugate(v, error))
        return np.fmax(D * (1 - np.sign(D) * 8 * UNIT), 0.0)

    def gaps(self) -> tuple[Any, Any]:
        """A bound on the optimum of each target, and the gap that it leaves."""
        bound = self.bound()
        return bound, (self.objective + self.evaluation() - bound) * (1 + 8 * UNIT)

    def verdict(self, bound: Any, gap: Any) -> dict[str, Any]:
        f0 = self.null_objective
        coef_error = None
        if isinstance(self.term, ElasticNetTerm) and self.term.l2 > 0:
            # l2/2 ‖w − w*‖² ≤ F(w, b) − F*
            coef_error = float(np.sqrt(2 * np.max(np.maximum(gap, 0.0)) / self.term.l2))
        return {
            "objective": float(self.objective.sum()),
            "bound": float(bound.sum()),
            "gap": float(gap.sum()),
            "residual": float("inf") if self.infeasible else float(shares(gap, f0).max()),
            "null_objective": float(f0.sum()),
            "proof": "a dual point",
            "infeasible": self.infeasible or None,
            "coef_error": coef_error,
            "kind": "global",
            "not_unique": None,
        }


def by_least_squares(
    data: Any, w: Any, b: Any, term: ElasticNetTerm, divisor: str | None, fit_intercept: bool,
    tol: float,
) -> dict[str, Any]:  # fmt: skip
    """F is 1/(2D) of Σ s r² + D·l2 ‖w‖²."""
    D = divided_by(data, divisor)
    alpha = np.full(len(b), D * term.l2)
    found = check_squares(data, w, b, alpha, fit_intercept, term.positive, tol=tol)
    for name in ("objective", "bound", "gap", "null_objective"):
        found[name] /= 2 * D
    found["infeasible"] = found["infeasible"] or None
    return {"coef_error": None, **found, "kind": "global", "not_unique": None}
