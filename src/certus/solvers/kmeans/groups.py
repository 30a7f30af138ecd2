"""Geometry of the centres: groups of near ones, distances between them, a grid of cells."""

import numpy as np

CELLS_PER_CENTER = 4  # about; first labels need only be good guesses
CELLS_PER_TILE = 256  # cells whose nearest centres are computed in one product
LLOYD_ROUNDS = 5  # of the grouping, which need not be optimal
UNIT = 2.0**-53  # unit roundoff of float64


def groups_of(C: np.ndarray, t: int) -> np.ndarray:
    """Return the group (of t) of each of the k centres, by a few Lloyd steps on the centres.

    O(k·t·p). Any grouping gives the same labels; groups of near centres give tighter bounds.
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
    for _ in range(LLOYD_ROUNDS):
        d = (means**2).sum(axis=1) - 2 * np.dot(Z, means.T)
        group = d.argmin(axis=1)
        for g in range(t):
            if (group == g).any():
                means[g] = Z[group == g].mean(axis=0)
    return np.asarray(group, dtype=np.intp)


def half_distance_to_nearest(m: np.ndarray) -> np.ndarray:
    """Return a lower bound of ½ min_b ‖m_a − m_b‖ for each centre a, in float32."""
    length = np.einsum("ij,ij->i", m, m)
    D = length[:, None] + length - 2 * np.dot(m, m.T)
    np.fill_diagonal(D, np.inf)
    error = 32 * (m.shape[1] + 8) * UNIT * length.max()
    half = 0.5 * np.sqrt(np.maximum(D.min(axis=1) - error, 0.0))
    return (half * (1 - 1e-6)).astype(np.float32)


def cells_of(C: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (cuts (p, m), labels): a grid of cells cut at quantiles of the centres, and for each
    cell the centre nearest to its middle."""
    k, p = C.shape
    parts = 2 ** max(1, round(np.log2(CELLS_PER_CENTER * k) / p))
    share = np.arange(1, 2 * parts) / (2 * parts)
    at = np.quantile(C, share, axis=0).T  # middles, and the cuts between them
    o = C.mean(axis=0)
    size = np.abs(C - o).max(initial=0.0) or 1.0
    # ‖μ − z‖² is least where μᵀz − ½‖μ‖² is largest; rounding matters little
    v = np.ones((k, p + 1), dtype=np.float32)
    v[:, :p] = (C - o) / size
    axes = np.meshgrid(*(a[::2] for a in (at - o[:, None]) / size), indexing="ij")
    z = np.ones((parts**p, p + 1), dtype=np.float32)
    z[:, :p] = np.stack([axis.ravel(order="F") for axis in axes], axis=1)
    v[:, p] = -0.5 * (v[:, :p] ** 2).sum(axis=1)
    label = np.empty(len(z), dtype=np.int32)
    for start in range(0, len(z), CELLS_PER_TILE):
        label[start : start + CELLS_PER_TILE] = np.dot(
            z[start : start + CELLS_PER_TILE], v.T
        ).argmax(axis=1)
    return np.ascontiguousarray(at[:, 1::2]), label
