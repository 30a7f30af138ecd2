r"""Brant's test of proportional odds: are the slopes the same at every threshold?

For each threshold k < K a logistic model of "y > k", fitted alone: β̂_k, π_k = P(y > k). Jointly

    cov(β̂_k, β̂_l) = I_k⁻¹ (Σ s π_l(1 − π_k) φφᵀ) I_l⁻¹ for k ≤ l,   I_k = Σ s π_k(1 − π_k) φφᵀ

and with Dβ = (β_1 − β_2, …, β_1 − β_{K−1}), slopes only, and V their joint covariance

    X² = (Dβ̂)ᵀ (DVDᵀ)⁻¹ Dβ̂  is a chi² of (K − 2)p degrees of freedom,

of K − 2 for the slopes of one column (Brant 1990). All models are fitted at once, by Newton's
method in centred columns, a pass for each step.
"""

from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows
from ...exceptions import InferenceError
from ..glm.coordinates import Coordinates
from ..linalg.gram import gram_block_rows

MAX_ITERATIONS = 50
MAX_HALVINGS = 30
NEWTON_DECREMENT_TOL = 1e-12  # of log L
# of the scaled information: where classes are separated, it passes 1e10 before the iteration ends
MAX_CONDITION = 1e8
MIN_LOSS = 1e-6  # of all rows: below, they are separated


class BrantEstimates(NamedTuple):
    """Slopes at each threshold and their joint covariance, in the user's units."""

    slopes: np.ndarray  # (K − 1, p)
    covariance: np.ndarray  # (K − 1, p, K − 1, p)


class BinaryPoint(NamedTuple):
    """−log L of each binary model with its derivatives."""

    loss: np.ndarray  # (K − 1,)
    gradient: np.ndarray  # (K − 1, m)
    information: np.ndarray  # (K − 1, m, m)


def fit_binary_models(
    rows: Rows, at: Coordinates, n_classes: int, names: tuple[str, ...]
) -> BrantEstimates:
    """Fit "y > k" for all k; ``names``: of the classes, for messages."""
    p, block_rows = rows.shape[1], gram_block_rows(rows)

    def evaluate(beta: np.ndarray) -> BinaryPoint:
        point: BinaryPoint = rows.reduce(_point, at, beta, square=True, block_rows=block_rows)
        return point

    beta = np.zeros((n_classes - 1, p + 1))
    point = evaluate(beta)
    for _ in range(MAX_ITERATIONS):
        inverses = _inverses(point.information, names)
        step = -np.einsum("kab,kb->ka", inverses, point.gradient)
        decrement = -np.einsum("ka,ka->k", point.gradient, step)
        if (decrement <= NEWTON_DECREMENT_TOL).all():
            if (point.loss <= MIN_LOSS).any():
                raise _no_optimum(names, int(point.loss.argmin()))
            break
        size = np.ones(len(beta))
        trial = evaluate(beta + step)
        for _ in range(MAX_HALVINGS):
            worse = trial.loss > point.loss - 1e-4 * size * decrement + 1e-13 * point.loss
            if not worse.any():
                break
            size[worse] /= 2
            trial = evaluate(beta + size[:, None] * step)
        beta, point = beta + size[:, None] * step, trial
    else:
        worst = int(decrement.argmax())
        raise _no_optimum(names, worst)
    (cross,) = rows.reduce(_cross, at, beta, square=True, block_rows=block_rows)
    joint = np.einsum("kab,klbc,lcd->kald", inverses, cross, inverses, optimize=True)
    scale = np.broadcast_to(at.scale, (p,))
    joint = joint[:, 1:, :, 1:] * scale[:, None, None] * scale
    return BrantEstimates(beta[:, 1:] * scale, joint)


def _inverses(information: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    inverses = np.empty_like(information)
    for k, H in enumerate(information):
        diagonal = np.diagonal(H)
        if not (np.isfinite(H).all() and (diagonal > 0).all()):
            raise _no_optimum(names, k)
        d = 1 / np.sqrt(diagonal)
        scaled = d[:, None] * H * d
        if np.linalg.cond(scaled) > MAX_CONDITION:
            raise _no_optimum(names, k)
        inverses[k] = d[:, None] * np.linalg.inv(scaled) * d
    return inverses


def _no_optimum(names: tuple[str, ...], k: int) -> InferenceError:
    return InferenceError(
        f"Brant's test fits a logistic model at each threshold, and that of {names[k]!r} against "
        f"{names[k + 1]!r} and above has no finite optimum: the columns separate these classes. "
        "Merge neighbouring classes, or leave the separating column out"
    )


def _columns(X: Any, at: Coordinates) -> np.ndarray:
    X, shift = at.block(X), at.correction
    A = np.asarray(X, dtype=float) if shift is None else np.subtract(X, shift, dtype=float)
    return np.column_stack([np.ones(len(A)), A])


def _point(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, at: Coordinates, beta: np.ndarray
) -> BinaryPoint:
    Phi = _columns(X, at)
    weight = np.ones(len(Phi)) if s is None else s
    above = y > np.arange(len(beta))  # (n, K − 1)
    z = np.dot(Phi, beta.T)
    signed = np.where(above, -z, z)
    e = np.exp(-np.abs(z))
    slope = np.where(signed > 0, 1.0, e) / (1 + e) * np.where(above, -1.0, 1.0)
    v = e / (1 + e) ** 2 * weight[:, None]
    information = np.stack([np.dot(Phi.T, v[:, [k]] * Phi) for k in range(len(beta))])
    return BinaryPoint(
        weight @ np.logaddexp(0.0, signed), np.dot((weight[:, None] * slope).T, Phi), information
    )


def _cross(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, at: Coordinates, beta: np.ndarray
) -> tuple[Any]:
    """Σ s π_l(1 − π_k) φφᵀ for k ≤ l, and its transpose."""
    Phi = _columns(X, at)
    weight = np.ones(len(Phi)) if s is None else s
    z = np.dot(Phi, beta.T)
    pi, rest = np.exp(-np.logaddexp(0.0, -z)), np.exp(-np.logaddexp(0.0, z))
    K1, m = beta.shape
    cross = np.empty((K1, K1, m, m))
    for k in range(K1):
        for l in range(k, K1):
            cross[k, l] = np.dot(Phi.T, (weight * pi[:, l] * rest[:, k])[:, None] * Phi)
            cross[l, k] = cross[k, l]
    return (cross,)
