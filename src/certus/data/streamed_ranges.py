"""Some ranges of a table's rows as a table, and the folds of a cross-validation as ranges.

Folds of consecutive rows, as ``KFold`` makes them, are ranges: fold i of k holds

    rows  i·⌊n/k⌋ + min(i, n mod k)  to  (i + 1)·⌊n/k⌋ + min(i + 1, n mod k)

Any other splitter gives lists of row numbers, as long as the table.
"""

from collections.abc import Sequence
from itertools import pairwise
from numbers import Integral
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import KFold

from .rows import Rows
from .streamed import RowBlock, StreamedTable

DEFAULT_FOLDS = 5


class TableRanges(StreamedTable):
    """Rows of ascending ranges [start, stop) of a table, read from it."""

    def __init__(self, table: StreamedTable, ranges: Sequence[tuple[int, int]]):
        self.table = table
        self.ranges = [(start, stop) for start, stop in ranges if stop > start]
        self.edges = np.cumsum([0, *(stop - start for start, stop in self.ranges)])
        shape = (int(self.edges[-1]), table.shape[1])
        super().__init__(shape, table.dtype, table.n_targets, table.has_weights)
        self.names, self.classes, self.missing = table.names, table.classes, table.missing
        self.description = table.description
        self.distinct_targets = table.distinct_targets

    def read(self, start: int, stop: int) -> RowBlock:
        X, y, s = zip(*(self.table.read(*part) for part in self._parts(start, stop)), strict=True)
        return RowBlock(np.concatenate(X), _joined(y), _joined(s))

    def read_targets(self, start: int, stop: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        parts = [self.table.read_targets(*part) for part in self._parts(start, stop)]
        y, s = zip(*parts, strict=True)
        return _joined(y), _joined(s)

    def _parts(self, start: int, stop: int) -> list[tuple[int, int]]:
        """Ranges of the table that rows start:stop of this one stand for; at least one."""
        parts = []
        for (first, _), low, high in zip(self.ranges, self.edges, self.edges[1:], strict=False):
            a, b = max(start, low), min(stop, high)
            if a < b:
                parts.append((int(first + a - low), int(first + b - low)))
        return parts or [(0, 0)]


def _joined(parts: Sequence[np.ndarray | None]) -> np.ndarray | None:
    arrays = [part for part in parts if part is not None]
    return np.concatenate(arrays) if arrays else None


class RangeFold(NamedTuple):
    """One fold of a table: rows start:stop are left out."""

    table: StreamedTable
    start: int
    stop: int

    @property
    def is_partition(self) -> bool:
        """Whether training and test rows together are all rows."""
        return True

    def has_weight(self, rows: Rows) -> bool:
        return self.train_rows(rows).S > 0 and self.test_rows(rows).S > 0

    def train_rows(self, rows: Rows) -> Rows:
        ranges = [(0, self.start), (self.stop, self.table.shape[0])]
        return _rows_of(TableRanges(self.table, ranges), rows.threads)

    def test_rows(self, rows: Rows) -> Rows:
        return _rows_of(TableRanges(self.table, [(self.start, self.stop)]), rows.threads)


def _rows_of(table: StreamedTable, threads: int) -> Rows:
    return Rows(table.X, table.y, table.s, threads=threads)


def folds_of_table(cv: object, table: StreamedTable) -> list[RangeFold]:
    """Return the folds of ``cv``: None, a number, or a KFold that does not shuffle."""
    n, k = table.shape[0], _number_of_folds(cv)
    if k > n:
        raise ValueError(f"cannot have cv={k} folds of {n:,} rows: use fewer folds")
    edges = [i * (n // k) + min(i, n % k) for i in range(k + 1)]
    return [RangeFold(table, a, b) for a, b in pairwise(edges)]


def _number_of_folds(cv: object) -> int:
    if cv is None:
        return DEFAULT_FOLDS
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        if cv < 2:
            raise ValueError(f"cv={cv!r}: give at least 2 folds")
        return int(cv)
    if isinstance(cv, KFold) and not cv.shuffle:
        return int(cv.n_splits)
    raise ValueError(
        f"cv={cv!r} lists the numbers of the rows of each fold, and open_rows has too many rows "
        "for that: give a number of folds, which are then consecutive rows (shuffle the file "
        "beforehand if its order matters), or choose on a sample of the rows"
    )
