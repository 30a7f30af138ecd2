r"""Proportional odds: how far a given (w, c) is from the optimum.

    F(w, c) = −Σ_i s_i log P(y_i | x_i) + α/2 ‖w‖²      P(y ≤ k | x) = σ(c_k − xᵀw),  c rising

F is convex (``ordinal_sums``). Let g be its gradient, H its Hessian, ν² = gᵀH⁻¹g. Along a direction
of length ‖u‖_H = 1 let φ(t) = F(θ + tu), t ≥ 0. A logistic term whose score changes by δ·t keeps
φ″ ≥ φ″(0) e^{−|δ|t}. Of −log(1 − e^{−d}) with d = c_k − c_{k−1} the second derivative is
1/(4 sinh²(d/2)), whose logarithm falls by δ·coth((d + δt)/2) ≤ |δ| coth(d/2) a unit of t where d
grows, and rises where it shrinks. The penalty's does not change. So with M the most by which u
changes a score of a row, or coth(d/2) times a distance of thresholds,

    φ″(t) ≥ e^{−Mt},     F(θ) − F* ≤ (a + (1 − a) log(1 − a)) / M²,  a = νM < 1

as in ``curvature``; and thus there is an optimum. M ≤ max ‖·‖_{H⁻¹} of these.

Without a penalty there is none where the classes lie in order along some score: γ_{y−1} ≤ xᵀu ≤ γ_y
for all rows, and not all of them equalities. Then F(w + tu, c + tγ) falls for all t > 0.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.definitions.curvature import excess_of
from certus.definitions.duality import EVALUATION, Fitted
from certus.definitions.linear_sums import UNIT, dense, gamma
from certus.definitions.margins import shares
from certus.definitions.ordinal_sums import (
    between_thresholds,
    combine_ordinal,
    ordinal_sums,
    reaches,
    rounding_of,
)
from certus.definitions.separation import exact_sign


class Excess(NamedTuple):
    most: float  # F − F* at most; ∞ where nothing was found
    decrement: float  # ν²/2
    reach: Any  # |θ_j − θ*_j| at most, or None


NO_EXCESS = Excess(np.inf, np.inf, None)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # what overflows proves nothing
def check(
    data: Any,
    *,
    w: Any,
    thresholds: Any,
    alpha: float = 0.0,
    direction: Any = None,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """Recompute objective, bound and residual of w (p, 1), thresholds (K − 1,).

    Two passes, O(n·p²) operations, O(p²) memory a thread.
    """
    w, c = np.asarray(w, dtype=float), np.asarray(thresholds, dtype=float)
    at = Fitted(data, w, -c, 1.0, 0.0, alpha, True, None)
    infeasible = at.infeasible
    if not infeasible and not (np.diff(c) > 0).all():
        infeasible = "the thresholds do not rise, so that a class has no probability"
    sums, peak = data.reduce(
        ordinal_sums, at.w[:, 0], -at.b, float(at.b_error.max()), at.view,
        combine=combine_ordinal, square=True,
    )  # fmt: skip
    inner = between_thresholds(c, sums.mass)
    penalty = alpha / 2 * float((w * w).sum()) if alpha else 0.0  # w² may overflow
    objective = float(sums.loss + inner[0]) + penalty
    error = float(sums.loss_error + rounding_of(data) * abs(objective))
    f0 = float(-sums.mass @ np.log(sums.mass / sums.mass.sum()))
    found = NO_EXCESS
    if not infeasible and np.isfinite(objective):
        found = excess(data, at, c, alpha, sums, peak, inner)
    gap = (found.most + 2 * error) * (1 + 8 * UNIT)
    answer = {
        "objective": float("inf") if infeasible else objective,
        "bound": max(objective - error - found.most, 0.0),
        "gap": gap,
        "residual": float("inf") if infeasible else float(shares(np.float64(gap), f0)),
        "null_objective": f0,
        "proof": "gradient and curvature",
        "infeasible": infeasible or None,
        "coef_error": None,
        "kind": "global",
        "separated": None,
        "share": sums.mass / sums.mass.sum(),
    }
    if found.reach is not None and np.isfinite(gap):
        answer["coef_error"] = float(np.max(found.reach[: len(w)] * at.q))
    if not np.isfinite(gap):
        answer |= {"bound": None, "gap": float("inf"), "kind": "stationary"}
        share = float(shares(np.float64(found.decrement), f0))
        answer["separated"] = None if alpha else separation(data, w, c, direction)
        nothing = infeasible or answer["separated"]
        answer["residual"] = float("inf") if nothing else share
    return answer


def excess(data: Any, at: Fitted, c: Any, alpha: float, sums: Any, peak: Any, inner: Any) -> Excess:
    """From gradient and Hessian, whatever rounding did to them."""
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
    moved = np.expm1(2 * (score_error + at.b_error.max()))  # H at ẑ is that at z, up to this share
    if not (np.isfinite(H).all() and np.isfinite(g).all() and moved < 0.1):
        return NO_EXCESS
    scale = np.where(d > 0, d, 1.0)
    lam, V = np.linalg.eigh(H / scale / scale[:, None])
    slack = (gamma(data.depth + P + EVALUATION) + 2 * gamma(8 * P + 8)) * P
    known = lam > 4 * slack
    if not known.any() or (alpha and not known.all()):
        return NO_EXCESS
    least = lam[known] - slack
    A = V[:, known] / np.sqrt(least * (1 - moved)) / scale[:, None]
    g_error = g_error + gamma(2 * P + 8) * np.abs(g)
    nu = float(np.linalg.norm(A.T @ g) + np.linalg.norm(np.abs(A).T @ g_error))
    rest = V[:, ~known] / scale[:, None]
    M, change = data.reduce(reaches, at.view, peak, A, rest, combine=both_larger)
    if change > data.eps * max(P, 64) / least.min():
        return Excess(np.inf, nu**2 / 2, None)
    apart = np.linalg.norm(np.diff(A[p:], axis=0), axis=1) / np.tanh(np.diff(c) / 2)
    M = float(max(np.sqrt(M), apart.max(initial=0.0))) * (1 + gamma(4 * P + EVALUATION))
    most, step = excess_of(nu, M)
    # a constant column changes no score: its coefficient is nobody's
    unique = known.all() and bool((d > 0).all())
    return Excess(most, nu**2 / 2, step * np.linalg.norm(A, axis=1) if unique else None)


def both_larger(left: tuple[Any, Any], right: tuple[Any, Any]) -> tuple[Any, Any]:
    return max(left[0], right[0]), max(left[1], right[1])


# --- classes in order along a score ---------------------------------------------------------------


def separation(data: Any, w: Any, c: Any, direction: Any) -> dict[str, Any] | None:
    """Proof that the rows lie in order along (w, c) itself, or along ``direction``."""
    tried = [(w, c)]
    if direction is not None:
        tried.insert(0, direction)
    for u, gamma_ in tried:
        u, at = np.asarray(u, dtype=float).reshape(-1), np.asarray(gamma_, dtype=float)
        if not (np.isfinite(u).all() and np.isfinite(at).all() and u.any()):
            continue
        inside, touching, wrong = data.reduce(in_order, u, at)
        if inside and not wrong:
            kind = "quasi-complete" if touching else "complete"
            proof = {"kind": kind, "rows": int(inside), "direction": (u[:, None], at)}
            return {**proof, "ordered": True}
    return None


def in_order(X: Any, y: Any, s: Any, u: Any, c: Any) -> tuple[float, float, float]:
    """Of one block's rows that count: those within their thresholds with room on a side, those that
    touch one, and those that lie outside."""
    counted = slice(None) if s is None else s > 0
    X, k = X[counted].astype(float), y[counted][:, 0].astype(np.intp)
    z, size = X @ u, abs(X) @ np.abs(u)
    inside, touching, wrong = np.zeros(len(k), dtype=bool), 0.0, 0.0
    for above, sign in ((0, 1.0), (1, -1.0)):
        rows = np.flatnonzero((k < len(c)) if not above else (k > 0))
        at = c[k[rows] - above]
        m = sign * (at - z[rows])
        error = gamma(len(u) + 4) * (size[rows] + np.abs(at)) + np.finfo(float).tiny
        inside[rows[m > error]] = True
        wrong += float((m < -error).sum())
        for i in np.flatnonzero(np.abs(m) <= error) if not wrong else ():
            row = dense(X[rows[i : i + 1]])[0]
            side = exact_sign([(1.0, at[i]), *((-a, b) for a, b in zip(row, u, strict=True))])
            side = int(sign) * side
            inside[rows[i]] |= side > 0
            touching += side == 0
            wrong += side < 0
    return float(inside.sum()), touching, wrong
