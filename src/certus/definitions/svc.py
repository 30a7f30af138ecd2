r"""Support vector machines (C-SVC) for pairs of classes: how far (β, b) is from the optimum.

    P(w, b) = ½‖w‖² + Σ_i C_i [1 − m_i]₊        m_i = y_i (wᵀφ(x_i) + b),   w = Σ_j β_j φ(x_j)

K_ij = φ(x_i)ᵀφ(x_j), y = ±1. C_i is C times the weight of row i, that of its class and, in a
density-weighted machine, d_i. Each pair of classes is a problem of its own, on its rows; P is the
sum over the pairs.

*Dual bound.* Let K have no negative eigenvalue. For all α with 0 ≤ α_i ≤ C_i and Σ α_i y_i = 0,

    P(w, b) ≥ D(α) = Σ_i α_i − ½ Σ_ij α_i y_i K_ij y_j α_j        for every (w, b).

The difference is a sum of nonnegative terms. With δ = β − α∘y,

    P(w, b) − D(α) = Σ_i {(C_i − α_i)(1 − m_i) where m_i ≤ 1, else α_i(m_i − 1)} + ½ δᵀKδ.

At the optimum it is 0 for α = β∘y; so this α is used, after making it feasible.

*Other kernels.* Where K has negative eigenvalues, P has no minimum. The same sum measures how far
the optimality conditions are missed: "stationary". Eigenvalues that are negative only by rounding
are raised to 0 by K + τI, and the claim is about that kernel.

The scale is Σf₀, or less where a pair exceeds tol relative to its own f₀: every pair must hold.
Memory: three arrays as large as X, and K where the kernel is not definite by construction.
"""

from math import fsum, inf, nan

import numpy as np

from certus.definitions.terms.claim import Claim


def check(X, y, s, *, beta, b, pairs, C, kernel, density=None, tol=1e-6):
    """Check β (n, t) and b (t,) on X (n, p), class indices y (n,) and weights s (n,).

    There is a column for each of the pairs (k, l): y = 1 for class k, −1 for class l.
    """
    C = C * (s if density is None else s * density(X, y))
    y = np.stack([1.0 * (y == k) - (y == l) for k, l in pairs], axis=1)
    C = C[:, None] * (y != 0)  # C_i
    alpha = np.clip(beta * y, 0.0, C)
    plus, minus = sums(alpha * (y > 0)), sums(alpha * (y < 0))
    alpha *= np.minimum(plus, minus) / np.maximum(np.where(y > 0, plus, minus), 1e-300)
    delta = beta - alpha * y
    definite, tau = diagonal_shift(kernel, X)
    both = np.hstack([beta, delta])
    Kb, Kd = np.hsplit(np.array([row @ both for row in kernel.rows(X)], float) + tau * both, 2)
    m = y * (Kb + b)
    P = sums(beta * Kb) / 2 + sums(C * np.maximum(1 - m, 0.0))
    excess = sums(np.where(m <= 1, (C - alpha) * (1 - m), alpha * (m - 1)))
    excess += sums(np.abs(delta) * np.abs(Kd)) / 2
    if definite:
        excess = np.minimum(excess, np.maximum(P, 0.0))  # P is never negative
    if not np.isfinite(P + excess).all():
        excess = np.full(len(b), inf)
    f0 = np.maximum(2 * np.minimum(sums(C * (y > 0)), sums(C * (y < 0))), 1e-300)
    miss, worst = fsum(excess), (excess / f0).max()
    scale = miss / worst if tol < worst < inf else fsum(f0)
    kind, bound = ("global optimum", fsum(P) - miss) if definite else ("stationary", None)
    return Claim(kind, fsum(P), miss, scale, tol, bound)


def sums(A):
    return np.array([fsum(column) if np.isfinite(column).all() else nan for column in A.T])


def diagonal_shift(kernel, X):
    """Return whether K + τI is positive semidefinite, and τ: at most rounding, else 0."""
    if kernel.is_definite():
        return True, 0.0
    K = np.array(list(kernel.rows(X)))
    if not np.abs(K - K.T).max() <= 1e-10 * np.abs(K).max():
        return False, nan  # not symmetric: refused
    single = np.array_equal(K, K.astype(np.float32))  # given in single precision
    rounding = 4 * np.abs(K).sum(axis=1).max() * (2.0**-23 if single else len(K) * 2.0**-52)
    tau = max(-np.linalg.eigvalsh(K)[0], 0.0)
    return (True, tau) if tau <= rounding else (False, 0.0)
