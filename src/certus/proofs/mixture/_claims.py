"""Comparison of a fitted mixture's other attributes with its parameters.

    lower_bound_ = (Σ s log p(x) + log prior) / Σ s        precisions_ = C⁻¹ = PPᵀ

with P in precisions_cholesky_. scikit-learn's lower_bound_ belongs to the parameters before the
last step.
"""

from typing import Any

import numpy as np

from certus.proofs.mixture._gaussian_components import CovariancePrior, Normals

SAME_OPTIMUM_NATS = 1e-6  # per unit of weight: starts this close to the best reached the same one
FLOAT64_RTOL, FLOAT32_RTOL = 1e-9, 1e-5  # of sums in float64, and of data in float32
WEIGHT_SUM_ATOL = 1e-9  # of Σ weights_ = 1
MAX_LAST_CHANGE_RATIO = 10.0  # of a step's change to the one before it
# of a variance to its regularisation: the rows contribute no more than the regularisation does
MAX_COLLAPSED_SPREAD = 2.0
UNREGULARIZED_FLOOR_RATIO = 1e-10  # of a variance to the column's, without regularisation
ANSWER_RTOL = 1e-6  # of log densities
FLOAT32_ANSWER_RTOL = float(np.sqrt(np.finfo(np.float32).eps))
MAX_NAMED_ROWS = 3  # in a message


def restart_agreement(restarts: np.ndarray | None) -> tuple[int, int, float] | None:
    """Number of starts that reached the best, number of starts, and distance of the worst."""
    if restarts is None or not np.size(restarts):
        return None
    restarts = np.asarray(restarts, dtype=float)
    best, worst = float(restarts.max()), float(restarts.min())
    return int((restarts >= best - SAME_OPTIMUM_NATS).sum()), len(restarts), best - worst


def claim_contradictions(
    theta: object, result: dict[str, Any], claims: dict[str, Any], ours: bool
) -> list[str]:
    """Messages about claims that disagree with the data."""
    weight_sum, messages = float(claims.get("shares", 1.0)), []
    single = result["single"]
    rtol = FLOAT32_RTOL if single else FLOAT64_RTOL
    if abs(weight_sum - 1) > (FLOAT32_RTOL if single else WEIGHT_SUM_ATOL):
        messages.append(f"weights_ add up to {weight_sum:.9g}")
    mean = result["objective"] / result["weight"]
    bound, trace, tolerance = claims.get("lower_bound"), claims.get("trace"), rtol * (1 + abs(mean))
    if bound is not None and not ours:
        tolerance = _last_change(trace, claims.get("tol"))
    if bound is not None and tolerance is not None and not abs(bound - mean) <= tolerance:
        messages.append(f"lower_bound_ is {bound:.9g}, but the rows give {mean:.9g}")
    if ours:
        messages += _trace_contradictions(mean, tolerance, trace, claims, result["ascent"])
    if isinstance(theta, Normals):
        messages += _precision_contradictions(theta, claims, single)
    return messages


def _last_change(trace: np.ndarray | None, tol: float | None) -> float | None:
    """Largest distance of lower_bound_ from the value at the parameters; None if unknown."""
    if trace is None or len(trace) < 2:
        return None
    return MAX_LAST_CHANGE_RATIO * max(abs(trace[-1] - trace[-2]), tol or 0.0) + ANSWER_RTOL


def _trace_contradictions(
    mean: float, tolerance: float, trace: np.ndarray | None, claims: dict[str, Any], ascent: bool
) -> list[str]:
    """Messages about a trace or restarts that do not end at the model."""
    messages, restarts = [], claims.get("restarts")
    if trace is not None and len(trace) and not abs(trace[-1] - mean) <= tolerance:
        messages.append(f"lower_bounds_ ends at {trace[-1]:.9g}, but the rows give {mean:.9g}")
    if restarts is not None and np.size(restarts):
        best = max(restarts)
        if not abs(best - mean) <= SAME_OPTIMUM_NATS + tolerance:
            messages.append(f"the best restart reached {best:.9g}, but the model has {mean:.9g}")
    decrease = float(claims.get("largest_decrease", 0.0))
    if ascent and not decrease <= tolerance:
        messages.append(f"the objective fell by {decrease:.1g} a row between two steps")
    return messages


def _precision_contradictions(theta: Normals, claims: dict[str, Any], single: bool) -> list[str]:
    """Messages where Lᵀ precisions L ≠ I or (LᵀP)(LᵀP)ᵀ ≠ I, with C = LLᵀ, beyond rounding."""
    messages = []
    for name in ("precisions", "precisions_cholesky"):
        for k in range(1 if theta.shape == "tied" else theta.k) if name in claims else ():
            rooted = name != "precisions"
            error, condition = theta.precision_errors(claims[name], k, rooted=rooted)
            tolerance = (1e-3 if single else 1e-8) + condition * (1e-6 if single else 1e-14)
            if not error <= tolerance:
                which = "" if theta.shape == "tied" else f" of component {k}"
                messages.append(f"{name}_{which} does not match covariances_")
                break
    return messages


def collapsed_components(
    theta: Normals, n: np.ndarray, prior: CovariancePrior
) -> list[dict[str, Any]]:
    """Components whose spread in some direction (``whole``: in all) is mere regularisation.

    (S + Ψ)/(n + ε) ≈ Ψ/(n + ε), or S/n + added ≈ added.
    """
    if theta.p == 0:
        return []
    d = np.where(prior.d > 0, prior.d, 1.0)
    rows = np.full(theta.k, n.sum()) if theta.shape == "tied" else n
    if prior.added:
        floor = np.full(theta.means.shape, prior.added)
    elif prior.epsilon:
        floor = prior.epsilon * d / (rows + prior.epsilon)[:, None]
    else:
        floor = np.broadcast_to(UNREGULARIZED_FLOOR_RATIO * d, theta.means.shape)
    if theta.shape == "spherical":  # one variance for all columns
        floor = np.repeat(floor.mean(axis=1, keepdims=True), theta.p, axis=1)
    spreads = theta.spreads(floor)
    return [
        {"component": k, "whole": bool(spreads[k, -1] <= MAX_COLLAPSED_SPREAD)}
        for k in range(theta.k)
        if spreads[k, 0] <= MAX_COLLAPSED_SPREAD and n[k] > 0
    ]


def answer_contradictions(
    answers: tuple[np.ndarray, np.ndarray, np.ndarray],
    J: np.ndarray,
    log_p: np.ndarray,
    single: bool,
) -> list[str]:
    """Messages about rows with a wrong log density or a component that is not the likeliest."""
    rows, scores, labels = answers
    rtol = FLOAT32_ANSWER_RTOL if single else ANSWER_RTOL
    tolerance = rtol * (1 + np.abs(log_p))
    wrong = np.flatnonzero(~(np.abs(scores - log_p) <= tolerance))
    messages = [
        f"score_samples gives row {rows[i]} {scores[i]:.6g}, its log density is {log_p[i]:.6g}"
        for i in wrong[:MAX_NAMED_ROWS]
    ]
    if len(wrong) > 1:
        messages[0] += f" ({len(wrong):,} such rows of {len(rows):,} checked)"
    unlikely = np.flatnonzero(~(J.max(axis=0) - J[labels, np.arange(len(labels))] <= tolerance))
    messages += [
        f"predict puts row {rows[i]} in component {labels[i]}; {J[:, i].argmax()} is more likely"
        for i in unlikely[:MAX_NAMED_ROWS]
    ]
    return messages
