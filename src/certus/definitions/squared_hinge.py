r"""Linear support vector machine with squared hinge loss: how far (w, b) is from the optimum.

    F(w, b) = C Σ_i s_i [1 − y_i z_i]₊² + l1‖w‖₁ + l2/2 ‖w‖²        z = Xw + b,  y = ±1

*Dual bound.* [1 − m]₊² ≥ a − a²/4 − am for all m and all a ≥ 0. For a ≥ 0 with Σ s_i y_i a_i = 0
(without an intercept: for all a ≥ 0), and v = C Xᵀ(s∘y∘a), summed,

    F(w, b) ≥ C Σ_i s_i (a_i − a_i²/4) − Σ_j [|v_j| − l1]₊² / (2 l2)        for every (w, b),

the last term being the least value of −vᵀw + l1‖w‖₁ + l2/2 ‖w‖². Where l2 = 0 it is 0, and
|v_j| ≤ l1 is required. At the optimum both sides are equal for a = 2[1 − y∘z]₊; so this a is used,
after making it feasible.

Memory: two arrays as large as X.
"""

from math import fsum, inf

import numpy as np

from certus.definitions.terms.claim import Claim


@np.errstate(all="ignore")  # an overflow is refused below
def check(X, y, s, *, w, b, C, l1, l2, fit_intercept, constant=False, tol=1e-6):
    """Check w (p,), b on X (n, p), y = ±1, weights s. ``constant``: X has a column for b."""
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    # close to the means but with few digits, so that X − center is exact
    center = np.average(X, axis=0, weights=s).astype("f4").astype(float) * fit_intercept
    X, b = X - center, b + center @ w
    slack = np.maximum(1 - y * (X @ w + b), 0.0)
    F = C * fsum(s * slack**2) + l1 * fsum(np.abs(w)) + l2 / 2 * fsum(w**2)
    if not np.isfinite(F + b) or (b != 0 and not fit_intercept):
        return Claim("global optimum", inf, inf, 1.0, tol)
    bound = min(max(dual_bound(X, y, s, 2 * slack, C, l1, l2, fit_intercept), 0.0), F)
    plus, minus = C * fsum(s[y > 0]), C * fsum(s[y < 0])
    f0 = 4 * plus * minus / (plus + minus)  # F of the intercept alone, (n₊ − n₋)/(n₊ + n₋)
    if f0 == 0 or not (fit_intercept or constant):
        f0 = plus + minus
    return Claim("global optimum", F, F - bound, f0, tol, bound)


def dual_bound(X, y, s, a, C, l1, l2, fit_intercept):
    if fit_intercept:  # shrink one class until Σ s y a = 0
        plus, minus = fsum((s * a)[y > 0]), fsum((s * a)[y < 0])
        a = a * min(plus, minus) / np.where(y > 0, plus or 1.0, minus or 1.0)
    v = C * (X.T @ (s * y * a))
    if l2 == 0:  # shrink a until |v| ≤ l1
        a = a * (l1 / np.abs(v).max(initial=l1 or 1.0))
    conjugate = fsum(np.maximum(np.abs(v) - l1, 0.0) ** 2) / (2 * l2) if l2 else 0.0
    return C * fsum(s * (a - a**2 / 4)) - conjugate
