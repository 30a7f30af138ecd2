r"""Huber's regression with a scale: how far a given (w, b, σ) is from the minimum.

    F(w, b, σ) = Σ_i s_i (σ + σ H(r_i/σ)) + α‖w‖²        r = y − Xw − b,  σ > 0
    H(z) = z² where |z| ≤ ε, and 2ε|z| − ε² beyond

F is jointly convex. σH(r/σ) is the maximum of a·r − σa²/4 over |a| ≤ 2ε, so for every such a with
Σ s a = 0 (if there is an intercept) and Σ s a²/4 ≤ Σ s (otherwise there is no bound for large σ),
with v = Σ s a x,

    F(w, b, σ) ≥ Σ_i s_i a_i y_i − ‖v‖²/(4α)        for every (w, b, σ).

At a given σ, F − σ Σ s is the penalised regression with the loss ``huber`` at δ = εσ, D = σ/2 and
l2 = 2α, whose dual points a give dual points 2a/σ here. All of a may be scaled down by τ to meet
the second condition; the bound is a parabola in τ. For α = 0 only slopes are known, that of σ and
the steepest along any direction of (w, b).
"""

from typing import Any

import numpy as np

from certus.proofs.glm.margins import shares
from certus.proofs.lasso._slopes import stationary
from certus.proofs.lasso.penalized import DualPoint, PenalizedFit
from certus.proofs.lasso.penalty_terms import ROUND_DOWN, ElasticNetTerm
from certus.proofs.lasso.residual_sums import HuberResidual, constant_sums
from certus.proofs.least_squares.least_squares import TARGET_ROUNDING_UNITS
from certus.proofs.linalg.linear_sums import UNIT
from certus.proofs.types import RowData

MAX_ALTERNATIONS = 100  # of b and σ for a constant model; a few are enough


@np.errstate(over="ignore", invalid="ignore")  # overflow proves nothing and is refused
def check(
    data: RowData,
    *,
    w: np.ndarray,
    b: np.ndarray,
    scale: float,
    epsilon: float = 1.35,
    alpha: float = 0.0,
    fit_intercept: bool = True,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Recompute objective, bound and residual of w (p×1), b (1,) and σ = ``scale``.

    One pass of O(n·p) operations, or two if the scales of columns differ widely.
    """
    w, b, sigma = np.asarray(w, dtype=float), np.asarray(b, dtype=float), float(scale)
    positive = 0 < sigma < np.inf
    fit = ScaledFit(data, w, b, sigma if positive else 1.0, epsilon, alpha, fit_intercept)
    if not positive:
        fit.infeasible = "the scale is not above 0"
    bound = fit.scaled_bound()
    if not (shares(fit.gap_to(bound), fit.null_total) <= tol).all():
        fit.take_columns()
        bound = fit.scaled_bound()
    gap = fit.gap_to(bound)
    result = {
        "objective": float(fit.total[0]),
        "bound": float(bound[0]),
        "gap": float(gap[0]),
        "residual": float(shares(gap, fit.null_total)[0]),
        "null_objective": float(fit.null_total[0]),
        "proof": "a dual point",
        "coef_error": None,
        "kind": "global",
        "convex": True,
        "not_unique": None,
    }
    if alpha > 0:  # α‖w − w*‖² ≤ F − F*
        result["coef_error"] = float(np.sqrt(max(gap[0], 0.0)) / np.sqrt(alpha))
    else:
        slope = abs(1 - fit.scale_share) + fit.scale_share_error  # of σ, relative to Σ s
        result |= {"bound": None, "gap": float("inf"), "kind": "stationary", "proof": "slopes"}
        result["residual"] = max(stationary(fit)[0], float(slope))
        _, extra = fit.proven_without_penalty(b, fit.proven())
        result["residual"] = max(result["residual"], extra.pop("slope"))
        result |= extra
    if fit.infeasible:
        result["residual"] = float("inf")
    return {**result, "infeasible": fit.infeasible or None}


class ScaledFit(PenalizedFit):
    """(w, b) at a given σ, with the terms of σ."""

    def __init__(
        self, data: RowData, w: np.ndarray, b: np.ndarray, sigma: float, epsilon: float,
        alpha: float, fit_intercept: bool,
    ):  # fmt: skip
        loss, term = HuberResidual(epsilon * sigma), ElasticNetTerm(0.0, 2 * alpha)
        super().__init__(data, w, b, loss, term, sigma / 2, fit_intercept)
        self.sigma, self.epsilon = sigma, epsilon
        self.null_total = self._null_total()

    @property
    def total(self) -> Any:
        return self.sums.S * self.sigma + self.objective

    @property
    def scale_share(self) -> float:
        """Σ s a²/4 relative to Σ s: 1 at the optimum."""
        return float(self.sums.aa[:2].sum() / (self.sigma**2 * self.sums.S))

    @property
    def scale_share_error(self) -> float:
        """Bound of its rounding error, due to the sums and the residuals."""
        error = float(self.residual_error[0])
        residual_part = (2 * float(self.slope[0]) + error) * error / (self.sigma**2 * self.sums.S)
        return float(4 * self.rounding * (1 + self.scale_share) + 1.001 * residual_part)

    def gap_to(self, bound: np.ndarray) -> Any:
        error = self.evaluation() + 2 * self.rounding * self.sums.S * self.sigma
        return (self.total + error - bound) * (1 + 8 * UNIT)

    def scaled_bound(self) -> Any:
        return np.fmax.reduce([self._bound_of(point) for point in self.dual_points()])

    def _bound_of(self, point: DualPoint) -> Any:
        """Lower bound of the maximum of Σ s a y τ − τ²‖v‖²/4α over τ."""
        curvature = self.term.conjugate(point.v, point.error)
        with np.errstate(divide="ignore", invalid="ignore"):
            # Σ s a² = (2/σ)·(2/σ) Σ s a'²; point.aa includes one factor 2/σ
            limit = np.sqrt(4 * self.sums.S / (2 / self.sigma * point.aa)) * (1 - 4 * self.rounding)
            highest = np.where(point.ay > 0, point.ay / (2 * curvature), 0.0)
            tau = np.minimum(highest, np.fmin(limit, 1.0)) * ROUND_DOWN
            return np.fmax(tau * point.ay - tau**2 * curvature - 8 * UNIT * point.ay, 0.0)

    def _null_total(self) -> Any:
        """f₀: the minimum of F with w = 0, by alternating over b and σ; not less than the rounding
        of y gives."""
        sums, c_y = self.sums, self.view.c_y
        uncentered = np.sqrt(sums.Syy + 2 * c_y * sums.Sy + sums.S * c_y**2)
        b = sums.Sy / sums.S if self.fit_intercept else np.zeros_like(sums.Sy)
        sigma = np.sqrt(max(float(sums.Syy[0] - b[0] * sums.Sy[0]), 0.0) / sums.S)
        floor = TARGET_ROUNDING_UNITS * UNIT * uncentered * np.sqrt(sums.S) + np.finfo(float).tiny
        best = np.array([np.inf])
        for _ in range(MAX_ALTERNATIONS):
            if not sigma * sums.S > floor[0]:
                return floor
            loss = HuberResidual(self.epsilon * sigma)
            value, slope, n_inner, aa = self.data.reduce(constant_sums, b, self.view, loss)
            total = sums.S * sigma + 2 / sigma * value
            if not total[0] < best[0] * (1 - 1e-5):
                break
            best = total
            # Σ s a²/4 = Σ s at the best σ
            sigma = float(np.sqrt(aa[0] / sums.S))
            if self.fit_intercept:
                b = b + slope / np.maximum(n_inner, sums.S / 16)
        return np.maximum(best, floor)
