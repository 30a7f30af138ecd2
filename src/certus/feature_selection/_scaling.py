r"""Scaling of the columns, so that their weights can be compared.

    x ← (x − shift)/scale        "minmax": minimum and range;  "standard": mean and spread

A constant column is left out of the problem, and has weight 0.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..data.finite import column_name, require_finite
from ..data.rows import Rows
from ..text.format import number

SCALES = ("minmax", "standard", None)
BLOCK_ELEMENTS = 1 << 17  # scaled at a time: they stay in cache
# of an entry of X: sums and squares of larger ones may overflow
MAX_ABSOLUTE_VALUE = {np.dtype(np.float32): 1e30, np.dtype(np.float64): 1e150}


class Scaling(NamedTuple):
    """Shift and scale of each column, and the columns that vary."""

    shift: np.ndarray  # (P,)
    scale: np.ndarray  # (P,) > 0
    columns: np.ndarray  # numbers of the columns that vary

    def of(self, X: Any, columns: np.ndarray, dtype: "np.dtype[np.floating]") -> np.ndarray:
        """Return these columns of X, scaled; X itself if that changes nothing."""
        n, p = X.shape
        shift, scale = self.shift[columns], self.scale[columns]
        all_columns, unscaled = len(columns) == p, not shift.any() and bool((scale == 1).all())
        stored = isinstance(X, np.ndarray) and X.dtype == dtype and X.flags.c_contiguous
        if all_columns and unscaled and stored:
            return np.asarray(X)
        out = np.empty((n, len(columns)), dtype=dtype)
        for rows in blocks(n, p):
            block = X[rows]
            out[rows] = ((block if all_columns else block[:, columns]) - shift) / scale
        return out


def blocks(n: int, p: int) -> Iterator[slice]:
    step = max(1, BLOCK_ELEMENTS // max(1, p))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def stored_dtype(X: Any) -> np.dtype[Any]:
    """Type in which X is stored: float32 if X is, else float64."""
    return np.dtype(np.float32 if X.dtype == np.float32 else np.float64)


def learn_scaling(rows: Rows, kind: str | None, names: Sequence[str] | None) -> Scaling:
    """Learn the scaling of the columns, in at most three passes over the rows."""
    X, (n, p) = rows.X, rows.shape
    low, high = np.full(p, np.inf), np.full(p, -np.inf)
    with np.errstate(invalid="ignore"):
        for block_rows in blocks(n, p):
            block = X[block_rows]
            np.minimum(low, block.min(axis=0), out=low)
            np.maximum(high, block.max(axis=0), out=high)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        require_finite(np.asarray(X), names)
    require_no_overflow(low, high, stored_dtype(X), kind, names)
    if kind != "standard":
        return scaling_of_ranges(low, high, kind)
    varies = high > low
    columns, ranges = np.flatnonzero(varies), np.where(varies, high - low, 1.0)
    total = np.zeros(p)
    for block_rows in blocks(n, p):
        total += ((X[block_rows] - low) / ranges).sum(axis=0)
    mean, squares = total / n, np.zeros(p)
    for block_rows in blocks(n, p):
        squares += (((X[block_rows] - low) / ranges - mean) ** 2).sum(axis=0)
    spread = np.sqrt(squares / n)
    return Scaling(low + ranges * mean, np.where(varies, ranges * spread, 1.0), columns)


def scaling_of_ranges(low: np.ndarray, high: np.ndarray, kind: str | None) -> Scaling:
    """Scaling to [0, 1] ("minmax") or none, of columns with these ranges."""
    columns = np.flatnonzero(high > low)
    if kind is None:
        return Scaling(np.zeros(len(low)), np.ones(len(low)), columns)
    return Scaling(low, np.where(high > low, high - low, 1.0), columns)


def require_no_overflow(
    low: np.ndarray, high: np.ndarray, dtype: "np.dtype[np.floating]", kind: str | None,
    names: Sequence[str] | None,
) -> None:  # fmt: skip
    """Raise ValueError if distances between values in these ranges may overflow."""
    size = np.maximum(-low, high)
    largest = int(size.argmax())
    if size[largest] <= MAX_ABSOLUTE_VALUE[dtype]:
        return
    remedy = "divide it by a power of 10" if kind is not None else "use scale='minmax'"
    raise ValueError(
        f"{column_name(largest, names)} reaches {number(size[largest], 3)}, where distances "
        f"overflow: {remedy}"
    )
