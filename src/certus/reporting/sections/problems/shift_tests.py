"""Tests whether two samples of rows are alike, column by column.

    numbers       Kolmogorov–Smirnov: the largest distance of the two distribution functions
    categories    χ² of sample × category; the distance is half the sum of differences of shares

p-values are corrected for the number of columns by Holm's method.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import chi2, kstwobign

MIN_EXPECTED = 5.0  # of a cell of χ²; rarer categories are merged


class ColumnShift(NamedTuple):
    """How far a column differs between two samples."""

    column: str
    distance: float  # between 0 and 1
    p_value: float


def holm(p_values: np.ndarray) -> np.ndarray:
    """Return p-values corrected so that the chance of any false one is at most the level.

    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p_values, kind="stable")
    m = len(p_values)
    raised = np.maximum.accumulate((m - np.arange(m)) * p_values[order])
    corrected = np.empty(m)
    corrected[order] = np.minimum(raised, 1.0)
    return corrected


def compare_numbers(column: str, a: np.ndarray, b: np.ndarray) -> ColumnShift:
    """Compare two samples of numbers; missing values are left out."""
    a, b = np.sort(a[~np.isnan(a)]), np.sort(b[~np.isnan(b)])
    if not len(a) or not len(b):
        return ColumnShift(column, 0.0, 1.0)
    at = np.concatenate([a, b])
    distance = float(np.abs(
        np.searchsorted(a, at, side="right") / len(a)
        - np.searchsorted(b, at, side="right") / len(b)
    ).max())  # fmt: skip
    size = np.sqrt(len(a) * len(b) / (len(a) + len(b)))
    return ColumnShift(column, distance, float(kstwobign.sf(distance * size)))


def compare_codes(column: str, a: np.ndarray, b: np.ndarray) -> ColumnShift:
    """Compare two samples of codes from 0."""
    n_codes = int(max(a.max(initial=-1), b.max(initial=-1))) + 1
    table = np.stack([np.bincount(x, minlength=n_codes) for x in (a, b)]).astype(float)
    expected = table.sum(axis=0) * table.sum(axis=1).min() / table.sum()
    rare = expected < MIN_EXPECTED
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2 or not table.sum(axis=1).all():
        return ColumnShift(column, 0.0, 1.0)
    cells = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    statistic = float(((table - cells) ** 2 / cells).sum())
    shares = table / table.sum(axis=1, keepdims=True)
    distance = float(np.abs(shares[0] - shares[1]).sum() / 2)
    return ColumnShift(column, distance, float(chi2.sf(statistic, table.shape[1] - 1)))
