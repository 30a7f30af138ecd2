"""Euclidean distance over the features that are known in both rows."""

import numbers

import numpy as np

from . import blocks
from .base import Distance, Flag
from .reading import as_rows

SQUARED_COLUMN = 2  # kind of a column in the kernel, beside numbers (0) and categories (1)


class NanEuclidean(Distance):
    """d(a, b) = √(p/m · Σ_l (a_l − b_l)²) over the m of p features that are known in both rows.

    Parameters
    ----------
    min_overlap : int or float, default=1
        How many features two rows must share, or if below 1 the smallest share of p; otherwise the
        distance is NaN, and the rows are not neighbours. A distance from one feature of twenty is
        mostly chance.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.distances import NanEuclidean
    >>> A = [[3.0, np.nan, 0.0, 0.0]]
    >>> NanEuclidean().pairwise(A, [[0.0, 1.0, 0.0, np.nan], [np.nan, 1.0, np.nan, np.nan]])
    array([[4.24264069,        nan]])
    >>> NanEuclidean(min_overlap=0.75).pairwise(A, [[0.0, 1.0, 0.0, np.nan]])
    array([[nan]])
    """

    name = "nan_euclidean"
    formula = "√(p/m · Σ Δ²)"
    missing = True

    def __init__(self, min_overlap: float = 1):
        self.min_overlap = checked_overlap(min_overlap)

    def compare(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        p = A.shape[1]
        least = least_overlap(self.min_overlap, p)

        def finish(square: np.ndarray, m: np.ndarray) -> np.ndarray:
            square *= p / np.maximum(m, 1.0)
            square[m < least] = np.nan
            return np.sqrt(square, out=square)

        ones, kinds = np.ones(p), np.full(p, SQUARED_COLUMN)
        return blocks.shared_features(A, B, ones, ones, kinds, finish, threads)

    def _paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        D = A - B
        known = ~np.isnan(D)
        m, p = known.sum(axis=1), A.shape[1]
        square = (np.where(known, D, 0.0) ** 2).sum(axis=1) * p / np.maximum(m, 1)
        return np.where(m < least_overlap(self.min_overlap, p), np.nan, np.sqrt(square))

    def flags(self, X: object) -> list[Flag]:
        """Return rows with too few known features to be compared with any other."""
        rows = as_rows(X, missing=True)
        known = (~np.isnan(rows)).sum(axis=1)
        return too_few(known, least_overlap(self.min_overlap, rows.shape[1]))


def too_few(known: np.ndarray, least: float) -> list[Flag]:
    """Return a flag for the rows with fewer than ``least`` known features."""
    from ..text.format import count, listed

    rows = np.flatnonzero(known < least)
    if not len(rows):
        return []
    which = f"{'row' if len(rows) == 1 else 'rows'} {listed([str(i) for i in rows], 5)}"
    needed = count(int(np.ceil(least)), "known feature")
    message = f"{count(len(rows), 'row')} with fewer than {needed} ({which}) cannot be compared"
    return [("too few known", rows, message)]


def checked_overlap(min_overlap: float) -> float:
    number = isinstance(min_overlap, numbers.Real) and not isinstance(min_overlap, bool)
    if not number or not 0 < min_overlap < np.inf:
        raise ValueError(
            f"min_overlap={min_overlap!r}: give a count of features from 1 up, or a share below 1"
        )
    return min_overlap


def least_overlap(min_overlap: float, p: int) -> float:
    """Return how many of p features must be known in both rows."""
    return max(1.0, min_overlap * p if min_overlap < 1 else min_overlap)
