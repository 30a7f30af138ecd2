"""Stability: do two halves of the data find the same clusters?

    stability(k) = mean over splits of ARI(labels of all rows by one half, by the other)
    ARI = (A − E) / (½(P + Q) − E),        E = P·Q / T

P, Q, A are the sums of s_i s_j over pairs of rows that share a cluster by the first labels, by the
second and by both, T over all pairs. E is A by chance, so that ARI is 0 by chance and 1 if both
labellings are the same up to names (Hubert & Arabie 1985).
"""

import numpy as np


def adjusted_rand(first: np.ndarray, second: np.ndarray, s: np.ndarray | None = None) -> float:
    """Return the ARI, summed pair by pair; 1 if both have one cluster, or one for each row."""
    first, second = np.asarray(first), np.asarray(second)
    s = np.ones(len(first)) if s is None else np.asarray(s, dtype=float)
    P = Q = A = T = 0.0
    for i in range(len(first)):
        w = s[i] * s[i + 1 :]
        by_first, by_second = first[i + 1 :] == first[i], second[i + 1 :] == second[i]
        T += w.sum()
        P += w[by_first].sum()
        Q += w[by_second].sum()
        A += w[by_first & by_second].sum()
    if P == Q and P in (0.0, T):
        return 1.0
    E = P * Q / T
    return float((A - E) / ((P + Q) / 2 - E))
