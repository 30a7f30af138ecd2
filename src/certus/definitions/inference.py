r"""Standard errors of least squares and ridge regression: is this the covariance of (b, w)?

    y = Φθ + noise,  Φ = [1 X],  D = diag(s),  P = diag(0, α, …, α)
    θ̂ = C ΦᵀDy,  C = (ΦᵀDΦ + P)⁻¹,  H = D^½ΦCΦᵀD^½,  e = D^½(y − Φθ̂),  ν = tr (I − H)²

    cov θ̂ = C ΦᵀD^½ diag(ω) D^½Φ C
    ω_i = Σe²/ν (classical), e_i² (HC0), e_i² n/ν (HC1), e_i²/(1 − h_i) (HC2), e_i²/(1 − h_i)² (HC3)

cov = "cluster": in place of diag(ω), G/(G − 1)·(n − 1)/(n − m) times the matrix of e_i e_k of rows
i, k in the same of G groups and 0 elsewhere, for m coefficients.

Weights are inverse variances: var y_i = σ²/s_i, and a row of weight 0 is absent. α = 0: H is a
projection, and ν = n − (number of coefficients). Without an intercept Φ = X and P = αI.

*Computation.* Let A be D^½Φ stacked on P^½, A = UΣVᵀ its singular value decomposition, and Z the
first n rows of U. Then H = ZZᵀ, tr H² = ‖ZᵀZ‖², and C ΦᵀD^½ = VΣ⁻¹Zᵀ. Columns are centred at their
weighted means, which changes b alone, and scaled.

The miss is the largest error of cov_ij, relative to √(cov_ii cov_jj). It is infinite if α = 0 and
columns repeat others, ‖Xd‖ ≤ 4·eps·‖|X||d|‖ for some d: weaker than the solver, which then has
standard errors for the coefficients that the rows determine.

Memory: four arrays as large as X, and p² numbers.
"""

from math import fsum, inf

import numpy as np

from certus.definitions.terms.claim import Claim

EPS = np.finfo(float).eps


def check(
    X, y, s, *, covariance, cov="classical", alpha=0.0, fit_intercept=True, groups=None, tol=1e-6
):
    """Check a covariance, (m, m) with b first, on X (n, p), y (n,), weights s and groups (n,)."""
    groups = None if groups is None else np.asarray(groups)[s > 0]
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    center, mean = np.zeros(X.shape[1]), 0.0
    if fit_intercept:
        center, mean = np.average(X, axis=0, weights=s), np.average(y, weights=s)
    n, first, root = len(y), int(fit_intercept), np.sqrt(s)
    Phi = np.hstack([np.ones((n, first)), X - center])
    m = Phi.shape[1]
    P = np.diag([0.0] * first + [alpha] * X.shape[1])
    A = np.vstack([root[:, None] * Phi, np.sqrt(P)])
    unit = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
    U, sigma, Vt = np.linalg.svd(A / unit, full_matrices=False)
    B, Z = Vt.T / unit[:, None], U[:n]
    strong = sigma > 1e-6 * sigma[0]
    # remove the components along strong directions that rounding mixed into the weak ones
    mixed = U[:, strong].T @ (A @ B[:, ~strong])
    B[:, ~strong] -= B[:, strong] @ (mixed / sigma[strong, None])
    size = np.linalg.norm(np.abs(Phi) @ np.abs(B), axis=0)
    if alpha == 0 and (n <= m or (np.linalg.norm(Phi @ B, axis=0) <= 4 * EPS * size).any()):
        return Claim("exact", inf, inf, 1.0, tol)
    B = B / sigma
    e = root * (y - mean) - Z @ (Z.T @ (root * (y - mean)))
    h = (Z**2).sum(axis=1)
    nu = n - 2 * fsum(h) + fsum(((Z.T @ Z) ** 2).ravel())
    if cov == "cluster":
        u = np.array([Z[groups == g].T @ e[groups == g] for g in np.unique(groups)])
        M = len(u) / (len(u) - 1) * (n - 1) / (n - m) * u.T @ u
    elif cov == "classical":
        M = fsum(e**2) / nu * Z.T @ Z
    else:
        power = {"HC0": 0, "HC1": 0, "HC2": 1, "HC3": 2}[cov]
        omega = e**2 / np.maximum(1 - h, 1e-300) ** power * (n / nu if cov == "HC1" else 1.0)
        M = Z.T @ (omega[:, None] * Z)
    if first:
        B[0] -= center @ B[1:]  # from the centred columns to those of X
    expected = B @ M @ B.T
    errors = np.sqrt(np.diag(expected))
    error = np.abs(np.reshape(covariance, (m, m)) - expected) / np.outer(errors, errors)
    miss = error.max() if np.isfinite(error).all() else inf
    return Claim("exact", fsum(e**2), float(miss), 1.0, tol)
