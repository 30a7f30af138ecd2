r"""Least squares and ridge proven from a factor of all rows, and what the data hold only weakly.

Let X̃ = QRD, D the columns' norms, R = UΣVᵀ up to ‖R − UΣVᵀ‖ ≤ δ (rounding), and h = −∇f/2, in
columns scaled by D.

α = 0. For columns that are independent, σ_min > δ,

    hᵀG⁻¹h ≤ Σ_k (v_kᵀh)²/σ_k² / (1 − δ/σ_min)²        since ‖Rx‖ ≥ (1 − δ/σ_min)‖ΣVᵀx‖

Where σ_min is not far above δ the columns are nearly dependent, and the proof goes on in three
steps. (1) It is made in twice the digits (``_nearly_dependent``). (2) If that proves
nothing, directions that are negligible by the one rule (``negligible_directions``) are left
out: one coefficient of each is held where it is, and the claim says so. (3) What is then still too
weak to be seen leaves the fit unproven.

α > 0. Every direction is curved by α at least. Along V_R, the singular directions with σ > 8δ, and
V_N, all others,

    hᵀ(G + αI)⁻¹h ≤ (√E_R + √E_N)²
    E_R = Σ_k (v_kᵀh)²/(σ_k² + α) / (1 − δ/√α)         xᵀ(G + αI)x ≥ (‖ΣVᵀx‖ − δ‖x‖)² + α‖x‖²
    E_N = ((σ_N + δ)‖r‖ + α‖V_Nᵀw‖)²/α                 V_Nᵀh = V_NᵀX̃ᵀr − αV_Nᵀw,  ‖X̃V_N‖ ≤ σ_N + δ

(or ‖V_Nᵀh‖²/α, if that is less; and 2(1 + δ²/α) for 1/(1 − δ/√α)), and w* is as near as

    ‖w − w*‖ ≤ √(E_R/(σ_R² + α)) + √(E_N/α),           σ_R the least of the first.
"""

from typing import Any

import numpy as np

from certus.proofs.least_squares._nearly_dependent import (
    WEAK,
    negligible_columns,
    of_nearly_dependent_columns,
)
from certus.proofs.least_squares._problem import Excess, Factor, SquaresProblem
from certus.proofs.linalg.linear_sums import UNIT, dense, gamma
from certus.proofs.linalg.negligible_directions import left_out_of

TOO_SMALL = "directions in which alpha is too small beside rounding to be seen"
NEARLY_DEPENDENT = "combinations of the {:,} columns that are too small beside rounding to be seen"
CAREFUL_WORK = 2**28  # rows × columns² in twice the digits: some seconds


def of_independent_columns(
    problem: SquaresProblem, factor: Factor, keep: np.ndarray
) -> Excess | None:
    """α = 0, for those columns; None where they are too nearly dependent."""
    sigma, V, delta = factor.of(keep)
    p, k = problem.w.shape
    nothing = np.zeros(k)
    if len(keep) == 0:
        return Excess(nothing, nothing, np.zeros((p, k)), nothing, nothing)
    if len(sigma) < len(keep) or not sigma[-1] > WEAK * delta:
        return None
    h, h_error = (v[keep] / factor.scale[keep, None] for v in (problem.h, problem.h_error))
    u, u_error = V.T @ h / sigma[:, None], np.abs(V).T @ h_error / sigma[:, None]
    worse = 1 / (1 - delta / sigma[-1]) ** 2
    step = np.zeros((p, k))
    step[keep] = V @ (u / sigma[:, None]) / factor.scale[keep, None]
    excess, error = (worse * (v**2).sum(axis=0) for v in (u, u_error))
    far = np.sqrt(excess) + np.sqrt(error) + problem.r_error
    reach = far / (sigma[-1] - delta) * (problem.q / factor.scale)[keep].max()
    return Excess(excess, error, step, reach, (u**2).sum(axis=0))


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def of_penalised(problem: SquaresProblem, factor: Factor) -> Excess:
    """α > 0, in the columns' own units as viewed."""
    p, k = problem.w.shape
    R = factor.R * factor.scale
    _, sigma, Vt = np.linalg.svd(R, full_matrices=False)
    delta = np.float64(2 * UNIT * max(p, 64) * np.max(sigma, initial=0.0))
    strong = sigma > WEAK * delta
    sigma_N, s, V = float(np.max(sigma[~strong], initial=0.0)), sigma[strong], Vt[strong].T
    out = Excess(np.zeros(k), np.zeros(k), np.zeros((p, k)), np.zeros(k), np.zeros(k))
    rss = np.sqrt(problem.sums.Srr) + problem.r_error
    for t in range(k):
        alpha = problem.alpha[:, t]
        a = float(alpha.min())
        if a == 0:
            continue
        h, h_error, w = problem.h[:, t], problem.h_error[:, t], problem.w[:, t]
        doubt = delta / np.sqrt(a)
        worse = 1 / (1 - doubt) if doubt < 0.5 else 2 * (1 + doubt**2)
        u, u_error = V.T @ h, np.abs(V).T @ h_error
        out.seen[t] = np.sum(u**2 / (s**2 + a))
        E_R = worse * out.seen[t]
        lost = worse * np.sum(u_error**2 / (s**2 + a))
        rest, rest_error = h - V @ u, h_error @ h_error / a
        E_N = rest @ rest / a
        if alpha.max() == a and not problem.positive:
            # V is orthonormal but for rounding
            outside = np.linalg.norm(w - V @ (V.T @ w))
            out.seen[t] += a * outside**2
            outside += gamma(4 * p + 8) * np.linalg.norm(w)
            direct = ((sigma_N + delta) * rss[t] + a * outside) ** 2 / a
            if direct < (np.sqrt(E_N) + np.sqrt(rest_error)) ** 2:
                E_N, rest_error = direct, 0.0
        else:
            out.seen[t] += E_N
        out.excess[t], out.error[t] = (np.sqrt(E_R) + np.sqrt(E_N)) ** 2, lost + rest_error
        out.step[:, t] = V @ (u / (s**2 + a)) + rest / a
        least = float(s[-1]) if len(s) else 0.0
        far = (np.sqrt(E_R) + np.sqrt(lost)) / np.sqrt(least**2 + a)
        far += (np.sqrt(E_N) + np.sqrt(rest_error)) / np.sqrt(a)
        # residuals that are off by e move w by (G + αI)⁻¹X̃ᵀe
        far += problem.r_error[t] * np.max(s / (s**2 + a), initial=0.5 / np.sqrt(a) * (sigma_N > 0))
        out.coef_error[t] = far * problem.q.max() * (1 + 1e-9)
    return out


def from_all_rows(
    problem: SquaresProblem, factor: Factor, tol: float, rank: int | None
) -> dict[str, Any]:
    """The answer of ``least_squares.check``. ``rank``: what the model claims."""
    p, varying = len(problem.w), varying_columns(problem)
    if problem.positive and not problem.alpha.any():
        answer, weak = _of_free_columns(problem, factor, varying, tol)
        if not weak:
            answer = {**answer, "rank": len(varying), "norm": problem.norm / problem.q}
            return _without_coefficients(answer)  # E says nothing of columns held at 0
    answer, weak = _of_columns(problem, factor, varying, tol)
    if _worth_more_digits(problem, answer, weak, tol, varying):
        careful = _carefully(problem, factor, varying)
        if careful is not None and (weak or careful["residual"] < answer["residual"]):
            answer, weak = careful, bool(careful["residual"] > tol and weak)
    answer["rank"] = len(varying)
    wrong = answer["residual"] > tol or (rank is not None and rank < len(varying))
    if weak or (wrong and not problem.alpha.all()):
        answer = _leaving_out(problem, factor, tol, answer, varying)
    if len(varying) < p and not problem.alpha.all():
        answer = _without_coefficients(answer)  # the intercept can take over from a constant column
    sigma = factor.of(np.arange(p))[0]
    if problem.data.shape[0] <= p and not problem.alpha.all():
        answer["rank"] = rank_of_few_rows(problem, factor)
    rank = answer["rank"]
    answer["condition"] = float(sigma[0] / sigma[rank - 1]) if 0 < rank <= len(sigma) else 1.0
    with np.errstate(over="ignore"):
        norm = problem.norm / problem.q
        singular = np.linalg.svd(factor.R * norm, compute_uv=False)
    # R has no row for the mean: of no more rows than columns the least one is 0
    answer["singular"] = np.pad(singular, (0, max(0, min(problem.data.shape) - len(singular))))
    answer["norm"] = norm
    return answer


def varying_columns(problem: SquaresProblem) -> Any:
    """Those that are not one number in all rows of weight above 0 (or 0, without an intercept):
    what these do to a score, the intercept does too."""
    p = len(problem.w)
    if problem.norm.all():
        return np.arange(p)
    low, high = problem.data.reduce(_range, combine=_wider_range)
    one_number = (low == high) if problem.fit_intercept else (low == 0) & (high == 0)
    return np.flatnonzero(~one_number)


def _range(X: np.ndarray, y: np.ndarray, s: np.ndarray | None) -> tuple[Any, Any]:
    X = dense(X if s is None else X[s > 0])
    return X.min(axis=0, initial=np.inf), X.max(axis=0, initial=-np.inf)


def _wider_range(left: np.ndarray, right: np.ndarray) -> tuple[Any, Any]:
    return np.minimum(left[0], right[0]), np.maximum(left[1], right[1])


def _of_free_columns(
    problem: SquaresProblem, factor: Factor, varying: np.ndarray, tol: float
) -> tuple[dict[str, Any], bool]:
    """w ≥ 0, α = 0: the answer from columns that are not held at 0.

    h + μ may stand for h, for any μ ≥ 0 with μᵀw = 0. Let E = h_Aᵀ(G_AA)⁻¹h_A of some columns A, so
    that h_A = X̃_Aᵀe with ‖e‖² = E. If all other columns have w_j = 0 and h_j ≤ x̃_jᵀe, then h + μ =
    X̃ᵀe for some such μ, and f − f* ≤ E. It is enough that h_j ≤ −‖x̃_j‖√E.
    """
    w, h, size = problem.w[varying], problem.unclipped[varying], problem.size[varying]
    margin = problem.h_error[varying] + np.multiply.outer(size, problem.r_error)
    answer: dict[str, Any] = {}
    weak = True
    for _ in range(3):
        held = ((w == 0) & (h < -2 * margin)).all(axis=1)
        found = of_independent_columns(problem, factor, varying[~held])
        if found is None:
            break
        answer, _ = _of_columns(problem, factor, varying[~held], tol)
        length = np.sqrt(problem.excess_of(found))
        needed = problem.h_error[varying] + np.multiply.outer(size, length)
        if (h[held] <= -needed[held]).all():
            weak = False
            break
        margin = np.maximum(margin, needed)
    return answer, weak


def _worth_more_digits(
    problem: SquaresProblem, answer: dict[str, Any], weak: bool, tol: float, keep: np.ndarray
) -> bool:
    """Without a penalty, and where rounding is what keeps the proof from reaching tol."""
    if problem.alpha.any() or problem.positive or answer["residual"] <= tol:
        return False
    n = problem.data.shape[0]
    return bool(n * len(keep) ** 2 <= CAREFUL_WORK and (weak or answer["seen"] <= tol))


def rank_of_few_rows(problem: SquaresProblem, factor: Factor) -> int:
    """Singular values above rounding: of the factorisation, and of columns that are known to
    ε‖x_j‖."""
    p, eps = len(problem.w), problem.data.eps
    _, sigma, Vt = np.linalg.svd(factor.R, full_matrices=False)
    size = np.hypot(problem.norm / problem.q, np.sqrt(problem.sums.S) * problem.user_mean)
    noise = max(p, 64) * eps * np.max(sigma, initial=0.0)
    noise = noise + 4 * eps * (np.abs(Vt) @ (size * problem.q / factor.scale))
    return int(np.count_nonzero(sigma > noise))


def _of_columns(
    problem: SquaresProblem, factor: Factor, keep: np.ndarray, tol: float
) -> tuple[dict[str, Any], bool]:
    """(answer, are some directions too weak to be seen?). If rounding is all that is left, the
    sums are taken in wider floats."""
    found = _excess(problem, factor, keep)
    wider = np.finfo(np.longdouble).eps < 2 * UNIT <= 2 * problem.unit
    if found is not None and wider and not problem.within(found, tol):
        problem.take_sums(np.longdouble)
        problem.find_gradient(problem.size)
        found = _excess(problem, factor, keep)
    if found is None:
        k = len(problem.b)
        nothing = np.full(k, np.inf)
        return problem.verdict(nothing, nothing, "an objective that is all but 0")[0], True
    answer, _ = problem.verdict(found.excess, found.error, "the curvature of all rows")
    answer["best_w"] = (problem.w + found.step) * problem.q[:, None]
    answer |= problem.known_to(found.coef_error)
    # what would be left if nothing had been rounded
    answer["seen"] = seen = problem.share_of(found.seen)
    if answer["residual"] > tol >= seen and problem.alpha.all():
        answer |= {"unproven": TOO_SMALL, "at_least": seen}
    return answer, False


def _excess(problem: SquaresProblem, factor: Factor, keep: np.ndarray) -> Excess | None:
    """Of every target, with a penalty or for those columns; None where they are too nearly
    dependent."""
    plain = problem.alpha.min(axis=0) == 0
    penalised = None if plain.all() else of_penalised(problem, factor)
    if penalised is not None and not plain.any():
        return penalised
    found = of_independent_columns(problem, factor, keep)
    if found is None or penalised is None:
        return found
    return Excess(*(np.where(plain, a, b) for a, b in zip(found, penalised, strict=True)))


def _carefully(problem: SquaresProblem, factor: Factor, keep: np.ndarray) -> dict[str, Any] | None:
    found = of_nearly_dependent_columns(problem, factor, keep, *problem.user)
    if found is None:
        return None
    answer = problem.claim(
        found.objective, found.evaluation, found.excess, "the curvature of all rows"
    )
    answer["best_w"] = (problem.w + found.step) * problem.q[:, None]
    answer["seen"] = float(np.max(found.seen / problem.null_objective))  # b's part is in it
    return {**answer, **problem.known_to(found.coef_error)}


def _leaving_out(
    problem: SquaresProblem, factor: Factor, tol: float, before: dict[str, Any], varying: np.ndarray
) -> dict[str, Any]:
    """The answer among models that do not use directions which the data do not hold."""
    p = len(problem.w)
    few = negligible_columns(problem, factor, varying)
    if few is None:
        sigma, _, delta = factor.of(varying)
        return {**before, **_weak(p), "rank": int((sigma > WEAK * delta).sum())}
    keep, directions = few
    if not directions:
        return before if before.get("seen", 0.0) > tol else {**before, **_weak(p)}
    if problem.positive:
        # a coefficient above 0 that is held could fall, which is as if those of d went below 0
        for one in directions:
            if (problem.w[one.pivot] > 0).any():
                problem.may_fall |= one.d[:p] != 0
        problem.find_gradient(problem.size)
    answer, weak = _of_columns(problem, factor, keep, tol)
    if _worth_more_digits(problem, answer, weak, tol, keep):
        careful = _carefully(problem, factor, keep)
        if careful is not None and (weak or careful["residual"] < answer["residual"]):
            answer, weak = careful, False
    answer["rank"] = len(keep)
    answer["left_out"] = left_out_of(directions, p)
    answer = _without_coefficients(answer)  # many w are as good
    if before["residual"] <= tol and answer["left_out"]:
        # the fit is optimal with them too
        return {**before, "rank": len(keep)}
    return {**answer, **_weak(p)} if weak else answer


def _without_coefficients(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: v for name, v in answer.items() if name not in ("coef_error", "coef_share")}


def _weak(p: int) -> dict[str, Any]:
    return {"unproven": NEARLY_DEPENDENT.format(p), "at_least": 0.0}
