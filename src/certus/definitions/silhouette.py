r"""The mean silhouette: how much nearer rows are to their own cluster than to the next one.

    sil_i = (b_i − a_i) / max(a_i, b_i)                     0 for a row that is alone
    a_i   = Σ_{j ∈ C(i)} s_j d_ij / (N_{C(i)} − min(1, s_i))
    b_i   = min_{C ≠ C(i)} Σ_{j ∈ C} s_j d_ij / N_C,        N_C = Σ_{j ∈ C} s_j

    mean  = Σ_i s_i sil_i / Σ_i s_i

d_ij = ‖x_i − x_j‖ (Rousseeuw 1987). A row is not compared with itself: a row of weight 3 stands for
three rows, of which two remain. The mean is over all rows, or over some, each compared with all.

The claim is exact: the miss is the difference from the stated mean. Memory: two arrays as large as
X.
"""

from math import fsum

import numpy as np

from certus.definitions.terms.claim import Claim


def check(X, y, s, *, labels, mean, rows=None, tol=1e-6):
    """Check the mean silhouette of clusters labels (n,) on X (n, p) with weights s (n,).

    ``rows``: numbers of the rows that are averaged; None: all. y is not used.
    """
    rows = np.arange(len(X)) if rows is None else np.unique(rows)
    rows = rows[s[rows] > 0]
    labels = np.unique(labels, return_inverse=True)[1]
    sil = np.array([silhouette(X, s, labels, i) for i in rows])
    true = fsum(s[rows] * sil) / fsum(s[rows])
    return Claim("exact", true, abs(mean - true), 1.0, tol)


def silhouette(X, s, labels, i):
    d, own = np.linalg.norm(X - X[i], axis=1), labels[i]
    sums, N = np.bincount(labels, s * d), np.bincount(labels, s)
    left = N[own] - min(1.0, s[i])
    others = (N > 0) & (np.arange(len(N)) != own)  # a cluster whose rows all weigh 0 is absent
    if left <= 0 or not others.any():
        return 0.0
    a, b = sums[own] / left, (sums[others] / N[others]).min()
    return (b - a) / max(a, b) if max(a, b) > 0 else 0.0
