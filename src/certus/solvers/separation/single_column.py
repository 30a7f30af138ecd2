r"""Single columns that separate a class from all others.

    x_ij ≤ t for all rows of one side, x_ij ≥ t for those of the other, not all equal

They follow from the classes' minima and maxima. Columns count that are constant in one class at the
minimum or maximum of the others, such as a 0/1 column that is 1 in one class only.

``certificate/causes/separating_columns`` answers the same question and shares no code: it serves
models of other libraries too, for which no solver of ours has run, and a proof must not rest on a
solver. It looks for the first column without ambiguous rows and for a threshold with few digits;
here the column with the widest gap is chosen, since it gives the steepest direction.
"""

from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows


class SeparatingColumn(NamedTuple):
    """A column whose threshold has the rows of one class on one side, all others on the other."""

    feature: int
    threshold: float
    class_index: int
    above: bool  # whether the class lies above; always True for two classes
    complete: bool  # no row is at the threshold, or only rows of one side are
    below_at_above: tuple[int, int, int]  # numbers of rows of positive weight


def separating_column(
    rows: Rows, n_classes: int, fit_intercept: bool = True
) -> SeparatingColumn | None:
    """Return the column that separates one class from the others with the widest gap, if any.

    Without an intercept the threshold must be 0. One pass over the rows, and one over the column.
    """
    low, high = class_ranges(rows, n_classes)
    if not np.isfinite(low).all():  # a class without rows
        return None
    width = high.max(axis=0) / 2 - low.min(axis=0) / 2
    best: tuple[bool, float] = (False, -1.0)
    result = None
    for k in range(1 if n_classes == 2 else 0, n_classes):
        others = np.arange(n_classes) != k
        for above in (True, False):
            # bottom: maximum of the lower side; top: minimum of the upper side
            bottom = high[others].max(axis=0) if above else high[k]
            top = low[k] if above else low[others].min(axis=0)
            apart = (bottom <= top) & (width > 0)
            if not fit_intercept:
                apart &= (bottom <= 0) & (top >= 0)
            if not apart.any():
                continue
            gap = np.where(apart, (top / 2 - bottom / 2) / np.where(apart, width, 1.0), -1.0)
            j = int(gap.argmax())
            strict = bool(top[j] > bottom[j])
            if (strict, gap[j]) > best:
                best = (strict, float(gap[j]))
                threshold = _midpoint(bottom[j], top[j]) if fit_intercept else 0.0
                result = j, threshold, k, above
    if result is None:
        return None
    j, threshold, k, above = result
    if n_classes == 2 and not above:
        k, above = 0, True
    below, at, higher = rows.reduce(_sides, j, threshold)
    complete = best[0] and (fit_intercept or at == 0)
    return SeparatingColumn(j, threshold, k, above, complete, (below, at, higher))


def _midpoint(bottom: float, top: float) -> float:
    middle = float(bottom / 2 + top / 2)
    return middle if bottom <= middle < top else float(bottom)


def class_ranges(rows: Rows, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the minima and maxima of each class and column, (n_classes, p)."""
    low, high = rows.reduce(_block_ranges, n_classes, combine=_merge_ranges)
    return low, high


def _block_ranges(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, n_classes: int
) -> tuple[Any, Any]:
    low = np.full((n_classes, X.shape[1]), np.inf)
    high = -low
    for k in range(n_classes):
        in_class = y[:, 0] == k if s is None else (y[:, 0] == k) & (s > 0)
        if in_class.any():
            X_class = X[np.flatnonzero(in_class)]
            low[k], high[k] = dense_block(X_class.min(axis=0)), dense_block(X_class.max(axis=0))
    return low, high


def _merge_ranges(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    return np.minimum(a[0], b[0]), np.maximum(a[1], b[1])


def _sides(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, j: int, threshold: float
) -> tuple[Any, ...]:
    x = np.ravel(dense_block(X[:, [j]]))
    x = x if s is None else x[s > 0]
    below, above = int(np.sum(x < threshold)), int(np.sum(x > threshold))
    return below, len(x) - below - above, above


def dense_block(X: np.ndarray) -> Any:
    return X if isinstance(X, np.ndarray) else X.toarray()
