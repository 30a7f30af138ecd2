"""Centres among themselves: groups that move alike, and half of the way to the next one."""

import numpy as np

ROUNDS = 5
UNIT = 2.0**-53


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


def half_way(m: np.ndarray) -> np.ndarray:
    """½ min_b ‖m_a − m_b‖ in float32, never too long: less what products may be off by."""
    length = np.einsum("ij,ij->i", m, m)
    D = length[:, None] + length - 2 * np.dot(m, m.T)
    np.fill_diagonal(D, np.inf)
    error = 32 * (m.shape[1] + 8) * UNIT * length.max()
    half = 0.5 * np.sqrt(np.maximum(D.min(axis=1) - error, 0.0))
    return (half * (1 - 1e-6)).astype(np.float32)
