r"""Proportional odds of K ordered classes: how far (w, c) is from the optimum.

    F(w, c) = −Σ_i s_i log P(y_i | x_i) + α/2 ‖w‖²      P(y ≤ k | x) = σ(c_k − xᵀw),  c increasing

with σ(t) = 1/(1 + e^{−t}). For a = c_y − xᵀw and b = c_{y−1} − xᵀw, P(y | x) = σ(a) − σ(b) =
σ(a) σ(−b) (1 − e^{b−a}). So with θ = (w, c), a row z of Z for each such a and −b (the last class
has no a, the first no b), and d_k = c_k − c_{k−1},

    F(θ) = Σ_z s_z log(1 + exp(−zᵀθ)) − Σ_k n_k log(1 − exp(−d_k)) + α/2 ‖w‖²

with s_z the row's weight and n_k that of class k: convex, as all its terms are.

*Curvature bound.* Let g and H be gradient and Hessian, ν² = gᵀH⁻¹g, and M the largest change of any
zᵀθ, or of coth(d_k/2) times any d_k, by a step of length 1 in the norm of H. Along such a step the
second derivative falls from 1 no faster than e^{−Mt}. If t = νM < 1, a finite optimum exists, and
integrating twice gives

    F(θ) − min F ≤ (t + (1 − t) log(1 − t)) / M² ≤ ν² (½ + t/6 + t²/(12 − 12t)).

Nothing is proven where the curvature of H along a direction could be rounding. Without a penalty
the term ``independent`` excludes columns that are combinations of others up to rounding r; then F
differs from that of a model without these columns by at most Σ_i s_i |r_iᵀw|.

*No finite optimum.* Without a penalty, a direction with Zθ ≥ 0, and > 0 for some rows: it orders
the classes, and F falls along it without end.

Memory: four arrays of 2n + p + K rows and p + K columns.
"""

from math import fsum, inf

import numpy as np

from certus.definitions.terms.claim import Claim

EPS = np.finfo(float).eps


@np.errstate(all="ignore")  # an overflow is refused below
def check(X, y, s, *, w, c, alpha, direction=None, independent=None, tol=1e-6):
    """Check w (p,) and thresholds c (K − 1,) on X (n, p), y = 0 … K − 1 (n,), weights s (n,)."""
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    n = np.bincount(y, s)
    increasing = np.isfinite([*w, *c]).all() and (np.diff(c) > 0).all()
    if not (increasing and len(n) == len(c) + 1 and n.all()):
        return Claim("global optimum", inf, inf, 1.0, tol)
    f0 = -fsum(n * np.log(n / n.sum()))  # F of the thresholds alone
    separated = direction and alpha == 0 and direction.separates(margins(X, y, len(c)))
    # close to the means but with few digits, so that X − center is exact
    center = np.average(X, axis=0, weights=s).astype("f4").astype(float)
    Z, theta = margins(X - center, y, len(c)), np.append(w, c - center @ w)
    weights, s = s, np.append(s[y < len(c)], s[y > 0])
    z, d, n = Z @ theta, np.diff(c), n[1:-1]
    between = -n * np.where(d > 0.7, np.log1p(-np.exp(-d)), np.log(-np.expm1(-d)))
    F = fsum(s * np.logaddexp(0.0, -z)) + fsum(between) + alpha / 2 * fsum(w**2)
    if separated:
        return Claim("no finite optimum", F, 0.0, 1.0, tol)
    a = np.exp(-np.logaddexp(0.0, z))
    E = np.diff(np.eye(len(theta))[len(w) :], axis=0)  # d = Eθ
    ridge = alpha * (np.arange(len(theta)) < len(w))
    g = ridge * theta - Z.T @ (s * a) - E.T @ (n / np.expm1(d))
    roots = np.sqrt(s * a * (1 - a)), np.sqrt(n) / (2 * np.sinh(d / 2))  # of the curvatures
    A = np.vstack([roots[0][:, None] * Z, roots[1][:, None] * E, np.diag(np.sqrt(ridge))])
    changes = np.vstack([Z, E / np.tanh(d / 2)[:, None]])
    unused = 0.0
    if independent and alpha == 0:
        X1 = np.column_stack([X - center, np.ones(len(X))])
        kept, rounding = independent.columns(X1, np.append(center, 0.0))
        unused = fsum(weights * np.abs(rounding[:, : len(w)] @ w))
        kept = [*kept[1:], *range(len(w), len(theta))]
        A, g, changes = A[:, kept], g[kept], changes[:, kept]
    bound = min(max(F - curvature_excess(A, g, changes) - unused, 0.0), F)
    return Claim("global optimum", F, F - bound, f0, tol, bound)


def margins(X, y, n_thresholds):  # rows of c_y − xᵀw, then of xᵀw − c_{y−1}
    I, low, high = np.eye(n_thresholds), y < n_thresholds, y > 0
    below = np.column_stack([-X[low], I[y[low]]])
    return np.vstack([below, np.column_stack([X[high], -I[y[high] - 1]])])


def curvature_excess(A, g, changes):  # H = AᵀA
    unit = np.linalg.norm(A, axis=0) + 1e-300
    _, sigma, Vt = np.linalg.svd(A / unit, full_matrices=False)
    D = Vt.T / sigma / unit[:, None]  # DᵀHD = I
    nu, M = np.linalg.norm(g @ D), np.linalg.norm(changes @ D, axis=1).max()
    t = nu * M if (sigma > 100 * EPS).all() else inf  # else H may be rounding
    return nu**2 * (1 / 2 + t / 6 + t**2 / (12 - 12 * t)) if t < 1 else inf
