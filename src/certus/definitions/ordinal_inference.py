r"""Standard errors of ordinal regression: is this the covariance of (w, c)?

    P(y ≤ k | x) = σ(c_k − xᵀw),   σ(t) = 1/(1 + e^{−t}),   log L = Σ_i s_i log P(y_i | x_i)
    cov θ̂ = (H + Λ)⁻¹ H (H + Λ)⁻¹,   H = −∂² log L/∂θ²,   Λ = diag(α, …, α, 0, …, 0)

for θ = (w, c), weights s being counts. With a = c_y − xᵀw and b = c_{y−1} − xᵀw (the last class has
no a, the first no b) and d_k = c_k − c_{k−1}, as on the page of the model,

    −log P(y | x) = log(1 + e^{−a}) + log(1 + e^{b}) − log(1 − e^{−d_y}),

so that H is a sum of zzᵀ times σ(t)σ(−t) over the rows z of derivatives of each t = a or −b, and of
1/(4 sinh²(d/2)) times the number of rows over classes with two thresholds.

Columns are centred and scaled. The miss is the largest error of cov_ij, relative to
√(cov_ii cov_jj); it is infinite if H + Λ of the scaled columns is singular to ten digits. The
formula holds at the optimum; whether θ is optimal is decided by the page of the model.

Memory: four arrays of 2n rows and p + K columns.
"""

from math import fsum, inf

import numpy as np

from certus.definitions.terms.claim import Claim


def check(X, y, s, *, w, c, covariance, alpha=0.0, tol=1e-6):
    """Check a covariance of w (p,) and thresholds c (K − 1,); y: class indices in order."""
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    p, K = len(w), len(c) + 1
    center, d = np.average(X, axis=0, weights=s), np.diff(c)
    theta, I = np.append(w, c - center @ w), np.eye(K - 1)
    low, high = y < K - 1, y > 0
    Z = np.vstack([
        np.column_stack([-(X - center)[low], I[y[low]]]),
        np.column_stack([(X - center)[high], -I[y[high] - 1]]),
    ])  # fmt: skip
    t, weights = Z @ theta, np.append(s[low], s[high])
    E = np.diff(np.eye(p + K - 1)[p:], axis=0)  # d = Eθ
    n = np.bincount(y, s, minlength=K)[1:-1]
    F = weights @ np.logaddexp(0.0, -t) - fsum(n * np.log(-np.expm1(-d)))
    curvature = weights * np.exp(-np.logaddexp(0.0, t) - np.logaddexp(0.0, -t))
    H = Z.T @ (curvature[:, None] * Z) + E.T @ ((n / (4 * np.sinh(d / 2) ** 2))[:, None] * E)
    A = H + np.diag(np.where(np.arange(p + K - 1) < p, alpha, 0.0))
    unit = 1 / np.sqrt(np.diag(A))
    scaled = unit[:, None] * A * unit
    if not np.isfinite(scaled).all() or np.linalg.cond(scaled) > 1e10:
        return Claim("exact", inf, inf, 1.0, tol)
    T = np.eye(p + K - 1)
    T[p:, :p] = center  # c of the user's columns
    B = T @ (unit[:, None] * np.linalg.inv(scaled) * unit)
    expected = B @ H @ B.T
    errors = np.sqrt(np.diag(expected))
    error = np.abs(covariance - expected) / np.outer(errors, errors)
    miss = error.max() if np.isfinite(error).all() else inf
    return Claim("exact", float(F), float(miss), 1.0, tol)
