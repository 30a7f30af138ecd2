r"""Logistic regression of two classes: how far (w, b) is from the optimum.

    F(w, b) = C Σ_i s_i log(1 + exp(−y_i z_i)) + l1‖w‖₁ + l2/2 ‖w‖²        z = Xw + b,  y = ±1

*Dual bound.* Let H(a) = −a log a − (1 − a) log(1 − a). For all 0 ≤ a ≤ 1 with Σ s_i y_i a_i = 0
(without an intercept: for all a), and v = C Xᵀ(s∘y∘a),

    F(w, b) ≥ C Σ_i s_i H(a_i) − Σ_j [|v_j| − l1]₊² / (2 l2)        for every (w, b).

Where l2 = 0 the last term is 0, and |v_j| ≤ l1 is required. At the optimum both sides are equal for
a_i = 1/(1 + exp(y_i z_i)), so that this a is used, made feasible.

*Curvature bound*, where l1 = 0. Let g and H be the gradient and the Hessian of F at (w, b), ν² =
gᵀH⁻¹g and M = max_i ‖(x_i, 1)‖ in the norm of H⁻¹. If t = νM < 1, a finite optimum exists, and

    F(w, b) − min F ≤ (t + (1 − t) log(1 − t)) / M².

*No finite optimum.* Without a penalty, a direction (u, c) with y_i(x_iᵀu + c) ≥ 0 for all rows, and
> 0 for some, lowers F for ever.

Memory: three arrays as large as X.
"""

from math import fsum, inf, log

import numpy as np

from certus.definitions.terms.claim import Claim

EPS = np.finfo(float).eps


def check(X, y, s, *, w, b, C, l1, l2, fit_intercept=True, direction=None, tol=1e-6):
    """Check w (p,) and b on X (n, p), y = ±1 (n,) and weights s (n,)."""
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    if fit_intercept:
        center = np.average(X, axis=0, weights=s)
        X, b = X - center, b + center @ w
    F = objective(X, y, s, w, b, C, l1, l2)
    if direction is not None and l1 == l2 == 0:
        u, c = direction
        margins = y * (X @ u + c + (center @ u if fit_intercept else 0.0))
        miss = max(-margins.min(), 0.0) if margins.max() > 0 else inf
        return Claim("no finite optimum", F, miss, 1.0, 0.0)
    bound = dual_bound(X, y, s, w, b, C, l1, l2, fit_intercept)
    if l1 == 0:
        bound = max(bound, F - curvature_excess(X, y, s, w, b, C, l2, fit_intercept))
    bound = min(max(bound, 0.0), F)  # below 0 no loss can be; above F is rounding
    n_plus, n_minus = fsum(s[y > 0]), fsum(s[y < 0])
    share = n_plus / (n_plus + n_minus) if fit_intercept else 0.5
    f0 = -C * (n_plus * log(share) + n_minus * log(1 - share))  # F of the intercept alone
    return Claim("global optimum", F, F - bound, f0, tol, bound)


def objective(X, y, s, w, b, C, l1, l2):
    losses = s * np.logaddexp(0.0, -y * (X @ w + b))
    return C * fsum(losses) + l1 * fsum(np.abs(w)) + l2 / 2 * fsum(w**2)


def dual_bound(X, y, s, w, b, C, l1, l2, fit_intercept):
    a = np.exp(-np.logaddexp(0.0, y * (X @ w + b)))  # 1/(1 + exp(yz))
    if fit_intercept:  # shrink one class until Σ s y a = 0
        plus, minus = fsum((s * a)[y > 0]), fsum((s * a)[y < 0])
        a *= min(plus, minus) / np.where(y > 0, plus or 1.0, minus or 1.0)
    v = C * (X.T @ (s * y * a))
    if l2 == 0:  # shrink a until |v| ≤ l1
        shrink = l1 / np.abs(v).max(initial=l1 or 1e-300)
        a, v = shrink * a, shrink * v
    entropy = -xlogx(a) - xlogx(1 - a)
    beyond = np.maximum(np.abs(v) - l1, 0.0)
    return C * fsum(s * entropy) - (fsum(beyond**2) / (2 * l2) if l2 else 0.0)


def xlogx(a):
    return a * np.log(np.maximum(a, 1e-300))


def curvature_excess(X, y, s, w, b, C, l2, fit_intercept):
    a = np.exp(-np.logaddexp(0.0, y * (X @ w + b)))
    if fit_intercept:
        X, w = np.column_stack([X, np.ones(len(X))]), np.append(w, 0.0)
    ridge = np.full(len(w), l2)
    ridge[len(w) - fit_intercept :] = 0.0  # the intercept is not penalised
    g = ridge * w - C * (X.T @ (s * y * a))
    A = np.vstack([np.sqrt(C * s * a * (1 - a))[:, None] * X, np.diag(np.sqrt(ridge))])  # H = AᵀA
    unit = np.linalg.norm(A, axis=0)
    unit[unit == 0] = 1.0
    _, sigma, Vt = np.linalg.svd(A / unit, full_matrices=False)
    D = Vt.T / unit[:, None]  # directions; one that the data hold to rounding only is left out
    held = np.linalg.norm(X @ D, axis=0) > 4 * EPS * np.linalg.norm(np.abs(X) @ np.abs(D), axis=0)
    D = D[:, held] / sigma[held]  # DᵀHD = I
    M = np.linalg.norm(X @ D, axis=1).max(initial=1e-300)
    t = np.linalg.norm(g @ D) * M
    return (t + (1 - t) * log(1 - t)) / M**2 if t < 1 else inf
