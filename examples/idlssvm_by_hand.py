"""IDLSSVM-CIL by hand, as its derivation goes, in plain NumPy.

    min ½wᵀw + C/2 Σ d_i² φ_i²   subject to   y_i (wᵀφ(x_i) + b) = 1 − φ_i,    y_i = ±1

d_i is near 1 where rows are dense and 0 at the loneliest row. Where the derivation errs, a line
says "corrected". Run it: python examples/idlssvm_by_hand.py
"""

import numpy as np


def density_weights(X, k=5):
    """(1) d_i = 1 − r_i/max_j r_j, r_i the distance to the k-th nearest row. Corrected: the maximum
    is of r_j, each row's own; printed is d(x_j, x_i^k). A row is not its own neighbour. The
    sparsest row has d = 0, though 0 < d is printed; rows that are all equal have d = 1."""
    r = np.sort(np.sqrt(((X[:, None] - X) ** 2).sum(axis=2)), axis=1)[:, k]
    return 1 - r / r.max() if r.max() > 0 else np.ones(len(X))


def rbf(A, B, mu):
    """exp(−‖a − b‖²/μ²); scikit-learn's gamma is 1/μ²."""
    return np.exp(-((A[:, None] - B) ** 2).sum(axis=2) / mu**2)


def dual(X, y, C, mu, d):
    """b and α. Setting the derivatives of the Lagrange function (2) to 0 gives

        ∂w: w = Σ α_i y_i φ(x_i)      ∂b: Σ α_i y_i = 0      ∂φ_i: φ_i = α_i/(C d_i²)

    Corrected: (3) and (4) have ∂b and ∂w exchanged, and (2) an ε that is in no constraint.
    (7), corrected: y_i (Σ_j α_j y_j K_ij + b) + α_i/(C d_i²) = 1; printed is α_i Σ_j y_j K_ij.
    (8), corrected: 1/(C d_i²) stands on the diagonal alone; printed is that, and ε, in every entry.
    Row i times d_i, with a = α/d, stays finite at d_i = 0, whose row then drops out:

        [0      (d∘y)ᵀ     ] [b]   [0]
        [d∘y    DΩD + I/C  ] [a] = [d],    Ω_ij = y_i y_j K_ij,    α = d∘a
    """
    n, omega = len(X), np.outer(y, y) * rbf(X, X, mu)
    A = np.zeros((n + 1, n + 1))
    A[0, 1:] = A[1:, 0] = d * y
    A[1:, 1:] = np.outer(d, d) * omega + np.eye(n) / C
    S = np.linalg.solve(A, np.r_[0.0, d])  # corrected: S = A⁻¹B; printed is BA⁻¹
    return S[0], d * S[1:]


def primal(X, y, C, mu, d, epsilon=0.0):
    """The form in which the method was published: v = (I/C + εI + GᵀD²G)⁻¹GᵀD²y, G = [K 1]. It
    penalises v, the bias too: another estimator. ε > 0 only caps C at 1/ε; 0 will do."""
    G = np.column_stack([rbf(X, X, mu), np.ones(len(X))])
    A = (1 / C + epsilon) * np.eye(len(X) + 1) + G.T @ (d[:, None] ** 2 * G)
    v = np.linalg.solve(A, G.T @ (d**2 * y))
    return v[-1], v[:-1]


def left_out(X, y, C, mu, d):
    """y_i f(x_i) of the dual form fitted without row i (d as it is), from one inverse."""
    n, dy = len(X), d * y
    A = np.zeros((n + 1, n + 1))
    A[0, 1:] = A[1:, 0] = dy
    A[1:, 1:] = np.outer(dy, dy) * rbf(X, X, mu) + np.eye(n) / C
    inverse = np.linalg.inv(A)
    a, used = (inverse @ np.r_[0.0, d])[1:], d > 0
    b, alpha = dual(X, y, C, mu, d)
    margins = y * (rbf(X, X, mu) @ (alpha * y) + b)  # where d_i = 0 the row was never there
    margins[used] = 1 - a[used] / (d[used] * np.diagonal(inverse)[1:][used])
    return margins


if __name__ == "__main__":
    rng, y = np.random.default_rng(0), np.r_[np.ones(20), -np.ones(180)]
    X = rng.normal(size=(200, 2)) + 1.5 * (y == 1)[:, None]
    d = density_weights(X)
    print(f"mean d of class +1 (20 rows): {d[y > 0].mean():.3f}, of −1: {d[y < 0].mean():.3f}")
    balanced = d * np.sqrt(len(y) / (2 * np.where(y == 1, 20, 180)))  # weights of classes in d²
    for name, weights in {"d alone": d, "d and balanced classes": balanced}.items():
        b, alpha = dual(X, y, 10.0, 1.0, weights)
        right = left_out(X, y, 10.0, 1.0, weights) > 0
        print(f"{name}: b = {b:.4f}, Σα = {alpha.sum():.4f}; right when left out:")
        print(f"    {right[y > 0].mean():.0%} of class +1, {right[y < 0].mean():.0%} of −1")
