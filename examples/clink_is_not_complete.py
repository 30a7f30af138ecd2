"""CLINK (Defays, 1977) is not complete linkage: its tree depends on the order of the rows.

Complete linkage merges, again and again, the two clusters whose farthest rows are nearest:

    d(A, B) = max over a in A, b in B of d(a, b)

CLINK takes the rows one after another. Row i joins a cluster with later rows at height λ_i, and
π_i is the last of these rows. O(n) memory, O(n²) time, and no cluster is wider than its height; but
it is another tree, and for another order of the same rows yet another one.

Run it: python examples/clink_is_not_complete.py
"""

import numpy as np

ROWS = np.array([0.0, 3.0, 4.0, 6.2, 10.9])  # on a line, no two distances equal
ORDERS = [0, 1, 2, 3, 4], [2, 0, 4, 1, 3]


def clink(D):
    """(π, λ) from all distances D; in the words of the paper."""
    n = len(D)
    pi, height = np.arange(n), np.full(n, np.inf)
    for i in range(1, n):
        M = D[i, :i].copy()
        for j in range(i):
            if height[j] < M[j]:
                M[pi[j]], M[j] = max(M[pi[j]], M[j]), np.inf
        a = i - 1
        for j in range(i - 1, -1, -1):
            if height[j] < M[pi[j]]:
                M[j] = np.inf
            elif M[j] < M[a]:
                a = j
        b, c = pi[a], height[a]
        pi[a], height[a] = i, M[a]
        while a < i - 1:  # what followed a now follows i
            last = b == i - 1
            pi[b], height[b], b, c = i, c, pi[b], height[b]
            if last:
                break
        for j in range(i):
            if pi[pi[j]] == i and height[j] >= height[pi[j]]:
                pi[j] = i
    return pi, height


def tree_of(pi, height, names):
    """{cluster: its height}, a cluster as the sorted names of its rows."""
    cluster = {i: (names[i],) for i in range(len(pi))}
    tree = {}
    for i in np.argsort(height, kind="stable")[:-1]:
        both = tuple(sorted(cluster[i] + cluster[pi[i]]))
        tree[both] = float(height[i])
        cluster |= {k: both for k in range(len(pi)) if names[k] in both}
    return tree


def complete(D):
    """{cluster: its height} of complete linkage, by its definition."""
    clusters, tree = [(i,) for i in range(len(D))], {}
    while len(clusters) > 1:
        pairs = [(D[np.ix_(A, B)].max(), A, B) for A in clusters for B in clusters if A < B]
        h, A, B = min(pairs)
        both = tuple(sorted(A + B))
        tree[both] = float(h)
        clusters = [C for C in clusters if C not in (A, B)] + [both]
    return tree


if __name__ == "__main__":
    D = np.abs(ROWS[:, None] - ROWS)
    for order in ORDERS:
        print("CLINK, rows in the order", *order, tree_of(*clink(D[np.ix_(order, order)]), order))
    print("complete linkage", complete(D))
