r"""k-means: by how much one more step, or moving a single row, would lower the objective.

    J(μ) = Σ_i s_i min_k ‖x_i − μ_k‖²

*Lloyd's step* assigns each row to its nearest centre and moves each centre to the mean m_k of its
rows, of weight n_k. It never raises J, and if it does not lower J the centres are a local optimum:
``miss`` is J(μ) − J(m), plus, for an empty cluster, the largest gain of moving its centre to a row.
Which centre is nearest is decided without rounding; a row that is equally near to several belongs
to the one that ``ties`` names.

*Hartigan's test* is stronger. If row i alone moves from cluster a to b, and the means follow, J
falls by

    s_i n_a/(n_a − s_i) ‖x_i − m_a‖² − s_i n_b/(n_b + s_i) ‖x_i − m_b‖².

If no move gains more than tol·J the claim is a "local optimum", else "stationary". Rows with more
than 1 − 10⁻⁶ of the weight of their cluster are not tested.

*Bound*, on request and for one cluster. The means lie in k − 1 dimensions around x̄, so that for
every μ, J(μ) is at least the sum of all but the k − 1 largest eigenvalues of
Σ_i s_i (x_i − x̄)(x_i − x̄)ᵀ.

*Unit.* Where float64 cannot hold squares of X, everything is of X/u and μ/u, for a power of two u
near the largest difference: J is then in units of u², and what is optimal is the same.

Weaker than the proof if centres are stored in float32 and lie more than 10⁴ times the spread of
their rows from the origin: the step here ends at means in float64, which float32 cannot hold.

Memory: two arrays as large as X, four of n by k.
"""

from fractions import Fraction
from math import fsum, inf

import numpy as np

from certus.definitions.terms.claim import Claim

EPS = np.finfo(float).eps


def check(X, y, s, *, mu, labels=None, ties=None, bound=False, unit=1.0, tol=1e-6):
    """Check mu (k, p). With labels (n,), J uses the centres they name, not the nearest ones."""
    X, mu = X / unit, mu / unit
    tie = np.full(len(X), -1)
    if ties is not None:
        tie[ties[0]] = ties[1]
    labels = None if labels is None else np.asarray(labels)[s > 0]
    X, tie, s = X[s > 0], tie[s > 0], s[s > 0]
    i, k = np.arange(len(X)), len(mu)
    D = squared_distances(X, mu)
    a = nearest(X, mu, D, tie)
    assigned = a if labels is None else labels
    J = fsum(s * D[i, assigned])
    if single_points(X, mu, assigned):  # J is 0 up to the rounding of means
        return Claim("local optimum", J, 0.0, J, tol, 0.0)
    n = np.bincount(a, s, k)
    m = mu + [s[a == j] @ (X[a == j] - mu[j]) / (n[j] or 1.0) for j in range(k)]
    D = squared_distances(X, m)
    leave = s * n[a] / np.where(n[a] - s > 1e-6 * n[a], n[a] - s, inf) * D[i, a]
    miss = max(J - fsum(s * D.min(axis=1)), 0.0) + (float(leave.max()) if 0 in n else 0.0)
    enter = s[:, None] * n / (n + s[:, None]) * D
    enter[i, a] = inf
    kind = "local optimum" if (leave - enter.min(axis=1)).max() <= tol * J else "stationary"
    if not 1e-310 * (fsum(s) + len(X)) * X.shape[1] < J:  # squares of differences underflow
        miss = inf
    best = min(spectral_bound(X, s, k), J) if bound or k == 1 else None
    return Claim(kind, J, miss, J, tol, best)


def squared_distances(X, mu):
    return np.column_stack([((X - m) ** 2).sum(axis=1) for m in mu])


def nearest(X, mu, D, tie):
    """Return the nearest centre of each row, by fractions where rounding could decide it."""
    a, least = D.argmin(axis=1), D.min(axis=1)
    close = D - least[:, None] <= 8 * (X.shape[1] + 8) * EPS * least[:, None]
    for i in np.flatnonzero(close.sum(axis=1) > 1):
        exact = {j: exact_distance(X[i], mu[j]) for j in np.flatnonzero(close[i])}
        best = [j for j in exact if exact[j] == min(exact.values())]
        a[i] = tie[i] if tie[i] in best else best[0]
    return a


def exact_distance(x, m):
    return sum((Fraction(u) - Fraction(v)) ** 2 for u, v in zip(x, m, strict=True))


def single_points(X, mu, a):
    """Whether all rows of each cluster are equal, and equal to its centre up to rounding."""
    _, first, cluster = np.unique(a, return_index=True, return_inverse=True)
    off = np.abs(mu[a] - X[first][cluster]) > 4 * EPS * np.abs(X).max(axis=0)
    return np.array_equal(X, X[first][cluster]) and not off.any()


def spectral_bound(X, s, k):
    Z = X - X[0]
    Z = np.sqrt(s)[:, None] * (Z - np.average(Z, axis=0, weights=s))
    return fsum(np.linalg.svd(Z, compute_uv=False)[k - 1 :] ** 2)
