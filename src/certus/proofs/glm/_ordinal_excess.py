r"""The excess of a proportional-odds fit from gradient and curvature along orthogonal directions.

    F(θ) − F* ≤ (a + (1 − a) log(1 − a)) / M²,   a = νM < 1,   ν² = gᵀH⁻¹g

(``ordinal``) holds in any coordinates: here in those of ``orthogonal_directions``, Z = X̃T, where
columns that nearly repeat others cost no digits, with scores z = xᵀw in twice the digits. Without a
penalty a direction is left out only by the rule of ``negligible_directions``.

With a penalty α/2 ‖w‖² and more columns than rows, T spans the rows and w = Tη + v, v ⊥ T. A score
changes by xᵀv = ρᵀv, ρ = x − (part of x in T), next to nothing: with δ² = Σ ‖ρ_i‖², any 0 < τ < 1
and α′ = α − δ² max s / 2τ,

    uᵀHu ≥ (1 − τ) (η, c)ᵀ H_T (η, c) + α′‖v‖²
    ν² ≤ ν_T²/(1 − τ) + ‖g_v‖²/α′,   M² ≤ M_T²/(1 − τ) + max ‖ρ_i‖²/α′

for (x + y)ᵀD(x + y) ≥ (1 − τ) xᵀDx − (1/τ − 1) yᵀDy, and D ≤ s/2 in each row.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.glm._curvature import excess_of
from certus.proofs.glm._ordinal_sums import (
    OrdinalSums,
    between_thresholds,
    combine_ordinal,
    larger_reach,
    reach_of_terms,
    rounding_of,
    sums_of_terms,
)
from certus.proofs.glm.duality import EVALUATION
from certus.proofs.linalg.accurate_products import accurate_product, product_error
from certus.proofs.linalg.linear_sums import UNIT, dense, gamma
from certus.proofs.linalg.orthogonal_directions import Directions, find_directions, no_directions
from certus.proofs.types import Matrix, RowData

SHARE_OF_ROWS = 1e-6  # τ
MAX_CAREFUL_WORK = 2**27  # n·p·(directions along which digits cancel), with a penalty
# after "there are"
TOO_NEAR = (
    "directions along which the curvature cannot be told from rounding: columns nearly repeat "
    "others, or the classes all but lie in order"
)
TOO_FLAT = "directions along which the curvature may vanish: the classes all but lie in order"


class Excess(NamedTuple):
    most: float  # F − F* at most; ∞ where nothing was found
    decrement: float  # ν²/2
    reach: np.ndarray | None  # |θ_j − θ*_j| at most, or None
    unresolved: str = ""  # why nothing was found; "": the gradient is too large


NO_EXCESS = Excess(np.inf, np.inf, None)


class OutsideRows(NamedTuple):
    """What lies outside the directions T: of one block."""

    square: float  # Σ ‖ρ‖²
    largest: float  # max ‖ρ‖
    g: np.ndarray  # |Σ s ∂ ρ|, at most, (p,)


class Careful(NamedTuple):
    objective: float
    error: float  # of it
    excess: Excess
    directions: Directions


def careful_excess(
    data: RowData,
    w: np.ndarray,
    c: np.ndarray,
    alpha: float,
    goal: float,
    only_objective: bool = False,
) -> Careful:
    """At w (p, 1), c (K − 1,) in the user's units. ``goal``: the gap that is wanted.
    O(n·p·min(n, p)) operations, more where digits cancel."""
    there = no_directions(data)
    scaled = np.ldexp(w, there.exponent[:, None])
    if not only_objective:
        there = find_directions(data, True, OrdinalBend(scaled, c, there.exponent), alpha > 0)
        if alpha and there.cancelling.any():  # a penalty bends what the rows hardly show
            plain = there._replace(cancelling=np.zeros_like(there.cancelling))
            found = along(data, w, c, alpha, plain, scaled)
            enough = found.excess.most + 2 * found.error <= goal
            if enough or data.shape[0] * len(w) * there.cancelling.sum() > MAX_CAREFUL_WORK:
                return found
    return along(data, w, c, alpha, there, scaled)


def along(
    data: RowData, w: np.ndarray, c: np.ndarray, alpha: float, there: Directions, scaled: np.ndarray
) -> Careful:
    """Along the directions of ``there``; ``scaled``: w of x̂."""
    if np.ndim(there.T) == 0:
        return Careful(np.inf, np.inf, NO_EXCESS._replace(unresolved=there.unresolved), there)
    sums, square, score_error, outside = data.reduce(
        sums_along, scaled, c, there, alpha > 0, combine=combine_along, square=True
    )
    inner = between_thresholds(c, sums.mass)
    penalty = alpha / 2 * float((w * w).sum()) if alpha else 0.0
    objective = float(sums.loss + inner[0]) + penalty
    error = float(sums.loss_error + rounding_of(data) * abs(objective) + gamma(len(w)) * penalty)
    if there.unresolved:
        found = NO_EXCESS._replace(unresolved=there.unresolved)
    else:
        found = excess_along(data, w, c, alpha, there, (sums, square, score_error, outside, inner))
    return Careful(objective, error, found, there)


def excess_along(
    data: RowData,
    w: np.ndarray,
    c: np.ndarray,
    alpha: float,
    there: Directions,
    totals: tuple[Any, ...],
) -> Excess:
    sums, square, score_error, outside, (_, g_inner, H_inner, size_inner) = totals
    r, P, p = there.T.shape[1], len(sums.g), len(w)
    T = there.users
    g, H = sums.g.copy(), sums.H.copy()
    g_error = sums.g_error + rounding_of(data) * sums.size
    g[r:] += g_inner
    g_error[r:] += rounding_of(data) * size_inner
    H[r:, r:] += H_inner
    if alpha:
        pull = sum(accurate_product(T.T, w))[:, 0]
        g[:r] += alpha * pull
        off = product_error(p) * np.dot(np.abs(T).T, np.abs(w[:, 0])) + gamma(4) * np.abs(pull)
        g_error[:r] += alpha * off
        H[:r, :r] += alpha * np.dot(T.T, T)
    d = np.sqrt(np.diagonal(H))
    if not (np.isfinite(H).all() and np.isfinite(g).all() and (d > 0).all()):
        return NO_EXCESS._replace(unresolved=TOO_NEAR)
    lam, V = np.linalg.eigh(H / d / d[:, None])
    slack = (gamma(data.depth + P + p + EVALUATION) + 2 * gamma(8 * P + 8)) * P
    # √s∘Z is off by √square in each column: the root of an eigenvalue by no more than all of them
    shift = float(np.sqrt((square / d[:r] ** 2).sum()))
    root = np.sqrt(np.maximum(lam - slack, 0.0)) - shift
    moved = np.expm1(2 * score_error)  # H at ẑ is that at z, up to this share
    if not ((lam > 4 * slack).all() and (root > 2 * shift).all() and moved < 0.1):
        return NO_EXCESS._replace(unresolved=TOO_NEAR)
    A = V / (root * np.sqrt(1 - moved)) / d[:, None]
    g_error = g_error + gamma(2 * P + 8) * np.abs(g)
    nu = float(np.linalg.norm(A.T @ g) + np.linalg.norm(np.abs(A).T @ g_error))
    (M,) = data.reduce(reach_along, there, A, combine=larger_reach)
    apart = np.linalg.norm(np.diff(A[r:], axis=0), axis=1) / np.tanh(np.diff(c) / 2)
    M = float(max(np.sqrt(M), apart.max(initial=0.0))) * (1 + gamma(4 * P + EVALUATION))
    if alpha and not there.all_columns:
        beyond = with_what_is_outside(data, w, alpha, T, outside, nu, M)
        if beyond is None:
            return NO_EXCESS._replace(unresolved=TOO_NEAR)
        nu, M = beyond
    most, step = excess_of(nu, M)
    reach = None
    if there.all_columns and not there.left_out:
        of_w = np.linalg.norm(T @ A[:r], axis=1)
        reach = step * (of_w + gamma(2 * P + 8) * np.linalg.norm(np.abs(T) @ np.abs(A[:r]), axis=1))
    return Excess(most, nu**2 / 2, reach, "" if np.isfinite(most) else TOO_FLAT)


def with_what_is_outside(
    data: RowData,
    w: np.ndarray,
    alpha: float,
    T: np.ndarray,
    outside: OutsideRows,
    nu: float,
    M: float,
) -> tuple[float, float] | None:
    """ν and M of all directions, from those of T."""
    p, r = T.shape
    largest = 1.0 if data.s is None else float(np.max(data.s))
    left = alpha - outside.square * largest / (2 * SHARE_OF_ROWS)
    if not left > alpha / 2:
        return None
    back = np.dot(T, np.dot(T.T, w))
    rest = np.abs(w - back) + gamma(p + r + 4) * (
        np.abs(w) + np.dot(np.abs(T), np.dot(np.abs(T).T, np.abs(w)))
    )
    g = float(np.linalg.norm(outside.g)) + alpha * float(np.linalg.norm(rest))
    within = 1 / (1 - SHARE_OF_ROWS)
    more = 1 + gamma(p + 8)
    return (
        float(np.sqrt(nu**2 * within + g**2 / left)) * more,
        float(np.sqrt(M**2 * within + outside.largest**2 / left)) * more,
    )


# --- passes over the rows -------------------------------------------------------------------------


class OrdinalBend(NamedTuple):
    """s ∂²/∂z² of the rows' two logistic terms at their scores."""

    w: np.ndarray  # (p, 1), of x̂
    c: np.ndarray
    exponent: np.ndarray

    def __call__(self, X: Matrix, y: np.ndarray, s: np.ndarray) -> Any:
        k = y[:, 0].astype(np.intp)
        z = sum(accurate_product(np.ldexp(dense(X).astype(float), -self.exponent), self.w))
        ends = np.concatenate([[-np.inf], self.c, [np.inf]])
        e = [np.exp(-np.abs(z[:, 0] - at)) for at in (ends[k], ends[k + 1])]
        return s * sum(part / (1 + part) ** 2 for part in e)


def sums_along(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    w: np.ndarray,
    c: np.ndarray,
    there: Directions,
    beyond: bool,
) -> tuple[OrdinalSums, Any, float, OutsideRows]:
    """Of one block's rows that count, in the directions T, w (p, 1) of x̂: sums,
    Σ s ∂² (error of z)² of each direction, the largest error of a score, what is outside T."""
    counted = slice(None) if s is None else s > 0
    X, k = dense(X[counted]), y[counted][:, 0].astype(np.intp)
    s = np.ones(len(k)) if s is None else s[counted]
    A = np.ldexp(X.astype(float), -there.exponent)
    high, low = (part[:, 0] for part in accurate_product(A, w))
    ends = np.concatenate([c[:1], c, c[-1:]])
    far = np.maximum(np.abs(high - ends[k]), np.abs(high - ends[k + 1]))
    error = product_error(A.shape[1]) * np.dot(np.abs(A), np.abs(w[:, 0]))
    error += 3 * UNIT * (far + np.abs(low))
    Z, off = there.of(X)
    sums, terms = sums_of_terms(Z, k, s, (high, low), error, c)
    sums.g_error[: Z.shape[1]] += np.dot(s * terms.steepness, off)
    square = np.dot(s * terms.bend, off * off)
    outside = OutsideRows(0.0, 0.0, np.zeros(0))
    if beyond and there.T.shape[1] < A.shape[1]:
        outside = outside_rows(A, Z, off, s * terms.slope, there)
    return sums, square, float(error.max(initial=0.0)), outside


def outside_rows(
    A: np.ndarray, Z: np.ndarray, off: np.ndarray, slope: np.ndarray, there: Directions
) -> OutsideRows:
    T, unit = there.users, np.ldexp(1.0, there.exponent)
    rho = (A - there.centre) * unit - np.dot(Z, T.T)
    error = gamma(4) * (np.abs(A) + np.abs(there.centre)) * unit
    error += gamma(len(T) + 4) * np.dot(np.abs(Z), np.abs(T).T) + np.dot(off, np.abs(T).T)
    size = np.abs(rho) + error
    norm = np.linalg.norm(size, axis=1) * (1 + gamma(len(unit) + 8))
    g = np.abs(np.dot(slope, rho)) + np.dot(np.abs(slope), error + gamma(len(A) + 4) * np.abs(rho))
    return OutsideRows(float(norm @ norm), float(norm.max(initial=0.0)), g)


def combine_along(left: np.ndarray, right: np.ndarray) -> Any:
    (a, square, error, outside), (b, more, other, beyond) = left, right
    return (
        combine_ordinal((a, 0.0), (b, 0.0))[0],
        square + more,
        max(error, other),
        OutsideRows(
            outside.square + beyond.square, max(outside.largest, beyond.largest),
            outside.g + beyond.g,
        ),
    )  # fmt: skip


def reach_along(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, there: Directions, A: np.ndarray
) -> tuple[Any]:
    counted = slice(None) if s is None else s > 0
    Z, off = there.of(X[counted])
    return (reach_of_terms(Z, off, y[counted][:, 0].astype(np.intp), A),)
