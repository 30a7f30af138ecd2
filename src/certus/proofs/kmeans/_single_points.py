"""Whether each cluster is a single point, decided by comparing rows, since sums are rounded.

J = Σ s_i ‖x_i − μ_a(i)‖² can be 0 if and only if all rows of positive weight in each cluster are
equal. The centre of such a cluster is its point, up to the rounding of a stored mean:

    |μ_aj − x_ij| ≤ 4 eps max_k |x_kj|        in every column j by itself
"""

from typing import Any

import numpy as np

from certus.proofs.linalg.linear_sums import dense
from certus.proofs.types import RowData, RowValues

BLOCK_ROWS = 512  # rows compared at a time
STORED_ROUNDINGS = 4  # roundings of a mean and of the origin it is computed about


def storage_rounding(data: RowData, mu: np.ndarray) -> float:
    """Return Σ s ‖δ‖² if every entry of the centres is off by STORED_ROUNDINGS roundings."""
    off = STORED_ROUNDINGS * data.eps * np.abs(mu).max(axis=0)
    return data.S * float(np.dot(off, off))


def distinct_points(data: RowData, mu: np.ndarray, labels: RowValues) -> int | None:
    """Return the number of distinct rows of positive weight if each cluster is a single point at
    its centre, else None."""
    _, first = data.reduce_beside(_first_rows, labels, data.s, len(mu), combine=_earlier)
    clusters = np.flatnonzero(first >= 0)
    points = np.zeros(mu.shape)
    points[clusters] = np.asarray(dense(data.take(first[clusters])[0]), dtype=float)
    cluster_points = points[clusters]
    off = STORED_ROUNDINGS * data.eps * np.abs(cluster_points).max(axis=0, initial=0.0)
    if (np.abs(cluster_points - mu[clusters]) > off).any():
        return None
    (others,) = data.reduce(_count_elsewhere, points, beside=(labels,))
    return None if others else len(np.unique(cluster_points, axis=0))


def _first_rows(labels: np.ndarray, s: np.ndarray | None, k: int) -> tuple[int, np.ndarray]:
    """Return how many rows a block has, and the first of positive weight of each label, or −1."""
    counted, first = np.arange(len(labels)) if s is None else np.flatnonzero(s > 0), np.full(k, -1)
    found, at = np.unique(labels[counted], return_index=True)
    first[found] = counted[at]
    return len(labels), first


def _earlier(left: tuple[int, np.ndarray], right: tuple[int, np.ndarray]) -> Any:
    (rows, first), (more, then) = left, right
    then = np.where(then < 0, -1, then + rows)
    return rows + more, np.where(first < 0, then, first)


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
