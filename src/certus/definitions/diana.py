"""DIANA: whether a tree splits the widest cluster until each row is alone.

    height of a cluster = its diameter, max d(i, j); the next to be split has the largest

Kaufman and Rousseeuw's split of a cluster C: the row with the largest mean distance to the others
starts a splinter S; then, as long as one gains by it, the row that gains most follows it,

    gain(i) = mean d(i, C∖S∖i) − mean d(i, S) > 0.

``merges`` are the splits from the last to the first. Diameters are recomputed, and every split is
repeated, with either part as the splinter. Diameters and gains may be off by the share ``tol`` of
the diameter: among rows whose gains are equal up to that, the first row of the given splinter may
follow, or the one that gains most. ``miss`` counts wrong splits, sizes and labels.

Memory: all n² distances, so more than 4,096 rows are refused. Time at most O(n³).
"""

from math import inf

import numpy as np

from certus.definitions.terms.claim import Claim


def check(X, y, s, *, merges, distance, scale=None, labels=None, n_clusters=None, threshold=None,
          angles=False, tol=1e-6):  # fmt: skip
    """Check merges (n − 1, 4): two clusters, height and size."""
    n = len(merges) + 1
    D = distances_of(X if scale is None else X / scale, n, distance)
    cos_error = (X.shape[1] + 64) * np.finfo(float).eps if angles else 0.0  # of 1 − cos
    if len(D) != n or not is_tree(merges, n) or not np.allclose(D, D.T, tol, cos_error):
        return Claim("exact", inf, inf, 1.0, tol, 0.0)
    rows, group, wrong, last = [[i] for i in range(n)], np.arange(n), 0, 0.0
    kept = n - n_clusters if n_clusters else 0  # merges below the cut
    for t, (a, b, h, size) in enumerate(merges):
        A, B = rows[int(a)], rows[int(b)]
        C = np.array(sorted(A + B))
        rows.append(C.tolist())
        within = D[np.ix_(C, C)]
        slack = tol * within.max() + cos_error
        right = abs(h - within.max()) <= slack and h >= last - slack and size == len(C)
        parts = (np.isin(C, A), np.isin(C, B))
        right &= any(splits(within, S, slack, first) for S in parts for first in (True, False))
        wrong, last = wrong + (not right), h
        if t < kept if threshold is None else h < threshold:
            group[C] = n + t
    if labels is not None:
        pairs = set(zip(group.tolist(), labels.tolist(), strict=True))
        wrong += not len(pairs) == len(set(group.tolist())) == len(set(labels.tolist()))
    return Claim("exact", float(wrong), float(wrong), 1.0, tol, 0.0)


def splits(D, S, slack, first):
    """Whether the rule ends with the splinter S (a mask); ties go to the first, or the largest."""
    m, out = len(D), np.zeros(len(D), dtype=bool)
    gain = D.sum(axis=1) / (m - 1)
    while True:
        ties = np.flatnonzero(S & ~out & (gain >= gain.max() - slack))
        if not len(ties):
            return False
        out[ties[0] if first else ties[np.argmax(gain[ties])]] = True
        left = m - out.sum()
        if left == 1:
            return np.array_equal(out, S)
        gain = D[:, ~out].sum(axis=1) / (left - 1) - D[:, out].mean(axis=1)
        gain[out] = -inf
        if np.array_equal(out, S):
            return gain.max() <= slack
        if gain.max() < -slack:
            return False


def distances_of(X, n, distance):
    if n > 4096:
        raise MemoryError(f"the page holds all distances, and there are {n:,} rows: 4,096 at most")
    if X.shape == (n * (n - 1) // 2, 1) and n > 2:  # given: those above the diagonal
        D = np.zeros((n, n))
        D[np.triu_indices(n, 1)] = X[:, 0]
        return D + D.T
    D = np.array([distance(X, x) for x in X])
    return np.where(np.isnan(D), inf, D)


def is_tree(merges, n):
    pairs, made = merges[:, :2], n + np.arange(n - 1)[:, None]
    exist = np.all((pairs >= 0) & (pairs < made) & (pairs == np.floor(pairs)))
    heights = merges[:, 2]
    return exist and len(np.unique(pairs)) == 2 * n - 2 and np.all((heights >= 0) & (heights < inf))
