r"""How far the answers at certified parameters can be from those at the optimum.

Let θ = (w, b) have F(θ) − min F ≤ g, and let θ* be an optimum, with scores z and z*. F is a sum of
losses u_i ℓ_i and a convex penalty (or constraint). Since no direction descends from θ*,

    g ≥ F(θ) − F(θ*) ≥ Σ_i u_i D_i,    D_i = ℓ_i(z_i) − ℓ_i(z*_i) − ℓ_i'(z*_i)(z_i − z*_i) ≥ 0,

so that no D_i is above g/u_i, whether or not the intercept is penalised, and without any curvature
of the penalty:

    squared loss  ℓ = r²            D = (z − z*)²                          |z − z*| ≤ √(g/u)
    logistic and softmax loss       D = KL(p* ‖ p) ≥ 2·TV(p, p*)²          |p − p*| ≤ √(g/2u)
    counts (mean m), log link       D = m·h(r),      r = m*/m              |m − m*| ≤ m·x
    amounts y (mean m), log link    D = (y/m)·h(r),  r = m/m*              |m − m*| ≤ m·x/(1 − x)

(Bregman divergences of the log-partition function are Kullback–Leibler divergences; Pinsker's
inequality.) Here h(r) = 1 − r + r log r ≥ ½(r − 1)²/(1 + |r − 1|/3), Bernstein's inequality, which
at h(r) ≤ q = g/um (amounts: q = gm/uy) gives |r − 1| ≤ x = q/3 + √(q²/9 + 2q); the last line is for
x < 1. Other losses have flat parts. There the penalty must be strongly convex in all
coefficients, the intercept's included: F(θ) ≥ F(θ*) + l2/2 ‖θ − θ*‖², and

    |z − z*| = |x̂ᵀ(θ − θ*)| ≤ ‖x̂‖ √(2g/l2).
"""

import numpy as np


def score_error(gap: float, weight: np.ndarray) -> np.ndarray:
    """Bound on |z − z*| of each row, for a loss u·r² with weights u > 0."""
    bound: np.ndarray = np.sqrt(gap / weight)
    return bound


def probability_error(gap: float, weight: np.ndarray) -> np.ndarray:
    """Bound on |p − p*| of each row and class, for logistic and softmax losses of weights u > 0."""
    bound: np.ndarray = np.sqrt(gap / (2 * weight))
    return bound


def count_error(gap: float, weight: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Bound on |m − m*| of each row, for half the Poisson deviance of weights u > 0."""
    each = gap / weight
    bound: np.ndarray = each / 3 + np.sqrt(each**2 / 9 + 2 * each * mean)
    return bound


def amount_error(gap: float, weight: np.ndarray, y: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Bound on |m − m*| of each row, for half the Gamma deviance of weights u > 0."""
    q = gap * mean / (weight * y)
    x = q / 3 + np.sqrt(q**2 / 9 + 2 * q)
    bound: np.ndarray = mean * np.where(x < 1, x / np.maximum(1 - x, 1e-300), np.inf)
    return bound


def score_error_by_penalty(gap: float, l2: float, length: np.ndarray) -> np.ndarray:
    """Bound on |z − z*| of each row, for a penalty l2/2 ‖θ‖² on all of θ; ``length``: of x̂."""
    bound: np.ndarray = length * np.sqrt(2 * gap / l2)
    return bound
