r"""Regression with squared or Huber's loss, with or without bounds on w: how far is the optimum?

    F(w, b) = Σ_i s_i ℓ(r_i)  over low ≤ w ≤ high        r = y − Xw − b  (bounds may be ±∞)
    ℓ(r) = ½r² where |r| ≤ δ, and δ|r| − ½δ² beyond (δ = ∞: squares)

*Bound.* Let a = ℓ'(r). Let e change a in rows with |r_i| < δ only, |a_i − e_i| ≤ δ, such that
Σ s_i (a_i − e_i) = 0 (not required without an intercept). With v = Xᵀ(s∘(a − e)), let c_j be
v_j (high_j − w_j) where v_j > 0, v_j (low_j − w_j) where v_j < 0, and else 0. Then

    F(w, b) − min F ≤ ½ Σ s_i e_i² + Σ_j c_j.

Proof: with a' = a − e, any feasible u, any d, and their residuals r' = y − Xu − d,

    ℓ(r'_i) ≥ r'_i a'_i − a'_i²/2   and   Σ s_i a'_i (r_i − r'_i) = vᵀ(u − w) ≤ Σ_j c_j,

so F(u, d) ≥ Σ s_i (r_i a'_i − a'_i²/2) − Σ_j c_j, and the first sum is F(w, b) − ½ Σ s_i e_i². e is
the smallest change that makes v_j = 0 wherever c_j would not be small.

*Repeated columns.* A direction d of (w, b) is left out, as one that the data do not determine, only
if ‖[X 1]d‖ ≤ 4·eps·‖|[X 1]||d|‖, with columns of X centred at their weighted means.

Weaker than the proof: if too few rows have |r_i| < δ to determine w, or if columns repeat others up
to the rounding of numbers far from their means, nothing is proven.
Memory: five arrays as large as X.
"""

from math import fsum, inf

import numpy as np

from certus.definitions.terms.claim import Claim

EPS = np.finfo(float).eps


def check(X, y, s, *, w, b, low=-inf, high=inf, delta=inf, fit_intercept=True, tol=1e-6):
    """Check w (p,) and b on X (n, p), y (n,) and weights s (n,); bounds are numbers or (p,)."""
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    low, high = np.broadcast_to(low, len(w)), np.broadcast_to(high, len(w))
    feasible = (low <= w).all() and (w <= high).all() and (fit_intercept or b == 0)
    rounding = 2.0**-81 * fsum(s * y**2)  # rounding of y in Σ s y²/2
    if fit_intercept:
        center, mean = np.average(X, axis=0, weights=s), np.average(y, weights=s)
        X, y, b = X - center, y - mean, b + center @ w - mean
    r = y - X @ w - b
    F = loss(r, s, delta)
    Z = np.hstack([X, np.ones((len(X), int(fit_intercept)))])
    down, up = (np.append(d, [inf] * fit_intercept) for d in (w - low, high - w))
    e, c = least_change(Z, s, r, down, up, delta, small=1e-9 * F)
    bound = max(F - fsum(s * e**2) / 2 - c, 0.0)
    f0 = constant_loss(y - X @ np.clip(0.0, low, high), s, delta, fit_intercept)
    return Claim("global optimum", F, F - bound if feasible else inf, max(f0, rounding), tol, bound)


def loss(r, s, delta):
    a = np.clip(r, -delta, delta)
    return fsum(s * a * (r - a / 2))


def least_change(Z, s, r, down, up, delta, small):
    """Return e (infinite if there is none) and Σ c; parameters can move by ``down`` and ``up``."""
    inner, root, a = np.abs(r) < delta, np.sqrt(s), np.clip(r, -delta, delta)
    e, free = np.zeros(len(r)), np.zeros(Z.shape[1], dtype=bool)
    while True:
        v = np.where(free, 0.0, Z.T @ (s * (a - e)))
        c = np.abs(v) * np.where(v > 0, up, np.where(v < 0, down, 0.0))
        if not (c > small).any():
            possible = (np.abs(a - e)[inner] <= delta).all()
            return e if possible else np.full(len(r), inf), fsum(c)
        free |= c > small
        A = (root * inner)[:, None] * Z[:, free]
        unit = np.linalg.norm(A, axis=0)
        unit[unit == 0] = 1.0
        more = np.zeros(
            (max(A.shape[1] - len(A), 0), A.shape[1])
        )  # at least as many rows as columns
        U, sigma, Vt = np.linalg.svd(np.vstack([A / unit, more]), full_matrices=False)
        D, strong = Vt.T / unit[:, None], sigma > 1e-6 * sigma[0]
        # remove the components along strong directions that rounding mixed into the weak ones
        mixed = U[: len(r), strong].T @ (A @ D[:, ~strong])
        D[:, ~strong] -= D[:, strong] @ (mixed / sigma[strong, None])
        change, size = Z[:, free] @ D, np.abs(Z[:, free]) @ np.abs(D)
        determined = np.linalg.norm(change, axis=0) > 4 * EPS * np.linalg.norm(size, axis=0)
        part = change[:, determined].T @ (s * a) / np.maximum(sigma[determined], 1e-100)
        e = U[: len(r), determined] @ part / root


def constant_loss(y, s, delta, fit_intercept):
    """Loss of the best b alone, by bisection."""
    low, high = (y.min(), y.max()) if fit_intercept else (0.0, 0.0)
    for _ in range(100):
        b = (low + high) / 2
        low, high = (b, high) if fsum(s * np.clip(y - b, -delta, delta)) > 0 else (low, b)
    return loss(y - (low + high) / 2, s, delta)
