r"""Covariance of the coefficients of Poisson and Gamma models with a log link.

    H = Σ s W φφᵀ,   W = μ (Poisson), 1 (Gamma): the expected information at dispersion 1
    g_i = r_i φ_i,   r = y − μ (Poisson), y/μ − 1 (Gamma);   φ = (1, x)

    cov θ̂ = A (d·H) A (classical),   A M A, M = Σ s g gᵀ (HC0; HC1 to HC3: ``leverage.py``),
    M ∝ Σ_g u_g u_gᵀ,  u_g = Σ_{i in g} s g_i (cluster; the factor is in ``clusters.py``)

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
from .clusters import Clusters, ClusterSums, cluster_sums, merged_sums
from .leverage import LEVERAGE_POWERS, MeatSums, first_row, is_one, meat, refuse_leverage_one
from .likelihood import SpectralInverse, require_rows

COVARIANCES = ("classical", *LEVERAGE_POWERS, "cluster")
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
    half_deviance: float
    pearson: float
    log_likelihood: float


class LogLinkTerms(NamedTuple):
    """What a block of rows of weight above 0 adds to the sums."""

    s: np.ndarray
    Z: np.ndarray  # rows φ in centred and scaled columns
    z: np.ndarray  # scores with their offsets
    mean: np.ndarray
    r: np.ndarray
    W: np.ndarray  # of the observed information


class LogLinkColumns(NamedTuple):
    """The model, and its columns centred and scaled."""

    poisson: bool
    w: np.ndarray
    b: float
    c: np.ndarray
    spread: np.ndarray
    fit_intercept: bool

    def terms(self, X: np.ndarray, y: np.ndarray, s: np.ndarray | None) -> LogLinkTerms:
        if s is not None:
            X, y, s = X[s > 0], y[s > 0], s[s > 0]
        z = np.asarray(X @ self.w) + self.b + (y[:, 1] if y.shape[1] > 1 else 0.0)
        Z = (X - self.c) / self.spread
        if self.fit_intercept:
            Z = np.column_stack([np.ones(len(Z)), Z])
        mean, target = np.exp(z), y[:, 0]
        r = target - mean if self.poisson else target / mean - 1
        W = mean if self.poisson else target / mean
        return LogLinkTerms(np.ones(len(y)) if s is None else s, Z, z, mean, r, W)


def infer_log_link(
    rows: Rows, family: str, loss: Any, w: np.ndarray, b: float, l2: float, fit_intercept: bool,
    cov: str, null: float, clusters: Clusters | None = None,
) -> LogLinkEstimates:  # fmt: skip
    """Return the estimates at the optimal w (p,) and b of Σ s ℓ + l2/2 ‖w‖².

    y is (n, 1), or (n, 2) with the offsets. ``null``: half the deviance of the intercept alone.
    Two passes over X (three but for cov="classical"), O(n·p²) operations, O(p²) memory per thread.
    """
    dense = rows.dense()
    at = coordinates(dense, fit_intercept)
    q = np.broadcast_to(at.scale, (len(w),))
    spread = np.where(at.variance > 0, np.sqrt(np.maximum(at.variance, 0.0)), 1.0) / q
    of = LogLinkColumns(family == "poisson", w, b, at.c, spread, fit_intercept)
    sums: InformationSums = dense.reduce(_information, of, loss, cov != "classical", square=True)
    first = int(fit_intercept)
    penalty = np.diag(np.concatenate([np.zeros(first), l2 / spread**2]))
    inverse = SpectralInverse.of(sums.H + penalty)
    rank = inverse.V.shape[1]
    if not l2 or cov in ("HC1", "cluster"):
        require_rows(sums.n, rank)
    N = inverse.B.T @ sums.H @ inverse.B
    freedom = sums.n - rank
    dispersion = sums.pearson / freedom if family == "gamma" and freedom > 0 else 1.0
    M = dispersion * N
    if clusters is not None:
        M = clusters.factor(sums.n, rank) * _cluster_meat(dense, of, inverse.B, clusters)
    elif cov != "classical":
        M = _meat(dense, of, inverse.B, cov) * (sums.n / freedom if cov == "HC1" else 1.0)
    T = np.diag(np.concatenate([np.ones(first), 1 / spread]))
    if first:
        T[0, 1:] = -at.c / spread
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


def _information(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, of: LogLinkColumns, loss: Any,
    observed: bool,
) -> InformationSums:  # fmt: skip
    weight, Z, z, mean, r, W = of.terms(X, y, s)
    target = y[:, 0] if s is None else y[s > 0, 0]
    W = weight * W if of.poisson or observed else weight
    pearson = weight @ (r**2 / mean if of.poisson else r**2)
    log_l = weight @ (target * z - mean - gammaln(target + 1)) if of.poisson else np.nan
    return InformationSums(
        float(weight.sum()), np.dot(Z.T, W[:, None] * Z), float(weight @ loss.value(target, z)),
        float(pearson), float(log_l),
    )  # fmt: skip


# --- sandwiches: a pass over the rows with the inverse of their information -----------------------


def _meat(rows: Rows, of: LogLinkColumns, B: np.ndarray, cov: str) -> np.ndarray:
    """Return BᵀMB without HC1's factor; refuse rows of leverage 1."""
    M, n_leverage_one = rows.reduce(_meat_block, of, B, LEVERAGE_POWERS[cov], square=True)
    if n_leverage_one:
        refuse_leverage_one(first_row(rows, _leverage_one, of, B), n_leverage_one, cov)
    found: np.ndarray = M
    return found


def _meat_block(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, of: LogLinkColumns, B: np.ndarray,
    power: int,
) -> MeatSums:  # fmt: skip
    rows = of.terms(X, y, s)
    return meat(np.dot(rows.Z, B), rows.r, rows.W, rows.s, power)


def _leverage_one(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, of: LogLinkColumns, B: np.ndarray
) -> np.ndarray:
    """Mask of the rows of leverage 1 within a block."""
    rows = of.terms(X, y, s)
    at_one = is_one(np.dot(rows.Z, B), rows.W)
    if s is None:
        return at_one
    mask = s > 0
    mask[mask] = at_one
    return mask


def _cluster_meat(rows: Rows, of: LogLinkColumns, B: np.ndarray, clusters: Clusters) -> np.ndarray:
    """Return Σ_g Bᵀu_g u_gᵀB."""
    u = rows.reduce(
        _cluster_block, of, B, beside=(clusters.codes,), combine=merged_sums, square=True
    )[1]
    found: np.ndarray = u.T @ u
    return found


def _cluster_block(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, codes: np.ndarray, of: LogLinkColumns,
    B: np.ndarray,
) -> ClusterSums:  # fmt: skip
    rows = of.terms(X, y, s)
    g = (rows.s * rows.r)[:, None] * np.dot(rows.Z, B)
    return cluster_sums(codes if s is None else codes[s > 0], g)
