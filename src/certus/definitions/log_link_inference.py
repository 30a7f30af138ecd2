r"""Standard errors of Poisson and Gamma models with a log link: is this the covariance of (b, w)?

    log L = −Σ_i s_i ℓ_i(φ_iᵀβ) + constant,   ℓ half the deviance,   Φ = [1 X]
    μ = mean, r = y − mean (Poisson);   μ = y/mean, r = y/mean − 1 (Gamma)
    H = Σ_i s_i μ_i φ_iφ_iᵀ,   g_i = r_i φ_i,   h_i = μ_i φ_iᵀ(H + Λ)⁻¹φ_i

    cov β̂ = (H + Λ)⁻¹ M (H + Λ)⁻¹
    M = d·H, everywhere with the expected μ (Gamma: 1)   (classical)
    M = Σ_i s_i g_i g_iᵀ (HC0), n/(n − m) times that (HC1)
    M = Σ_i s_i g_i g_iᵀ/(1 − h_i) (HC2), Σ_i s_i g_i g_iᵀ/(1 − h_i)² (HC3)
    M = G/(G − 1)·(n − 1)/(n − m) Σ_g u_g u_gᵀ,   u_g = Σ_{i in g} s_i g_i   (cluster)

for n = Σ_i s_i, m coefficients and G groups. Λ = diag(0, α, …, α) is the curvature of the penalty
(the intercept has none). The dispersion d is 1 (Poisson), or Pearson's Σ s r²/(n − m) (Gamma).
Weights are counts. The formula holds at the optimum; whether β is optimal is decided by the page of
the model, not by this one.

Columns are centred at their weighted means, which changes b alone, and scaled. The miss is the
largest error of cov_ij, relative to √(cov_ii cov_jj). It is infinite if H + Λ of the scaled columns
is singular to ten digits: weaker than the solver, which then has standard errors for the
coefficients that the rows determine.

Memory: five arrays as large as X.
"""

from math import fsum, inf

import numpy as np

from certus.definitions.terms.claim import Claim


def check(
    X, y, s, *, family, coef, covariance, cov="classical", alpha=0.0, fit_intercept=True,
    groups=None, tol=1e-6,
):  # fmt: skip
    """Check a covariance of β (m,), b first, on X (n, p), y (n, 1) or (n, 2) with offsets."""
    groups = None if groups is None else np.asarray(groups)[s > 0]
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    first, m, n = int(fit_intercept), len(coef), fsum(s)
    c, kappa = family.terms(y[:, 0], y[:, 1:].sum(axis=1))
    Phi = np.hstack([np.ones((len(X), first)), X])
    eta = kappa + family.sign * (Phi @ coef)
    mu, t = np.exp(eta), eta - np.log(np.where(c > 0, c, 1.0))
    r = family.sign * (c - mu)
    half_deviance = fsum(s * np.where(c > 0, c * (np.expm1(t) - t), mu))

    T = np.eye(m)  # coefficients of Φ = T · those of centred and scaled columns
    if first:
        T[0, 1:] = -np.average(X, axis=0, weights=s)
    unit = np.sqrt(s @ (Phi @ T) ** 2)
    unit[unit == 0] = 1.0
    T, Phi = T / unit, Phi @ T / unit

    is_count = family.sign > 0
    W = c if cov == "classical" and not is_count else mu
    H = Phi.T @ ((s * W)[:, None] * Phi)
    A = H + np.diag(np.where(np.arange(m) < first, 0.0, alpha / unit**2))
    if np.linalg.cond(A) > 1e10:
        return Claim("exact", inf, inf, 1.0, tol)
    B = np.linalg.inv(A)
    g = r[:, None] * Phi
    if cov == "classical":
        M = H * (1.0 if is_count else fsum(s * r**2) / (n - m))
    elif cov == "cluster":
        u = np.array([s[groups == k] @ g[groups == k] for k in np.unique(groups)])
        M = len(u) / (len(u) - 1) * (n - 1) / (n - m) * u.T @ u
    else:
        power = {"HC0": 0, "HC1": 0, "HC2": 1, "HC3": 2}[cov]
        h = W * ((Phi @ B) * Phi).sum(axis=1)
        omega = s / np.maximum(1 - h, 1e-300) ** power * (n / (n - m) if cov == "HC1" else 1.0)
        M = g.T @ (omega[:, None] * g)
    expected = T @ B @ M @ B @ T.T
    errors = np.sqrt(np.diag(expected))
    error = np.abs(covariance - expected) / np.outer(errors, errors)
    miss = error.max() if np.isfinite(error).all() else inf
    return Claim("exact", half_deviance, float(miss), 1.0, tol)
