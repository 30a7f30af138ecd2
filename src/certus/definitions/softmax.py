r"""Softmax regression of K classes: how far (w, b) is from the optimum.

    F(w, b) = C Σ_i s_i (log Σ_k exp z_ik − z_{i,y_i}) + l1‖w‖₁ + l2/2 ‖w‖²        z = Xw + b

*Dual bound.* Let Y_i be the unit vector of row i's class. For all Q whose rows are probabilities,
with Σ s_i Q_i = Σ s_i Y_i (without intercepts: for all Q), and V = C Xᵀ diag(s) (Y − Q),

    F(w, b) ≥ −C Σ_ik s_i Q_ik log Q_ik − Σ_jk [|V_jk| − l1]₊² / (2 l2)        for every (w, b).

Where l2 = 0 the last term is 0, and |V_jk| ≤ l1 is required. A feasible Q near softmax(z) is used.

*Curvature bound*, not for l1 alone. Let g be a subgradient of F, H its Hessian without l1‖w‖₁, ν² =
gᵀH⁻¹g, and M the largest change of a difference of two scores of a row by a step of length 1 in the
norm of H. If t = νM < 1, F(w, b) − min F ≤ ν² (½ + t/6 + t²/(12 − 12t)). A constant added to all
scores of a row changes no loss: there any curvature may be added to H. Nothing is proven where H
could be rounding. Without a penalty ``independent`` excludes columns that combine others.

*No finite optimum.* Without a penalty: a direction along which no score gains on that of the row's
class, and some lose. Memory: 3K arrays of n + (p + 1)(K + 1) rows, p + 1 columns.
"""

from math import fsum, inf, log

import numpy as np

from certus.definitions.terms.claim import Claim


@np.errstate(all="ignore")  # an overflow is refused below
def check(
    X, y, s, *, w, b, C, l1, l2, fit_intercept, constant=False, direction=None, independent=None,
    tol=1e-6,
):  # fmt: skip
    """Check w (p, K), b (K,) on X (n, p), y = 0 … K − 1. ``constant``: X has a column for b."""
    X, y, s, n = X[s > 0], y[s > 0], s[s > 0], np.bincount(y, s, len(b))
    center = np.average(X, axis=0, weights=s).astype("f4").astype(float) * fit_intercept
    level = b + center @ w
    Y, z = np.eye(len(b))[y], (X - center) @ w + (level - level.mean())
    F = objective(z, Y, s, w, C, l1, l2)
    if not np.isfinite(F) or (b.any() and not fit_intercept):
        return Claim("global optimum", inf, inf, 1.0, tol)
    if direction and l1 == l2 == 0:
        X1 = np.column_stack([X, np.full(len(X), float(fit_intercept))])
        Z = [((Y - e)[:, None] * X1[:, :, None]).reshape(len(X), -1) for e in np.eye(len(b))]
        if direction.separates(np.vstack(Z)):
            return Claim("no finite optimum", F, 0.0, 1.0, tol)
    share = n / n.sum() if fit_intercept or constant else np.full(len(n), 1 / len(n))
    f0 = -C * fsum(n * np.log(np.maximum(share, 1e-300))) or C * fsum(n) * log(len(n))
    used = (n > 0) | (not fit_intercept)  # a class without weight: b = −∞ removes it
    X, Y, w, z = X - center, Y[:, used], w[:, used], z[:, used]
    X1, unused = np.column_stack([X, np.ones(len(X))])[:, : len(w) + fit_intercept], 0.0
    if independent and l1 == l2 == 0:
        kept, r = independent.columns(X1, np.append(center, 0.0)[: len(X1.T)])
        X1, unused = X1[:, kept], 2 * C * fsum(s * np.abs(r[:, : len(w)] @ w).max(axis=1))
    bound = objective(z, Y, s, w, C, l1, l2) - excess(X1, Y, s, softmax(z), w, C, l1, l2) - unused
    bound = min(max(bound, dual_bound(X, Y, s, z, C, l1, l2, fit_intercept), 0.0), F)
    return Claim("global optimum", F, F - bound, f0, tol, bound)


def objective(z, Y, s, w, C, l1, l2):
    losses = np.logaddexp.reduce(z - (Y * z).sum(axis=1, keepdims=True), axis=1)
    return C * fsum(s * losses) + l1 * fsum(np.abs(w).ravel()) + l2 / 2 * fsum(w.ravel() ** 2)


def softmax(z):
    return np.exp(z - np.logaddexp.reduce(z, axis=1, keepdims=True))


def dual_bound(X, Y, s, z, C, l1, l2, fit_intercept):
    Q = softmax(z)
    for _ in range(20 * fit_intercept):  # Newton's method for intercepts with Σ s Q = Σ s Y
        step = np.linalg.pinv(np.diag(s @ Q) - (s * Q.T) @ Q) @ (s @ (Y - Q))
        Q = softmax(z := z + np.clip(np.nan_to_num(step), -1.0, 1.0))
    if fit_intercept:  # a small share of each row makes up for the remaining difference
        share = np.min(s @ Y / (s @ Q), initial=1.0)
        Q = share * Q + s @ (Y - share * Q) / s.sum()
    V = C * (X.T @ (s[:, None] * (Y - Q)))
    if l2 == 0:  # towards Y, until |V| ≤ l1
        Q = Y + l1 / np.abs(V).max(initial=l1 or 1.0) * (Q - Y)
    conjugate = fsum(np.maximum(np.abs(V) - l1, 0.0).ravel() ** 2) / (2 * l2) if l2 else 0.0
    return -C * fsum((s[:, None] * Q * np.log(np.maximum(Q, 1e-300))).ravel()) - conjugate


def excess(X, Y, s, Q, w, C, l1, l2):
    l1, l2 = (l * (np.arange(X.shape[1]) < len(w))[:, None] for l in (l1, l2))  # 0 for b
    K, w = len(Y.T), np.vstack([w, np.zeros(len(Y.T))])[: X.shape[1]]
    g = l2 * w - C * (X.T @ (s[:, None] * (Y - Q)))
    g += np.where(w != 0, l1 * np.sign(w), np.clip(-g, -l1, l1))
    added = np.diag(np.linalg.norm(np.sqrt(C * s) * X.T, axis=1) * (l1 + l2 == 0).ravel())
    R = np.vstack([np.diag(np.sqrt(l2 + 0 * w).ravel()), np.kron(added, np.ones(K))])
    for k in range(K):  # H = C Σ s X̃ᵀ(diag Q − QQᵀ)X̃ + l2 = RᵀR
        A = np.sqrt(C * s * Q[:, k])[:, None, None] * X[:, :, None] * (np.eye(K)[k] - Q)[:, None]
        R = np.asarray(np.linalg.qr(np.vstack([R, A.reshape(len(X), -1)]), mode="r"))
    unit = np.linalg.norm(R, axis=0) + 1e-300
    _, sigma, Vt = np.linalg.svd(R / unit)
    D = (Vt.T / sigma / unit[:, None]).reshape(*w.shape, -1)  # DᵀHD = 1
    pairs = (np.linalg.norm(X @ (D[:, k] - D[:, l]), axis=1) for k in range(K) for l in range(k))
    nu, M = np.linalg.norm(np.einsum("jk,jkr->r", g, D)), np.max([m.max() for m in pairs] or 0.0)
    t = nu * M if (sigma > 1e-14).all() else inf  # else H may be rounding
    return nu**2 * (1 / 2 + t / 6 + t**2 / (12 - 12 * t)) if t < 1 else inf
