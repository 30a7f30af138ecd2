r"""Standard errors of least squares, ridge, logistic and softmax, literally from the equations.

Least squares and ridge:

    y = Φθ + noise,  Φ = [1 X],  W = diag(s),  P = diag(0, α, …, α)
    θ̂ = A⁻¹ΦᵀWy,  A = ΦᵀWΦ + P,  H = W^½ΦA⁻¹ΦᵀW^½,  e = W^½(y − Φθ̂),  ν = tr (I − H)²

    cov θ̂ = A⁻¹ΦᵀW^½ diag(ω) W^½ΦA⁻¹
    ω_i = Σe²/ν (classical), e_i² (HC0), e_i² n/ν (HC1), e_i²/(1 − h_i) (HC2), e_i²/(1 − h_i)² (HC3)

Weights are inverse variances, var y_i = σ²/s_i: only their ratios matter, and a row of weight 0 is
absent. α = 0: H is a projection, ν = n − rank, and the likelihood has its maximum at θ̂,

    log L = −n/2 (log(2π Σe²/n) + 1) + ½ Σ log s
    AIC = 2·rank − 2 log L,   BIC = rank·log n − 2 log L

Logistic and softmax, relative to the first class (β_0 = 0), weights s being counts:

    p_ik = exp(φ_iᵀβ_k)/Σ_l exp(φ_iᵀβ_l),   log L = Σ s_i log p_i,y_i
    H = Σ s_i (diag p_i − p_i p_iᵀ) ⊗ φ_iφ_iᵀ,   g_i = (p_i − e_y_i) ⊗ φ_i      (classes 1 … K − 1)
    cov β̂ = (H + Λ)⁻¹ M (H + Λ)⁻¹,   M = H (classical), Σ s_i g_i g_iᵀ (HC0)

Λ is the curvature of the penalty λ/2‖w‖² of two classes, or λ/2 Σ_k ‖w_k − w̄‖² of more.

O(n²) memory: meant for reading and for tests.
"""

from typing import Any

import numpy as np


def inference(
    X: np.ndarray,
    y: np.ndarray,
    s: np.ndarray | None = None,
    alpha: float = 0.0,
    fit_intercept: bool = True,
    cov: str = "classical",
) -> dict[str, Any]:
    """Inference for one target and independent columns (or α > 0)."""
    X, y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    s = np.ones(len(y)) if s is None else np.asarray(s, dtype=float)
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    n = len(y)
    Phi = np.column_stack([np.ones(n), X]) if fit_intercept else X
    P = alpha * np.eye(Phi.shape[1])
    if fit_intercept:
        P[0, 0] = 0.0
    root = np.sqrt(s)[:, None] * Phi
    inverse = np.linalg.inv(root.T @ root + P)
    H = root @ inverse @ root.T
    theta = inverse @ root.T @ (np.sqrt(s) * y)
    e = np.sqrt(s) * (y - Phi @ theta)
    nu = np.sum((np.eye(n) - H) ** 2)
    omega = {
        "classical": np.full(n, e @ e / nu),
        "HC0": e**2,
        "HC1": e**2 * n / nu,
        "HC2": e**2 / (1 - np.diagonal(H)),
        "HC3": e**2 / (1 - np.diagonal(H)) ** 2,
    }[cov]
    covariance = inverse @ root.T @ (omega[:, None] * root) @ inverse
    log_likelihood = -n / 2 * (np.log(2 * np.pi * (e @ e) / n) + 1) + np.sum(np.log(s)) / 2
    parameters = np.trace(H)
    return {
        "coef": theta,
        "covariance": covariance,
        "standard_errors": np.sqrt(np.diagonal(covariance)),
        "sigma2": e @ e / nu,
        "degrees_of_freedom": nu,
        "effective_parameters": parameters,
        "log_likelihood": log_likelihood,
        "aic": 2 * parameters - 2 * log_likelihood,
        "bic": parameters * np.log(n) - 2 * log_likelihood,
    }


def logistic_inference(
    X: np.ndarray,
    y: np.ndarray,
    beta: np.ndarray,
    s: np.ndarray | None = None,
    alpha: float = 0.0,
    fit_intercept: bool = True,
    cov: str = "classical",
) -> dict[str, Any]:
    """Inference at the optimal β (m, K − 1), for independent columns or α > 0; y: class indices."""
    X, y, beta = np.asarray(X, dtype=float), np.asarray(y, dtype=int), np.asarray(beta, dtype=float)
    s = np.ones(len(y)) if s is None else np.asarray(s, dtype=float)
    Phi = np.column_stack([np.ones(len(X)), X]) if fit_intercept else X
    m, K = Phi.shape[1], beta.shape[1] + 1
    z = np.column_stack([np.zeros(len(X)), Phi @ beta])
    z -= z.max(axis=1, keepdims=True)
    P = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    log_likelihood = s @ (z[np.arange(len(y)), y] - np.log(np.exp(z).sum(axis=1)))

    p, own = P[:, 1:], y[:, None] == np.arange(1, K)
    curvature = p[:, :, None] * np.eye(K - 1) - p[:, :, None] * p[:, None, :]
    H = np.einsum("i,ikl,ia,ib->kalb", s, curvature, Phi, Phi).reshape(m * (K - 1), -1)
    g = np.einsum("ik,ia->ika", p - own, Phi).reshape(len(y), -1)
    between = np.eye(K - 1) - (1 / K if K > 2 else 0)
    Lambda = alpha * np.kron(between, np.diag(np.arange(m) >= fit_intercept))
    inverse = np.linalg.inv(H + Lambda)
    M = H if cov == "classical" else g.T @ (s[:, None] * g)
    covariance = inverse @ M @ inverse
    parameters = np.trace(inverse @ H)
    return {
        "information": H,
        "covariance": covariance,
        "standard_errors": np.sqrt(np.diagonal(covariance)).reshape(K - 1, m).T,
        "log_likelihood": log_likelihood,
        "effective_parameters": parameters,
        "aic": 2 * parameters - 2 * log_likelihood,
        "bic": parameters * np.log(s.sum()) - 2 * log_likelihood,
    }
