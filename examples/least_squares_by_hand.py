"""Least squares and ridge by hand, as the slides derive them, in plain NumPy.

Where the slides err, the line says "corrected". Run it: python examples/least_squares_by_hand.py
"""

import numpy as np


def through_origin(x, y):
    """y = wx: w = Σxy / Σx²."""
    return x @ y / (x @ x)


def line(x, y):
    """y = w0 + w1 x.

    Corrected: the slides give w0 in terms of w1 and w1 in terms of w0. Eliminating one,
    w1 = Sxy/Sxx and w0 = ȳ − w1 x̄.
    """
    dx, dy = x - x.mean(), y - y.mean()
    w1 = dx @ dy / (dx @ dx)
    return y.mean() - w1 * x.mean(), w1


def gaussian_basis(x, centers, width):
    """φ_j(x) = exp(−(x − μ_j)²/2s²). Corrected: the slides leave out exp(−·)."""
    return np.exp(-((x[:, None] - centers) ** 2) / (2 * width**2))


def gradient(Phi, y, w):
    """∂/∂w Σ(y − Φw)² = −2 Φᵀ(y − Φw). Corrected: the slides lose the minus sign."""
    return -2 * Phi.T @ (y - Phi @ w)


def normal_equations(Phi, y):
    """ΦᵀΦ w = Φᵀy, solved; the inverse that the slides write is never formed."""
    return np.linalg.solve(Phi.T @ Phi, Phi.T @ y)


def by_qr(Phi, y):
    """Φ = QR turns ΦᵀΦ w = Φᵀy into Rw = Qᵀy: nothing is squared, twice the digits survive."""
    Q, R = np.linalg.qr(Phi)
    return np.linalg.solve(R, Q.T @ y)


def ridge(X, y, lam):
    """min Σ(y − Xw − b)² + λ‖w‖²: (X̃ᵀX̃ + λI) w = X̃ᵀỹ on centred data, b = ȳ − x̄ᵀw.

    Corrected: full rank needs λ > 0 (the slides: λ ≥ 0). The intercept is not penalised.
    """
    assert lam > 0
    mean, y_mean = X.mean(axis=0), y.mean()
    A = X - mean
    w = np.linalg.solve(A.T @ A + lam * np.eye(X.shape[1]), A.T @ (y - y_mean))
    return y_mean - mean @ w, w


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, size=50)
    y = 3 + 0.5 * x + rng.normal(size=50)
    w0, w1 = line(x, y)
    print(f"line                  {w0:.6f} + {w1:.6f} x")

    Phi = np.column_stack([np.ones(50), x])
    w = normal_equations(Phi, y)
    print(f"normal equations      {w[0]:.6f} + {w[1]:.6f} x")
    w = by_qr(Phi, y)
    print(f"QR                    {w[0]:.6f} + {w[1]:.6f} x")
    print(f"largest slope left    {np.abs(gradient(Phi, y, w)).max():.0e}")

    b, w = ridge(gaussian_basis(x, np.linspace(0, 10, 60), 1.0), y, 0.1)
    print(f"ridge, 60 bumps       {b:.6f} + {len(w)} coefficients from 50 rows")
