"""Sums over rows by their label or distance, for which X is not read.

n_k = Σ_{a_i = k} s_i        counts of rows with s_i > 0        Σ s d²
"""

from typing import Any

import numpy as np

from ...data.rows import Rows, RowState


def masses(rows: Rows, labels: RowState, k: int) -> np.ndarray:
    """Return the total weight Σ s of each cluster."""
    (mass,) = rows.with_targets(labels, rows.s).reduce_targets(_masses, k)
    return np.asarray(mass)


def counts(rows: Rows, labels: RowState, k: int) -> np.ndarray:
    """Return how many rows of positive weight each cluster has."""
    (count,) = rows.with_targets(labels, rows.s).reduce_targets(_counts, k)
    return np.asarray(count)


def count_nonempty(rows: Rows, labels: RowState, k: int) -> int:
    """Count the clusters with at least one row of positive weight."""
    return int(np.count_nonzero(counts(rows, labels, k)))


def count_weighted(rows: Rows) -> int:
    """Count the rows of positive weight."""
    if rows.s is None:
        return rows.shape[0]
    return int(rows.reduce_targets(_count_positive)[0])


def weighted_sum(rows: Rows, d2: RowState) -> float:
    """Return Σ s d²."""
    return float(rows.with_targets(d2, rows.s).reduce_targets(_weighted)[0])


def range_of_weights(rows: Rows) -> tuple[float, float]:
    """Return the smallest positive weight and the largest."""
    low, high = rows.reduce_targets(_range_of_weights, combine=_wider)
    return float(low), float(high)


def _masses(labels: np.ndarray, s: np.ndarray | None, k: int) -> tuple[np.ndarray]:
    return (np.bincount(labels, s, k).astype(float),)


def _counts(labels: np.ndarray, s: np.ndarray | None, k: int) -> tuple[np.ndarray]:
    return (np.bincount(labels if s is None else labels[s > 0], minlength=k),)


def _count_positive(_labels: object, s: np.ndarray) -> tuple[int]:
    return (int(np.count_nonzero(s > 0)),)


def _weighted(d2: np.ndarray, s: np.ndarray | None) -> tuple[float]:
    return (float(d2.sum() if s is None else np.dot(s, d2)),)


def _range_of_weights(_labels: object, s: np.ndarray) -> tuple[Any, Any]:
    return s[s > 0].min(initial=np.inf), s.max(initial=0.0)


def _wider(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    return min(a[0], b[0]), max(a[1], b[1])
