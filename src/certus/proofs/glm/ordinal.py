r"""Proportional odds: bound of the excess of a given (w, c).

    F(w, c) = −Σ_i s_i log P(y_i | x_i) + α/2 ‖w‖²    P(y ≤ k | x) = σ(c_k − xᵀw),  c increasing

F is convex (``_ordinal_sums``). Let g be its gradient, H its Hessian, ν² = gᵀH⁻¹g. Along a
direction of length ‖u‖_H = 1 let φ(t) = F(θ + tu), t ≥ 0. A logistic term whose score changes by
δ·t satisfies φ″ ≥ φ″(0) e^{−|δ|t}. The second derivative of −log(1 − e^{−d}), d = c_k − c_{k−1}, is
1/(4 sinh²(d/2)), whose logarithm falls by δ·coth((d + δt)/2) ≤ |δ| coth(d/2) per unit of t where d
grows, and rises where it shrinks. The penalty's is constant. So with M the largest change along u
of a row's score, or of coth(d/2) times a distance of thresholds,

    φ″(t) ≥ e^{−Mt},     F(θ) − F* ≤ (a + (1 − a) log(1 − a)) / M²,  a = νM < 1

as in ``_curvature``; and thus there is an optimum. M ≤ max ‖·‖_{H⁻¹} of these. Where H, in the
columns as they are, is dominated by rounding (columns that nearly repeat others), or there are more
columns than rows, orthogonal directions are used instead (``_ordinal_excess``).

Without a penalty there is no optimum where some score orders the classes: γ_{y−1} ≤ xᵀu ≤ γ_y for
all rows, and not all of them equalities. Then F(w + tu, c + tγ) falls for all t > 0.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.glm._curvature import excess_bound
from certus.proofs.glm._ordinal_excess import FLAT_MESSAGE, NO_EXCESS, OrdinalExcess, careful_excess
from certus.proofs.glm._ordinal_sums import (
    OrdinalSums,
    between_thresholds,
    combine_ordinal,
    larger_reach,
    ordinal_reach,
    ordinal_sums,
    rounding_of,
)
from certus.proofs.glm.duality import EVALUATION_ROUNDINGS, Fitted, class_mass
from certus.proofs.glm.margins import shares
from certus.proofs.glm.separation import exact_sign
from certus.proofs.linalg.linear_sums import UNIT, dense, gamma
from certus.proofs.linalg.negligible_directions import left_out_findings
from certus.proofs.types import RowData


class OrdinalResult(NamedTuple):
    """Objective and excess, from the columns or along orthogonal directions."""

    objective: float
    error: float  # of the objective, by rounding
    excess: OrdinalExcess
    left_out: list[dict[str, Any]]  # directions, as ``negligible_directions`` describes them
    final: bool  # higher precision would not prove more

    @property
    def gap(self) -> float:
        return float((self.excess.upper + 2 * self.error) * (1 + 8 * UNIT))


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # an overflow gives no bound
def check(
    data: RowData,
    *,
    w: np.ndarray,
    thresholds: np.ndarray,
    alpha: float = 0.0,
    direction: tuple[np.ndarray, np.ndarray] | None = None,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Recompute objective, bound and residual of w (p, 1), thresholds (K − 1,).

    Two passes, O(n·p²) operations, O(p²) memory a thread; with more columns than rows O(n²·p).
    """
    w, c = np.asarray(w, dtype=float), np.asarray(thresholds, dtype=float)
    at = Fitted(data, w, -c, 1.0, 0.0, alpha, True, None)
    infeasible = at.infeasible
    if not infeasible and not (np.diff(c) > 0).all():
        infeasible = "the thresholds do not increase, so a class has no probability"
    (class_weights,) = data.reduce_targets(class_mass, len(c) + 1)
    if len(class_weights) != len(c) + 1 or not (class_weights > 0).all():
        infeasible = infeasible or "there must be one threshold fewer than classes with rows"
    f0 = float(-class_weights @ np.log(class_weights / class_weights.sum()))
    result, separated, wide = NO_RESULT, None, data.shape[0] <= data.shape[1]
    if wide and not alpha and not infeasible:
        separated = separation(data, w, c, direction)
    if not infeasible and not wide:
        result = in_columns(data, at, c, alpha, tol * f0)
    if not infeasible and not result.final:
        result = along_directions(data, w, c, alpha, tol * f0, separated is not None)
    excess, gap = result.excess, result.gap
    answer = {
        "objective": float("inf") if infeasible else result.objective,
        "bound": max(result.objective - result.error - excess.upper, 0.0),
        "gap": gap,
        "residual": float("inf") if infeasible else float(shares(np.float64(gap), f0)),
        "null_objective": f0,
        "proof": "gradient and curvature",
        "infeasible": infeasible or None,
        "coef_error": None,
        "kind": "global",
        "separated": None,
        "share": None if infeasible else class_weights / class_weights.sum(),
        "left_out": result.left_out,
    }
    if excess.reach is not None and np.isfinite(gap):
        answer["coef_error"] = float(np.max(excess.reach))
    if not np.isfinite(gap):
        answer |= {"bound": None, "gap": float("inf"), "kind": "stationary", "left_out": []}
        if not alpha and separated is None and not infeasible:
            separated = separation(data, w, c, direction)
        answer["separated"] = separated
        step = float(shares(np.float64(excess.decrement), f0))
        # a small gradient proves nothing where the curvature is unknown
        unproven = not (infeasible or separated) and not step > tol
        if excess.unresolved and (unproven or not np.isfinite(step)):
            answer |= {"unproven": excess.unresolved, "at_least": 0.0}
        answer["residual"] = float("inf") if infeasible or separated or unproven else step
    return answer


NO_RESULT = OrdinalResult(np.inf, np.inf, NO_EXCESS, [], False)


def along_directions(
    data: RowData, w: np.ndarray, c: np.ndarray, alpha: float, goal: float, only_objective: bool
) -> OrdinalResult:
    """Return the result along orthogonal directions.

    ``only_objective``: without the excess, where there is no optimum.
    """
    careful = careful_excess(data, w, c, alpha, goal, only_objective)
    left_out = left_out_findings(careful.directions.left_out, len(w))
    return OrdinalResult(careful.objective, careful.error, careful.excess, left_out, True)


def in_columns(
    data: RowData, at: Fitted, c: np.ndarray, alpha: float, goal: float
) -> OrdinalResult:
    """Return the result in the columns as viewed. ``goal``: the intended gap."""
    sums, peak = data.reduce(
        ordinal_sums, at.w[:, 0], -at.b, float(at.b_error.max()), at.view,
        combine=combine_ordinal, square=True,
    )  # fmt: skip
    inner = between_thresholds(c, sums.mass)
    # w² may overflow
    penalty = alpha / 2 * float(((at.w[:, 0] * at.q) ** 2).sum()) if alpha else 0.0
    objective = float(sums.loss + inner[0]) + penalty
    error = float(sums.loss_error + rounding_of(data) * abs(objective) + gamma(len(at.w)) * penalty)
    if not np.isfinite(objective):
        return OrdinalResult(objective, error, NO_EXCESS, [], False)
    excess, slope = excess_in_columns(data, at, c, alpha, sums, peak, inner)
    result = OrdinalResult(objective, error, excess, [], True)
    # final if the gap is reached, or the gradient rather than rounding exceeds the goal
    return result._replace(final=result.gap <= goal or slope**2 / 2 > goal)


def excess_in_columns(
    data: RowData,
    at: Fitted,
    c: np.ndarray,
    alpha: float,
    sums: OrdinalSums,
    peak: np.ndarray,
    inner: tuple[Any, ...],
) -> tuple[OrdinalExcess, float]:
    """Return the excess from gradient and Hessian, rounding included.

    Also returns ν without rounding; 0 where the Hessian is dominated by rounding.
    """
    p, P = len(at.w), len(sums.g)
    _, g_inner, H_inner, size_inner = inner
    g, H = sums.g.copy(), sums.H.copy()
    l2 = alpha * at.q**2
    g[:p] += l2 * at.w[:, 0]
    g[p:] += g_inner
    g_error = sums.g_error + rounding_of(data) * sums.size
    g_error[:p] += gamma(4) * l2 * np.abs(at.w[:, 0])
    g_error[p:] += rounding_of(data) * size_inner
    H[p:, p:] += H_inner
    H[np.arange(p), np.arange(p)] += l2
    d = np.sqrt(np.diagonal(H))
    score_error = gamma(p + 6) * (peak @ np.abs(at.w[:, 0]) + np.abs(at.b).max())
    hessian_change = np.expm1(2 * (score_error + at.b_error.max()))  # relative, of H at ẑ and z
    if not (
        np.isfinite(H).all() and np.isfinite(g).all() and hessian_change < 0.1 and (d > 0).all()
    ):
        return NO_EXCESS, 0.0
    lam, V = np.linalg.eigh(H / d / d[:, None])
    slack = (gamma(data.depth + P + EVALUATION_ROUNDINGS) + 2 * gamma(8 * P + 8)) * P
    if not (lam > 4 * slack).all():
        return NO_EXCESS, 0.0
    A = V / np.sqrt((lam - slack) * (1 - hessian_change)) / d[:, None]
    g_error = g_error + gamma(2 * P + 8) * np.abs(g)
    slope = float(np.linalg.norm(A.T @ g))
    nu = slope + float(np.linalg.norm(np.abs(A).T @ g_error))
    (M,) = data.reduce(ordinal_reach, at.view, A, combine=larger_reach)
    threshold_reach = np.linalg.norm(np.diff(A[p:], axis=0), axis=1) / np.tanh(np.diff(c) / 2)
    M = float(max(np.sqrt(M), threshold_reach.max(initial=0.0))) * (
        1 + gamma(4 * P + EVALUATION_ROUNDINGS)
    )
    upper, step = excess_bound(nu, M)
    reach = step * np.linalg.norm(A[:p], axis=1) * at.q
    return OrdinalExcess(upper, nu**2 / 2, reach, "" if np.isfinite(upper) else FLAT_MESSAGE), slope


# --- classes in order along a score ---------------------------------------------------------------


def separation(
    data: RowData, w: np.ndarray, c: np.ndarray, direction: tuple[np.ndarray, np.ndarray] | None
) -> dict[str, Any] | None:
    """Return a proof that (w, c) itself or ``direction`` orders the rows by class."""
    tried = [(w, c)]
    if direction is not None:
        tried.insert(0, direction)
    for u, gamma_ in tried:
        u, at = np.asarray(u, dtype=float).reshape(-1), np.asarray(gamma_, dtype=float)
        if not (np.isfinite(u).all() and np.isfinite(at).all() and u.any()):
            continue
        inside, touching, violations = data.reduce(in_order, u, at)
        if inside and not violations:
            kind = "quasi-complete" if touching else "complete"
            proof = {"kind": kind, "rows": int(inside), "direction": (u[:, None], at)}
            return {**proof, "ordered": True}
    return None


def in_order(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, u: np.ndarray, c: np.ndarray
) -> tuple[float, float, float]:
    """Count one block's weighted rows by where they lie relative to their thresholds.

    Returns the rows with slack on at least one side, the ties with a threshold, and the violations.
    """
    counted = slice(None) if s is None else s > 0
    X, k = X[counted].astype(float), y[counted][:, 0].astype(np.intp)
    z, size = X @ u, abs(X) @ np.abs(u)
    inside, touching, violations = np.zeros(len(k), dtype=bool), 0.0, 0.0
    for above, sign in ((0, 1.0), (1, -1.0)):
        rows = np.flatnonzero((k < len(c)) if not above else (k > 0))
        at = c[k[rows] - above]
        m = sign * (at - z[rows])
        error = gamma(len(u) + 4) * (size[rows] + np.abs(at)) + np.finfo(float).tiny
        inside[rows[m > error]] = True
        violations += float((m < -error).sum())
        for i in np.flatnonzero(np.abs(m) <= error) if not violations else ():
            row = dense(X[rows[i : i + 1]])[0]
            side = exact_sign([(1.0, at[i]), *((-a, b) for a, b in zip(row, u, strict=True))])
            side = int(sign) * side
            inside[rows[i]] |= side > 0
            touching += side == 0
            violations += side < 0
    return float(inside.sum()), touching, violations
