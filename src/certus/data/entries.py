"""What entries of X are, block by block: missing, infinite, or outside a range."""

from typing import NamedTuple

import numpy as np

from .rows import Rows


class Entry(NamedTuple):
    """An entry of X."""

    row: int
    column: int
    value: float


def missing_and_infinite(rows: Rows) -> tuple[bool, bool]:
    """Return whether any entry is NaN, and whether any is infinite."""
    if rows.streamed and not rows.X.table.missing:
        return False, False  # of which the first pass over the table made sure
    missing, infinite = rows.reduce(_kinds)
    return bool(missing), bool(infinite)


def _kinds(X: np.ndarray, _y: object, _s: object) -> tuple[int, int]:
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(X.sum(dtype=float)):
            return 0, 0
    return int(np.isnan(X).any()), int(np.isinf(X).any())


def first_outside(rows: Rows, low: float, high: float) -> Entry | None:
    """Return the first entry below ``low`` or above ``high``, or None."""
    found: Entry | None
    _, found = rows.reduce(_first_outside, low, high, combine=_first_of_both)
    return found


Found = tuple[int, Entry | None]  # number of rows, and the first entry that was sought


def _first_outside(X: np.ndarray, _y: object, _s: object, low: float, high: float) -> Found:
    if not X.size or (X.min() >= low and X.max() <= high):
        return len(X), None
    outside = np.argwhere((low > X) | (high < X))
    if not len(outside):
        return len(X), None
    i, j = outside[0].tolist()
    return len(X), Entry(i, j, float(X[i, j]))


def _first_of_both(left: Found, right: Found) -> Found:
    n, found = left
    if found is None and right[1] is not None:
        found = right[1]._replace(row=n + right[1].row)
    return n + right[0], found
