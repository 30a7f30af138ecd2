r"""Lasso and elastic net: how far (w, b) is from the optimum.

    F(w, b) = ½ Σ_i s_i r_i² + l1‖w‖₁ + l2/2 ‖w‖²        r = y − Xw − b,  w ≥ 0 if ``positive``

(scikit-learn divides the weights by their sum first: the target ``Averaged`` does so.)

*Dual bound.* For every a with Σ s_i a_i = 0 (without an intercept: for every a) and v = Xᵀ(s∘a),

    F(w, b) ≥ Σ_i s_i (y_i a_i − a_i²/2) − Σ_j [|v_j| − l1]₊² / (2 l2)        for every (w, b),

since r²/2 ≥ ra − a²/2. If l2 = 0 the last term is 0 and |v_j| ≤ l1 is required, which some scaling
of a by τ ≥ 0 achieves. If ``positive``, read v_j for |v_j|.

*Dual point.* At the optimum both sides are equal for a = r. Near it, a = r − e is better: e is the
smallest change (in Σ s e², and what l2 adds to it) after which v_j = l1 sign(w_j) + l2 w_j for all
w_j ≠ 0, and |v_j| ≤ l1 for the others. With such an e the gap is ½ Σ s e², quadratic in the
violation. The bound holds for any a, so it does not depend on the accuracy of e.

Memory: four arrays as large as X.
"""

from math import fsum, inf

import numpy as np

from certus.definitions.terms.claim import Claim


def check(X, y, s, *, w, b, l1, l2=0.0, positive=False, fit_intercept=True, tol=1e-6):
    """Check w (p,) and b on X (n, p), y (n,) and weights s (n,), where l1 > 0."""
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    feasible = (fit_intercept or b == 0) and not (positive and (w < 0).any())
    rounding = 2.0**-80 * fsum(s * y**2)  # rounding of y in Σ s y²
    if fit_intercept:
        center, mean = np.average(X, axis=0, weights=s), np.average(y, weights=s)
        X, y, b = X - center, y - mean, b + center @ w - mean
    r = y - X @ w - b
    F = fsum(s * r**2) / 2 + l1 * fsum(np.abs(w)) + l2 / 2 * fsum(w**2)
    points = [r, r - least_change(X, s, r, w, l1, l2, positive)]
    if fit_intercept:
        points = [a - fsum(s * a) / fsum(s) for a in points]
    bound = max(dual(X, y, s, a, l1, l2, positive) for a in points)
    bound = min(max(bound, 0.0), F)  # F ≥ 0; a bound above F is rounding
    f0 = max(fsum(s * y**2), rounding) / 2  # F of the intercept alone
    return Claim("global optimum", F, F - bound if feasible else inf, f0, tol, bound)


def dual(X, y, s, a, l1, l2, positive):
    v = X.T @ (s * a)
    size = v if positive else np.abs(v)
    ya, aa = fsum(s * y * a), fsum(s * a**2)
    if l2 > 0:
        return ya - aa / 2 - fsum(np.maximum(size - l1, 0.0) ** 2) / (2 * l2)
    tau = min(max(ya, 0.0) / max(aa, 1e-300), l1 / size.max(initial=1e-300))  # the best feasible
    return tau * ya - tau**2 * aa / 2


def least_change(X, s, r, w, l1, l2, positive):
    root, e = np.sqrt(s), np.zeros(len(r))
    sign, pull = np.sign(w), l2 * w
    for _ in range(5):
        v = X.T @ (s * (r - e)) - pull
        over = (sign == 0) & ((v if positive else np.abs(v)) > l1)
        sign = np.where(over, np.sign(v), sign)
        J = np.flatnonzero(sign)
        A = np.vstack([root[:, None] * X[:, J], np.sqrt(l2) * np.eye(len(J))])
        unit = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
        missing = X[:, J].T @ (s * r) - pull[J] - l1 * sign[J]
        e = np.linalg.lstsq((A / unit).T, missing / unit)[0][: len(r)] / root
    return e
