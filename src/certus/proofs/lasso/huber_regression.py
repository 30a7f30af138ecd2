r"""Huber's regression with its scale: how far a given (w, b, σ) is from the minimum.

    F(w, b, σ) = Σ_i s_i (σ + σ H(r_i/σ)) + α‖w‖²        r = y − Xw − b,  σ > 0
    H(z) = z² where |z| ≤ ε, and 2ε|z| − ε² beyond

F is convex in all three together. σH(r/σ) is the largest of a·r − σa²/4 over |a| ≤ 2ε, so that for
every such a with Σ s a = 0 (where the intercept is free) and Σ s a²/4 ≤ Σ s (else a large σ has no
bound), with v = Σ s a x,

    F(w, b, σ) ≥ Σ_i s_i a_i y_i − ‖v‖²/(4α)        for every (w, b, σ).

At a given σ, F − σ Σ s is the penalised regression with the loss ``huber`` at δ = εσ, D = σ/2 and
l2 = 2α, whose dual points a serve here as 2a/σ. All of a may be made smaller, by τ, to meet the
second condition; the bound is a parabola in τ. α = 0: only slopes are known,
that of σ and the steepest along any direction of (w, b).
"""

from typing import Any

import numpy as np

from certus.proofs.glm.margins import shares
from certus.proofs.lasso._slopes import stationary
from certus.proofs.lasso.penalized import DualPoint, PenalisedFit
from certus.proofs.lasso.penalty_terms import LITTLE_LESS, ElasticNetTerm
from certus.proofs.lasso.residual_sums import HuberResidual, constant_sums
from certus.proofs.least_squares.least_squares import LAST_DIGITS
from certus.proofs.linalg.linear_sums import UNIT
from certus.proofs.types import RowData

ALTERNATIONS = 100  # of b and σ for a constant alone; a few are enough


@np.errstate(over="ignore", invalid="ignore")  # what overflows proves nothing and is refused
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

    One pass of O(n·p) operations, or two where the scales of columns differ widely.
    """
    w, b, sigma = np.asarray(w, dtype=float), np.asarray(b, dtype=float), float(scale)
    positive = 0 < sigma < np.inf
    fit = ScaledFit(data, w, b, sigma if positive else 1.0, epsilon, alpha, fit_intercept)
    if not positive:
        fit.infeasible = "the scale is not above 0"
    bound = fit.scaled_bound()
    if not (shares(fit.gap_to(bound), fit.alone) <= tol).all():
        fit.take_columns()
        bound = fit.scaled_bound()
    gap = fit.gap_to(bound)
    answer = {
        "objective": float(fit.whole[0]),
        "bound": float(bound[0]),
        "gap": float(gap[0]),
        "residual": float(shares(gap, fit.alone)[0]),
        "null_objective": float(fit.alone[0]),
        "proof": "a dual point",
        "coef_error": None,
        "kind": "global",
        "convex": True,
        "not_unique": None,
    }
    if alpha > 0:  # α‖w − w*‖² ≤ F − F*
        answer["coef_error"] = float(np.sqrt(max(gap[0], 0.0)) / np.sqrt(alpha))
    else:
        slope = abs(1 - fit.used) + fit.used_error  # of σ, as a share of Σ s
        answer |= {"bound": None, "gap": float("inf"), "kind": "stationary", "proof": "slopes"}
        answer["residual"] = max(stationary(fit)[0], float(slope))
        _, along = fit.proven_without_penalty(b, fit.proven())
        answer["residual"] = max(answer["residual"], along.pop("slope"))
        answer |= along
    if fit.infeasible:
        answer["residual"] = float("inf")
    return {**answer, "infeasible": fit.infeasible or None}


class ScaledFit(PenalisedFit):
    """(w, b) at a given σ, and what σ adds."""

    def __init__(
        self, data: RowData, w: np.ndarray, b: np.ndarray, sigma: float, epsilon: float,
        alpha: float, fit_intercept: bool,
    ):  # fmt: skip
        loss, term = HuberResidual(epsilon * sigma), ElasticNetTerm(0.0, 2 * alpha)
        super().__init__(data, w, b, loss, term, sigma / 2, fit_intercept)
        self.sigma, self.epsilon = sigma, epsilon
        self.alone = self._alone()

    @property
    def whole(self) -> Any:
        return self.sums.S * self.sigma + self.objective

    @property
    def used(self) -> float:
        """Σ s a²/4 as a share of Σ s: 1 at the optimum."""
        return float(self.sums.aa[:2].sum() / (self.sigma**2 * self.sums.S))

    @property
    def used_error(self) -> float:
        """What rounding did to that at most: that of the sums, and of residuals."""
        error = float(self.residual_error[0])
        of_residuals = (2 * float(self.slope[0]) + error) * error / (self.sigma**2 * self.sums.S)
        return float(4 * self.rounding * (1 + self.used) + 1.001 * of_residuals)

    def gap_to(self, bound: np.ndarray) -> Any:
        error = self.evaluation() + 2 * self.rounding * self.sums.S * self.sigma
        return (self.whole + error - bound) * (1 + 8 * UNIT)

    def scaled_bound(self) -> Any:
        return np.fmax.reduce([self._of(point) for point in self.dual_points()])

    def _of(self, point: DualPoint) -> Any:
        """Σ s a y τ − τ²‖v‖²/4α at its highest, at least."""
        fall = self.term.conjugate(point.v, point.error)
        with np.errstate(divide="ignore", invalid="ignore"):
            # Σ s a² = (2/σ)·(2/σ) Σ s a'², of which point.aa is 2/σ already
            most = np.sqrt(4 * self.sums.S / (2 / self.sigma * point.aa)) * (1 - 4 * self.rounding)
            highest = np.where(point.ay > 0, point.ay / (2 * fall), 0.0)
            tau = np.minimum(highest, np.fmin(most, 1.0)) * LITTLE_LESS
            return np.fmax(tau * point.ay - tau**2 * fall - 8 * UNIT * point.ay, 0.0)

    def _alone(self) -> Any:
        """f₀: the least of F with w = 0, found by turns in b and in σ; no less than y's own last
        digits make of it."""
        sums, c_y = self.sums, self.view.c_y
        whole = np.sqrt(sums.Syy + 2 * c_y * sums.Sy + sums.S * c_y**2)
        b = sums.Sy / sums.S if self.fit_intercept else np.zeros_like(sums.Sy)
        sigma = np.sqrt(max(float(sums.Syy[0] - b[0] * sums.Sy[0]), 0.0) / sums.S)
        least = LAST_DIGITS * UNIT * whole * np.sqrt(sums.S) + np.finfo(float).tiny
        best = np.array([np.inf])
        for _ in range(ALTERNATIONS):
            if not sigma * sums.S > least[0]:
                return least
            loss = HuberResidual(self.epsilon * sigma)
            value, slope, near, aa = self.data.reduce(constant_sums, b, self.view, loss)
            total = sums.S * sigma + 2 / sigma * value
            if not total[0] < best[0] * (1 - 1e-5):
                break
            best = total
            # Σ s a²/4 = Σ s at the best σ
            sigma = float(np.sqrt(aa[0] / sums.S))
            if self.fit_intercept:
                b = b + slope / np.maximum(near, sums.S / 16)
        return np.maximum(best, least)
