r"""Linear support vector machine with hinge loss: how far (w, b) is from the optimum.

    F(w, b) = C Σ_i s_i [1 − y_i z_i]₊ + l1‖w‖₁ + l2/2 ‖w‖²        z = Xw + b,  y = ±1

*Dual bound.* [1 − m]₊ ≥ a(1 − m) for all m and all 0 ≤ a ≤ 1. For such a with Σ s_i y_i a_i = 0
(without an intercept: for all such a), and v = C Xᵀ(s∘y∘a), summed,

    F(w, b) ≥ C Σ_i s_i a_i − Σ_j [|v_j| − l1]₊² / (2 l2)        for every (w, b),

the last term being the least value of −vᵀw + l1‖w‖₁ + l2/2 ‖w‖². Where l2 = 0 it is 0, and
|v_j| ≤ l1 is required. A row on its margin may have any a, so a does not follow from (w, b). A
model may provide β_i = C s_i y_i a_i; otherwise an interior-point method searches for a. It need
not be trusted: any a is made feasible, and the bound computed from it.

Memory: four arrays as large as X; without β, seven of n + 2p rows and p + 1 columns.
"""

from math import fsum, inf

import numpy as np

from certus.definitions.terms.claim import Claim


@np.errstate(all="ignore")  # an overflow is refused below
def check(X, y, s, *, w, b, C, l1, l2, fit_intercept, constant=False, beta=None, tol=1e-6):
    """Check w (p,), b on X (n, p), y = ±1, weights s. ``constant``: X has a column for b."""
    beta = None if beta is None else beta[s > 0]
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    # close to the means but with few digits, so that X − center is exact
    center = np.average(X, axis=0, weights=s).astype("f4").astype(float) * fit_intercept
    X, b = X - center, b + center @ w
    F = C * fsum(s * np.maximum(1 - y * (X @ w + b), 0.0)) + l1 * fsum(np.abs(w))
    F += l2 / 2 * fsum(w**2)
    if not np.isfinite(F + b) or (b != 0 and not fit_intercept):
        return Claim("global optimum", inf, inf, 1.0, tol)
    plus, minus = C * fsum(s[y > 0]), C * fsum(s[y < 0])
    f0 = 2 * min(plus, minus) if fit_intercept or constant else 0.0  # F of the intercept alone
    f0 = f0 or plus + minus
    if beta is None:
        beta = y * interior_point(X, y, C * s, l1, l2, fit_intercept, tol * f0 / 100)
    a = np.clip(np.nan_to_num(y * beta / (C * s)), 0.0, 1.0)
    bound = min(max(dual_bound(X, y, s, a, C, l1, l2, fit_intercept), 0.0), F)
    return Claim("global optimum", F, F - bound, f0, tol, bound)


def dual_bound(X, y, s, a, C, l1, l2, fit_intercept):
    if fit_intercept:  # shrink one class until Σ s y a = 0
        plus, minus = fsum((s * a)[y > 0]), fsum((s * a)[y < 0])
        a = a * min(plus, minus) / np.where(y > 0, plus or 1.0, minus or 1.0)
    v = C * (X.T @ (s * y * a))
    if l2 == 0:  # shrink a until |v| ≤ l1
        a = a * (l1 / np.abs(v).max(initial=l1 or 1.0))
    conjugate = fsum(np.maximum(np.abs(v) - l1, 0.0) ** 2) / (2 * l2) if l2 else 0.0
    return C * fsum(s * a) - conjugate


def interior_point(X, y, omega, l1, l2, fit_intercept, gap):
    """Minimise Σ ω_i ξ_i + ½ θᵀRθ over ξ ≥ 0, ζ = ξ + Bθ − u ≥ 0, with multipliers ω − α and α.

    l1|w_j| = l1[w_j]₊ + l1[−w_j]₊ is two additional rows. Returns α of the rows of X.
    """
    I = np.eye(X.shape[1] + fit_intercept)[: X.shape[1]]
    B = np.vstack([y[:, None] * np.column_stack([X, np.ones(len(X))])[:, : len(I.T)], I, -I])
    u, R = np.append(np.ones(len(X)), np.zeros(2 * len(I))), l2 * (I.T @ I)
    omega = np.append(omega, np.full(2 * len(I), l1 or 1e-12 * omega.max()))
    theta, alpha, zeta, xi = np.zeros(len(R)), omega / 2, np.ones(len(B)), np.ones(len(B))
    for _ in range(200):
        slack = omega - alpha
        mu = (alpha @ zeta + slack @ xi) / len(B)
        if mu * len(B) < gap:
            break
        mu, q = mu / 20, zeta / alpha + xi / slack
        e = mu / alpha - mu / slack + u - B @ theta
        step = np.linalg.solve(R + (B.T / q) @ B, B.T @ (alpha + e / q) - R @ theta)
        d_alpha = (e - B @ step) / q
        d_zeta, d_xi = (mu - zeta * d_alpha) / alpha - zeta, (mu + xi * d_alpha) / slack - xi
        steps = (alpha, d_alpha), (slack, -d_alpha), (zeta, d_zeta), (xi, d_xi)
        t = min(1.0, 0.99 / max(1e-300, max(np.max(-d / v) for v, d in steps)))
        theta, alpha = theta + t * step, alpha + t * d_alpha
        zeta, xi = zeta + t * d_zeta, xi + t * d_xi
    return alpha[: len(X)]
