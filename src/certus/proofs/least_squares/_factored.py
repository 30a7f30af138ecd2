r"""Proofs of least squares and ridge from a factor of all rows, also for nearly dependent columns.

Let X̃ = QRD, D the columns' norms, R = UΣVᵀ up to ‖R − UΣVᵀ‖ ≤ δ (rounding), and h = −∇f/2, in
columns scaled by D.

α = 0. For independent columns, σ_min > δ,

    hᵀG⁻¹h ≤ Σ_k (v_kᵀh)²/σ_k² / (1 − δ/σ_min)²        since ‖Rx‖ ≥ (1 − δ/σ_min)‖ΣVᵀx‖

If σ_min is not far above δ the columns are nearly dependent, and there are three further steps.
(1) The proof is repeated in twice the working precision (``_nearly_dependent``). (2) If that fails,
negligible directions (``negligible_directions``) are left out: one coefficient of each is fixed,
and the claim says so. (3) If directions remain that cannot be resolved, the fit is unproven.

α > 0. Every direction is curved by α at least. Along V_R, the singular directions with σ > 8δ, and
V_N, all others,

    hᵀ(G + αI)⁻¹h ≤ (√E_R + √E_N)²
    E_R = Σ_k (v_kᵀh)²/(σ_k² + α) / (1 − δ/√α)         xᵀ(G + αI)x ≥ (‖ΣVᵀx‖ − δ‖x‖)² + α‖x‖²
    E_N = ((σ_N + δ)‖r‖ + α‖V_Nᵀw‖)²/α                 V_Nᵀh = V_NᵀX̃ᵀr − αV_Nᵀw,  ‖X̃V_N‖ ≤ σ_N + δ

(or ‖V_Nᵀh‖²/α, if that is less; and 2(1 + δ²/α) for 1/(1 − δ/√α)), and

    ‖w − w*‖ ≤ √(E_R/(σ_R² + α)) + √(E_N/α),           σ_R the smallest σ along V_R.
"""

from typing import Any

import numpy as np

from certus.proofs.least_squares._nearly_dependent import (
    WEAK_SINGULAR_FACTOR,
    excess_of_nearly_dependent,
    negligible_columns,
)
from certus.proofs.least_squares._problem import ColumnFactor, SquaresExcess, SquaresProblem
from certus.proofs.linalg.linear_sums import UNIT, dense, gamma
from certus.proofs.linalg.negligible_directions import left_out_findings

ALPHA_TOO_SMALL = "directions in which alpha is too small to be distinguished from rounding"
NEARLY_DEPENDENT = "combinations of the {:,} columns that cannot be distinguished from rounding"
MAX_ACCURATE_WORK = 2**28  # rows × columns² in twice the working precision: a few seconds


def excess_of_independent(
    problem: SquaresProblem, factor: ColumnFactor, keep: np.ndarray
) -> SquaresExcess | None:
    """Excess along the columns ``keep`` for α = 0; None if they are too nearly dependent."""
    sigma, V, delta = factor.of(keep)
    p, k = problem.w.shape
    zeros = np.zeros(k)
    if len(keep) == 0:
        return SquaresExcess(zeros, zeros, np.zeros((p, k)), zeros, zeros)
    if len(sigma) < len(keep) or not sigma[-1] > WEAK_SINGULAR_FACTOR * delta:
        return None
    h, h_error = (v[keep] / factor.scale[keep, None] for v in (problem.h, problem.h_error))
    u, u_error = V.T @ h / sigma[:, None], np.abs(V).T @ h_error / sigma[:, None]
    inflation = 1 / (1 - delta / sigma[-1]) ** 2
    step = np.zeros((p, k))
    step[keep] = V @ (u / sigma[:, None]) / factor.scale[keep, None]
    excess, error = (inflation * (v**2).sum(axis=0) for v in (u, u_error))
    distance = np.sqrt(excess) + np.sqrt(error) + problem.r_error
    reach = distance / (sigma[-1] - delta) * (problem.q / factor.scale)[keep].max()
    return SquaresExcess(excess, error, step, reach, (u**2).sum(axis=0))


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def excess_of_penalized(problem: SquaresProblem, factor: ColumnFactor) -> SquaresExcess:
    """Excess for α > 0, in the units of the viewed columns."""
    p, k = problem.w.shape
    R = factor.R * factor.scale
    _, sigma, Vt = np.linalg.svd(R, full_matrices=False)
    delta = np.float64(2 * UNIT * max(p, 64) * np.max(sigma, initial=0.0))
    strong = sigma > WEAK_SINGULAR_FACTOR * delta
    sigma_N, s, V = float(np.max(sigma[~strong], initial=0.0)), sigma[strong], Vt[strong].T
    result = SquaresExcess(np.zeros(k), np.zeros(k), np.zeros((p, k)), np.zeros(k), np.zeros(k))
    rss = np.sqrt(problem.sums.Srr) + problem.r_error
    for t in range(k):
        alpha = problem.alpha[:, t]
        a = float(alpha.min())
        if a == 0:
            continue
        h, h_error, w = problem.h[:, t], problem.h_error[:, t], problem.w[:, t]
        doubt = delta / np.sqrt(a)
        inflation = 1 / (1 - doubt) if doubt < 0.5 else 2 * (1 + doubt**2)
        u, u_error = V.T @ h, np.abs(V).T @ h_error
        root, root_a = np.sqrt(s**2 + a), np.sqrt(a)  # h² alone may underflow
        result.nominal_excess[t] = np.sum((u / root) ** 2)
        E_R = inflation * result.nominal_excess[t]
        rounding_part = inflation * np.sum((u_error / root) ** 2)
        remainder, remainder_error = h - V @ u, np.sum((h_error / root_a) ** 2)
        E_N = np.sum((remainder / root_a) ** 2)
        if alpha.max() == a and not problem.positive:
            # V is orthonormal up to rounding
            outside = np.linalg.norm(w - V @ (V.T @ w))
            result.nominal_excess[t] += a * outside**2
            outside += gamma(4 * p + 8) * np.linalg.norm(w)
            direct = (((sigma_N + delta) * rss[t] + a * outside) / root_a) ** 2
            if direct < (np.sqrt(E_N) + np.sqrt(remainder_error)) ** 2:
                E_N, remainder_error = direct, 0.0
        else:
            result.nominal_excess[t] += E_N
        result.excess[t], result.error[t] = (
            (np.sqrt(E_R) + np.sqrt(E_N)) ** 2,
            rounding_part + remainder_error,
        )
        result.step[:, t] = V @ (u / (s**2 + a)) + remainder / a
        least = float(s[-1]) if len(s) else 0.0
        distance = (np.sqrt(E_R) + np.sqrt(rounding_part)) / np.sqrt(least**2 + a)
        distance += (np.sqrt(E_N) + np.sqrt(remainder_error)) / root_a
        # an error e of the residuals moves w by (G + αI)⁻¹X̃ᵀe
        distance += problem.r_error[t] * np.max(
            s / (s**2 + a), initial=0.5 / np.sqrt(a) * (sigma_N > 0)
        )
        result.coef_error[t] = distance * problem.q.max() * (1 + 1e-9)
    return result


def from_all_rows(
    problem: SquaresProblem, factor: ColumnFactor, tol: float, rank: int | None
) -> dict[str, Any]:
    """Result of ``least_squares.check``. ``rank``: the rank that the model states."""
    p, varying = len(problem.w), varying_columns(problem)
    if problem.positive and not problem.alpha.any():
        answer, weak = _answer_of_free_columns(problem, factor, varying, tol)
        if not weak:
            answer = {**answer, "rank": len(varying), "norm": problem.norm / problem.q}
            return _without_coefficients(answer)  # E does not cover columns fixed at 0
    answer, weak = _answer_of_columns(problem, factor, varying, tol)
    if _needs_more_digits(problem, answer, weak, tol, varying):
        accurate = _accurate_answer(problem, factor, varying)
        if accurate is not None and (weak or accurate["residual"] < answer["residual"]):
            answer, weak = accurate, bool(accurate["residual"] > tol and weak)
    answer["rank"] = len(varying)
    wrong = answer["residual"] > tol or (rank is not None and rank < len(varying))
    if weak or (wrong and not problem.alpha.all()):
        answer = _answer_leaving_out(problem, factor, tol, answer, varying)
    if len(varying) < p and not problem.alpha.all():
        answer = _without_coefficients(
            answer
        )  # a constant column is exchangeable with the intercept
    sigma = factor.of(np.arange(p))[0]
    if problem.data.shape[0] <= p and not problem.alpha.all():
        answer["rank"] = rank_of_few_rows(problem, factor)
    rank = answer["rank"]
    answer["condition"] = float(sigma[0] / sigma[rank - 1]) if 0 < rank <= len(sigma) else 1.0
    with np.errstate(over="ignore"):
        norm = problem.norm / problem.q
        singular = np.linalg.svd(factor.R * norm, compute_uv=False)
    # R has no row for the mean: with no more rows than columns the smallest singular value is 0
    answer["singular"] = np.pad(singular, (0, max(0, min(problem.data.shape) - len(singular))))
    answer["norm"] = norm
    return answer


def varying_columns(problem: SquaresProblem) -> Any:
    """Columns that are not constant over the rows of positive weight (not 0, without an intercept);
    constant columns are exchangeable with the intercept."""
    p = len(problem.w)
    if problem.norm.all():
        return np.arange(p)
    low, high = problem.data.reduce(_range, combine=_widen_range)
    is_constant = (low == high) if problem.fit_intercept else (low == 0) & (high == 0)
    return np.flatnonzero(~is_constant)


def _range(X: np.ndarray, y: np.ndarray, s: np.ndarray | None) -> tuple[Any, Any]:
    X = dense(X if s is None else X[s > 0])
    return X.min(axis=0, initial=np.inf), X.max(axis=0, initial=-np.inf)


def _widen_range(left: np.ndarray, right: np.ndarray) -> tuple[Any, Any]:
    return np.minimum(left[0], right[0]), np.maximum(left[1], right[1])


def _answer_of_free_columns(
    problem: SquaresProblem, factor: ColumnFactor, varying: np.ndarray, tol: float
) -> tuple[dict[str, Any], bool]:
    """Result for w ≥ 0 and α = 0 from the columns not fixed at 0, and whether it is too weak.

    h may be replaced by h + μ for any μ ≥ 0 with μᵀw = 0. Let E = h_Aᵀ(G_AA)⁻¹h_A of some columns
    A, so that h_A = X̃_Aᵀe with ‖e‖² = E. If all other columns have w_j = 0 and h_j ≤ x̃_jᵀe, then
    h + μ = X̃ᵀe for some such μ, and f − f* ≤ E. It is enough that h_j ≤ −‖x̃_j‖√E.
    """
    w, h, size = problem.w[varying], problem.unclipped[varying], problem.size[varying]
    margin = problem.h_error[varying] + np.multiply.outer(size, problem.r_error)
    answer: dict[str, Any] = {}
    weak = True
    for _ in range(3):
        fixed = ((w == 0) & (h < -2 * margin)).all(axis=1)
        excess = excess_of_independent(problem, factor, varying[~fixed])
        if excess is None:
            break
        answer, _ = _answer_of_columns(problem, factor, varying[~fixed], tol)
        length = np.sqrt(problem.total_excess(excess))
        needed = problem.h_error[varying] + np.multiply.outer(size, length)
        if (h[fixed] <= -needed[fixed]).all():
            weak = False
            break
        margin = np.maximum(margin, needed)
    return answer, weak


def _needs_more_digits(
    problem: SquaresProblem, answer: dict[str, Any], weak: bool, tol: float, keep: np.ndarray
) -> bool:
    """Return whether there is no penalty and only rounding keeps the proof from reaching tol."""
    if problem.alpha.any() or problem.positive or answer["residual"] <= tol:
        return False
    n = problem.data.shape[0]
    return bool(
        n * len(keep) ** 2 <= MAX_ACCURATE_WORK and (weak or answer["nominal_residual"] <= tol)
    )


def rank_of_few_rows(problem: SquaresProblem, factor: ColumnFactor) -> int:
    """Number of singular values above the rounding of the factorisation and of the columns, which
    are accurate to ε‖x_j‖."""
    p, eps = len(problem.w), problem.data.eps
    _, sigma, Vt = np.linalg.svd(factor.R, full_matrices=False)
    size = np.hypot(problem.norm / problem.q, np.sqrt(problem.sums.S) * problem.user_mean)
    noise = max(p, 64) * eps * np.max(sigma, initial=0.0)
    noise = noise + 4 * eps * (np.abs(Vt) @ (size * problem.q / factor.scale))
    return int(np.count_nonzero(sigma > noise))


def _answer_of_columns(
    problem: SquaresProblem, factor: ColumnFactor, keep: np.ndarray, tol: float
) -> tuple[dict[str, Any], bool]:
    """Result along the columns ``keep``, and whether some directions are too weak to be resolved.
    If only rounding is left, the sums are repeated in long double."""
    excess = _excess(problem, factor, keep)
    wider = np.finfo(np.longdouble).eps < 2 * UNIT <= 2 * problem.unit
    if excess is not None and wider and not problem.is_within(excess, tol):
        problem.take_sums(np.longdouble)
        problem.find_gradient(problem.size)
        excess = _excess(problem, factor, keep)
    if excess is None:
        k = len(problem.b)
        unbounded = np.full(k, np.inf)
        return problem.verdict(unbounded, unbounded, "an objective that is nearly 0")[0], True
    answer, _ = problem.verdict(excess.excess, excess.error, "the curvature of all rows")
    answer["best_w"] = (problem.w + excess.step) * problem.q[:, None]
    answer |= problem.coef_bounds(excess.coef_error)
    # the residual if nothing had been rounded
    answer["nominal_residual"] = nominal_excess = problem.excess_share(excess.nominal_excess)
    if answer["residual"] > tol >= nominal_excess and problem.alpha.all():
        answer |= {"unproven": ALPHA_TOO_SMALL, "at_least": nominal_excess}
    return answer, False


def _excess(
    problem: SquaresProblem, factor: ColumnFactor, keep: np.ndarray
) -> SquaresExcess | None:
    """Excess of every target, with a penalty or along the columns ``keep``; None if these are too
    nearly dependent."""
    unpenalized = problem.alpha.min(axis=0) == 0
    penalized = None if unpenalized.all() else excess_of_penalized(problem, factor)
    if penalized is not None and not unpenalized.any():
        return penalized
    excess = excess_of_independent(problem, factor, keep)
    if excess is None or penalized is None:
        return excess
    return SquaresExcess(
        *(np.where(unpenalized, a, b) for a, b in zip(excess, penalized, strict=True))
    )


def _accurate_answer(
    problem: SquaresProblem, factor: ColumnFactor, keep: np.ndarray
) -> dict[str, Any] | None:
    excess = excess_of_nearly_dependent(problem, factor, keep, *problem.user)
    if excess is None:
        return None
    answer = problem.claim(
        excess.objective, excess.evaluation, excess.excess, "the curvature of all rows"
    )
    answer["best_w"] = (problem.w + excess.step) * problem.q[:, None]
    answer["nominal_residual"] = float(
        np.max(excess.nominal_excess / problem.null_objective)
    )  # includes b
    return {**answer, **problem.coef_bounds(excess.coef_error)}


def _answer_leaving_out(
    problem: SquaresProblem,
    factor: ColumnFactor,
    tol: float,
    before: dict[str, Any],
    varying: np.ndarray,
) -> dict[str, Any]:
    """Result among models that do not use negligible directions."""
    p = len(problem.w)
    negligible = negligible_columns(problem, factor, varying)
    if negligible is None:
        sigma, _, delta = factor.of(varying)
        return {
            **before,
            **_unproven_directions(p),
            "rank": int((sigma > WEAK_SINGULAR_FACTOR * delta).sum()),
        }
    keep, directions = negligible
    if not directions:
        return (
            before
            if before.get("nominal_residual", 0.0) > tol
            else {**before, **_unproven_directions(p)}
        )
    if problem.positive:
        # a fixed coefficient above 0 could decrease, as if coefficients along d became negative
        for direction in directions:
            if (problem.w[direction.pivot] > 0).any():
                problem.may_fall |= direction.d[:p] != 0
        problem.find_gradient(problem.size)
    answer, weak = _answer_of_columns(problem, factor, keep, tol)
    if _needs_more_digits(problem, answer, weak, tol, keep):
        accurate = _accurate_answer(problem, factor, keep)
        if accurate is not None and (weak or accurate["residual"] < answer["residual"]):
            answer, weak = accurate, False
    answer["rank"] = len(keep)
    answer["left_out"] = left_out_findings(directions, p)
    answer = _without_coefficients(answer)  # they are not unique
    if before["residual"] <= tol and answer["left_out"]:
        # the fit is optimal among all models
        return {**before, "rank": len(keep)}
    return {**answer, **_unproven_directions(p)} if weak else answer


def _without_coefficients(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: v for name, v in answer.items() if name not in ("coef_error", "coef_share")}


def _unproven_directions(p: int) -> dict[str, Any]:
    return {"unproven": NEARLY_DEPENDENT.format(p), "at_least": 0.0}
