"""The first pass over a source: everything that must be known before a fit, in one reading.

    n rows,  Σ xᵢ,  the distinct targets,  a sample,  and that every value of X, y and s is finite

It stops at the first value that no model can use, and names its file, row and column.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

import numpy as np

from ..data.rows import spread
from ..data.streamed import RowBlock, rows_of_block, sample_rows
from ..exceptions import TableError
from .parts import Place
from .read_ahead import joined_blocks

MAX_DISTINCT_TARGETS = 1000  # whole numbers that are counted, so that a classifier may use them
MAX_STATED_CLASSES = 10_000  # with classes=True
MAX_EXACT = 1 << 53  # below, float64 holds every whole number
MAX_COUNTED_RANGE = 1 << 16  # whole numbers in a range up to this are counted, not sorted
MIN_WEIGHT = 1e-300  # the largest weight: rounding errors of smaller sums underflow too


class Roles(NamedTuple):
    """Names of the columns, for messages, and what may be missing."""

    features: Sequence[str]  # "column 'income'"
    targets: Sequence[str]
    weights: str
    coded: Sequence[bool]  # which columns of X are codes of text
    missing: bool  # whether X may hold NaN


class FixedSample:
    """The stored rows of the sample that a table keeps in memory, picked out of the first pass."""

    def __init__(self, n: int, p: int):
        self.n_rows = n  # as the files state it
        self.numbers = spread(n, min(n, sample_rows(p)))
        self._blocks: list[RowBlock] = []
        self._done = 0

    def add(self, block: RowBlock) -> None:
        """Keep the sampled rows of the next block."""
        first, self._done = self._done, self._done + len(block.X)
        a, b = np.searchsorted(self.numbers, [first, self._done])
        if a < b:
            self._blocks.append(rows_of_block(block, self.numbers[a:b] - first))

    def rows(self) -> RowBlock:
        """Return the rows of the sample."""
        return joined_blocks(self._blocks)


class DistinctTargets:
    """The different values of a target, while they are few whole numbers."""

    def __init__(self, most: int):
        self.most = most
        self.values: np.ndarray | None = np.empty(0)
        self.dtype = np.dtype(float)  # of the classes that they are
        self.reason = ""  # why there are none

    def add(self, y: np.ndarray) -> None:
        """Include the values of a block."""
        if self.values is None or not len(y):
            return
        least, largest = float(y.min()), float(y.max())
        if not (y == np.floor(y)).all():
            self.values, self.reason = None, "fractions"
            return
        if max(-least, largest) >= MAX_EXACT:
            self.values, self.reason = None, "numbers of 2^53 and more, which float64 confuses"
            return
        if largest - least < MAX_COUNTED_RANGE:
            found = np.flatnonzero(np.bincount((y - least).astype(np.intp))) + least
        else:
            found = np.unique(y)
        self._add_distinct(found)

    def include(self, other: "DistinctTargets") -> None:
        """Include the values of another part of the target."""
        if self.values is None:
            return
        if other.values is None:
            self.values, self.reason = None, other.reason
        else:
            self._add_distinct(other.values)

    def _add_distinct(self, found: np.ndarray) -> None:
        assert self.values is not None
        self.values = np.union1d(self.values, found)
        if len(self.values) > self.most:
            self.values, self.reason = None, f"more than {self.most:,} different numbers"


class FirstPass:
    """What is found while blocks are added in order."""

    def __init__(
        self, roles: Roles, distinct: DistinctTargets | None, known_rows: int | None = None
    ):
        self.n_rows = 0
        self.sums = np.zeros(len(roles.features))
        self.n_present = np.zeros(len(roles.features))
        self.weight = 0.0
        self.largest_weight = 0.0
        self.distinct = distinct
        self.sample = None if known_rows is None else FixedSample(known_rows, len(roles.features))
        self._roles = roles

    def add(self, block: RowBlock, place: Place) -> None:
        """Include a block whose first row is at ``place``."""
        X, y, s = block
        with np.errstate(over="ignore", invalid="ignore"):
            sums = self._column_sums(X)
        if np.isfinite(sums).all():
            self.sums += sums
            self.n_present += len(X)
        else:
            self._add_with_missing(X, place)
        if y is not None:
            self._require_targets(y, place)
            if self.distinct is not None:
                self.distinct.add(y[:, 0])
        if s is not None and len(s):
            self._require_weights(s, place)
            self.weight += float(s.sum())
            self.largest_weight = max(self.largest_weight, float(s.max()))
        if self.sample is not None:
            self.sample.add(block)
        self.n_rows += len(X)

    def _column_sums(self, X: np.ndarray) -> np.ndarray:
        """Σ xᵢ over a block; not finite where a value is not."""
        sums: np.ndarray = X.sum(axis=0, dtype=np.float64)
        return sums

    def include(self, other: "FirstPass") -> None:
        """Include what another reading found in rows of the same source."""
        self.sums += other.sums
        self.n_present += other.n_present
        self.weight += other.weight
        self.largest_weight = max(self.largest_weight, other.largest_weight)
        if self.distinct is not None and other.distinct is not None:
            self.distinct.include(other.distinct)
        self.n_rows += other.n_rows

    def _add_with_missing(self, X: np.ndarray, place: Place) -> None:
        is_missing = np.isnan(X)
        bad = ~np.isfinite(X)
        if self._roles.missing:
            bad &= ~is_missing | np.asarray(self._roles.coded)
        if bad.any():
            row, j = (int(i) for i in np.argwhere(bad)[0])
            self._refuse(
                f"{self._roles.features[j]}", X[row, j], place._replace(row=place.row + row), j
            )
        with np.errstate(over="ignore"):
            self.sums += np.nansum(X, axis=0, dtype=np.float64)
        self.n_present += (~is_missing).sum(axis=0)

    def _refuse(self, column: str, value: float, place: Place, j: int) -> NoReturn:
        if not math.isnan(value):
            raise TableError(
                f"{column} has an infinite value ({place}): correct it, or drop the row"
            )
        if self._roles.coded[j]:
            raise TableError(
                f"{column} has a missing value ({place}): give missing text a category of its own, "
                "or drop the row"
            )
        raise TableError(
            f"{column} has a missing value (NaN; {place}): impute it or drop the row. For "
            "mixtures, which accept missing values: open_rows(…, missing=True)"
        )

    def _require_targets(self, y: np.ndarray, place: Place) -> None:
        bad = ~np.isfinite(y)
        if bad.any():
            row, k = (int(i) for i in np.argwhere(bad)[0])
            what = "a missing" if np.isnan(y[row, k]) else "an infinite"
            raise TableError(
                f"the target, {self._roles.targets[k]}, has {what} value "
                f"({place._replace(row=place.row + row)}): drop the row"
            )

    def _require_weights(self, s: np.ndarray, place: Place) -> None:
        bad = np.flatnonzero(~(np.isfinite(s) & (s >= 0)))
        if not len(bad):
            return
        value, where = s[bad[0]], place._replace(row=place.row + int(bad[0]))
        name = self._roles.weights
        if value < 0 and math.isfinite(value):
            raise TableError(
                f"the weights, {name}, have {value:g} ({where}). A weight says how often a row "
                "counts: 0 leaves it out, and none is below 0"
            )
        raise TableError(
            f"the weights, {name}, have {'a missing' if math.isnan(value) else 'an infinite'} "
            f"value ({where}): correct it, or drop the row"
        )

    def require_rows(self, where: str, has_weights: bool) -> None:
        """Raise ``TableError`` where there are no rows, or no weight."""
        if self.n_rows == 0:
            raise TableError(f"{where} has no rows")
        if not has_weights:
            return
        if self.largest_weight == 0:
            raise TableError(f"the weights, {self._roles.weights}, are all 0")
        if self.largest_weight < MIN_WEIGHT:
            raise TableError(
                f"the weights, {self._roles.weights}, reach only {self.largest_weight:.3g}, and "
                "sums of such weights underflow: multiply them by a power of 10"
            )

    @property
    def means(self) -> np.ndarray:
        """The mean of each stored column, of the values that are there."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.sums / self.n_present
