r"""Logistic regression of two classes: how far (w, b) is from the optimum.

    F(w, b) = C Σ_i s_i log(1 + exp(−y_i z_i)) + l1‖w‖₁ + l2/2 ‖w‖²        z = Xw + b,  y = ±1

*Dual bound.* Let E(a) = −a log a − (1 − a) log(1 − a). For all 0 ≤ a ≤ 1 with Σ s_i y_i a_i = 0
(without an intercept: for all a), and v = C Xᵀ(s∘y∘a),

    F(w, b) ≥ C Σ_i s_i E(a_i) − Σ_j [|v_j| − l1]₊² / (2 l2)        for every (w, b).

Where l2 = 0 the last term is 0, and |v_j| ≤ l1 is required. At the optimum both sides are equal for
a_i = 1/(1 + exp(y_i z_i)); so this a is used, after making it feasible.

*Curvature bound.* Let g be a subgradient of F at (w, b), H the Hessian without l1‖w‖₁, ν² = gᵀH⁻¹g
and M = max_i ‖(x_i, 1)‖ in the norm of H⁻¹. If t = νM < 1, a finite optimum exists, and

    F(w, b) − min F ≤ (t + (1 − t) log(1 − t)) / M² ≤ ν² (½ + t/6 + t²/(12 − 12t)).

Nothing is proven where the curvature of H along a direction could be rounding. Without a penalty
the term ``independent`` excludes columns that are combinations of others up to rounding r; then F
differs from that of a model without these columns by at most C Σ_i s_i |r_iᵀw|.

*No finite optimum.* Without a penalty, a direction (u, c) with y_i(x_iᵀu + c) ≥ 0 for all rows, and
> 0 for some, lowers F without end. Signs that rounding could change are computed exactly.

Memory: four arrays of n + p rows and p columns.
"""

from math import fsum, inf

import numpy as np

from certus.definitions.terms.claim import Claim

EPS = np.finfo(float).eps


@np.errstate(all="ignore")  # an overflow is refused below
def check(
    X, y, s, *, w, b, C, l1, l2, fit_intercept, constant=False, direction=None, independent=None,
    tol=1e-6,
):  # fmt: skip
    """Check w (p,), b on X (n, p), y = ±1, weights s. ``constant``: X has a column for b."""
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    Z = y[:, None] * np.column_stack([X, np.full(len(X), float(fit_intercept))])
    separated = direction and l1 == l2 == 0 and direction.separates(Z)
    # close to the means but with few digits, so that X − center is exact
    center = np.average(X, axis=0, weights=s).astype("f4").astype(float) * fit_intercept
    X, b = X - center, b + center @ w
    m = y * (X @ w + b)
    F = C * fsum(s * np.logaddexp(0.0, -m)) + l1 * fsum(np.abs(w)) + l2 / 2 * fsum(w**2)
    if not np.isfinite(F + b) or (b != 0 and not fit_intercept):
        return Claim("global optimum", inf, inf, 1.0, tol)
    if separated:
        return Claim("no finite optimum", F, 0.0, 1.0, tol)
    a = np.exp(-np.logaddexp(0.0, m))  # 1/(1 + exp(m))
    Z, unused = np.column_stack([X, np.ones(len(X))])[:, : len(w) + fit_intercept], 0.0
    if independent and l1 == l2 == 0:
        kept, rounding = independent.columns(Z, np.append(center, 0.0)[: len(Z.T)])
        Z, unused = Z[:, kept], C * fsum(s * np.abs(rounding[:, : len(w)] @ w))
    excess = curvature_excess(Z, y, s, a, w, C, l1, l2) + unused
    bound = min(max(dual_bound(X, y, s, a, C, l1, l2, fit_intercept), F - excess, 0.0), F)
    n = np.array([fsum(s[y > 0]), fsum(s[y < 0])])
    share = n / n.sum() if (fit_intercept or constant) and n.all() else np.full(2, 0.5)
    return Claim("global optimum", F, F - bound, -C * n @ np.log(share), tol, bound)


def dual_bound(X, y, s, a, C, l1, l2, fit_intercept):
    if fit_intercept:  # shrink one class until Σ s y a = 0
        plus, minus = fsum((s * a)[y > 0]), fsum((s * a)[y < 0])
        a = a * min(plus, minus) / np.where(y > 0, plus or 1.0, minus or 1.0)
    v = C * (X.T @ (s * y * a))
    if l2 == 0:  # shrink a until |v| ≤ l1
        a = a * (l1 / np.abs(v).max(initial=l1 or 1.0))
    entropy = -a * np.log(np.maximum(a, 1e-300)) - (1 - a) * np.log1p(-np.minimum(a, 1 - EPS))
    conjugate = fsum(np.maximum(np.abs(v) - l1, 0.0) ** 2) / (2 * l2) if l2 else 0.0
    return C * fsum(s * entropy) - conjugate


def curvature_excess(X, y, s, a, w, C, l1, l2):
    l1, l2 = (l * (np.arange(X.shape[1]) < len(w)) for l in (l1, l2))  # 0 for the intercept
    w = np.append(w, 0.0)[: X.shape[1]]
    g = l2 * w - C * (X.T @ (s * y * a))
    g += np.where(w != 0, l1 * np.sign(w), np.clip(-g, -l1, l1))
    A = np.vstack([np.sqrt(C * s * a * (1 - a))[:, None] * X, np.diag(np.sqrt(l2))])
    unit = np.linalg.norm(A, axis=0) + 1e-300  # H = AᵀA
    _, sigma, Vt = np.linalg.svd(A / unit, full_matrices=False)
    D = Vt.T / sigma / unit[:, None]  # DᵀHD = I
    nu, M = np.linalg.norm(g @ D), np.linalg.norm(X @ D, axis=1).max(initial=0.0)
    t = nu * M if (sigma > 100 * EPS).all() else inf  # else H may be rounding
    return nu**2 * (1 / 2 + t / 6 + t**2 / (12 - 12 * t)) if t < 1 else inf
