r"""Huber's regression with a scale (scikit-learn's HuberRegressor): how far is the optimum?

    F(w, b, σ) = Σ_i s_i (σ + σ H(r_i/σ)) + α‖w‖²        r = y − Xw − b,  σ > 0
    H(z) = z² where |z| ≤ ε, and 2ε|z| − ε² beyond

F is jointly convex. Let c be r clipped to ±εσ and S = Σ s.

*Dual bound*, α > 0. σH(r/σ) ≥ ra − σa²/4 for every |a| ≤ 2ε. For all such a with Σ s_i a_i = 0
(not required without an intercept) and Σ s_i a_i²/4 ≤ S, and v = Xᵀ(s∘a),

    F(w, b, σ) ≥ Σ_i s_i a_i y_i − ‖v‖²/(4α)        for every (w, b, σ).

At the optimum both sides are equal for a = 2c/σ. Near it, a − e is better: e is the smallest
change, of rows with |r_i| < εσ, after which v = 2αw and both conditions hold to first order. The
point is made feasible before it is used, so the bound does not depend on the accuracy of e.

*Slopes*, α = 0. No bound is computed: the claim is that the point is stationary. The slope along σ
is S − Σ s c²/σ², relative to S. Among directions of (w, b) that change √s∘(Xw + b) by 1 in norm,
the steepest has the slope (2/σ)‖P(√s∘c)‖, with P the projection on the columns of √s∘[X 1]; it is
relative to that of the intercept alone, or to the largest possible one if that is smaller. P leaves
out a direction d only if ‖[X 1]d‖ ≤ 4·eps·‖|[X 1]||d|‖.

Memory: four arrays as large as X.
"""

from math import fsum, inf, sqrt

import numpy as np

from certus.definitions.terms.claim import Claim

EPS = np.finfo(float).eps


def check(X, y, s, *, w, b, scale, epsilon=1.35, alpha=0.0, fit_intercept=True, tol=1e-6):
    """Check w (p,), b and σ = ``scale`` on X (n, p), y (n,) and weights s (n,)."""
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    if not (0 < scale < inf and (fit_intercept or b == 0)):
        return Claim("global optimum" if alpha else "stationary", inf, inf, 1.0, tol)
    sigma, S, rounding = scale, fsum(s), 2.0**-40 * sqrt(fsum(s * y**2) / fsum(s)) + 1e-300
    if fit_intercept:
        center, mean = np.average(X, axis=0, weights=s), np.average(y, weights=s)
        X, y, b = X - center, y - mean, b + center @ w - mean
    r = y - X @ w - b
    c = np.clip(r, -epsilon * sigma, epsilon * sigma)
    F = S * sigma + fsum(s * (2 * c * r - c**2)) / sigma + alpha * fsum(w**2)
    Z = np.hstack([X, np.ones((len(X), int(fit_intercept)))])
    if alpha == 0:
        N = min(max(sqrt(fsum(s * y**2)), rounding * sqrt(S)), epsilon * sigma * sqrt(S))
        slope = np.linalg.norm(projection(np.sqrt(s)[:, None] * Z, Z, np.sqrt(s) * c)) / N
        return Claim("stationary", F, max(slope, abs(1 - fsum(s * c**2) / sigma**2 / S)), 1.0, tol)
    a = 2 * c / sigma
    e = least_change(Z, s, a, np.abs(r) < epsilon * sigma, w, alpha, sigma)
    points = [a, np.clip(a - e, -2 * epsilon, 2 * epsilon)]
    bound = max(dual(X, y, s, a, alpha, fit_intercept) for a in points)
    bound = min(max(bound, 0.0), F)  # F ≥ 0; a bound above F is rounding
    b0, sigma0 = 0.0, max(sqrt(fsum(s * y**2) / S), rounding)
    for _ in range(100):  # F of the intercept alone: alternate a better b and the best σ
        c = np.clip(y - b0, -epsilon * sigma0, epsilon * sigma0)
        f0 = S * sigma0 + fsum(s * (2 * c * (y - b0) - c**2)) / sigma0
        b0 += fit_intercept * fsum(s * c) / S
        sigma0 = max(sqrt(fsum(s * c**2) / S), rounding)
    return Claim("global optimum", F, F - bound, f0, tol, bound)


def dual(X, y, s, a, alpha, fit_intercept):
    if fit_intercept:  # shrink one sign until Σ s a = 0
        plus, minus = fsum((s * a)[a > 0]), -fsum((s * a)[a < 0])
        a = a * min(plus, minus) / np.where(a > 0, plus or 1.0, minus or 1.0)
    a = a / max(1.0, sqrt(fsum(s * a**2) / (4 * fsum(s))))
    return fsum(s * a * y) - fsum((X.T @ (s * a)) ** 2) / (4 * alpha)


def least_change(Z, s, a, inner, w, alpha, sigma):
    root, p, e = np.sqrt(s[inner]), len(w), np.zeros(len(a))
    columns = np.column_stack([Z, a / 2])  # of w, b and σ
    missing = columns.T @ (s * a)
    missing[:p] -= 2 * alpha * w
    missing[-1] = fsum(s * a**2) / 4 - fsum(s)
    ridge = sqrt(alpha * sigma) * np.eye(p, len(missing))
    A = np.vstack([root[:, None] * columns[inner], ridge])
    unit = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
    e[inner] = np.linalg.lstsq((A / unit).T, missing / unit)[0][: len(root)] / root
    return e


def projection(A, Z, rho):
    unit = np.linalg.norm(A, axis=0)
    unit[unit == 0] = 1.0
    U, sigma, Vt = np.linalg.svd(A / unit, full_matrices=False)
    D, strong = Vt.T / unit[:, None], sigma > 1e-6 * sigma[0]
    # remove the components along strong directions that rounding mixed into the weak ones
    mixed = U[:, strong].T @ (A @ D[:, ~strong])
    D[:, ~strong] -= D[:, strong] @ (mixed / sigma[strong, None])
    size = np.linalg.norm(np.abs(Z) @ np.abs(D), axis=0)
    return U[:, np.linalg.norm(Z @ D, axis=0) > 4 * EPS * size].T @ rho
