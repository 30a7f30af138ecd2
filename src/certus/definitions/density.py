r"""Density from the k-th nearest row: whether the stated values follow from the rows.

    p̂(z) = k/(N·V(r)),      p̂_c(z) = k_c/(N_c·V(r)),      V(r) = (2r)^d Γ(1 + 1/p)^d / Γ(1 + d/p)

r is the distance ‖z − x‖_p from z to its k-th nearest of N rows, V the volume of a ball of that
radius in d columns, k_c and N_c the numbers of rows of class c among the k nearest and among all.
At a row of the data, that row is left out: N = n − 1. Every row counts once.

The claim is exact: the miss is the largest difference of a logarithm from the stated one. A row
whose distance is r, up to 1e-12, may be one of the k or not: k_c is wrong (a miss of ∞) unless it
lies between the number of rows nearer than r and that of those within r, and Σ k_c = k.

Memory: two arrays as large as X.
"""

from math import fsum, inf, lgamma, log, nan

import numpy as np

from certus.definitions.terms.claim import Claim


def check(X, y, s, *, k, log_density, counts=None, log_class=None, Q=None, p=2.0, tol=1e-6):
    """Check log p̂ (m,), k_c (m, K) and log p̂_c (m, K) at the rows of Q (m, d), by default of X.

    y (n,): class indices 0 … K − 1, if counts and log_class are given. s is not used.
    """
    Z = X if Q is None else Q
    log_p, log_pc, miss = np.empty(len(Z)), np.full(np.shape(log_class), nan), 0.0
    for i, z in enumerate(Z):
        other = np.arange(len(X)) != (i if Q is None else -1)
        distance = np.linalg.norm(X - z, ord=p, axis=1)[other]
        r = np.sort(distance)[k - 1]
        log_V = log_volume(r, X.shape[1], p)
        log_p[i] = log(k / len(distance)) - log_V
        if counts is not None:
            N_c, nearer, within = (
                np.bincount(y[other][near], minlength=len(counts[i]))
                for near in (distance >= 0, distance < r * (1 - 1e-12), distance <= r * (1 + 1e-12))
            )
            if (counts[i] < nearer).any() or (counts[i] > within).any() or sum(counts[i]) != k:
                miss = inf
            ratio = [k_c / n_c if n_c else nan for k_c, n_c in zip(counts[i], N_c, strict=True)]
            log_pc[i] = [log(q) - log_V if q > 0 else -inf if q == 0 else nan for q in ratio]
    miss = max(miss, difference(log_density, log_p))
    if counts is not None:
        miss = max(miss, difference(log_class, log_pc))
    return Claim("exact", fsum(log_p), miss, 1.0, tol)


def log_volume(r, d, p):
    return d * (log(2 * r) + lgamma(1 + 1 / p)) - lgamma(1 + d / p) if r > 0 else -inf


def difference(stated, true):
    """Return the largest |stated − true|; ∞ and NaN equal only themselves."""
    same = (stated == true) | (np.isnan(stated) & np.isnan(true))
    far = np.abs(np.where(same, 0.0, stated) - np.where(same, 0.0, true))
    return float(np.where(np.isnan(far), inf, far).max())
