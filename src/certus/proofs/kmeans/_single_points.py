"""Is each cluster one point? Decided by comparing rows, not by sums that rounding can swallow.

J = Σ s_i ‖x_i − μ_a(i)‖² can be 0 exactly where all rows of a cluster that count are equal, and
only then. The centre of such a cluster is its point, up to the rounding of a mean as it is stored:

    |μ_aj − x_ij| ≤ 4 eps max_k |x_kj|        in every column j by itself
"""

import numpy as np

from certus.proofs.linalg.linear_sums import dense
from certus.proofs.types import RowData

COMPARED = 512  # rows at a time
STORED = 4  # roundings of a mean and of the shift that it is computed about


def of_stored_centers(data: RowData, mu: np.ndarray) -> float:
    """Σ s ‖δ‖² where every entry of every centre is off by ``STORED`` roundings of its column."""
    S = float(data.shape[0] if data.s is None else data.s.sum())
    off = STORED * data.eps * np.abs(mu).max(axis=0)
    return S * float(np.dot(off, off))


def distinct_points(data: RowData, mu: np.ndarray, labels: np.ndarray) -> int | None:
    """The number of distinct rows that count, if each cluster is one point with its centre there;
    else None."""
    counted = np.flatnonzero(np.ones(len(labels)) if data.s is None else data.s > 0)
    clusters, first = np.unique(labels[counted], return_index=True)
    points = np.zeros(mu.shape)
    points[clusters] = np.asarray(dense(data.take(counted[first])[0]), dtype=float)
    held = points[clusters]
    off = STORED * data.eps * np.abs(held).max(axis=0, initial=0.0)
    if (np.abs(held - mu[clusters]) > off).any():
        return None
    (others,) = data.reduce(_elsewhere, points, beside=(labels,))
    return None if others else len(np.unique(held, axis=0))


def _elsewhere(
    X: np.ndarray, _y: np.ndarray, s: np.ndarray | None, labels: np.ndarray, points: np.ndarray
) -> tuple[int]:
    """Rows of a block that count and are not at the point of their cluster."""
    total = 0
    for start in range(0, len(labels), COMPARED):
        part = slice(start, start + COMPARED)
        differ = (dense(X[part]) != points[labels[part]]).any(axis=1)
        total += int(np.count_nonzero(differ if s is None else differ & (s[part] > 0)))
    return (total,)
