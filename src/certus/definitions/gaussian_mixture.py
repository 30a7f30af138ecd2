r"""Gaussian mixture: what one more EM step gains.

    F(π, μ, C) = Σ_i s_i log Σ_k π_k N(x_i; μ_k, C_k) − ε/2 Σ_C (log|C| + tr(DC⁻¹))

N(x; μ, C) is the normal density of those entries of x that are not NaN. C runs over the distinct
covariances and D holds the columns' variances: a prior of ε pseudo-rows with these variances.

*EM step.* Let w_ik = s_i π_k N(x_i; μ_k, C_k) / Σ_l π_l N(x_i; μ_l, C_l) and n_k = Σ_i w_ik. Given
its observed entries, row i has the mean e_ik and the covariance V_ik in component k. The step

    π'_k = n_k / Σ_i s_i        μ'_k = Σ_i w_ik e_ik / n_k        C'_k = (S_k + εD) / (n_k + ε)
    S_k = Σ_i w_ik ((e_ik − μ'_k)(e_ik − μ'_k)ᵀ + V_ik)

(with C' reduced to its shape) maximises a lower bound of F that equals F at (π, μ, C). So F never
decreases, and is stationary where it does not rise. ``miss`` is |F' − F|, plus what Σ_k π_k ≠ 1
adds to F, compared with Σ_i s_i. With a number ``added`` to the diagonal of C', F may fall; then
``miss`` is at least Σ_i s_i Σ_k π'_k (KL(N'_k ‖ N_k) + log π'_k/π_k), 0 only at a fixed point.

Weaker than the proof for float32 means more than 10⁴ spreads from 0. Memory: 4 times X and C.
"""

from itertools import cycle
from math import fsum, inf, log, nan, tau

import numpy as np

from certus.definitions.terms.claim import Claim


def check(X, y, s, *, pi, mu, C, shape, epsilon=0.0, added=0.0, constant=(), tol=1e-6):
    """Check pi (K,), mu (K, p) and C, whose shape is a term; constant columns are left out."""
    X, s, S = X[s > 0], s[s > 0], fsum(s)
    refused = Claim("stationary", nan, inf, S, tol)
    varies, weight = np.nanmin(X, axis=0) < np.nanmax(X, axis=0), s[:, None] * ~np.isnan(X)
    mean = np.nansum(weight * X, axis=0) / weight.sum(axis=0)
    D = np.diag(np.nansum(weight * (X - mean) ** 2, axis=0) / weight.sum(axis=0))
    kept = np.setdiff1d(np.arange(len(D)), constant)
    if not ((pi >= 0).all() and pi.any()) or np.delete(varies, kept).any():
        return refused
    C = shape.matrices(C, len(D))[:, kept][:, :, kept]
    X, D, mu = X[:, kept], D[kept][:, kept], mu[:, kept]
    try:
        F, w = expectation(X, s, pi, mu, C, D, epsilon)
        pi1, mu1, C1 = maximization(X, w, mu, C, D, epsilon, shape, added)
        F1, _ = expectation(X, s, pi1, mu1, C1, D, epsilon)
        miss = max(abs(F1 - F), S * divergence(pi, mu, C, pi1, mu1, C1) if added else 0.0)
    except np.linalg.LinAlgError:  # a covariance is not positive definite
        return refused
    return Claim("stationary", F, miss + S * abs(log(fsum(pi))), S, tol)


def expectation(X, s, pi, mu, C, D, epsilon):
    """Return F and w."""
    prior = [log_det + (Z**2).sum() for Z, log_det in (whiten(c, np.sqrt(D)) for c in C)]
    J = np.column_stack([completed(X, s, m, c)[0] for m, c in zip(mu, cycle(C))])
    J += np.log(pi, out=np.full(len(pi), -inf), where=pi > 0)
    log_p = np.logaddexp.reduce(J, axis=1)
    return fsum(s * log_p) - epsilon / 2 * fsum(prior), s[:, None] * np.exp(J - log_p[:, None])


def maximization(X, w, mu, C, D, epsilon, shape, added):
    """Return π', μ' and C'; a component without rows is unchanged."""
    n, mu1, S = w.sum(axis=0) + 1e-200, mu.copy(), []
    for k, c in zip(range(len(mu)), cycle(C)):
        _, E, V = completed(X, w[:, k], mu[k], c)
        mu1[k] += w[:, k] @ E / n[k]
        E -= mu1[k] - mu[k]
        S.append((w[:, k] * E.T) @ E + V + 1e-200 * c)
    C1 = shape.fitted(np.array(S), n, epsilon * D, epsilon) + added * np.eye(len(D))
    return w.sum(axis=0) / w.sum(), mu1, C1


def completed(X, w, mu, C):
    """Return the log density of each row's observed entries, e − μ, and Σ_i w_i V_i."""
    log_N, E, V = np.empty(len(X)), X - mu, np.zeros(C.shape)
    patterns, which = np.unique(~np.isnan(X), axis=0, return_inverse=True)
    for j, o in enumerate(patterns):  # o: the observed entries of rows i
        i, m = np.flatnonzero(which.ravel() == j), ~o
        Z, log_det = whiten(C[o][:, o], E[i][:, o].T)
        G, _ = whiten(C[o][:, o], C[o][:, m])
        log_N[i] = -0.5 * ((Z**2).sum(axis=0) + log_det + o.sum() * log(tau))
        E[np.ix_(i, m)] = Z.T @ G
        V[np.ix_(m, m)] += w[i].sum() * (C[m][:, m] - G.T @ G)
    return log_N, E, V


def whiten(C, A):
    """Return L⁻¹A, with C = LLᵀ, and log|C|."""
    u = np.sqrt(np.maximum(np.diag(C), 1e-200))
    L = np.linalg.cholesky(C / np.outer(u, u))
    return np.linalg.solve(L, A / u[:, None]), 2 * fsum(np.log(u * np.diag(L)))


def divergence(pi, mu, C, pi1, mu1, C1):
    total = 0.0
    for k, c, c1 in zip(range(len(mu)), cycle(C), cycle(C1)):
        Z, log_det = whiten(c, np.column_stack([np.linalg.cholesky(c1), mu1[k] - mu[k]]))
        kl = ((Z**2).sum() - len(c) + log_det - whiten(c1, Z)[1]) / 2
        total += pi1[k] * (kl + log(pi1[k] / pi[k])) if pi1[k] > 0 else 0.0
    return float(total)
