r"""Does one column tell a class from all others?

    x_ij ≤ t for all rows of one side, x_ij ≥ t for those of the other, not all equal

From the classes' minima and maxima. That includes columns that are constant in one class, at the
least or largest value of the others: such as a 0/1 column that is 1 in one class only.

``certificate/separating_columns`` asks again, and shares no code: it names what separates the
classes also for a model of another library, for which no solver of ours has run, and what is
proven must not rest on a solver. It looks for the first column that leaves no row in doubt, and
for a threshold that is short to read; here the widest gap makes the steepest direction.
"""

from typing import Any, NamedTuple

import numpy as np

from ...data.rows import Rows


class OneColumn(NamedTuple):
    """Rows of the class lie on one side of the threshold, all others on the other (or at it)."""

    feature: int
    threshold: float
    class_index: int
    above: bool  # the side of its rows; with two classes always the upper one
    complete: bool  # no row is at the threshold, or only rows of one side are
    below_at_above: tuple[int, int, int]  # rows of weight above 0


def by_one_column(rows: Rows, n_classes: int, fit_intercept: bool = True) -> OneColumn | None:
    """The column that tells one class from the others, with the widest gap if there are several.

    Without an intercept only 0 is a threshold. One pass over the rows, and one over the column.
    """
    low, high = ranges(rows, n_classes)
    if not np.isfinite(low).all():  # a class without rows
        return None
    width = high.max(axis=0) / 2 - low.min(axis=0) / 2
    best: tuple[bool, float] = (False, -1.0)
    found = None
    for k in range(1 if n_classes == 2 else 0, n_classes):
        others = np.arange(n_classes) != k
        for above in (True, False):
            # bottom lies below top, each the nearest to the other side
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
                threshold = _between(bottom[j], top[j]) if fit_intercept else 0.0
                found = j, threshold, k, above
    if found is None:
        return None
    j, threshold, k, above = found
    if n_classes == 2 and not above:
        k, above = 0, True
    below, at, higher = rows.reduce(_sides, j, threshold)
    complete = best[0] and (fit_intercept or at == 0)
    return OneColumn(j, threshold, k, above, complete, (below, at, higher))


def _between(bottom: float, top: float) -> float:
    middle = float(bottom / 2 + top / 2)
    return middle if bottom <= middle < top else float(bottom)


def ranges(rows: Rows, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Minima and maxima of each class and column, (n_classes, p)."""
    low, high = rows.reduce(_block_ranges, n_classes, combine=_wider)
    return low, high


def _block_ranges(
    X: np.ndarray, y: np.ndarray, s: np.ndarray | None, n_classes: int
) -> tuple[Any, Any]:
    low = np.full((n_classes, X.shape[1]), np.inf)
    high = -low
    for k in range(n_classes):
        own = y[:, 0] == k if s is None else (y[:, 0] == k) & (s > 0)
        if own.any():
            of_class = X[np.flatnonzero(own)]
            low[k], high[k] = dense_block(of_class.min(axis=0)), dense_block(of_class.max(axis=0))
    return low, high


def _wider(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
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
