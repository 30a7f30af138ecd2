"""A table in memory: its values, what its columns look like, and how it was read."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..exceptions import TableError
from ..text.format import count
from ..text.suggestions import unknown
from .columns import Column, infinite_rows
from .conversion import MAX_ROWS_NAMED, rows_of
from .sniff import Dialect

if TYPE_CHECKING:
    import pyarrow as pa

DELIMITER_NAMES = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", " ": "space"}


class ReadReport(NamedTuple):
    """How a table was read."""

    source: str
    format: str  # "CSV", "Parquet", "Feather", "Arrow stream", "NumPy"
    n_rows: int
    dialect: Dialect | None  # of text files
    missing: tuple[str, ...]  # marks of missing values that were found
    notes: tuple[str, ...]
    n_of_files: int | None = None  # rows of the files, of which the table has a sample

    def lines(self) -> list[str]:
        """The report, for a person."""
        rows = count(self.n_rows, "row")
        if self.n_of_files is not None:
            rows = f"a sample of {self.n_rows:,} of {count(self.n_of_files, 'row')}"
        lines = [f"{self.source}: {self.format}, {rows}"]
        if self.dialect is not None:
            lines.append(dialect_in_words(self.dialect))
        if self.missing:
            marks = ", ".join("empty" if m == "" else repr(m) for m in self.missing)
            lines.append(f"missing values: {marks}")
        return [*lines, *self.notes]


class SampledRows(NamedTuple):
    """Which rows of files a table has: a random sample."""

    numbers: np.ndarray  # of the rows of the table among those of the files, from 1, ascending
    n_of_files: int
    seed: int | None  # None: they were not drawn
    files: tuple[str | PathLike[str], ...]  # as they were given


class DescribedTable(ABC):
    """What the columns of a table look like; its values may be elsewhere."""

    columns: tuple[Column, ...]
    report: ReadReport

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {c.name: c for c in self.columns}

    @abstractmethod
    def categories(self, name: str) -> list[str]:
        """The different texts of a column, in order."""

    def column(self, name: str) -> Column:
        """A column by its name, or ``TableError`` with the name that was meant."""
        if name not in self._by_name:
            raise TableError(unknown("column", name, self._by_name, self.report.source))
        return self._by_name[name]

    def used(self, exclude: Sequence[str] = ()) -> tuple[Column, ...]:
        """Columns that a model uses, without those named."""
        return tuple(c for c in self.columns if c.is_used and c.name not in exclude)

    def left_out(self, exclude: Sequence[str] = ()) -> tuple[Column, ...]:
        """Columns that a model does not use, each with its reason."""
        return tuple(c for c in self.columns if not c.is_used and c.name not in exclude)

    def schema(self, used: Sequence[str] = ()) -> dict[str, object]:
        """Names and roles, as JSON: what a model file keeps of its table.

        Categories are kept of the columns that the model uses alone: the values of others are none
        of the business of whoever gets the file.
        """
        columns = []
        for c in self.columns:
            row: dict[str, object] = {"name": c.name, "role": c.role}
            if c.name in used and c.role in ("category", "truth"):
                row["categories"] = self.categories(c.name)
            columns.append(row)
        return {"columns": columns, "used": list(used)}


def dialect_in_words(dialect: Dialect) -> str:
    """How a text file is written, for a person."""
    name = DELIMITER_NAMES.get(dialect.delimiter, repr(dialect.delimiter))
    mark = "comma" if dialect.decimal == "," else "point"
    return f"delimiter: {name}, decimal {mark}, {dialect.encoding}"


@dataclass(frozen=True)
class Table(DescribedTable):
    """A table, what its columns look like, and how it was read."""

    data: "pa.Table"
    columns: tuple[Column, ...]
    report: ReadReport
    sample: SampledRows | None = None

    @property
    def row_numbers(self) -> np.ndarray:
        """The number of each row in its file, from 1 without the header."""
        return np.arange(1, len(self.data) + 1) if self.sample is None else self.sample.numbers

    def categories(self, name: str) -> list[str]:
        """The different texts of a column, in order."""
        return sorted(map(str, self.data.column(name).unique().drop_null().to_pylist()))

    def target(self, name: str) -> np.ndarray:
        """The values of a target column: numbers, truth values, or text as labels.

        Raises ``TableError`` if one is missing or infinite, if all are equal, or if the column
        cannot be predicted.
        """
        column = self.column(name)
        values = self.data.column(name)
        if column.n_missing:
            rows = ", ".join(f"{row:,}" for row in self._missing_rows(name))
            more = ", …" if column.n_missing > MAX_ROWS_NAMED else ""
            raise TableError(
                f"the target '{name}' is missing in {count(column.n_missing, 'row')} (row "
                f"{rows}{more}): drop these rows, or fill them in"
            )
        if column.role == "constant":
            raise TableError(f"the target '{name}' is {column.reason}: there is nothing to learn")
        if column.role in ("date", "nested"):
            raise TableError(f"the target '{name}' cannot be predicted: {column.reason}")
        if column.is_mixed:
            # of text, how many differ is said last: it does not matter here
            odd = column.reason.rpartition("; ")[0] if column.role == "text" else column.reason
            raise TableError(f"the target '{name}' is {odd}: correct these cells, or drop the rows")
        self._require_finite(name)
        numbers = values.to_numpy()
        return numbers.astype(str) if numbers.dtype == object else numbers

    def _missing_rows(self, name: str) -> list[int]:
        import pyarrow.compute as pc

        rows = rows_of(pc.is_null(self.data.column(name), nan_is_null=True))
        return [int(self.row_numbers[row - 1]) for row in rows]

    def _require_finite(self, name: str) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        values = self.data.column(name)
        if pa.types.is_floating(values.type) and pc.any(pc.is_inf(values)).as_py():
            where = infinite_rows(values, self.row_numbers)
            raise TableError(
                f"column '{name}' is {where}: correct the values, leave them empty, or drop the "
                "rows"
            )

    def select(self, names: Sequence[str]) -> "pa.Table":
        """The columns of these names in this order, as a model is given them.

        Truth values become text, since scikit-learn's encoders read either text or numbers. An
        infinite value raises ``TableError``.
        """
        import pyarrow as pa

        for name in names:
            self._require_finite(self.column(name).name)
        data = self.data.select(list(names))
        for i, column in enumerate(data.columns):
            if pa.types.is_boolean(column.type):
                data = data.set_column(i, data.column_names[i], truth_as_text(column))
        return data


def truth_as_text(values: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """ "True" and "False", as Python and pandas write them."""
    import pyarrow.compute as pc

    return pc.if_else(values, "True", "False")
