r"""Covariance of the coefficients of logistic and softmax models.

    H the information, g_i the gradient of a row, Λ the penalty's curvature (0 without one):

    cov θ̂ = (H + Λ)⁻¹ H (H + Λ)⁻¹ (classical),   (H + Λ)⁻¹ (Σ s g gᵀ) (H + Λ)⁻¹ (HC0)

with n/(n − rank) times that (HC1) and, for two classes, HC2 and HC3 (``leverage.py``),
and for clusters of rows Σ_g u_g u_gᵀ, u_g = Σ_{i in g} s_i g_i, with the factor of ``clusters.py``.
With BBᵀ = (H + Λ)⁻¹ that is B M Bᵀ, M = BᵀHB (the identity without a penalty) or Σ s Bᵀg gᵀB. B is
computed from H, or from its root if squaring would cost digits.

Coefficients are relative to the first class. The softmax penalty is on all classes, λ/2 Σ_k ‖w_k‖²,
whose minimum for given differences β_k = w_k − w_0 is λ/2 Σ_k ‖β_k − β̄‖²: Λ = λ(I − 11ᵀ/K) in each
column. Two classes have one w: Λ = λ. Weights are counts: a weight of 3 is a row repeated 3 times.
"""

from typing import NamedTuple

import numpy as np

from ...data.rows import Rows
from .clusters import Clusters
from .leverage import LEVERAGE_POWERS
from .likelihood import Likelihood, SpectralInverse, require_rows

COVARIANCES = ("classical", *LEVERAGE_POWERS, "cluster")
MAX_SQUARED_CONDITION = 1e6  # of the information, up to which its factor is accurate to 1e-10
MAX_OUTSIDE_SHARE = 1e-8  # of a coefficient, outside the row space; above, it is not estimable


class LogisticEstimates(NamedTuple):
    """Results for m coefficients (the intercept first) of K − 1 classes, in the user's units."""

    n: float  # Σ s
    coef: np.ndarray  # (m, K − 1)
    standard_errors: np.ndarray  # (m, K − 1); NaN: not estimable
    covariance: np.ndarray  # (m(K − 1), m(K − 1)), class after class
    log_likelihood: float
    null_log_likelihood: float
    rank: int
    effective_parameters: float  # tr (H + Λ)⁻¹H
    likelihood: Likelihood
    theta: np.ndarray
    basis: np.ndarray  # B
    factors: tuple[np.ndarray, np.ndarray]  # L (m(K − 1), r) and M (r, r), covariance LMLᵀ


def infer_logistic(
    rows: Rows, w: np.ndarray, b: np.ndarray, n_classes: int, l2: float, fit_intercept: bool,
    cov: str = "classical", clusters: Clusters | None = None,
) -> LogisticEstimates:  # fmt: skip
    """Estimates at the optimal w (p, 1) or (p, K), b (1,) or (K,) of −log L + l2/2‖w‖².

    Three passes, O(n·p²·K²) operations, O(p²·K²) memory per thread.
    """
    w, b = np.asarray(w, dtype=float), np.asarray(b, dtype=float)
    if n_classes > 2:
        w, b = w[:, 1:] - w[:, :1], b[1:] - b[0]
    likelihood = Likelihood(rows, n_classes, w, b, fit_intercept)
    theta = likelihood.theta(w, b)
    point = likelihood.at(theta)
    inverse, N = _inverse(likelihood, theta, point.information, l2)
    B, n, rank = inverse.B, float(likelihood.counts().sum()), inverse.V.shape[1]
    if not l2 or cov in ("HC1", "cluster"):
        require_rows(n, rank)
    if clusters is not None:
        u = likelihood.cluster_gradients(theta, B, clusters)
        M = clusters.factor(n, rank) * (u.T @ u)
    elif cov == "classical":
        M = N
    elif LEVERAGE_POWERS[cov]:
        M = likelihood.leveraged_gradients(theta, B, cov)
    else:
        M = likelihood.squared_gradients(theta, B) * (n / (n - rank) if cov == "HC1" else 1.0)
    errors, covariance, L = _in_users_units(likelihood, inverse, M)
    coef = np.vstack([b, w]) if fit_intercept else w
    return LogisticEstimates(
        n=n,
        coef=coef,
        standard_errors=errors,
        covariance=covariance,
        log_likelihood=-point.loss,
        null_log_likelihood=likelihood.null(),
        rank=rank,
        effective_parameters=float(np.trace(N)),
        likelihood=likelihood,
        theta=theta,
        basis=B,
        factors=(L, M),
    )


def _inverse(
    likelihood: Likelihood, theta: np.ndarray, H: np.ndarray, l2: float
) -> tuple[SpectralInverse, np.ndarray]:
    """BBᵀ = (H + Λ)⁻¹, and N = BᵀHB: the identity without a penalty."""
    root = _penalty_root(likelihood, l2)
    inverse = SpectralInverse.of(H + root.T @ root, likelihood.noise)
    N = inverse.B.T @ H @ inverse.B
    if inverse.condition > MAX_SQUARED_CONDITION:
        R = likelihood.root(theta)
        inverse = SpectralInverse.of_root(np.vstack([R, root]), likelihood.noise)
        Y = R @ inverse.B
        N = Y.T @ Y
    return inverse, N if l2 else np.eye(len(N))


def _penalty_root(likelihood: Likelihood, l2: float) -> np.ndarray:
    """Λ^½, in scaled columns."""
    K = likelihood.n_classes
    # I − 11ᵀ/K is a projection, so its own root; without the column of β_0 = 0
    between = np.eye(K)[:, 1:] - 1 / K if K > 2 else np.eye(1)
    columns = np.minimum(np.sqrt(l2) * likelihood.unscale, 1e150)
    return np.kron(between, np.diag(np.concatenate([[0.0] * likelihood.intercept, columns])))


def _in_users_units(
    likelihood: Likelihood, inverse: SpectralInverse, M: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Standard errors (m, K − 1), covariance and L of (b, w) = Tθ; NaN if not estimable.

    Computed as (TB) M (TB)ᵀ, not T (B M Bᵀ) Tᵀ, so that cancellation in b precedes squaring.
    """
    K, m, first = likelihood.n_classes, likelihood.m, int(likelihood.intercept)
    # in the user's units a square might underflow, so the unit of w is applied to the root
    T = likelihood.T
    unit = np.concatenate([[1.0] * first, likelihood.unscale])
    T = np.kron(np.eye(K - 1), T / unit[:, None])
    unit = np.tile(unit, K - 1)
    TB = T @ inverse.B
    cov = TB @ M @ TB.T
    cov = (cov + cov.T) / 2
    errors = unit * np.sqrt(np.maximum(np.diagonal(cov), 0.0))
    with np.errstate(over="ignore", under="ignore"):
        cov = cov * unit * unit[:, None]
    undetermined = ~estimable(T, inverse, m, first)
    errors[undetermined] = np.nan
    cov[undetermined] = np.nan
    cov[:, undetermined] = np.nan
    return errors.reshape(K - 1, m).T, cov, unit[:, None] * TB


def estimable(T: np.ndarray, inverse: SpectralInverse, m: int, first: int) -> np.ndarray:
    """Mask of the rows of T that are combinations of the eigenvectors that the rows determine."""
    d = len(T)
    if inverse.V.shape[1] == d:
        return np.ones(d, dtype=bool)
    outside = np.eye(d) - inverse.V @ inverse.V.T
    is_estimable = np.linalg.norm(outside, axis=0) <= MAX_OUTSIDE_SHARE
    if first:
        for at in range(0, d, m):  # b = θ_0 − Σ …: its undetermined part may be estimable
            f = np.where(is_estimable, 0.0, T[at])
            is_estimable[at] &= bool(
                np.linalg.norm(f @ outside) <= MAX_OUTSIDE_SHARE * np.linalg.norm(f)
            )
    return is_estimable
