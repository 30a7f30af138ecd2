r"""Poisson and Gamma regression with a log link: bound of the excess of a given (w, b).

    F(w, b) = 1/S Σ_i s_i ℓ_i(x_iᵀw + b) + l1‖w‖₁ + l2/2 ‖w‖²        S = Σ s

ℓ is half the deviance: c(eᵗ − 1 − t), t = log μ − log c, log μ = κ + σz (``_log_link_sums``).

*Dual bound.* A convex loss lies above each of its tangents. The tangent at log m, m ≥ 0, is

    ℓ(z) ≥ σ(m − c)z + G(m),     G(m) = m − c − m log m + c log c + (m − c)κ

so with a = σ(c − m), v = Σ s a x, and Σ s a = 0 where there is an intercept,

    S·F(w, b) ≥ Σ s G(m) − Σ_j [|v_j| − S·l1]₊² / (2S·l2)

and |v_j| ≤ S·l1 is required if l2 = 0. The tangent of the fit has m = μ. It is made feasible by
m = ρμ, ρ = Σ s c/Σ s μ, and for l2 = 0 by m = τρμ + (1 − τ)c. As log(1 + x) ≤ x,

    Σ s G(m) ≥ Σ s ℓ + (ρ − 1 − ρ log ρ) Σ s μ + τ Σ s σ(c − ρμ)z − (1 − τ)² Σ s (c − ρμ)²/(ρμ)

and, since G is concave and G(c) = 0, also Σ s G(m) ≥ τ Σ s G(ρμ).

Where that proves too little, as without a penalty, gradient and curvature are used
(``_curvature``): |ℓ‴| = ℓ″ = μ. Without a penalty, columns that repeat others are left out or
treated in higher precision, and counts may have no finite optimum (``separation``).
"""

from typing import Any

import numpy as np

from certus.proofs.glm._careful_curvature import careful_curvature
from certus.proofs.glm._curvature import CurvatureBound, LocalModel, curvature_bound
from certus.proofs.glm._log_link_sums import (
    SIGN,
    LogLinkCurvature,
    LogLinkRows,
    combine,
    log_link_sums,
    null_loss,
)
from certus.proofs.glm.duality import ElasticNetPenalty, Fitted
from certus.proofs.glm.separation import falls, no_finite_optimum
from certus.proofs.linalg.linear_sums import UNIT, gamma
from certus.proofs.linalg.negligible_directions import left_out_findings
from certus.proofs.linalg.repeated_columns import repeated_columns
from certus.proofs.types import RowData

LOG_ROUNDINGS = 8  # units of |κ| + |log c| + |z| by which t may be off, besides the error of z
SCALE_ROUNDINGS = 8  # of S·l1 and S·l2, besides those of S
RANGE_MESSAGES = {"poisson": "a count is below 0", "gamma": "a target is not above 0"}


class LogLinkProblem(Fitted):
    """A model (w, b) with its sums over all rows, objective and bounds, all times S."""

    def __init__(
        self, data: RowData, family: str, w: np.ndarray, b: np.ndarray, l1: float, l2: float,
        fit_intercept: bool,
    ):  # fmt: skip
        super().__init__(data, w, b, 1.0, l1, l2, fit_intercept, None)
        self.family, self.sign = family, SIGN[family]
        self.sums, self.maxima = data.reduce(
            log_link_sums, self.w, self.b, self.view, family, combine=combine
        )
        sums, maxima = self.sums, self.maxima
        if maxima.refused and not self.infeasible:
            self.infeasible = RANGE_MESSAGES[family]
        self.S = sums.S
        self.scaled = ElasticNetPenalty(l1 * self.S, l2 * self.S)
        self.unscaled = l1, l2
        self.log_error = LOG_ROUNDINGS * UNIT * (maxima.logs + maxima.score)
        self.t_error = self._score_error(maxima.peak) + self.log_error
        self.scale_rounding = gamma(data.depth + SCALE_ROUNDINGS)
        f0 = null_loss(data, family, self.free, maxima.kappa)
        # rounding of the targets makes a loss of about u² Σ s c; u leaves room
        self.null_objective = max(f0, UNIT * sums.c, np.finfo(float).tiny)

    def _score_error(self, peak: np.ndarray) -> float:
        """Return a bound of |ẑ − z|, of rows with |x_j| ≤ peak_j."""
        size = float(peak @ np.abs(self.w[:, 0]) + np.abs(self.b[0]))
        return gamma(len(self.w) + 6) * size + float(self.b_error[0])

    @property
    def penalty_value(self) -> float:
        return float(self.scaled.value(self.penalized)[0])

    @property
    def objective(self) -> float:
        return self.sums.value + self.penalty_value

    @property
    def evaluation(self) -> float:
        """Bound of |F̂ − F|: the error of t times the slope and the curvature, and of the sums."""
        sums = self.sums
        total = sums.value + sums.a_size + sums.ct + self.penalty_value
        return self.change(self.t_error) + (self.rounding + self.scale_rounding) * total

    def change(self, e: float) -> float:
        """Bound of the change of Σ s ℓ where every t changes by at most e."""
        return float(e * self.sums.a_size + self.sums.mu * e * np.expm1(e))

    def dual_bound(self) -> float:
        """Return a lower bound of S·F from the tangents of the losses."""
        sums, e, peak = self.sums, self.t_error, self.maxima.peak
        mu_error = np.expm1(e)  # relative error of μ
        if not 0 < sums.mu < np.inf:  # all means underflow, or some overflow
            return 0.0
        r = sums.a / sums.mu if self.free else 0.0
        rho, r_error = 1 + r, 0.0
        if self.free:
            r_error = 1.01 * (self.rounding * sums.a_size / sums.mu + mu_error)
        if not rho - r_error > 0:
            return 0.0
        moved = abs(r) + r_error
        v = self.sign * (sums.V[:, 0] - r * sums.V[:, 1])
        size = (self.rounding + mu_error) * (sums.a_size + (1 + moved) * sums.mu)
        size += r_error * sums.mu
        error = size * float(np.linalg.norm(peak / self.q))
        v = (v / self.q)[:, None]
        along = self.sign * (sums.az - r * sums.muz)
        level = sums.value + (r - rho * np.log1p(r)) * sums.mu
        second = 2 * (sums.aa + r * r * sums.mu) / rho
        # rounding of the sums; and of what depends on ρ, whose derivative is −μ log ρ − σμz
        lost = self.rounding * (
            sums.value
            + sums.a_size
            + sums.ct
            + moved * sums.mu
            + sums.az_size
            + moved * sums.muz_size
        ) + mu_error * self.maxima.score * (sums.a_size + (1 + moved) * sums.mu)
        lost += r_error * (abs(np.log1p(r)) * sums.mu + sums.muz_size)
        lost += 2 * r_error**2 * sums.mu / (rho - r_error) + mu_error * sums.a_size

        def dual(tau: np.ndarray) -> Any:
            short = 1 - tau + 2 * UNIT
            near = level + tau * along - short**2 * second
            return np.fmax(near, tau * (level + along)) - lost * (1 + np.abs(tau))

        low = ElasticNetPenalty(*(l * (1 - self.scale_rounding) for l in self.scaled))
        bound, _ = low.best(dual, v, np.array([error]))
        return float(np.fmax(bound[0], 0.0))

    def local_model(self, without: list[int], moved: float = 0.0) -> LocalModel:
        """Return gradient and curvature at (w, b), without some columns of X.

        ``moved``: by how much their coefficients may change a score.
        """
        sums, peak, q = self.sums, self.maxima.peak, self.q
        e = self.t_error + moved
        l1, l2 = (np.append(l * f, 0.0) for l, f in zip(self.scaled, (q, q * q), strict=True))
        g = np.append(-self.sign * sums.V[:, 0], -self.sign * sums.a)
        w, size = np.append(self.w[:, 0], self.b), np.append(peak, 1.0)
        if not self.free:
            l1, l2, g, w, size = l1[:-1], l2[:-1], g[:-1], w[:-1], size[:-1]
        g = g + l2 * w
        g = np.where(w != 0, g + l1 * np.sign(w), np.sign(g) * np.maximum(np.abs(g) - l1, 0.0))
        g_error = size * (np.expm1(e) * sums.mu + self.rounding * sums.a_size)
        g_error = g_error + (gamma(4) + self.scale_rounding) * (np.abs(l2 * w) + l1)
        kept = np.ones((1, len(g)), dtype=bool)
        kept[:, without] = False
        return LocalModel(
            self.w, self.b, LogLinkCurvature(self.family), self.view, 1.0 if self.free else None,
            g[None], g_error[None], l2[None], kept, self.unscaled != (0, 0),
            float(self.b_error[0]) + LOG_ROUNDINGS * UNIT * self.maxima.logs + moved, e,
        )  # fmt: skip

    def curvature_bound(
        self, tol: float, quick: bool, without: list[int] | None = None, moved: float = 0.0
    ) -> CurvatureBound:
        local = self.local_model(without or [], moved)
        return curvature_bound(self.data, local, tol * self.null_objective / 4, quick)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # an overflow gives no bound
def check(
    data: RowData,
    *,
    family: str,
    w: np.ndarray,
    b: np.ndarray,
    l1: float = 0.0,
    l2: float = 0.0,
    fit_intercept: bool = True,
    direction: tuple[np.ndarray, np.ndarray] | None = None,
    offset: bool = False,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Recompute objective, bound and residual of w (p, 1), b (1,).

    ``offset``: y (n, 2) holds the offsets beside the targets; else it is (n, 1).

    One pass of O(n·p) operations, and two over the targets.
    """
    problem = LogLinkProblem(data, family, w, b, float(l1), float(l2), fit_intercept)
    f0, penalized = problem.null_objective, l1 > 0 or l2 > 0
    error, answer = problem.evaluation, BestBound(problem)
    if penalized:
        answer.offer(problem.objective + error - problem.dual_bound(), "a dual point")
    last = None
    for quick in (True, False) if penalized else (False,):
        if answer.gap <= tol * f0 or problem.infeasible:
            break
        last = problem.curvature_bound(tol, quick)
        answer.offer_curvature(last, error)
    left: dict[str, Any] = {}
    if last is not None and not penalized and answer.gap > tol * f0 and last.unresolved:
        left = resolve(problem, last, answer, tol)
    falling = None
    if family == "poisson" and not answer.gap <= tol * f0 and not problem.infeasible:
        if fit_intercept and problem.sums.c == 0:  # every count is 0
            falling = falls(data, (np.zeros(len(problem.w)), -np.ones(1)))
        elif not penalized:
            falling = no_finite_optimum(data, fit_intercept, direction)
    return answer.result(falling) | left


class BestBound:
    """The best bound found so far."""

    def __init__(self, problem: LogLinkProblem):
        self.problem, self.objective = problem, problem.objective
        self.gap, self.proof, self.decrement = np.inf, "a dual point", np.inf
        self.coef_error: float | None = None

    def offer(self, excess: float, proof: str) -> bool:
        """Take a bound of the excess, rounding included, if it is better."""
        gap = float(excess * (1 + 8 * UNIT))
        if not gap < self.gap:
            return False
        self.gap, self.proof = max(gap, 0.0), proof
        return True

    def offer_curvature(self, result: CurvatureBound, error: float) -> None:
        self.decrement = min(self.decrement, result.decrement)
        is_best, q = self.offer(result.excess + 2 * error, "gradient and curvature"), self.problem.q
        if is_best and result.reach is not None:
            self.coef_error = float(np.max(result.reach[: len(q)] * q))

    def result(self, falling: dict[str, Any] | None) -> dict[str, Any]:
        problem, S, f0 = self.problem, self.problem.S, self.problem.null_objective
        l2, coef_error = problem.scaled.l2, self.coef_error
        if l2 > 0:  # l2/2 ‖w − w*‖² ≤ F(w, b) − F*
            most = float(np.sqrt(2 * self.gap / l2))
            coef_error = most if coef_error is None else min(most, coef_error)
        finite = np.isfinite(self.gap) and np.isfinite(self.objective)
        residual = self.gap / f0 if finite else np.inf
        kind, bound = "global", max(self.objective - self.gap, 0.0)
        if not finite and np.isfinite(self.decrement):
            kind, residual = "stationary", self.decrement / f0
        return {
            "objective": self.objective / S,
            "bound": bound / S if finite else None,
            "gap": self.gap / S if finite else np.inf,
            "residual": np.inf if problem.infeasible or falling else float(residual),
            "null_objective": f0 / S,
            "proof": self.proof,
            "infeasible": problem.infeasible or None,
            "coef_error": coef_error,
            "kind": kind,
            "falling": falling,
        }


def resolve(
    problem: LogLinkProblem, before: CurvatureBound, answer: BestBound, tol: float
) -> dict[str, Any]:
    """Bound a problem without a penalty whose columns repeat others, and return what was left out.

    Such columns are excluded; where that is not enough, higher precision is used.
    """
    goal, w = tol * problem.null_objective, problem.penalized
    constant, size = 1.0 if problem.free else None, problem.column_sizes()
    repeats = repeated_columns(problem.data, problem.view, before.flat, size, constant, w)
    if repeats is not None:
        result = problem.curvature_bound(tol, False, repeats.columns, repeats.shift)
        error = problem.evaluation + problem.change(repeats.shift)
        if result.excess + 2 * error <= goal:
            answer.offer(result.excess + 2 * error, "gradient and curvature")
            return {"left_out": left_out_findings(repeats.left_out, len(w))}
    b = problem.user_b
    careful = careful_curvature(
        problem.data, w, b, problem.free, LogLinkRows(problem.family), np.ones(1, dtype=bool)
    )
    found: dict[str, Any] = {"left_out": left_out_findings(careful.left_out, len(w))}
    if np.isfinite(careful.objective):
        answer.objective = careful.objective
        answer.decrement = careful.decrement
        # the rounding of log μ besides that of z, of which careful_curvature does not know:
        # (ν + δ)² ≤ (1 + ε)ν² + (1 + 1/ε)δ², δ² ≤ e²Σ s μ
        excess = careful.excess * (1 + 1e-6) + 2e6 * problem.log_error**2 * problem.sums.mu
        error = careful.error + problem.change(problem.log_error)
        error += problem.rounding * (problem.sums.a_size + problem.sums.ct)
        answer.offer(excess + 2 * error, "gradient and curvature")
        if careful.reach is not None and np.isfinite(careful.excess):
            answer.coef_error = float(np.max(careful.reach[:, : len(w)]))
    if careful.unproven:
        gain = max(before.gain, problem.objective - problem.null_objective)
        found |= {"unproven": careful.unproven, "at_least": gain / problem.null_objective}
    return found
