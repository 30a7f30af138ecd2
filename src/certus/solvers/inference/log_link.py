r"""Covariance of the coefficients of Poisson and Gamma models with a log link.

    H = Σ s W φφᵀ,   W = μ (Poisson), 1 (Gamma): the expected information at dispersion 1
    g_i = r_i φ_i,   r = y − μ (Poisson), y/μ − 1 (Gamma);   φ = (1, x)

    cov θ̂ = A (d·H) A (classical),   A (Σ s g gᵀ) A (HC0),   n/(n − rank) times that (HC1)

with A = (H + Λ)⁻¹, Λ the penalty's curvature. The sandwiches take the observed information in place
of H, W = y/μ (Gamma). The dispersion is d = Σ s r²/V / (n − rank), V = μ (Poisson, for which d is 1
instead) or 1 (Gamma): Pearson's χ² over its degrees of freedom. Columns are centred and scaled
first. Weights are counts: n = Σ s.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammaln

from ...data.rows import Rows
from ..glm.coordinates import coordinates
from .likelihood import SpectralInverse, require_rows

COVARIANCES = ("classical", "HC0", "HC1")
MAX_OUTSIDE_SHARE = 1e-8  # of a coefficient, outside the row space; above, it is not estimable


class LogLinkEstimates(NamedTuple):
    """Results for m coefficients, the intercept first, in the user's units."""

    n: float  # Σ s
    standard_errors: np.ndarray  # (m,); NaN: not estimable
    covariance: np.ndarray  # (m, m)
    factors: tuple[np.ndarray, np.ndarray]  # L and M of the covariance LMLᵀ
    rank: int
    effective_parameters: float  # tr AH
    deviance: float
    null_deviance: float
    pearson_chi2: float
    log_likelihood: float  # of counts; NaN of amounts


class InformationSums(NamedTuple):
    n: float
    H: np.ndarray
    M: np.ndarray  # Σ s g gᵀ
    half_deviance: float
    pearson: float
    log_likelihood: float


def infer_log_link(
    rows: Rows, family: str, loss: Any, w: np.ndarray, b: float, l2: float, fit_intercept: bool,
    cov: str, null: float,
) -> LogLinkEstimates:  # fmt: skip
    """Return the estimates at the optimal w (p,) and b of Σ s ℓ + l2/2 ‖w‖².

    y is (n, 1), or (n, 2) with the offsets. ``null``: half the deviance of the intercept alone.
    Two passes over X, O(n·p²) operations, O(p²) memory per thread.
    """
    dense = rows.dense()
    at = coordinates(dense, fit_intercept)
    q = np.broadcast_to(at.scale, (len(w),))
    c = at.c
    spread = np.where(at.variance > 0, np.sqrt(np.maximum(at.variance, 0.0)), 1.0) / q
    sums: InformationSums = dense.reduce(
        _block, family, loss, w, b, c, spread, fit_intercept, cov != "classical", square=True
    )
    first = int(fit_intercept)
    penalty = np.diag(np.concatenate([np.zeros(first), l2 / spread**2]))
    inverse = SpectralInverse.of(sums.H + penalty)
    rank = inverse.V.shape[1]
    if not l2:
        require_rows(sums.n, rank)
    N = inverse.B.T @ sums.H @ inverse.B
    freedom = sums.n - rank
    dispersion = sums.pearson / freedom if family == "gamma" and freedom > 0 else 1.0
    M = dispersion * N
    if cov != "classical":
        M = inverse.B.T @ sums.M @ inverse.B * (sums.n / freedom if cov == "HC1" else 1.0)
    T = np.diag(np.concatenate([np.ones(first), 1 / spread]))
    if first:
        T[0, 1:] = -c / spread
    L = T @ inverse.B
    covariance = L @ M @ L.T
    covariance = (covariance + covariance.T) / 2
    errors = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    unknown = ~_estimable(T, inverse, first)
    errors[unknown], covariance[unknown], covariance[:, unknown] = np.nan, np.nan, np.nan
    return LogLinkEstimates(
        sums.n, errors, covariance, (L, M), rank, float(np.trace(N)), 2 * sums.half_deviance,
        2 * null, sums.pearson, sums.log_likelihood,
    )  # fmt: skip


def _estimable(T: np.ndarray, inverse: SpectralInverse, first: int) -> np.ndarray:
    """Mask of the coefficients that the rows determine."""
    outside = np.eye(len(T)) - inverse.V @ inverse.V.T
    known: np.ndarray = np.linalg.norm(outside, axis=0) <= MAX_OUTSIDE_SHARE
    if first:
        known[0] = np.linalg.norm(T[0] @ outside) <= MAX_OUTSIDE_SHARE * np.linalg.norm(T[0])
    return known


def _block(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None,
    family: str,
    loss: Any,
    w: np.ndarray,
    b: float,
    c: np.ndarray,
    spread: np.ndarray,
    fit_intercept: bool,
    observed: bool,
) -> InformationSums:
    if s is not None:
        X, y, s = X[s > 0], y[s > 0], s[s > 0]
    weight, target = np.ones(len(y)) if s is None else s, y[:, 0]
    z = np.asarray(X @ w) + b + (y[:, 1] if y.shape[1] > 1 else 0.0)
    Z = (X - c) / spread
    if fit_intercept:
        Z = np.column_stack([np.ones(len(Z)), Z])
    mean = np.exp(z)
    poisson = family == "poisson"
    r = target - mean if poisson else target / mean - 1
    W = weight * mean if poisson else weight * target / mean if observed else weight
    pearson = weight @ (r**2 / mean if poisson else r**2)
    log_l = weight @ (target * z - mean - gammaln(target + 1)) if poisson else np.nan
    value = weight @ loss.value(target, z)
    rooted = (np.sqrt(weight) * r)[:, None] * Z
    return InformationSums(
        float(weight.sum()), np.dot(Z.T, W[:, None] * Z), np.dot(rooted.T, rooted), float(value),
        float(pearson), float(log_l),
    )  # fmt: skip
