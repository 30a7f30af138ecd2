"""Centres in groups that move alike: each row keeps one bound a group."""

import numpy as np

ROUNDS = 5


def groups_of(C: np.ndarray, t: int) -> np.ndarray:
    """The group of each of k centres: by t of them, evenly chosen, and a few steps of Lloyd.

    O(k·t·p). Any grouping is right; one of near centres is better.
    """
    k = len(C)
    if t >= k:
        return np.arange(k)
    if t == 1:
        return np.zeros(k, dtype=np.intp)
    Z = C - C.mean(axis=0)
    size = np.abs(Z).max(initial=0.0)
    Z = Z / size if size > 0 else Z
    means = Z[(np.arange(t) * k) // t]
    for _ in range(ROUNDS):
        d = (means**2).sum(axis=1) - 2 * np.dot(Z, means.T)
        group = d.argmin(axis=1)
        for g in range(t):
            if (group == g).any():
                means[g] = Z[group == g].mean(axis=0)
    return np.asarray(group, dtype=np.intp)
