r"""Poisson and Gamma regression with a log link: how far (w, b) is from the optimum.

    F(w, b) = 1/S Σ_i s_i ℓ_i(z_i) + l1‖w‖₁ + l2/2 ‖w‖²        z = Xw + b,  S = Σ s

ℓ is half the deviance of a target of mean e^{o+z}, o the offset (0 where there is none). With
t = log μ − log c, log μ = κ + σz (Poisson: c = y, μ = e^{o+z}, σ = 1; Gamma: c = 1, μ = y/e^{o+z},
σ = −1) it is c(eᵗ − 1 − t), and lies above its tangent at log m, for every m ≥ 0:

    ℓ(z) ≥ σ(m − c)z + G(m)        G(m) = m − c − m log m + c log c + (m − c)κ

*Dual bound.* For every m ≥ 0, with an intercept only if Σ s (m − c) = 0, v = Xᵀ(s∘σ(c − m))/S,

    F(w, b) ≥ 1/S Σ s G(m) − Σ_j [|v_j| − l1]₊² / (2 l2)        for every (w, b).

Where l2 = 0 the last term is 0, and |v_j| ≤ l1 is required. At the optimum both sides are equal for
m = μ; so this m is used, after making it feasible.

*Curvature bound.* As |ℓ‴| = ℓ″ = μ: with g a subgradient of F, H the Hessian without l1‖w‖₁,
ν² = gᵀH⁻¹g, M = max_i ‖(x_i, 1)‖ in the norm of H⁻¹ and t = νM < 1, a finite optimum exists, and
F(w, b) − min F ≤ (t + (1 − t) log(1 − t)) / M² ≤ ν² (½ + t/6 + t²/(12 − 12t)). Nothing is proven
where the curvature along a direction could be rounding. Without a penalty ``independent`` excludes
columns that are combinations of others up to rounding r: about 1/S Σ_i s_i |c_i − μ_i| |r_iᵀw|.

*No finite optimum.* Counts have none along (u, c) with x_iᵀu + c ≤ 0 for all rows, = 0 where the
count is above 0 and < 0 for some, if no coefficient of u is penalised.
Memory: four arrays of n + p rows and p columns.
"""

from math import fsum, inf

import numpy as np

from certus.definitions.terms.claim import Claim

EPS = np.finfo(float).eps


@np.errstate(all="ignore")  # an overflow is refused below
def check(
    X, y, s, *, family, w, b, l1, l2, fit_intercept, direction=None, independent=None, tol=1e-6
):
    """Check w (p,), b on X (n, p), y (n, 1) or (n, 2) with offsets, and weights s."""
    X, y, s = X[s > 0], y[s > 0], s[s > 0] / fsum(s)
    c, kappa = family.terms(y[:, 0], y[:, 1:].sum(axis=1))
    Z = np.column_stack([X, np.full(len(X), float(fit_intercept))])
    endless = direction and (l1 == l2 == 0 or not any(direction.theta[:-1]))
    endless = endless and direction.separates(np.vstack([-Z, Z[c > 0]]))
    # close to the means but with few digits, so that X − center is exact
    center = np.average(X, axis=0, weights=s).astype("f4").astype(float) * fit_intercept
    X, b = X - center, b + center @ w
    eta, sign = kappa + family.sign * (X @ w + b), family.sign
    F = fsum(s * loss(c, eta)) + l1 * fsum(np.abs(w)) + l2 / 2 * fsum(w**2)
    if not np.isfinite(F + b) or (b != 0 and not fit_intercept):
        return Claim("global optimum", inf, inf, 1.0, tol)
    if endless:
        return Claim("no finite optimum", F, 0.0, 1.0, tol)
    mu = np.exp(eta)
    a = np.where(c > 0, -sign * c * np.expm1(eta - log(c)), -sign * mu)  # σ(c − μ)
    Z, unused = np.column_stack([X, np.ones(len(X))])[:, : len(w) + fit_intercept], 0.0
    if independent and l1 == l2 == 0:
        kept, rounding = independent.columns(Z, np.append(center, 0.0)[: len(Z.T)])
        Z, unused = Z[:, kept], fsum(s * np.abs(a) * np.abs(rounding[:, : len(w)] @ w))
    excess = curvature_excess(Z, s, a, mu, w, l1, l2) + unused
    bound = dual_bound(X, s, c, kappa, mu, sign, l1, l2, fit_intercept)
    bound = min(max(bound, F - excess, 0.0), F)
    rho = fsum(s * c) / fsum(s * np.exp(kappa)) if fit_intercept else 1.0
    f0 = fsum(s * loss(c, kappa + np.log(rho))) if rho > 0 else 0.0
    return Claim("global optimum", F, F - bound, max(f0, EPS / 2 * fsum(s * c)), tol, bound)


def log(c):
    return np.log(np.where(c > 0, c, 1.0))


def loss(c, eta):
    t = eta - log(c)
    return np.where(c > 0, c * (np.expm1(t) - t), np.exp(eta))


def dual_bound(X, s, c, kappa, mu, sign, l1, l2, fit_intercept):
    m = mu * (fsum(s * c) / fsum(s * mu)) if fit_intercept else mu  # Σ s (m − c) = 0
    v = X.T @ (s * sign * (c - m))
    if l2 == 0:  # move m towards c until |v| ≤ l1
        m = c + (m - c) * (l1 / np.abs(v).max(initial=l1 or 1.0))
    conjugate = fsum(np.maximum(np.abs(v) - l1, 0.0) ** 2) / (2 * l2) if l2 else 0.0
    return fsum(s * (m - c - m * log(m) + c * log(c) + (m - c) * kappa)) - conjugate


def curvature_excess(X, s, a, mu, w, l1, l2):
    l1, l2 = (l * (np.arange(X.shape[1]) < len(w)) for l in (l1, l2))  # 0 for the intercept
    w = np.append(w, 0.0)[: X.shape[1]]
    g = l2 * w - X.T @ (s * a)
    g += np.where(w != 0, l1 * np.sign(w), np.clip(-g, -l1, l1))
    A = np.vstack([np.sqrt(s * mu)[:, None] * X, np.diag(np.sqrt(l2))])
    unit = np.linalg.norm(A, axis=0) + 1e-300  # H = AᵀA
    _, sigma, Vt = np.linalg.svd(A / unit, full_matrices=False)
    D = Vt.T / sigma / unit[:, None]  # DᵀHD = I
    nu, M = np.linalg.norm(g @ D), np.linalg.norm(X @ D, axis=1).max(initial=0.0)
    t = nu * M if (sigma > 100 * EPS).all() else inf  # else H may be rounding
    return nu**2 * (1 / 2 + t / 6 + t**2 / (12 - 12 * t)) if t < 1 else inf
