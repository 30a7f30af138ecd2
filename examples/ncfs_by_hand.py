"""Neighbourhood component feature selection by hand, as its derivation goes, in plain NumPy.

    max over w of ζ(w) = Σ_i (1/C_i) Σ_j y_ij p_ij − λ Σ_l w_l²,   p_ij ∝ exp(−D_w(x_i, x_j)/σ)

C_i rows have the class of row i; y_ij = 1 if j is one of them. Where the derivation errs, a line
says "corrected". Run it: python examples/ncfs_by_hand.py
"""

import numpy as np


def manhattan(X, w):
    """D = Σ w²|Δ| of all pairs, and ∂D/∂w. Corrected: 2w|Δ|; printed is w²|Δ|."""
    return np.abs(X[:, None] - X) @ w**2, 2 * w * np.abs(X[:, None] - X)


def squared_euclidean(X, w):
    """D = Σ w²Δ², ∂D/∂w = 2wΔ²."""
    return (X[:, None] - X) ** 2 @ w**2, 2 * w * (X[:, None] - X) ** 2


def euclidean(X, w):
    """D = √Σ w²Δ², ∂D/∂w = wΔ²/D. Corrected: 0 where D = 0, between equal rows."""
    D, slope = np.sqrt((X[:, None] - X) ** 2 @ w**2), w * (X[:, None] - X) ** 2
    return D, slope / np.where(D > 0, D, np.inf)[:, :, None]


def phi_s(X, w):
    """D = Var_w(x_i − x_j)/Var_w(x_i + x_j); V1 − V2/V1 is in both and cancels. Corrected: its
    derivative is missing. D does not change with the length of w, so here ζ wants λ = 0."""
    z = X - (X @ w**2 / (w @ w))[:, None]  # less its weighted mean: so are z_i − z_j and z_i + z_j
    minus, plus = (z[:, None] - z) ** 2, (z[:, None] + z) ** 2
    D = minus @ w**2 / (plus @ w**2)
    return D, 2 * w * (minus - D[:, :, None] * plus) / (plus @ w**2)[:, :, None]


def references(D, sigma):
    """p_ij. Corrected: the sum is over k ≠ i, else no row of p would sum to 1. D less the least of
    its row gives the same p, and never 0/0."""
    D = np.where(np.eye(len(D), dtype=bool), np.inf, D)
    K = np.exp((D.min(axis=1, keepdims=True) - D) / sigma)
    return K / K.sum(axis=1, keepdims=True)


def zeta(X, y, w, lam, sigma=1.0, distance=manhattan):
    """ζ and ∂ζ/∂w = (1/σ) Σ_i (1/C_i) [p_i Σ_k p_ik ∂D_ik − Σ_j y_ij p_ij ∂D_ij] − 2λw.
    Corrected: ∂D(x_i, x_k) in the sum over k; printed is ∂D(x_i, x_j), by which ∂p_ij = 0."""
    D, dD = distance(X, w)
    p, same = references(D, sigma), y[:, None] == y
    p_i, C = (same * p).sum(axis=1), same.sum(axis=1)
    sums = np.tensordot((p_i[:, None] * p - same * p) / C[:, None], dD, axes=2)
    return (p_i / C).sum() - lam * (w @ w), sums / sigma - 2 * lam * w


def ascend(X, y, lam, step=1.0, tol=1e-8, max_iter=1000, **how):
    """Yang's ascent: the step ×1.01 after ζ rose, ×0.4 after it fell. From w = 1: at w_l = 0 the
    slope is 0 whatever the column is worth."""
    w = np.ones(X.shape[1])
    value, slope = zeta(X, y, w, lam, **how)
    values = [value]
    for _ in range(max_iter):
        w = w + step * slope
        value, slope = zeta(X, y, w, lam, **how)
        values.append(value)
        if abs(value - values[-2]) < tol:
            break
        step *= 1.01 if value > values[-2] else 0.4
    return w, values


if __name__ == "__main__":
    rng, y = np.random.default_rng(0), np.repeat([0, 1], 100)
    centers = np.array([[[-0.75, -3], [0.75, 3]], [[3, -3], [-3, 3]]])  # two for each class
    X = np.hstack([rng.normal(size=(200, 2)), rng.normal(0, 20**0.5, size=(200, 100))])
    X[:, :2] += centers[y, rng.integers(2, size=200)]
    X = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    w, values = ascend(X, y, lam=0.01)
    print(f"ζ from {values[0]:.3f} to {values[-1]:.3f} of at most 2, in {len(values) - 1} steps")
    print(f"w² of the two columns that tell classes apart, together: {w[:2] ** 2}")
    print(f"the largest w² of 100 columns of noise: {np.max(w[2:] ** 2):.1e}")
