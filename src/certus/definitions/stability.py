r"""Stability of clusters: do two halves of the data give the same clusters?

    stability = the mean over splits of ARI(labels of all rows by one half, by the other)
    ARI       = (A − E) / (½(P + Q) − E),        E = P·Q / T

P, Q and A are the sums of s_i s_j over pairs i < j of rows that share a cluster by the first
labels, by the second, and by both; T is that over all pairs. E is A by chance, so that ARI is 0 by
chance, and 1 if both labels are the same up to names (Hubert & Arabie 1985). It is 1 if both have
one cluster, or one for each row.

Σ s_i s_j over the pairs of a group is ½((Σs)² − Σs²). The claim is exact, for the given labels: the
miss is the difference from the stated mean. Memory: a few numbers for each row.
"""

from math import fsum

import numpy as np

from certus.definitions.terms.claim import Claim


def check(X, y, s, *, splits, stability, tol=1e-6):
    """Check the mean over splits, each a pair of labels (n,), with weights s (n,).

    X and y are not used: the labels suffice.
    """
    true = fsum(adjusted_rand(first, second, s) for first, second in splits) / len(splits)
    return Claim("exact", true, abs(stability - true), 1.0, tol)


def adjusted_rand(first, second, s):
    P, Q, A = pairs(first, s), pairs(second, s), pairs(np.stack([first, second], axis=1), s)
    T = pairs(np.zeros(len(s)), s)
    if P == Q and P in (0.0, T):
        return 1.0
    E = P * Q / T
    return (A - E) / ((P + Q) / 2 - E)


def pairs(labels, s):
    """Return Σ s_i s_j over pairs of rows with the same label."""
    group = np.unique(labels, axis=0, return_inverse=True)[1].ravel()
    members = [s[group == c] for c in range(group.max() + 1)]
    return fsum(fsum(part) ** 2 - fsum(part**2) for part in members if len(part) > 1) / 2
