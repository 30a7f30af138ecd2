r"""The excess of a proportional-odds fit from gradient and curvature along orthogonal directions.

    F(θ) − F* ≤ (a + (1 − a) log(1 − a)) / M²,   a = νM < 1,   ν² = gᵀH⁻¹g

(``ordinal``) holds in any coordinates: here in those of ``orthogonal_directions``, Z = X̃T, where
columns that nearly repeat others cost no digits, with scores z = xᵀw in twice the precision.
Without a penalty a direction is left out only by the rule of ``negligible_directions``.

With a penalty α/2 ‖w‖² and more columns than rows, T spans the rows and w = Tη + v, v ⊥ T. A score
changes by xᵀv = ρᵀv, ρ = x − (part of x in T), which is tiny: with δ² = Σ ‖ρ_i‖², any 0 < τ < 1 and
α′ = α − δ² max s / 2τ,

    uᵀHu ≥ (1 − τ) (η, c)ᵀ H_T (η, c) + α′‖v‖²
    ν² ≤ ν_T²/(1 − τ) + ‖g_v‖²/α′,   M² ≤ M_T²/(1 − τ) + max ‖ρ_i‖²/α′

since (x + y)ᵀD(x + y) ≥ (1 − τ) xᵀDx − (1/τ − 1) yᵀDy, and D ≤ s/2 in each row.
"""

from typing import Any, NamedTuple

import numpy as np

from certus.proofs.glm._curvature import excess_bound
from certus.proofs.glm._ordinal_sums import (
    OrdinalSums,
    between_thresholds,
    combine_ordinal,
    larger_reach,
    reach_of_terms,
    rounding_of,
    sums_of_terms,
)
from certus.proofs.glm.duality import EVALUATION_ROUNDINGS
from certus.proofs.linalg.accurate_products import accurate_product, product_error
from certus.proofs.linalg.linear_sums import UNIT, dense, gamma
from certus.proofs.linalg.orthogonal_directions import Directions, find_directions, no_directions
from certus.proofs.types import Matrix, RowData

ROW_SHARE = 1e-6  # τ: the share of the rows' curvature given up for the directions outside T
MAX_CAREFUL_WORK = 2**27  # n·p·(directions along which digits cancel), with a penalty
# both messages follow "there are"
UNRESOLVED_MESSAGE = (
    "directions whose curvature cannot be distinguished from rounding: columns nearly repeat "
    "others, or a score nearly orders the classes"
)
FLAT_MESSAGE = "directions whose curvature may vanish: a score nearly orders the classes"


class OrdinalExcess(NamedTuple):
    """Bound of the excess; ∞ where there is none."""

    upper: float  # upper bound of F − F*
    decrement: float  # ν²/2
    reach: np.ndarray | None  # upper bound of |θ_j − θ*_j|, or None
    unresolved: str = ""  # why there is no bound; "": the gradient is too large


NO_EXCESS = OrdinalExcess(np.inf, np.inf, None)


class OutsideRows(NamedTuple):
    """Bounds of the rows' parts ρ outside the directions T."""

    square: float  # Σ ‖ρ‖²
    largest: float  # max ‖ρ‖
    g: np.ndarray  # upper bound of |Σ s ∂ ρ|, (p,)


class CarefulExcess(NamedTuple):
    """Objective and excess in higher precision, with the directions used."""

    objective: float
    error: float  # of the objective, by rounding
    excess: OrdinalExcess
    directions: Directions


def careful_excess(
    data: RowData,
    w: np.ndarray,
    c: np.ndarray,
    alpha: float,
    goal: float,
    only_objective: bool = False,
) -> CarefulExcess:
    """Return the excess at w (p, 1), c (K − 1,) in the user's units. ``goal``: the intended gap.

    O(n·p·min(n, p)) operations, more where digits cancel.
    """
    directions = no_directions(data)
    scaled = np.ldexp(w, directions.exponent[:, None])
    if not only_objective:
        directions = find_directions(
            data, True, OrdinalCurvature(scaled, c, directions.exponent), alpha > 0
        )
        if alpha and directions.canceling.any():  # the penalty has curvature there
            plain = directions._replace(canceling=np.zeros_like(directions.canceling))
            result = along(data, w, c, alpha, plain, scaled)
            suffices = result.excess.upper + 2 * result.error <= goal
            if suffices or data.shape[0] * len(w) * directions.canceling.sum() > MAX_CAREFUL_WORK:
                return result
    return along(data, w, c, alpha, directions, scaled)


def along(
    data: RowData,
    w: np.ndarray,
    c: np.ndarray,
    alpha: float,
    directions: Directions,
    scaled: np.ndarray,
) -> CarefulExcess:
    """Return the excess along ``directions``; ``scaled``: w of x̂."""
    if np.ndim(directions.T) == 0:
        return CarefulExcess(
            np.inf, np.inf, NO_EXCESS._replace(unresolved=directions.unresolved), directions
        )
    sums, square, score_error, outside = data.reduce(
        sums_along, scaled, c, directions, alpha > 0, combine=combine_along, square=True
    )
    inner = between_thresholds(c, sums.mass)
    penalty = alpha / 2 * float((w * w).sum()) if alpha else 0.0
    objective = float(sums.loss + inner[0]) + penalty
    error = float(sums.loss_error + rounding_of(data) * abs(objective) + gamma(len(w)) * penalty)
    if directions.unresolved:
        result = NO_EXCESS._replace(unresolved=directions.unresolved)
    else:
        result = excess_along(
            data, w, c, alpha, directions, (sums, square, score_error, outside, inner)
        )
    return CarefulExcess(objective, error, result, directions)


def excess_along(
    data: RowData,
    w: np.ndarray,
    c: np.ndarray,
    alpha: float,
    directions: Directions,
    totals: tuple[Any, ...],
) -> OrdinalExcess:
    sums, square, score_error, outside, (_, g_inner, H_inner, size_inner) = totals
    r, P, p = directions.T.shape[1], len(sums.g), len(w)
    T = directions.users
    g, H = sums.g.copy(), sums.H.copy()
    g_error = sums.g_error + rounding_of(data) * sums.size
    g[r:] += g_inner
    g_error[r:] += rounding_of(data) * size_inner
    H[r:, r:] += H_inner
    if alpha:
        ridge = sum(accurate_product(T.T, w))[:, 0]
        g[:r] += alpha * ridge
        ridge_error = product_error(p) * np.dot(np.abs(T).T, np.abs(w[:, 0]))
        g_error[:r] += alpha * (ridge_error + gamma(4) * np.abs(ridge))
        H[:r, :r] += alpha * np.dot(T.T, T)
    d = np.sqrt(np.diagonal(H))
    if not (np.isfinite(H).all() and np.isfinite(g).all() and (d > 0).all()):
        return NO_EXCESS._replace(unresolved=UNRESOLVED_MESSAGE)
    lam, V = np.linalg.eigh(H / d / d[:, None])
    slack = (gamma(data.depth + P + p + EVALUATION_ROUNDINGS) + 2 * gamma(8 * P + 8)) * P
    # √s∘Z has error √square in each column; the root of an eigenvalue moves by their norm at most
    shift = float(np.sqrt((square / d[:r] ** 2).sum()))
    root = np.sqrt(np.maximum(lam - slack, 0.0)) - shift
    hessian_change = np.expm1(2 * score_error)  # relative difference of H at ẑ and at z
    if not ((lam > 4 * slack).all() and (root > 2 * shift).all() and hessian_change < 0.1):
        return NO_EXCESS._replace(unresolved=UNRESOLVED_MESSAGE)
    A = V / (root * np.sqrt(1 - hessian_change)) / d[:, None]
    g_error = g_error + gamma(2 * P + 8) * np.abs(g)
    nu = float(np.linalg.norm(A.T @ g) + np.linalg.norm(np.abs(A).T @ g_error))
    (M,) = data.reduce(reach_along, directions, A, combine=larger_reach)
    apart = np.linalg.norm(np.diff(A[r:], axis=0), axis=1) / np.tanh(np.diff(c) / 2)
    M = float(max(np.sqrt(M), apart.max(initial=0.0))) * (1 + gamma(4 * P + EVALUATION_ROUNDINGS))
    if alpha and not directions.all_columns:
        widened = including_outside(data, w, alpha, T, outside, nu, M)
        if widened is None:
            return NO_EXCESS._replace(unresolved=UNRESOLVED_MESSAGE)
        nu, M = widened
    upper, step = excess_bound(nu, M)
    reach = None
    if directions.all_columns and not directions.left_out:
        of_w = np.linalg.norm(T @ A[:r], axis=1)
        reach = step * (of_w + gamma(2 * P + 8) * np.linalg.norm(np.abs(T) @ np.abs(A[:r]), axis=1))
    return OrdinalExcess(upper, nu**2 / 2, reach, "" if np.isfinite(upper) else FLAT_MESSAGE)


def including_outside(
    data: RowData,
    w: np.ndarray,
    alpha: float,
    T: np.ndarray,
    outside: OutsideRows,
    nu: float,
    M: float,
) -> tuple[float, float] | None:
    """Return ν and M of all directions, from those of T; None where α′ is too small."""
    p, r = T.shape
    largest = 1.0 if data.s is None else float(data.reduce(largest_weight, combine=max_of)[0])
    alpha_left = alpha - outside.square * largest / (2 * ROW_SHARE)
    if not alpha_left > alpha / 2:
        return None
    projected = np.dot(T, np.dot(T.T, w))
    outside_w = np.abs(w - projected) + gamma(p + r + 4) * (
        np.abs(w) + np.dot(np.abs(T), np.dot(np.abs(T).T, np.abs(w)))
    )
    g = float(np.linalg.norm(outside.g)) + alpha * float(np.linalg.norm(outside_w))
    within = 1 / (1 - ROW_SHARE)
    rounding_factor = 1 + gamma(p + 8)
    return (
        float(np.sqrt(nu**2 * within + g**2 / alpha_left)) * rounding_factor,
        float(np.sqrt(M**2 * within + outside.largest**2 / alpha_left)) * rounding_factor,
    )


# --- passes over the rows -------------------------------------------------------------------------


class OrdinalCurvature(NamedTuple):
    """Curvature s ∂²/∂z² of the rows' two logistic terms at their scores."""

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
    directions: Directions,
    with_outside: bool,
) -> tuple[OrdinalSums, Any, float, OutsideRows]:
    """Sums of one block's weighted rows in the directions T, with w (p, 1) of x̂.

    Returns the sums, Σ s ∂² (error of Z)² of each direction, the largest error of a score, and the
    bounds of what lies outside T.
    """
    counted = slice(None) if s is None else s > 0
    X, k = dense(X[counted]), y[counted][:, 0].astype(np.intp)
    s = np.ones(len(k)) if s is None else s[counted]
    A = np.ldexp(X.astype(float), -directions.exponent)
    high, low = (part[:, 0] for part in accurate_product(A, w))
    ends = np.concatenate([c[:1], c, c[-1:]])
    distance = np.maximum(np.abs(high - ends[k]), np.abs(high - ends[k + 1]))
    error = product_error(A.shape[1]) * np.dot(np.abs(A), np.abs(w[:, 0]))
    error += 3 * UNIT * (distance + np.abs(low))
    Z, Z_error = directions.of(X)
    sums, terms = sums_of_terms(Z, k, s, (high, low), error, c)
    sums.g_error[: Z.shape[1]] += np.dot(s * terms.steepness, Z_error)
    square = np.dot(s * terms.curvature, Z_error * Z_error)
    outside = OutsideRows(0.0, 0.0, np.zeros(0))
    if with_outside and directions.T.shape[1] < A.shape[1]:
        outside = outside_rows(A, Z, Z_error, s * terms.slope, directions)
    return sums, square, float(error.max(initial=0.0)), outside


def outside_rows(
    A: np.ndarray, Z: np.ndarray, Z_error: np.ndarray, slope: np.ndarray, directions: Directions
) -> OutsideRows:
    T, unit = directions.users, np.ldexp(1.0, directions.exponent)
    rho = (A - directions.center) * unit - np.dot(Z, T.T)
    error = gamma(4) * (np.abs(A) + np.abs(directions.center)) * unit
    error += gamma(len(T) + 4) * np.dot(np.abs(Z), np.abs(T).T) + np.dot(Z_error, np.abs(T).T)
    size = np.abs(rho) + error
    norm = np.linalg.norm(size, axis=1) * (1 + gamma(len(unit) + 8))
    g = np.abs(np.dot(slope, rho)) + np.dot(np.abs(slope), error + gamma(len(A) + 4) * np.abs(rho))
    return OutsideRows(float(norm @ norm), float(norm.max(initial=0.0)), g)


def largest_weight(X: Matrix, y: np.ndarray, s: np.ndarray) -> tuple[Any]:
    return (s.max(),)


def max_of(left: tuple[Any], right: tuple[Any]) -> tuple[Any]:
    return (max(left[0], right[0]),)


def combine_along(left: np.ndarray, right: np.ndarray) -> Any:
    (a, square, error, outside), (b, square_b, error_b, outside_b) = left, right
    return (
        combine_ordinal((a, 0.0), (b, 0.0))[0],
        square + square_b,
        max(error, error_b),
        OutsideRows(
            outside.square + outside_b.square, max(outside.largest, outside_b.largest),
            outside.g + outside_b.g,
        ),
    )  # fmt: skip


def reach_along(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, directions: Directions, A: np.ndarray
) -> tuple[Any]:
    counted = slice(None) if s is None else s > 0
    Z, Z_error = directions.of(X[counted])
    return (reach_of_terms(Z, Z_error, y[counted][:, 0].astype(np.intp), A),)
