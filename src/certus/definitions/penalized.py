r"""Regression with squared or Huber's loss and a convex penalty: how far is the optimum?

    F(w, b) = Σ_i s_i ℓ(r_i) + pen(w)        r = y − Xw − b
    ℓ(r) = ½r² where |r| ≤ δ, and δ|r| − ½δ² beyond (δ = ∞: squares)

*Dual bound.* For every |a_i| ≤ δ with Σ s_i a_i = 0 (not required without an intercept),
v = Xᵀ(s∘a) and pen*(v) = max_w vᵀw − pen(w),

    F(w, b) ≥ Σ_i s_i (y_i a_i − a_i²/2) − pen*(v)        for every (w, b),

since ℓ(r) ≥ ra − a²/2. a is scaled by some τ ≤ 1 if pen*(v) is infinite.

*Dual point.* At the optimum both sides are equal for a = ℓ'(r). Near it, a − e is better: e is the
smallest change, of rows with |r_i| < δ, after which v is a subgradient of pen at w. The bound holds
for any a, so it does not depend on the accuracy of e.

Memory: four arrays as large as X.
"""

from math import fsum, inf

import numpy as np

from certus.definitions.terms.claim import Claim


def check(X, y, s, *, w, b, penalty, delta=inf, fit_intercept=True, tol=1e-6):
    """Check w (p,) and b on X (n, p), y (n,) and weights s (n,); ``penalty`` is a term."""
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    rounding = 2.0**-81 * fsum(s * y**2)  # rounding of y in Σ s y²/2
    if fit_intercept:
        center, mean = np.average(X, axis=0, weights=s), np.average(y, weights=s)
        X, y, b = X - center, y - mean, b + center @ w - mean
    F = loss(y - X @ w - b, s, delta) + penalty.value(w)
    F = F if fit_intercept or b == 0 else inf
    a = np.clip(y - X @ w - b, -delta, delta)
    e = least_change(X, s, a, w, penalty, delta, fit_intercept)
    points = [a, np.clip(a - e, -delta, delta)]
    bound = max(dual(X, y, s, a, penalty, fit_intercept) for a in points)
    bound = min(max(bound, 0.0), F)  # F ≥ 0; a bound above F is rounding
    w0 = np.full(len(w), 0.0 if penalty.value(0 * w) < inf else w.mean())  # w of f0
    f0 = max(constant_loss(y - X @ w0, s, delta, fit_intercept), rounding) + penalty.value(w0)
    return Claim("global optimum", F, F - bound, f0, tol, bound)


def loss(r, s, delta):
    a = np.clip(r, -delta, delta)
    return fsum(s * a * (r - a / 2))


def dual(X, y, s, a, penalty, fit_intercept):
    if fit_intercept:  # shrink one sign until Σ s a = 0
        plus, minus = fsum((s * a)[a > 0]), -fsum((s * a)[a < 0])
        a = a * min(plus, minus) / np.where(a > 0, plus or 1.0, minus or 1.0)
    tau, conjugate = penalty.conjugate(X.T @ (s * a))
    a = tau * a
    return fsum(s * (y * a - a**2 / 2)) - conjugate


def least_change(X, s, a, w, penalty, delta, fit_intercept):
    inner, e, J = np.abs(a) < delta, np.zeros(len(a)), np.zeros(len(w), dtype=bool)
    root, one = np.sqrt(s[inner]), np.ones((int(inner.sum()), int(fit_intercept)))
    l2 = getattr(penalty, "l2", 0.0)
    for _ in range(5):
        v = X.T @ (s * (a - e))
        t = penalty.nearest(w, v)
        J |= t != v
        A = root[:, None] * np.hstack([X[inner][:, J], one])
        A = np.vstack([A, np.sqrt(l2) * np.eye(int(J.sum()), A.shape[1])])
        missing = np.append((X.T @ (s * a) - t)[J], [fsum(s * a)] * fit_intercept)
        unit = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
        e[inner] = np.linalg.lstsq((A / unit).T, missing / unit)[0][: len(root)] / root
    return e


def constant_loss(y, s, delta, fit_intercept):
    """Loss of the best b alone, by bisection."""
    low, high = (y.min(), y.max()) if fit_intercept else (0.0, 0.0)
    for _ in range(100):
        b = (low + high) / 2
        low, high = (b, high) if fsum(s * np.clip(y - b, -delta, delta)) > 0 else (low, b)
    return loss(y - (low + high) / 2, s, delta)
