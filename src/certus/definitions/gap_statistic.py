r"""The gap statistic: how much more compact clusters are than those of unstructured data.

    W_k    = Σ_C Σ_{i ∈ C} s_i ‖x_i − m_C‖²,        m_C the weighted mean of cluster C
    Gap(k) = (1/B) Σ_b log W*_kb − log W_k,        s_k = sd_b(log W*_kb) · √(1 + 1/B)
    k̂      = the least k with Gap(k) ≥ Gap(k + 1) − s_{k+1}

W*_kb is W_k of the b-th of B samples of a uniform distribution over the box of the data along their
principal axes, clustered in the same way (Tibshirani, Walther & Hastie 2001). sd divides by B. Gap
is ∞ where W_k = 0; W* > 0.

The claim is exact, for the given clusters of the data and the given W*: the miss is the largest
difference from the stated values, ∞ if k̂ differs. ``within`` gives W* of a sample. Memory: three
arrays as large as X.
"""

from math import fsum, inf

import numpy as np

from certus.definitions.terms.claim import Claim


def check(X, y, s, *, ks, labels, noise, gap, error, chosen, tol=1e-6):
    """Check Gap (m,), s_k (m,) and k̂ (None: Gap rises up to the last k), k from ks (m,).

    labels (n, m): the clusters of X (n, p) for each k. noise (B, m): W*. y is not used.
    """
    W = np.array([within(X, s, column) for column in labels.T])
    log_noise = np.log(noise)
    Gap = np.where(W > 0, log_noise.mean(axis=0) - np.log(np.where(W > 0, W, 1.0)), inf)
    s_k = log_noise.std(axis=0) * np.sqrt(1 + 1 / len(noise))
    falls = np.flatnonzero(Gap[:-1] >= Gap[1:] - s_k[1:])
    k = int(ks[falls[0]]) if len(falls) else None
    stated, true = np.append(gap, error), np.append(Gap, s_k)
    finite = np.where(stated == true, 0.0, true)  # ∞ − ∞ is no difference
    miss = np.abs(np.where(stated == true, 0.0, stated) - finite).max()
    objective = Gap[falls[0] if len(falls) else -1]
    return Claim("exact", float(objective), float(miss) if k == chosen else inf, 1.0, tol)


def within(X, s, labels):
    """Return W_k."""
    X, s, labels = X[s > 0], s[s > 0], labels[s > 0]
    parts = []
    for c in np.unique(labels):
        x, weight = X[labels == c], s[labels == c]
        x = x - x[0]  # accurate far from the origin
        parts.append(weight @ (x - np.average(x, axis=0, weights=weight)) ** 2)
    return fsum(np.ravel(parts))
