"""Means and variances of columns over their observed (not NaN) entries.

m_j = Σ s x_j / Σ s,   v_j = Σ s (x_j − m_j)² / Σ s        over the rows where x_j is observed
"""

from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows


class ObservedMoments(NamedTuple):
    observed: np.ndarray  # (p,) Σ s of the observed entries
    mean: np.ndarray
    variance: np.ndarray  # exactly 0 where the column is constant
    missing: bool  # whether any entry is NaN
    infinite: bool


def column_moments(rows: Rows) -> ObservedMoments:
    """Compute moments in two passes of sums; the second is about the means, so that offsets cost no
    digits."""
    low, high, is_missing, infinite = rows.reduce(_range, combine=_widen)
    with np.errstate(invalid="ignore", over="ignore"):
        middle = np.where(high >= low, low / 2 + high / 2, 0.0)
        middle = np.where(high == low, low, middle)
        observed, A, _ = rows.reduce(_sums, middle)
        mass = np.where(observed > 0, observed, 1.0)
        mean = middle + A / mass
        _, A, Q = rows.reduce(_sums, mean)
        variance = np.where(high > low, np.maximum(Q / mass - (A / mass) ** 2, 0.0), 0.0)
        mean = np.where(high > low, mean + A / mass, middle)
    return ObservedMoments(observed, mean, variance, bool(is_missing), bool(infinite))


def _range(X: np.ndarray, _y: np.ndarray, s: np.ndarray | None) -> tuple[Any, Any, Any, Any]:
    infinite, is_missing = bool(np.isinf(X).any()), bool(np.isnan(X).any())
    X = X if s is None else X[s > 0]
    if not len(X):
        return np.full(X.shape[1], np.inf), np.full(X.shape[1], -np.inf), is_missing, infinite
    low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    return low.astype(float), high.astype(float), is_missing, infinite


def _widen(left: np.ndarray, right: np.ndarray) -> tuple[Any, ...]:
    low, high = np.fmin(left[0], right[0]), np.fmax(left[1], right[1])
    return low, high, left[2] or right[2], left[3] or right[3]


def _sums(
    X: np.ndarray, _y: np.ndarray, s: np.ndarray | None, about: np.ndarray
) -> tuple[Any, Any, Any]:
    Z = X - about
    s = np.ones(len(Z)) if s is None else s
    is_missing = np.isnan(Z)
    if not is_missing.any():
        return np.full(Z.shape[1], s.sum()), np.dot(s, Z), np.dot(s, Z * Z)
    Z[is_missing] = 0.0
    return np.dot(s, ~is_missing), np.dot(s, Z), np.dot(s, Z * Z)
