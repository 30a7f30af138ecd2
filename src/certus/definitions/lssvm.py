r"""Least-squares support vector machines and kernel ridge: distance of (β, b) from the optimum.

    P(w, b) = ½‖w‖² + C/2 Σ_i ω_i e_i²        e_i = y_i − wᵀφ(x_i) − b,   w = Σ_j β_j φ(x_j)

K_ij = φ(x_i)ᵀφ(x_j). ω_i is the weight of row i times that of its class and, in a density-weighted
machine, times d_i². y is any number, or ±1 for classes. Each column of y is a separate problem; P
is their sum. Kernel ridge has no intercept, and C = 1/α.

*Dual bound.* Let K have no negative eigenvalue. For every β' that is 0 where ω_i = 0, and has
Σβ' = 0 (without an intercept: any sum),

    P(w, b) ≥ D(β') = β'ᵀy − ½β'ᵀKβ' − Σ_i β'_i²/(2Cω_i)        for every (w, b).

The difference is a sum of squares. With δ = β − β',

    P(w, b) − D(β') = Σ_i Cω_i/2 (e_i − β'_i/(Cω_i))² + ½ δᵀKδ.

At the optimum it is 0 for β' = β; therefore β' is β, made feasible.

*Other kernels.* Where K has negative eigenvalues, P has no minimum. The same sum measures the
violation of the equations e_i = β_i/(Cω_i), Σβ = 0: "stationary". Eigenvalues that are negative by
rounding only are raised to 0 by K + τI, and the claim is about that kernel.

The scale is Σf₀, or less where a column exceeds tol relative to its own f₀: each must hold.
Memory: three arrays as large as X, and K for kernels that are not definite by definition.
"""

from math import fsum, inf, nan

import numpy as np

from certus.definitions.terms.claim import Claim


def check(X, y, s, *, beta, b, C, kernel, fit_intercept=True, density=None, tol=1e-6):
    """Check β (n, q) and b (q,) on X (n, p), y (n, q) and weights s (n,); C a number or (q,)."""
    omega = (s if density is None else s * density(X, y) ** 2)[:, None]
    S = fsum(omega[:, 0]) or 1.0
    inside = np.where(omega > 0, beta, 0.0)  # β'
    if fit_intercept:
        inside = inside - omega / S * sums(inside)
    delta = beta - inside
    definite, tau = diagonal_shift(kernel, X)
    both = np.hstack([beta, delta])
    Kb, Kd = np.hsplit(np.array([row @ both for row in kernel.rows(X)], float) + tau * both, 2)
    e = y - Kb - b
    P = sums(beta * Kb) / 2 + C / 2 * sums(omega * e**2)
    off = np.where(omega > 0, e - inside / (C * np.where(omega > 0, omega, 1.0)), 0.0)
    excess = C / 2 * sums(omega * off**2) + sums(np.abs(delta) * np.abs(Kd)) / 2
    if definite:
        excess = np.minimum(excess, np.maximum(P, 0.0))  # P is never negative
    if (not fit_intercept and b.any()) or not np.isfinite(P + excess).all():
        excess = np.full(len(b), inf)
    mean = sums(omega * y) / S if fit_intercept else 0.0
    least = 2.0**-39 * np.abs(y).max(axis=0)  # a smaller spread of y is rounding
    f0 = C / 2 * sums(omega * np.maximum((y - mean) ** 2, least**2)) + 1e-300
    miss, worst = fsum(excess), (excess / f0).max()
    scale = miss / worst if tol < worst < inf else fsum(f0)
    kind, bound = ("global optimum", fsum(P) - miss) if definite else ("stationary", None)
    return Claim(kind, fsum(P), miss, scale, tol, bound)


def sums(A):
    return np.array([fsum(column) if np.isfinite(column).all() else nan for column in A.T])


def diagonal_shift(kernel, X):
    """Return whether K + τI has no negative eigenvalue for a τ within rounding, and τ (else 0)."""
    if kernel.is_definite():
        return True, 0.0
    K = np.array(list(kernel.rows(X)))
    if not np.abs(K - K.T).max() <= 1e-10 * np.abs(K).max():
        return False, nan  # not symmetric: the check fails
    single = np.array_equal(K, K.astype(np.float32))  # given in single precision
    rounding = 4 * np.abs(K).sum(axis=1).max() * (2.0**-23 if single else len(K) * 2.0**-52)
    tau = max(-np.linalg.eigvalsh(K)[0], 0.0)
    return (True, tau) if tau <= rounding else (False, 0.0)
