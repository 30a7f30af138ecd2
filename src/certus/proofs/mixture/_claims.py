"""What a fitted mixture says besides its parameters, held against them.

    lower_bound_ = (Σ s log p(x) + log prior) / Σ s        precisions_ = C⁻¹ = PPᵀ

P in precisions_cholesky_. Of scikit-learn's models lower_bound_ is that of the parameters before
the last step.
"""

from typing import Any

import numpy as np

from certus.proofs.mixture._gaussian_components import Normals, Prior

AGREE = 1e-6  # nats a unit of weight: starts so close to the best found the same
EXACT, SINGLE = 1e-9, 1e-5  # relative, of sums in float64 and of data in float32
SHARES = 1e-9  # by which weights_ may miss 1
LAST = 10.0  # times the last change, which the step after it does not exceed
TWICE = 2.0  # what holds a covariance up: no more than as much again is the rows' own
NOTHING_LEFT = 1e-10  # of the columns' variances, where nothing holds covariances up
ANSWERS = 1e-6  # by which log densities may be off, relative;
SINGLE_ANSWERS = float(np.sqrt(np.finfo(np.float32).eps))  # of float32
NAMES = 3  # answers told


def agreement(restarts: np.ndarray | None) -> tuple[int, int, float] | None:
    """How many of how many starts found the best, and how far below it the worst is."""
    if restarts is None or not np.size(restarts):
        return None
    restarts = np.asarray(restarts, dtype=float)
    best, worst = float(restarts.max()), float(restarts.min())
    return int((restarts >= best - AGREE).sum()), len(restarts), best - worst


def contradicted(
    theta: object, found: dict[str, Any], claims: dict[str, Any], ours: bool
) -> list[str]:
    """All that does not agree."""
    share, said = float(claims.get("shares", 1.0)), []
    single = found["single"]
    loose = SINGLE if single else EXACT
    if abs(share - 1) > (SINGLE if single else SHARES):
        said.append(f"weights_ add up to {share:.9g}")
    mean = found["objective"] / found["weight"]
    bound, trace, off = claims.get("lower_bound"), claims.get("trace"), loose * (1 + abs(mean))
    if bound is not None and not ours:
        off = _last_change(trace, claims.get("tol"))
    if bound is not None and off is not None and not abs(bound - mean) <= off:
        said.append(f"lower_bound_ is {bound:.9g}, the rows say {mean:.9g}")
    if ours:
        said += _on_the_way(mean, off, trace, claims, found["ascent"])
    if isinstance(theta, Normals):
        said += _other_precisions(theta, claims, single)
    return said


def _last_change(trace: np.ndarray | None, tol: float | None) -> float | None:
    """How far lower_bound_ can be from the model's own parameters; None where that is unknown."""
    if trace is None or len(trace) < 2:
        return None
    return LAST * max(abs(trace[-1] - trace[-2]), tol or 0.0) + ANSWERS


def _on_the_way(
    mean: float, off: float, trace: np.ndarray | None, claims: dict[str, Any], ascent: bool
) -> list[str]:
    said, restarts = [], claims.get("restarts")
    if trace is not None and len(trace) and not abs(trace[-1] - mean) <= off:
        said.append(f"lower_bounds_ ends at {trace[-1]:.9g}, the rows say {mean:.9g}")
    if restarts is not None and np.size(restarts) and not abs(max(restarts) - mean) <= AGREE + off:
        said.append(f"the best restart reached {max(restarts):.9g}, the model has {mean:.9g}")
    fell = float(claims.get("largest_decrease", 0.0))
    if ascent and not fell <= off:
        said.append(f"the objective fell by {fell:.1g} a row between two steps")
    return said


def _other_precisions(theta: Normals, claims: dict[str, Any], single: bool) -> list[str]:
    """Lᵀ precisions L = I and (LᵀP)(LᵀP)ᵀ = I with C = LLᵀ, up to rounding."""
    said = []
    for name in ("precisions", "precisions_cholesky"):
        for k in range(1 if theta.shape == "tied" else theta.k) if name in claims else ():
            off, lost = theta.precisions_off(claims[name], k, rooted=name != "precisions")
            slack = (1e-3 if single else 1e-8) + lost * (1e-6 if single else 1e-14)
            if not off <= slack:
                which = "" if theta.shape == "tied" else f" of component {k}"
                said.append(f"{name}_{which} is not that of covariances_")
                break
    return said


def collapsed(theta: Normals, n: np.ndarray, prior: Prior) -> list[dict[str, Any]]:
    """Components that would have no spread, in some direction (``whole``: in all), but for what is
    added to it: (S + Ψ)/(n + ε) ≈ Ψ/(n + ε), or S/n + added ≈ added."""
    if theta.p == 0:
        return []
    d = np.where(prior.d > 0, prior.d, 1.0)
    rows = np.full(theta.k, n.sum()) if theta.shape == "tied" else n
    if prior.added:
        floor = np.full(theta.means.shape, prior.added)
    elif prior.epsilon:
        floor = prior.epsilon * d / (rows + prior.epsilon)[:, None]
    else:
        floor = np.broadcast_to(NOTHING_LEFT * d, theta.means.shape)
    if theta.shape == "spherical":  # it has one variance for all columns
        floor = np.repeat(floor.mean(axis=1, keepdims=True), theta.p, axis=1)
    spreads = theta.spreads(floor)
    return [
        {"component": k, "whole": bool(spreads[k, -1] <= TWICE)}
        for k in range(theta.k)
        if spreads[k, 0] <= TWICE and n[k] > 0
    ]


def other_answers(
    answers: tuple[np.ndarray, np.ndarray, np.ndarray],
    J: np.ndarray,
    log_p: np.ndarray,
    single: bool,
) -> list[str]:
    """Rows of which the model says another log density, or a component that is less likely."""
    rows, scores, labels = answers
    loose = SINGLE_ANSWERS if single else ANSWERS
    off = loose * (1 + np.abs(log_p))
    wrong = np.flatnonzero(~(np.abs(scores - log_p) <= off))
    said = [
        f"score_samples gives row {rows[i]} {scores[i]:.6g}, its log density is {log_p[i]:.6g}"
        for i in wrong[:NAMES]
    ]
    if len(wrong) > 1:
        said[0] += f" ({len(wrong):,} such rows of {len(rows):,} that were asked)"
    less = np.flatnonzero(~(J.max(axis=0) - J[labels, np.arange(len(labels))] <= off))
    said += [
        f"predict puts row {rows[i]} in component {labels[i]}; {J[:, i].argmax()} is likelier"
        for i in less[:NAMES]
    ]
    return said
