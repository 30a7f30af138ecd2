"""Trees to cut, draw and write."""

import numpy as np
from scipy.cluster import hierarchy

METHODS = ("single", "complete", "average", "weighted", "centroid", "median", "ward")
INVERTED = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.85]])  # its centroid merges fall


def rows(seed, n=30, p=3):
    return np.random.default_rng(seed).normal(size=(n, p))


def scipy_tree(seed, method, n=30, p=3):
    X = rows(seed, n, p)
    return hierarchy.linkage(X, method), X


def chain(n):
    """Return a chain: each merge adds one leaf, so the depth is the number of leaves."""
    made = np.concatenate([[0], n + np.arange(n - 2)])
    t = np.arange(n - 1)
    pairs = np.sort(np.column_stack([made, t + 1]), axis=1)
    return np.column_stack([pairs, t + 1.0, t + 2.0])


def same_clusters(a, b):
    """Whether two labellings are the same up to names."""
    pairs = set(zip(a.tolist(), b.tolist(), strict=True))
    return len(pairs) == len(set(a.tolist())) == len(set(b.tolist()))
