r"""The primal least-squares machine with penalised b: distance of v = (β, b) from the optimum.

    F(v) = λ/2 ‖v‖² + ½ Σ_i ω_i e_i²        e_i = y_i − Σ_j K(x_i, x_j) β_j − b,   λ = 1/C + ε

ω_i is the weight of row i times that of its class and, in a density-weighted machine, times d_i². y
is ±1 for classes. Each column of y is a separate problem; F is their sum.

*Curvature bound.* By λ/2 ‖v‖² the curvature of F is at least λ in every direction, for any K. So,
with G = [K 1] and ∇F = λv − Gᵀ(ω∘e),

    F(v) − ‖∇F‖²/(2λ) ≤ F(u)        for every u.

The scale is Σf₀, f₀ the smallest F with β = 0, or less where a column exceeds tol relative to its
own f₀: each must hold.

Memory: three arrays as large as X; K is computed a row at a time.
"""

from math import fsum, inf, nan

import numpy as np

from certus.definitions.terms.claim import Claim


def check(X, y, s, *, beta, b, C, kernel, epsilon=0.0, density=None, tol=1e-6):
    """Check β (n, q) and b (q,) on X (n, p), y (n, q) and weights s (n,)."""
    omega = (s if density is None else s * density(X, y) ** 2)[:, None]
    lam = 1 / C + epsilon
    e, slope = np.empty(y.shape), lam * beta
    for i, row in enumerate(kernel.rows(X)):
        e[i] = y[i] - row @ beta - b
        slope = slope - np.outer(row, omega[i] * e[i])
    slope_b = lam * b - sums(omega * e)
    F = lam / 2 * (sums(beta**2) + b**2) + sums(omega * e**2) / 2
    excess = np.minimum((sums(slope**2) + slope_b**2) / (2 * lam), F)  # F is never negative
    if not np.isfinite(F + excess).all():
        excess = np.full(len(b), inf)
    best = sums(omega * y) / (lam + fsum(omega[:, 0]))  # b where β = 0
    f0 = np.maximum(lam / 2 * best**2 + sums(omega * (y - best) ** 2) / 2, 1e-300)
    miss, worst = fsum(excess), (excess / f0).max()
    scale = miss / worst if tol < worst < inf else fsum(f0)
    return Claim("global optimum", fsum(F), miss, scale, tol, fsum(F) - miss)


def sums(A):
    return np.array([fsum(column) if np.isfinite(column).all() else nan for column in A.T])
