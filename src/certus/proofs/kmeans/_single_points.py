"""Whether each cluster is a single point, decided by comparing rows, since sums are rounded.

J = Σ s_i ‖x_i − μ_a(i)‖² can be 0 if and only if all rows of positive weight in each cluster are
equal. The centre of such a cluster is its point, up to the rounding of a stored mean:

    |μ_aj − x_ij| ≤ 4 eps max_k |x_kj|        in every column j by itself
"""

import numpy as np

from certus.proofs.linalg.linear_sums import dense
from certus.proofs.types import RowData

BLOCK_ROWS = 512  # rows compared at a time
STORED_ROUNDINGS = 4  # roundings of a mean and of the origin it is computed about


def storage_rounding(data: RowData, mu: np.ndarray) -> float:
    """Return Σ s ‖δ‖² if every entry of the centres is off by STORED_ROUNDINGS roundings."""
    S = float(data.shape[0] if data.s is None else data.s.sum())
    off = STORED_ROUNDINGS * data.eps * np.abs(mu).max(axis=0)
    return S * float(np.dot(off, off))


def distinct_points(data: RowData, mu: np.ndarray, labels: np.ndarray) -> int | None:
    """Return the number of distinct rows of positive weight if each cluster is a single point at
    its centre, else None."""
    counted = np.flatnonzero(np.ones(len(labels)) if data.s is None else data.s > 0)
    clusters, first = np.unique(labels[counted], return_index=True)
    points = np.zeros(mu.shape)
    points[clusters] = np.asarray(dense(data.take(counted[first])[0]), dtype=float)
    cluster_points = points[clusters]
    off = STORED_ROUNDINGS * data.eps * np.abs(cluster_points).max(axis=0, initial=0.0)
    if (np.abs(cluster_points - mu[clusters]) > off).any():
        return None
    (others,) = data.reduce(_count_elsewhere, points, beside=(labels,))
    return None if others else len(np.unique(cluster_points, axis=0))


def _count_elsewhere(
    X: np.ndarray, _y: np.ndarray, s: np.ndarray | None, labels: np.ndarray, points: np.ndarray
) -> tuple[int]:
    """Count the rows of positive weight in a block that are not at the point of their cluster."""
    total = 0
    for start in range(0, len(labels), BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        differ = (dense(X[part]) != points[labels[part]]).any(axis=1)
        total += int(np.count_nonzero(differ if s is None else differ & (s[part] > 0)))
    return (total,)
