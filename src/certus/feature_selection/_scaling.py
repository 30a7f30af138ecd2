r"""Columns on one scale, so that their weights can be compared.

    x ← (x − shift)/scale        "minmax": least value and range;  "standard": mean and spread

A column that never changes has no scale: it is left out of the problem, and weighs 0.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..data.finite import column_name, require_finite
from ..data.rows import Rows
from ..text.format import number

SCALES = ("minmax", "standard", None)
AT_ONCE = 1 << 17  # elements that are scaled in one go: they stay in cache
LARGEST = {np.dtype(np.float32): 1e30, np.dtype(np.float64): 1e150}  # sums and squares are held


class Scaling(NamedTuple):
    shift: np.ndarray  # (P,)
    scale: np.ndarray  # (P,) > 0
    columns: np.ndarray  # those that vary, by number

    def of(self, X: Any, columns: np.ndarray, dtype: "np.dtype[np.floating]") -> np.ndarray:
        """Some columns of X, scaled, row by row; X itself where there is nothing to do."""
        n, p = X.shape
        shift, scale = self.shift[columns], self.scale[columns]
        every, plain = len(columns) == p, not shift.any() and bool((scale == 1).all())
        held = isinstance(X, np.ndarray) and X.dtype == dtype and X.flags.c_contiguous
        if every and plain and held:
            return np.asarray(X)
        out = np.empty((n, len(columns)), dtype=dtype)
        for rows in blocks(n, p):
            block = X[rows]
            out[rows] = ((block if every else block[:, columns]) - shift) / scale
        return out


def blocks(n: int, p: int) -> Iterator[slice]:
    step = max(1, AT_ONCE // max(1, p))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def held_as(X: Any) -> np.dtype[Any]:
    """float32 stays; all other numbers become float64."""
    return np.dtype(np.float32 if X.dtype == np.float32 else np.float64)


def learn_scaling(rows: Rows, kind: str | None, names: Sequence[str] | None) -> Scaling:
    """In two passes over the rows at most."""
    X, (n, p) = rows.X, rows.shape
    low, high = np.full(p, np.inf), np.full(p, -np.inf)
    with np.errstate(invalid="ignore"):
        for some in blocks(n, p):
            block = X[some]
            np.minimum(low, block.min(axis=0), out=low)
            np.maximum(high, block.max(axis=0), out=high)
    if not (np.isfinite(low).all() and np.isfinite(high).all()):
        require_finite(np.asarray(X), names)
    size, most = np.maximum(-low, high), LARGEST[held_as(X)]
    _require_room(size, most, kind, names)
    reach = high - low
    varies = reach > 0
    columns = np.flatnonzero(varies)
    reach = np.where(varies, reach, 1.0)
    if kind is None:
        return Scaling(np.zeros(p), np.ones(p), columns)
    if kind == "minmax":
        return Scaling(low, reach, columns)
    total = np.zeros(p)
    for some in blocks(n, p):
        total += ((X[some] - low) / reach).sum(axis=0)
    mean, squares = total / n, np.zeros(p)
    for some in blocks(n, p):
        squares += (((X[some] - low) / reach - mean) ** 2).sum(axis=0)
    spread = np.sqrt(squares / n)
    return Scaling(low + reach * mean, np.where(varies, reach * spread, 1.0), columns)


def _require_room(
    size: np.ndarray, most: float, kind: str | None, names: Sequence[str] | None
) -> None:
    largest = int(size.argmax())
    if size[largest] <= most:
        return
    remedy = "divide it by a power of 10" if kind is not None else "use scale='minmax'"
    raise ValueError(
        f"{column_name(largest, names)} reaches {number(size[largest], 3)}, where distances "
        f"overflow: {remedy}"
    )
