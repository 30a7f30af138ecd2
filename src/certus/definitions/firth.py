r"""Firth's logistic regression of two classes: how near (w, b) is to a stationary point.

    F(w, b) = Σ_i s_i log(1 + exp(−y_i z_i)) − ½ log det I        z = Xw + b,  y = ±1
    I = Σ_i s_i v_i x̃_i x̃_iᵀ,   v = p(1 − p),   p = 1/(1 + exp(−z)),   x̃ = (x, 1)

The slope of v in z is v(1 − 2p), and ∂ log det I = tr I⁻¹∂I, so that with h_i = v_i x̃_iᵀI⁻¹x̃_i

    ∇F = Σ_i s_i (p_i − [y_i = 1] + h_i(p_i − ½)) x̃_i.

*Stationary*: ½ ∇FᵀI⁻¹∇F, which is what one more scoring step would gain, is small beside the loss
that the intercept alone leaves. log det I need not be concave, so that this proves nothing about
points elsewhere.

Where columns repeat others, det I is the product of the eigenvalues that are not 0: a direction d
that the data hold to rounding only, ‖Xd‖ ≤ 4 eps ‖|X||d|‖, is left out, and nothing is proven where
I has others that rounding could have made. With DᵀID = 1 and Z = X̃D the columns are X̃ = ZG,
G = Zᵀ diag(s∘v) X̃, and det I = det GGᵀ.

Memory: four arrays as large as X.
"""

from math import fsum, inf

import numpy as np

from certus.definitions.terms.claim import Claim

EPS = np.finfo(float).eps


@np.errstate(all="ignore")  # what overflows is refused
def check(X, y, s, *, w, b, fit_intercept, tol=1e-6):
    """Check w (p,) and b on X (n, p), y = ±1 (n,) and weights s (n,)."""
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    if not np.isfinite([*w, b]).all() or (b != 0 and not fit_intercept):
        return Claim("stationary", inf, inf, 1.0, tol)
    center = np.average(X, axis=0, weights=s) * fit_intercept
    z = (X - center) @ w + (b + center @ w)
    loss = fsum(s * np.logaddexp(0.0, -y * z))
    p, q = np.exp(-np.logaddexp(0.0, [-z, z]))  # q = 1 − p
    sv, one = s * p * q, np.ones((len(X), int(fit_intercept)))

    T = np.column_stack([X - center, one])
    A = np.sqrt(sv)[:, None] * T  # I = AᵀA
    unit = np.linalg.norm(A, axis=0) + 1e-300
    _, sigma, Vt = np.linalg.svd(A / unit, full_matrices=False)
    D = Vt.T / unit[:, None]
    size = np.linalg.norm(np.abs(X) @ np.abs(D[: len(w)]), axis=0)
    held = np.linalg.norm(T @ D, axis=0) > 4 * EPS * size
    if not (sigma[held] > 100 * EPS).all():  # rounding may be all of it
        return Claim("stationary", inf, inf, 1.0, tol)
    Z = T @ (D[:, held] / sigma[held])
    G = (Z * sv[:, None]).T @ np.column_stack([X, one])
    F = loss - fsum(np.log(np.abs(np.diagonal(np.linalg.qr(G.T, mode="r")))))

    h = p * q * (Z**2).sum(axis=1)
    g = Z.T @ (s * (np.where(y > 0, -q, p) + h * np.tanh(z / 2) / 2))  # p − ½ = tanh(z/2)/2
    n = np.array([fsum(s[y > 0]), fsum(s[y < 0])])
    share = n / n.sum() if fit_intercept and n.all() else np.full(2, 0.5)
    return Claim("stationary", F, fsum(g**2) / 2, -n @ np.log(share), tol)
