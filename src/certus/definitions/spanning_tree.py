"""HDBSCAN: the minimum spanning tree of mutual reachability, and the clusters chosen in it.

    c_i = the k-th least distance of row i, its own 0 included     m_ij = max(c_i, c_j, d_ij/α)

Merge t joins A and B at the height h_t. Checked are that h_t ≤ m_ij for all i in A, j in B; that
heights do not fall; and that they are the sorted steps of a minimum spanning tree, which Prim's
algorithm finds. At every height the clusters are then the connected components of the pairs with
m_ij ≤ h: by the first two no such pair lies in different clusters, and by the third there are as
many clusters as components. ``edges`` (i, j, m_ij) are a minimum spanning tree too if they connect
all rows and their sorted lengths are the heights.

At the density λ = 1/h a merge of two parts with ``least_size`` rows each splits a cluster in two;
smaller parts fall out of it. A cluster's mass is the sum, over its rows, of the λ at which they
leave it minus the λ at which it begins. Of a cluster and the best clusters within it, those with
more mass are chosen (``leaves``: those without clusters within), but never the root. Rows of a
chosen cluster have a label, all others −1. The probability of a row is the λ at which it falls out,
as a share of the largest λ of the chosen cluster, at most 1.

Memory: all n² distances, so more than 4,096 rows are refused. Time O(n²·p).
"""

from math import inf

import numpy as np

from certus.definitions.terms.claim import Claim


def check(X, y, s, *, merges, distance, k=1, alpha=1.0, core_alpha=1.0, edges=None, labels=None,
          probabilities=None, least_size=2, most_size=inf, leaves=False, rounding=0.0,
          tol=1e-6):  # fmt: skip
    """Check merges (n − 1, 4). ``rounding``: of a distance that is no sum of differences."""
    n, pairs, h, wrong = len(merges) + 1, merges[:, :2].astype(int), merges[:, 2], 0
    if len(X) > 4096:
        raise MemoryError(f"the page holds all distances of {len(X):,} rows: 4,096 at most")
    D, parts = np.array([distance(X, x) for x in X]), [{i} for i in range(n)]
    exist = (pairs == merges[:, :2]) & (pairs >= 0) & (pairs < n + np.arange(n - 1)[:, None])
    if D.shape != (n, n) or not exist.all() or len(np.unique(pairs)) != 2 * n - 2:
        return Claim("exact", inf, inf, 1.0, tol)
    core = np.sort(D, axis=1)[:, k - 1] / core_alpha
    M = np.maximum(D / alpha, np.maximum.outer(core, core))
    off = min(rounding / min(alpha, core_alpha), tol * h[-1])
    for t, (a, b) in enumerate(pairs):
        parts.append(parts[a] | parts[b])
        right = h[t] <= M[np.ix_([*parts[a]], [*parts[b]])].min() * (1 + tol) + off
        wrong += not (right and h[max(t - 1, 0)] <= h[t] and merges[t, 3] == len(parts[-1]))
    near, steps, far = M[0].copy(), np.zeros(n - 1), np.where(np.arange(n) == 0, inf, 0.0)
    for t in range(n - 1):  # Prim: the row nearest to those reached is reached next
        i = np.argmin(near + far)
        steps[t], far[i], near = near[i], inf, np.minimum(near, M[i])
    wrong += int(np.sum(~(abs(np.sort(steps) - h) <= tol * h + off)))
    if edges is not None:
        place, (i, j), length = np.arange(n), edges[:, :2].astype(int).T, edges[:, 2]
        for a, b in zip(i, j, strict=True):
            place[place == place[b]] = place[a]
        wrong += int(np.ptp(place) > 0 or not np.all(abs(M[i, j] - length) <= tol * length + off))
        wrong += len(edges) != n - 1 or not np.all(abs(np.sort(length) - h) <= tol * h + off)
    if labels is not None and not wrong:
        with np.errstate(divide="ignore", invalid="ignore"):
            right = chosen(pairs, parts, 1 / h, labels, least_size, most_size, leaves, tol)
        wrong = n if right is None else int(np.sum(~(abs(probabilities - right) <= tol)))
    miss = float(wrong) + float(not np.allclose(D, D.T, tol, off))
    return Claim("exact", miss, miss, 1.0, tol, 0.0)


def chosen(pairs, parts, density, labels, least_size, most_size, leaves, tol):
    """Return the probabilities if the labels are those of the clusters to choose; else None."""
    root = len(parts) - 1
    cluster, left = np.full(len(parts), root), np.zeros(len(parts))  # left: λ of leaving it, or 0
    begin, mass, peak, outer = {root: 0.0}, {root: 0.0}, {root: 0.0}, {root: -1}
    for t in range(len(pairs))[::-1]:
        node, size = len(labels) + t, [len(parts[part]) for part in pairs[t]]
        cluster[pairs[t]], left[pairs[t]], c = cluster[node], left[node], cluster[node]
        for part, m in zip(pairs[t], size, strict=True):
            if left[node] == 0 and (m < least_size or min(size) >= least_size):
                mass[c], peak[c] = mass[c] + m * (density[t] - begin[c]), density[t]
                left[part] = density[t] if m < least_size else 0.0
                if m >= least_size:
                    cluster[part], outer[part] = part, c
                    begin[part], mass[part], peak[part] = density[t], 0.0, 0.0
    inner = {c: [part for part in mass if outer[part] == c] for c in mass}
    below, best, walk, found, right = {**mass}, {**mass}, inner[root], 0, np.zeros(len(labels))
    for c in sorted(mass):
        below[c] = sum(best[part] for part in inner[c])
        best[c] = max(below[c], mass[c]) if len(parts[c]) <= most_size else below[c]
    while walk:
        c = walk.pop()
        label, rows = labels[min(parts[c])], [*parts[c]]
        named = label >= 0 and set(np.flatnonzero(labels == label)) == parts[c]
        if leaves or len(rows) > most_size:
            wrong = named == bool(inner[c] or not leaves)
        else:
            wrong = below[c] < mass[c] * (1 - tol) if not named else mass[c] < below[c] * (1 - tol)
        if wrong:
            return None
        walk, found = walk + inner[c] * (not named), found + named * len(rows)
        if named:
            right[rows] = np.where(left[rows] < inf, np.minimum(left[rows], peak[c]) / peak[c], 1.0)
    return right if found == np.sum(labels != -1) else None
