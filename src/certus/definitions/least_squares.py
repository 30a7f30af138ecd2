r"""Least squares and ridge regression: how far (w, b) is from the optimum.

    f(w, b) = Σ_i s_i r_i² + α‖w‖²        r = y − Xw − b,  w ≥ 0 if ``positive``

*The excess is known exactly*, since f is quadratic. Let x̄ be the weighted mean of the rows, r̄ that
of the residuals, X̃ = X − x̄, and

    A = ⎡√s∘X̃⎤      ρ = ⎡√s∘(r − r̄)⎤        f(w, b) = ‖ρ‖² + S r̄²,   S = Σ s
        ⎣√α I ⎦          ⎣  −√α w   ⎦

(without an intercept: x̄ = 0, r̄ = 0). A step d of w changes ρ to ρ − Ad, so with e the projection
of ρ on the columns of A,

    f(w, b) − min f = S r̄² + ‖e‖².

*w ≥ 0.* Let e be the projection on a subset of the columns, the free ones. If all others have
w_j = 0 and A_jᵀρ ≤ A_jᵀe, then ρᵀAd ≤ eᵀAd for every step d to some w' ≥ 0, and
‖ρ − Ad‖² ≥ ‖ρ‖² − ‖e‖²: the excess is at most S r̄² + ‖e‖². Columns for which this fails are made
free.

*Repeated columns*, α = 0: a direction d of w is left out, as one that the data do not determine,
only if ‖X̃d‖ ≤ 4·eps·‖|X̃||d|‖. The proof uses X and a constant column in place of X̃: the page is
weaker if columns repeat others up to the rounding of numbers far from their means.

Memory: four arrays as large as X, and p² numbers if α > 0.
"""

from math import fsum, inf

import numpy as np

from certus.definitions.terms.claim import Claim

EPS = np.finfo(float).eps


def check(X, y, s, *, w, b, alpha=0.0, fit_intercept=True, positive=False, tol=1e-6):
    """Check w (p,) and b on X (n, p), y (n,) and weights s (n,)."""
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    feasible = (fit_intercept or b == 0) and not (positive and (w < 0).any())
    S, mean, level = fsum(s), 0.0, 0.0
    if fit_intercept:
        center, mean = np.average(X, axis=0, weights=s), fsum(s * y) / S
        X, b = X - center, b + center @ w
    r = y - X @ w - b
    f = fsum(s * r**2) + alpha * fsum(w**2)
    if fit_intercept:
        level = fsum(s * r) / S
    ridge = np.sqrt(alpha) * np.eye(len(w) if alpha else 0, len(w))
    A = np.vstack([np.sqrt(s)[:, None] * X, ridge])
    rho = np.concatenate([np.sqrt(s) * (r - level), -ridge @ w])
    e = projection(A, X, rho)
    if positive:
        slope = A.T @ rho
        free = (w > 0) | (slope > 0)
        while True:
            e = projection(A[:, free], X[:, free], rho)
            wrong = ~free & (A.T @ e < slope)
            if not wrong.any():
                break
            free |= wrong
    bound = max(f - S * level**2 - fsum(e**2), 0.0)
    # f of the intercept alone, but at least the rounding of y
    f0 = max(fsum(s * (y - mean) ** 2), 2.0**-80 * fsum(s * y**2))
    return Claim("global optimum", f, f - bound if feasible else inf, f0, tol, bound)


def projection(A, X, rho):
    """Project ρ on the columns of A, without directions that are rounding of X."""
    unit = np.linalg.norm(A, axis=0)
    unit[unit == 0] = 1.0
    U, sigma, Vt = np.linalg.svd(A / unit, full_matrices=False)
    D, strong = Vt.T / unit[:, None], sigma > 1e-6 * sigma.max(initial=0.0)
    # remove the components along strong directions that rounding mixed into the weak ones
    mixed = U[:, strong].T @ (A @ D[:, ~strong])
    D[:, ~strong] -= D[:, strong] @ (mixed / sigma[strong, None])
    determined = np.linalg.norm(X @ D, axis=0) > 4 * EPS * np.linalg.norm(
        np.abs(X) @ np.abs(D), axis=0
    )
    U = U[:, determined | (len(A) > len(X))]  # a penalty determines all of them
    return U @ (U.T @ rho)
