r"""Firth's logistic regression of two classes: how near (w, b) is to a stationary point.

    F(w, b) = Σ_i s_i log(1 + exp(−y_i z_i)) − ½ log det I        z = Xw + b,  y = ±1
    I = Σ_i s_i v_i x̃_i x̃_iᵀ,   v = p(1 − p),   p = 1/(1 + exp(−z)),   x̃ = (x, 1)

The slope of v in z is v(1 − 2p), and ∂ log det I = tr I⁻¹∂I, so that with h_i = v_i x̃_iᵀI⁻¹x̃_i

    ∇F = Σ_i s_i (p_i − [y_i = 1] + h_i(p_i − ½)) x̃_i.

*Stationary*: ½ ∇FᵀI⁻¹∇F, the gain of one more scoring step, is small relative to the loss of the
intercept alone. log det I need not be concave, so this proves nothing about other points.

Where columns are combinations of others, det I is the product of the nonzero eigenvalues. With K
the columns that the term ``independent`` keeps and KC the others, it is det I_K · det(1 + CᵀC).
Nothing is proven where I_K along a direction could be rounding.

Memory: four arrays as large as X.
"""

from math import fsum, inf

import numpy as np

from certus.definitions.terms.claim import Claim

EPS = np.finfo(float).eps


@np.errstate(all="ignore")  # an overflow is refused below
def check(X, y, s, *, w, b, fit_intercept, independent=None, tol=1e-6):
    """Check w (p,) and b on X (n, p), y = ±1 (n,) and weights s (n,)."""
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    if not np.isfinite([*w, b]).all() or (b != 0 and not fit_intercept):
        return Claim("stationary", inf, inf, 1.0, tol)
    # close to the means but with few digits, so that X − center is exact
    center = np.average(X, axis=0, weights=s).astype("f4").astype(float) * fit_intercept
    z = (X - center) @ w + (b + center @ w)
    loss = fsum(s * np.logaddexp(0.0, -y * z))
    p, q = np.exp(-np.logaddexp(0.0, [-z, z]))  # q = 1 − p
    sv, shift = s * p * q, np.append(center, 0.0)[: len(w) + fit_intercept]
    X = np.column_stack([X - center, np.ones(len(X))])[:, : len(shift)]
    kept = independent.columns(X, shift)[0] if independent else [*range(len(shift))]
    K, others = X[:, kept], np.delete(X, kept, axis=1)

    A = np.sqrt(sv)[:, None] * K  # I_K = AᵀA
    unit = np.linalg.norm(A, axis=0) + 1e-300
    _, sigma, Vt = np.linalg.svd(A / unit, full_matrices=False)
    if not (sigma > 100 * EPS).all():  # I_K may be rounding
        return Claim("stationary", inf, inf, 1.0, tol)
    D = Vt.T / sigma / unit[:, None]
    Z = K @ D  # Zᵀ diag(sv) Z = 1
    C = D @ ((sv * Z.T) @ others)
    C[0] += np.delete(shift, kept) - shift[kept] @ C  # for columns that are not centred
    log_det = 2 * fsum(np.log(sigma)) + 2 * fsum(np.log(unit))
    F = loss - (log_det + np.linalg.slogdet(np.eye(C.shape[1]) + C.T @ C)[1]) / 2

    h = p * q * (Z**2).sum(axis=1)
    g = Z.T @ (s * (np.where(y > 0, -q, p) + h * np.tanh(z / 2) / 2))  # p − ½ = tanh(z/2)/2
    n = np.array([fsum(s[y > 0]), fsum(s[y < 0])])
    share = n / n.sum() if fit_intercept and n.all() else np.full(2, 0.5)
    return Claim("stationary", F, fsum(g**2) / 2, -n @ np.log(share), tol)
