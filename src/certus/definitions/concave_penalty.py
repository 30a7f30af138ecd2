r"""Regression with a concave penalty (MCP, SCAD): is (w, b) a stationary point?

    F(w, b) = Σ_i s_i ℓ(r_i) + Σ_j pen(|w_j|)        r = y − Xw − b
    ℓ(r) = ½r² where |r| ≤ δ, and δ|r| − ½δ² beyond (δ = ∞: squares)

pen has slope λ at 0, which decreases from there, so F can have several local minima and no bound is
known. Let a = ℓ'(r), x̄ the weighted mean of the rows, X̃ = X − x̄ and v = X̃ᵀ(s∘a), minus the slopes
of the loss. At a minimum

    |v_j| ≤ λ where w_j = 0,   v_j = sign(w_j) pen'(|w_j|) elsewhere,   Σ_i s_i a_i = 0.

Each violation is divided by its largest possible value, ‖x̃_j‖·N, and √S·N for the last, with
S = Σ s and N the norm √(Σ s a²) of the intercept alone, or a bound of it: the miss is the largest
of these ratios. A slope of 0 may also belong to a maximum: it does if pen'' is below −‖x̃_j‖², and
the miss is then infinite.

Memory: two arrays as large as X.
"""

from math import fsum, inf, sqrt

import numpy as np

from certus.definitions.terms.claim import Claim


def check(X, y, s, *, w, b, penalty, delta=inf, fit_intercept=True, tol=1e-6):
    """Check w (p,) and b on X (n, p), y (n,) and weights s (n,); ``penalty`` is a term."""
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    S, rounding = fsum(s), 2.0**-80 * fsum(s * y**2)  # rounding of y in Σ s y²
    if fit_intercept:
        center, mean = np.average(X, axis=0, weights=s), np.average(y, weights=s)
        X, y, b = X - center, y - mean, b + center @ w - mean
    r = y - X @ w - b
    a = np.clip(r, -delta, delta)
    F = fsum(s * a * (r - a / 2)) + penalty.value(w)
    N = min(sqrt(max(fsum(s * y**2), rounding)), delta * sqrt(S))
    v, norm = X.T @ (s * a), np.sqrt(s @ X**2)
    at_zero = np.maximum(np.abs(v) - penalty.strength, 0.0)
    missing = np.where(w == 0, at_zero, np.abs(v - np.sign(w) * penalty.slope(np.abs(w))))
    shares = missing / np.maximum(norm * N, 1e-300)
    miss = max(shares.max(initial=0.0), abs(fsum(s * a)) / (sqrt(S) * N) if fit_intercept else 0.0)
    is_maximum = (penalty.bend(np.abs(w)) > norm**2 * (1 + 1e-12)).any()
    feasible = not is_maximum and (fit_intercept or b == 0)
    return Claim("stationary", F, float(miss) if feasible else inf, 1.0, tol)
