"""Agglomerative trees: whether every merge joins the two nearest clusters.

    merge t joins the two nearest clusters alive, A and B, at the height h_t = d(A, B)

The distance of a new cluster AB to any other follows from those of A and B by the term ``link``, so
every merge is repeated. For centroid and median linkage A and B must be the nearest pair of all.
For the others heights cannot fall, and two clusters that are nearest to each other remain so,
whatever is joined elsewhere: it is then equivalent that no cluster is nearer to A or to B, and that
heights do not fall.

A height may be off by the share ``tol`` and by rounding, in floats of ``precision``; clusters as
near as that are ties, which may go either way. ``miss`` counts wrong merges, labels and
representatives.

Memory: all n² distances, so more than 4,096 rows are refused. Time O(n²·p), for centroid and median
O(n³).
"""

from math import inf

import numpy as np

from certus.definitions.terms.claim import Claim

EPS = np.finfo(float).eps


def check(X, y, s, *, merges, link, distance, scale=None, columns=False, labels=None,
          n_clusters=None, threshold=None, representatives=(), angles=False, precision=EPS,
          tol=1e-6):  # fmt: skip
    """Check merges (n − 1, 2 to 4): two clusters, height, size. ``columns``: leaves are columns."""
    X, n = X.T if columns else X, len(merges) + 1
    D = distances_of(X if scale is None else X / scale, n, distance)
    cos_error = (X.shape[1] + 64) * EPS if angles else 0.0  # of 1 − cos
    if len(D) != n or not is_tree(merges, n) or not np.allclose(D, D.T, tol, cos_error):
        return Claim("exact", inf, inf, 1.0, tol, 0.0)
    # unit: a power of two, so that sums and squares neither overflow nor underflow
    wrong, unit = 0, 1.0 if angles else np.ldexp(0.5, np.frexp(D.max())[1])
    for k, leaf in enumerate(representatives):  # least sum of distances in label k
        members = np.flatnonzero(labels == k)
        total = dict(zip(members, D[np.ix_(members, members)].sum(axis=1), strict=True))
        wrong += not total.get(leaf, inf) <= min(total.values()) * (1 + tol) + n * cos_error
    np.fill_diagonal(D, inf)
    D = (D / unit) ** 2 if link.squared else D / unit
    place, group, size, last = np.arange(n), np.arange(n), np.ones(n), 0.0
    at, joins, inside = list(range(n)), [0] * n, [0.0] * n  # of each cluster
    kept = n - n_clusters if n_clusters else 0  # merges below the cut
    for t, merge in enumerate(merges):
        a, b = int(merge[0]), int(merge[1])
        i, j = at[a], at[b]
        d, least = D[i, j], D.min() if link.least else min(D[i].min(), D[j].min())
        d, least = np.sqrt(np.maximum([d, least], 0.0)) if link.squared else (d, least)
        h = merge[2] / unit if len(merge) > 2 else d
        joins.append(1 + max(joins[a], joins[b]))
        inside.append(max(h, inside[a], inside[b]))
        error = 8 * precision * (X.shape[1] + 8 + joins[-1])
        slack = (tol + error) * d + cos_error
        if link.squared:  # d² is a difference of larger squares
            slack = max(slack, inside[-1] * min(error * inside[-1] / max(d, 1e-300), error**0.5))
        right = abs(h - d) <= slack and least >= d - slack and (link.least or h >= last - slack)
        D[i] = D[:, i] = link(D, i, j, size)
        D[j] = D[:, j] = D[i, i] = inf
        size[i], last, place[place == j] = size[i] + size[j], h, i
        wrong += not (right and (len(merge) < 4 or merge[3] == size[i]))
        at.append(i)
        if t < kept if threshold is None else inside[-1] * unit < threshold:
            group[place == i] = n + t
    if labels is not None:
        pairs = set(zip(group.tolist(), labels.tolist(), strict=True))
        wrong += not len(pairs) == len(set(group.tolist())) == len(set(labels.tolist()))
    return Claim("exact", float(wrong), float(wrong), 1.0, tol, 0.0)


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
    pairs, heights, made = merges[:, :2], merges[:, 2:3], n + np.arange(n - 1)[:, None]
    exist = np.all((pairs >= 0) & (pairs < made) & (pairs == np.floor(pairs)))
    return exist and len(np.unique(pairs)) == 2 * n - 2 and np.all((heights >= 0) & (heights < inf))
