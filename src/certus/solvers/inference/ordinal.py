r"""Covariance and likelihood of the proportional-odds model, in the user's (w, c).

    P(y ≤ k | x) = σ(c_k − xᵀw),   H = −∂² log L,   Λ = diag(α, …, α, 0, …, 0)
    cov θ̂ = (H + Λ)⁻¹ H (H + Λ)⁻¹

log L and H are those of the fit (``glm/ordinal.py``), here in coordinates in which the diagonal of
H + Λ is 1. Weights are counts. With BBᵀ = (H + Λ)⁻¹ in these coordinates and (w, c) = Tθ, the
covariance is (TB) M (TB)ᵀ, M = BᵀHB: the identity without a penalty.
"""

from typing import NamedTuple

import numpy as np

from ...data.rows import Rows
from ...exceptions import InferenceError
from ..glm.coordinates import Coordinates
from ..glm.ordinal import OrdinalProblem, derivatives, ordinal_problem
from .likelihood import LikelihoodPoint, SpectralInverse, require_rows

MAX_CONDITION = 1e10  # of the scaled information: beyond, ten of sixteen digits are lost


class OrdinalLikelihood:
    """−log L of (w, c) = Tθ, without the penalty; ∞ where thresholds do not increase."""

    n_classes = 2  # coefficients come in one block, as those of two classes do

    def __init__(self, problem: OrdinalProblem, at: Coordinates, unit: np.ndarray):
        self.problem, self.coordinates, self.unit = problem, at, unit
        p, m = len(problem.l2), len(unit)
        T = np.eye(m)
        T[:p, :p] *= at.scale if np.ndim(at.scale) == 0 else np.reshape(at.scale, (-1, 1))
        T[p:, :p] = at.c @ T[:p, :p]
        self.T = T * unit

    @property
    def rows(self) -> Rows:
        return self.problem.rows

    def at(self, theta: np.ndarray) -> LikelihoodPoint:
        found = derivatives(self.problem, self.unit * theta)
        if found is None:
            return LikelihoodPoint(np.inf, self.unit, np.diag(self.unit))
        F, g, H, _ = found
        return LikelihoodPoint(F, self.unit * g, self.unit[:, None] * H * self.unit)


class OrdinalEstimates(NamedTuple):
    """Results for w (p) and c (K − 1), in this order."""

    n: float  # Σ s
    standard_errors: np.ndarray  # (m,)
    covariance: np.ndarray  # (m, m)
    factors: tuple[np.ndarray, np.ndarray]  # L and M, covariance LMLᵀ
    log_likelihood: float
    null_log_likelihood: float
    effective_parameters: float
    likelihood: OrdinalLikelihood
    theta: np.ndarray
    basis: np.ndarray  # B


def infer_ordinal(
    rows: Rows, w: np.ndarray, thresholds: np.ndarray, alpha: float
) -> OrdinalEstimates:
    """Estimates at the optimal w (p,) and c (K − 1,): two passes, O(n·p²) operations."""
    problem = ordinal_problem(rows, len(thresholds) + 1)
    at = problem.at
    if problem.basis is not None or not isinstance(at, Coordinates):
        raise InferenceError(
            "columns repeat others, or nearly so, or outnumber the rows, so that standard errors "
            "are lost to rounding: drop some of these columns"
        )
    theta, p = problem.to_internal(w[:, None], -thresholds), len(w)
    found = derivatives(problem, theta)
    if found is None:
        raise InferenceError("the thresholds do not increase: fit again")
    F, _, H, _ = found
    penalty = np.concatenate([np.broadcast_to(alpha * np.square(at.scale), (p,)), 0 * thresholds])
    diagonal = np.diagonal(H) + penalty
    if not (diagonal > 0).all():
        raise InferenceError("a column is constant, so its coefficient is not determined: drop it")
    unit = 1 / np.sqrt(diagonal)
    A = unit[:, None] * (H + np.diag(penalty)) * unit
    inverse = SpectralInverse.of(A)
    if inverse.condition > MAX_CONDITION:
        raise InferenceError(
            "columns repeat others so nearly that standard errors are lost to rounding: drop some "
            "of these columns"
        )
    n, B = float(problem.class_weights.sum()), inverse.B
    if not alpha:
        require_rows(n, len(theta))
    likelihood = OrdinalLikelihood(problem, at, unit)
    M = B.T @ (unit[:, None] * H * unit) @ B if alpha else np.eye(len(theta))
    L = likelihood.T @ B
    covariance = L @ M @ L.T
    shares = problem.class_weights / n
    return OrdinalEstimates(
        n=n,
        standard_errors=np.sqrt(np.maximum(np.diagonal(covariance), 0.0)),
        covariance=(covariance + covariance.T) / 2,
        factors=(L, M),
        log_likelihood=-F,
        null_log_likelihood=float(problem.class_weights @ np.log(shares)),
        effective_parameters=float(np.trace(M)),
        likelihood=likelihood,
        theta=theta / unit,
        basis=B,
    )
