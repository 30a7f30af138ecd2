r"""Covariance of the coefficients of logistic and softmax models.

    H the information, g_i a row's gradient, Λ the penalty's curvature (0 without one):

    cov θ̂ = (H + Λ)⁻¹ H (H + Λ)⁻¹ (classical),   (H + Λ)⁻¹ (Σ s g gᵀ) (H + Λ)⁻¹ (HC0)

With BBᵀ = (H + Λ)⁻¹ that is B M Bᵀ, M = BᵀHB (the identity without a penalty) or Σ s Bᵀg gᵀB. B is
found from H, or from its root where squares would cost digits.

Coefficients are relative to the first class. The softmax penalty is on all classes, λ/2 Σ_k ‖w_k‖²,
whose least value for given differences β_k = w_k − w_0 is λ/2 Σ_k ‖β_k − β̄‖²: Λ = λ(I − 11ᵀ/K) in
each column. Two classes have one w: Λ = λ. Weights are counts: a weight of 3 is the row thrice.
"""

from typing import NamedTuple

import numpy as np

from ...data.rows import Rows
from .likelihood import Inverse, Likelihood, require_rows

COVARIANCES = ("classical", "HC0")
SQUARES_BELOW = 1e6  # condition of the information up to which its factor keeps 1e-10
UNDETERMINED = 1e-8  # share of a coefficient outside the rows' range: above, it is not estimable


class Estimates(NamedTuple):
    """Of m coefficients (the intercept first) of K − 1 classes, in the user's units."""

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


def infer_logistic(
    rows: Rows, w: np.ndarray, b: np.ndarray, n_classes: int, l2: float, fit_intercept: bool,
    cov: str = "classical",
) -> Estimates:  # fmt: skip
    """At the optimal w (p, 1) or (p, K), b (1,) or (K,) of −log L + l2/2‖w‖².

    Three passes, O(n·p²·K²) operations, O(p²·K²) memory a thread.
    """
    w, b = np.asarray(w, dtype=float), np.asarray(b, dtype=float)
    if n_classes > 2:
        w, b = w[:, 1:] - w[:, :1], b[1:] - b[0]
    likelihood = Likelihood(rows, n_classes, w, b, fit_intercept)
    theta = likelihood.theta(w, b)
    point = likelihood.at(theta)
    inverse, N = _inverse(likelihood, theta, point.information, l2)
    B, n, rank = inverse.B, float(likelihood.counts().sum()), inverse.V.shape[1]
    if not l2:
        require_rows(n, rank)
    M = N if cov == "classical" else likelihood.squared_gradients(theta, B)
    errors, covariance = _in_users_units(likelihood, inverse, M)
    coef = np.vstack([b, w]) if fit_intercept else w
    return Estimates(
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
    )


def _inverse(
    likelihood: Likelihood, theta: np.ndarray, H: np.ndarray, l2: float
) -> tuple[Inverse, np.ndarray]:
    """BBᵀ = (H + Λ)⁻¹, and N = BᵀHB: the identity without a penalty."""
    root = _penalty_root(likelihood, l2)
    inverse = Inverse.of(H + root.T @ root, likelihood.noise)
    N = inverse.B.T @ H @ inverse.B
    if inverse.condition > SQUARES_BELOW:
        R = likelihood.root(theta)
        inverse = Inverse.of_root(np.vstack([R, root]), likelihood.noise)
        Y = R @ inverse.B
        N = Y.T @ Y
    return inverse, N if l2 else np.eye(len(N))


def _penalty_root(likelihood: Likelihood, l2: float) -> np.ndarray:
    """Λ^½, in scaled columns."""
    K = likelihood.n_classes
    # I − 11ᵀ/K is a projection, its own root: of the columns of β_1 … β_{K−1} all rows are needed
    between = np.eye(K)[:, 1:] - 1 / K if K > 2 else np.eye(1)
    columns = np.minimum(np.sqrt(l2) * likelihood.unscale, 1e150)
    return np.kron(between, np.diag(np.concatenate([[0.0] * likelihood.intercept, columns])))


def _in_users_units(
    likelihood: Likelihood, inverse: Inverse, M: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(standard errors (m, K − 1), covariance) of (b, w) = Tθ; NaN where rows do not determine.

    (TB) M (TB)ᵀ, not T (B M Bᵀ) Tᵀ: what cancels in b does so before it is squared.
    """
    K, m, first = likelihood.n_classes, likelihood.m, int(likelihood.intercept)
    # of w the unit is taken out: in the user's units a square might underflow
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
    unknown = ~estimable(T, inverse, m, first)
    errors[unknown] = np.nan
    cov[unknown] = np.nan
    cov[:, unknown] = np.nan
    return errors.reshape(K - 1, m).T, cov


def estimable(T: np.ndarray, inverse: Inverse, m: int, first: int) -> np.ndarray:
    """Is a row of T a combination of the eigenvectors that the rows determine?"""
    d = len(T)
    if inverse.V.shape[1] == d:
        return np.ones(d, dtype=bool)
    outside = np.eye(d) - inverse.V @ inverse.V.T
    known = np.linalg.norm(outside, axis=0) <= UNDETERMINED
    if first:
        for at in range(0, d, m):  # b = θ_0 − Σ …: is the part that is not known an estimable one?
            f = np.where(known, 0.0, T[at])
            known[at] &= bool(np.linalg.norm(f @ outside) <= UNDETERMINED * np.linalg.norm(f))
    return known
