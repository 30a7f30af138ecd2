"""What the columns of a table look like, from blocks of its rows that are read in turn.

The rules are those of a table in memory (``columns.py``); what would take memory for every row is
counted as far as it matters: different numbers up to 65,536 (of more than 64 columns, fewer), texts
up to 4,096, places of odd cells up to three.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..exceptions import TableError
from ..text.format import count, listed
from .columns import (
    LOOKS_LIKE_ID,
    MAX_EXAMPLE_ROWS,
    Column,
    Content,
    NumberSequence,
    are_dates,
    described,
    is_unreadable,
    role_of_numbers,
    role_of_values,
)
from .conversion import MAX_ROWS_NAMED, Converted
from .medians import mean_of, middle_ranks
from .table import DescribedTable, ReadReport
from .targets import MAX_WHOLE

if TYPE_CHECKING:
    import pyarrow as pa

MAX_COUNTED = 1 << 16  # different numbers of a column
MAX_COUNTED_IN_ALL = 1 << 22  # of all columns, 64 MB
MAX_TEXTS = 1 << 12  # different texts of a column: they may be long
MAX_EXAMPLES = 3


@dataclass(frozen=True)
class ScannedTable(DescribedTable):
    """The columns of a table that was read once, block by block."""

    columns: tuple[Column, ...]
    report: ReadReport
    scans: "dict[str, ColumnScan]" = field(repr=False)

    def categories(self, name: str) -> list[str]:
        """The different texts of a column, in order."""
        return sorted(map(str, self.scans[name].texts))

    def require_target(self, name: str) -> None:
        """Refuse a target that cannot be learnt, as ``Table.target`` does."""
        column, scan = self.column(name), self.scans[name]
        if column.n_missing:
            raise TableError(
                f"the target '{name}' is missing in {count(column.n_missing, 'row')} "
                f"({scan.missing_places}): drop these rows, or fill them in"
            )
        if column.role == "constant":
            raise TableError(f"the target '{name}' is {column.reason}: there is nothing to learn")
        if column.role in ("date", "nested"):
            raise TableError(f"the target '{name}' cannot be predicted: {column.reason}")
        self.require_finite(name)

    def require_finite(self, name: str) -> None:
        """Refuse a column with infinite values."""
        scan = self.scans[name]
        if scan.n_infinite:
            raise TableError(
                f"column '{name}' is infinite in {count(scan.n_infinite, 'row')} "
                f"({scan.infinite_places}): correct the values, leave them empty, or drop the rows"
            )


def scanned(
    blocks: "Iterable[tuple[pa.Table, str, int]]", source: str, file_format: str
) -> ScannedTable:
    """Read blocks of a table, each with the name of its file and its first row in there."""
    scans: dict[str, ColumnScan] = {}
    n = 0
    for data, part, row in blocks:
        for name, values in zip(data.column_names, data.columns, strict=True):
            if name not in scans:
                scans[name] = ColumnScan(name, values.type, data.num_columns)
            scans[name].add(values, part, row)
        n += len(data)
    columns = tuple(scan.column() for scan in scans.values())
    notes = tuple(f"column '{c.name}': {c.reason}" for c in columns if c.is_used and c.reason)
    return ScannedTable(columns, ReadReport(source, file_format, n, None, (), notes), scans)


class ColumnScan:
    """What is known of a column while its blocks are added in order."""

    def __init__(self, name: str, kind: "pa.DataType", n_columns: int = 1):
        import pyarrow as pa

        self._most = min(MAX_COUNTED, MAX_COUNTED_IN_ALL // n_columns)
        self.name, self.kind = name, kind
        self.is_number = bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
        self.is_whole = True  # of numbers, as far as they are there
        self.n_infinite = 0
        self.texts: dict[object, None] = {}  # in the order in which they occur
        self._n = self._n_missing = 0
        self._numbers: np.ndarray = np.empty(0)
        self._counts: np.ndarray = np.empty(0, dtype=np.int64)  # of each of the numbers
        self._n_distinct = 0
        self._n_counted = 0  # values among which the different ones were counted
        self._stopped = False
        self._counts_up = True
        self._last: float | None = None
        self._are_dates = True
        self._examples: tuple[str, ...] = ()
        self._missing: list[str] = []
        self._infinite: list[str] = []

    def add(self, values: "pa.ChunkedArray", part: str, row: int) -> None:
        """Include the values of a block, whose first row is ``row`` (from 0) of a file."""
        import pyarrow.compute as pc

        if is_unreadable(self.kind):
            self._n += len(values)
            self._n_missing += values.null_count
            return
        if len(self._examples) < MAX_EXAMPLES:
            first = described(self.name, Converted(values[:MAX_EXAMPLE_ROWS], frozenset()))
            both = dict.fromkeys((*self._examples, *first.examples))
            self._examples = tuple(both)[:MAX_EXAMPLES]
        is_missing = pc.is_null(values, nan_is_null=True)
        n_missing = pc.sum(is_missing).as_py() or 0
        if n_missing:
            self._note(self._missing, is_missing, part, row)
        if self.is_number:
            present = values.filter(pc.invert(is_missing)) if n_missing else values
            self._add_numbers(present.to_numpy(), values, part, row)
        else:
            self._add_texts(values)
        self._n += len(values)
        self._n_missing += n_missing

    def _note(self, places: list[str], mask: "pa.ChunkedArray", part: str, row: int) -> None:
        import pyarrow.compute as pc

        rows = pc.indices_nonzero(mask)[: MAX_ROWS_NAMED + 1 - len(places)].to_pylist()
        places += [f"row {row + i + 1:,} of {part}" for i in rows]

    def _add_numbers(
        self, present: np.ndarray, values: "pa.ChunkedArray", part: str, row: int
    ) -> None:
        import pyarrow.compute as pc

        if not len(present):
            return
        if present.dtype.kind == "f":
            self._add_floats(present)
            n_infinite = int(np.isinf(present).sum())
            if n_infinite:
                self.n_infinite += n_infinite
                self._note(self._infinite, pc.is_inf(values), part, row)
        elif self.is_whole:
            self.is_whole = bool(abs(float(present.min())) < MAX_WHOLE > float(present.max()))
        if self._counts_up:
            steps = np.diff(present, prepend=present[:1] - 1 if self._last is None else self._last)
            self._counts_up = bool((steps == 1).all())
            self._last = present[-1]
        if not self._stopped:
            self._count(present)

    def _count(self, present: np.ndarray) -> None:
        """Count how often each number occurs, while they are not too many."""
        found, times = np.unique(present, return_counts=True)
        values = np.union1d(self._numbers, found)
        counts = np.zeros(len(values), dtype=np.int64)
        counts[np.searchsorted(values, self._numbers)] = self._counts
        counts[np.searchsorted(values, found)] += times
        self._numbers, self._counts = values, counts
        self._n_counted += len(present)
        self._n_distinct = len(values)
        self._stopped = len(values) > self._most
        if self._stopped:
            self._numbers, self._counts = np.empty(0), np.empty(0, dtype=np.int64)

    @property
    def median(self) -> float | None:
        """The median of the numbers; None where too many different ones were there to count."""
        if self._stopped or not self._n_counted:
            return None
        ends = np.cumsum(self._counts)
        ranks = middle_ranks(self._n_counted)
        return mean_of(self._numbers[np.searchsorted(ends, ranks, side="right")])

    def _add_floats(self, present: np.ndarray) -> None:
        if self.is_whole:
            with np.errstate(invalid="ignore"):  # infinite % 1
                self.is_whole = bool(((np.abs(present) < MAX_WHOLE) & (present % 1 == 0)).all())

    def _add_texts(self, values: "pa.ChunkedArray") -> None:
        if self._are_dates:
            import pyarrow as pa

            self._are_dates = pa.types.is_string(self.kind) and are_dates(values)
        if not self._stopped:
            self.texts |= dict.fromkeys(values.unique().drop_null().to_pylist())
            self._n_counted += len(values) - values.null_count
            self._n_distinct = len(self.texts)
            self._stopped = len(self.texts) > MAX_TEXTS

    @property
    def missing_places(self) -> str:
        """The first rows without a value."""
        return listed(self._missing, MAX_ROWS_NAMED)

    @property
    def infinite_places(self) -> str:
        """The first rows with an infinite value."""
        return listed(self._infinite, MAX_ROWS_NAMED)

    @property
    def n_distinct(self) -> int:
        """The number of different values; all of them where none was found twice so far."""
        all_differ = self._n_distinct == self._n_counted
        return self._n - self._n_missing if all_differ else self._n_distinct

    def column(self) -> Column:
        """The role of the column, and why."""
        if is_unreadable(self.kind):
            reason = f"values of type {self.kind} are not used"
            return Column(self.name, "nested", self._n_missing, 0, (), reason)
        content = Content(self._n, self._n_missing, self.n_distinct, self._examples)
        if self.is_number:
            role, reason = role_of_numbers(
                self.name, content, lambda: NumberSequence(self.is_whole, self._counts_up)
            )
        else:
            role, reason = role_of_values(
                self.name, self.kind, content, lambda: self._are_dates, self._distinct
            )
        if role == "text" and self._stopped:
            reason = f"more than {MAX_TEXTS:,} distinct texts: too many to use as categories"
        if reason == LOOKS_LIKE_ID and self._stopped and not self._counts_up:
            reason = f"the first {self._n_counted:,} values differ: it looks like an id"
        note = ""
        if self.n_infinite:
            note = f"infinite in {count(self.n_infinite, 'row')} ({self.infinite_places})"
        return Column(
            self.name, role, self._n_missing, content.n_distinct, content.examples,
            "; ".join(filter(None, (note, reason))),
        )  # fmt: skip

    def _distinct(self) -> list[str]:
        return [str(text) for text in self.texts]
