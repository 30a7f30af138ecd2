r"""Standard errors of logistic and softmax models: is this the covariance of their coefficients?

    log L = Σ_i s_i log p_i,y_i,   p_ik ∝ exp(φ_iᵀβ_k),  β_0 = 0,   Φ = [1 X]
    H = Σ_i s_i (diag p_i − p_i p_iᵀ) ⊗ φ_iφ_iᵀ,   g_i = (p_i − e_{y_i}) ⊗ φ_i      (classes k > 0)

    cov β̂ = (H + Λ)⁻¹ M (H + Λ)⁻¹,   M = H (classical), Σ_i s_i g_i g_iᵀ (HC0)
    M = n/(n − m) Σ_i s_i g_i g_iᵀ (HC1);   two classes, h_i = p_i(1 − p_i) φ_iᵀ(H + Λ)⁻¹φ_i:
    M = Σ_i s_i g_i g_iᵀ/(1 − h_i) (HC2), Σ_i s_i g_i g_iᵀ/(1 − h_i)² (HC3)
    cov = "cluster": M = G/(G − 1)·(n − 1)/(n − m) Σ_g u_g u_gᵀ,   u_g = Σ_{i in g} s_i g_i

for G groups, n = Σ_i s_i and m coefficients in all.

Λ is the curvature of the penalty α/2‖w‖² of two classes, or α/2 Σ_k ‖w_k − w̄‖² of more (intercepts
are not penalised). Weights are counts. The formula holds at the optimum; whether β is optimal is
decided by the page of the model, not by this one (the classical covariance depends on y through β
alone). Firth's model has the covariance of an unpenalised one.

Columns are centred at their weighted means, which changes intercepts alone, and scaled. The miss is
the largest error of cov_ij, relative to √(cov_ii cov_jj). It is infinite if H + Λ of the scaled
columns is singular to ten digits: weaker than the solver, which then has standard errors for the
coefficients that the rows determine.

Memory: (K + 2) arrays as large as X, K times that for cov = "HC0", and the square of the number of
coefficients.
"""

from math import inf

import numpy as np

from certus.definitions.terms.claim import Claim


def check(
    X, y, s, *, coef, covariance, cov="classical", alpha=0.0, fit_intercept=True, groups=None,
    tol=1e-6,
):  # fmt: skip
    """Check a covariance, ordered by class, of β (K − 1, m) with b first; y: class indices."""
    groups = None if groups is None else np.asarray(groups)[s > 0]
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    beta, first = np.atleast_2d(coef), int(fit_intercept)
    others, m = beta.shape
    Phi = np.hstack([np.ones((len(X), first)), X])
    z = np.column_stack([np.zeros(len(X)), Phi @ beta.T])
    log_p = z - np.logaddexp.reduce(z, axis=1, keepdims=True)
    p, own = np.exp(log_p)[:, 1:], y[:, None] == np.arange(1, others + 1)

    T = np.eye(m)  # coefficients of Φ = T · those of centred and scaled columns
    if first:
        T[0, 1:] = -np.average(X, axis=0, weights=s)
    unit = np.sqrt(s @ (Phi @ T) ** 2)
    unit[unit == 0] = 1.0
    T, Phi = T / unit, Phi @ T / unit

    W = s[:, None, None] * p[:, :, None] * (np.eye(others) - p[:, None, :])
    H = np.einsum("ikl,ia,ib->kalb", W, Phi, Phi, optimize=True).reshape(beta.size, beta.size)
    between = np.eye(others) - (1 / (others + 1) if others > 1 else 0.0)
    ridge = np.diag(np.where(np.arange(m) < first, 0.0, alpha / unit**2))
    A = H + np.kron(between, ridge)
    if np.linalg.cond(A) > 1e10:
        return Claim("exact", inf, inf, 1.0, tol)
    M = H
    g = ((p - own)[:, :, None] * Phi[:, None, :]).reshape(len(y), -1)
    if cov in ("HC0", "HC1", "HC2", "HC3"):
        power = {"HC2": 1, "HC3": 2}.get(cov, 0)
        if power and others > 1:
            raise ValueError("leverages are numbers for two classes only")
        h = W[:, 0, 0] / s * ((Phi @ np.linalg.inv(A)) * Phi).sum(axis=1) if power else 0.0
        omega = s / np.maximum(1 - h, 1e-300) ** power
        M = g.T @ (omega[:, None] * g)
    if cov == "HC1":
        M = M * s.sum() / (s.sum() - beta.size)
    if cov == "cluster":
        u = np.array([s[groups == k] @ g[groups == k] for k in np.unique(groups)])
        M = len(u) / (len(u) - 1) * (s.sum() - 1) / (s.sum() - beta.size) * u.T @ u
    B = np.kron(np.eye(others), T) @ np.linalg.inv(A)
    expected = B @ M @ B.T
    errors = np.sqrt(np.diag(expected))
    error = np.abs(covariance - expected) / np.outer(errors, errors)
    miss = error.max() if np.isfinite(error).all() else inf
    return Claim("exact", float(s @ log_p[np.arange(len(y)), y]), float(miss), 1.0, tol)
