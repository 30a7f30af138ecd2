"""Read a table from a file or a stream, and say how it was read.

Text files are read as text first; each column is then converted whole, so that a letter in the last
row cannot spoil what the first rows suggested. Memory: about 2.5 times the size of the file.
"""

import bz2
import gzip
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple, cast

import numpy as np

from ..exceptions import MissingExtraError, TableError
from ..text.format import count
from .columns import Column, described, typed
from .sniff import SAMPLE_BYTES, Dialect, dialect_of
from .suggestions import unknown

if TYPE_CHECKING:
    import pyarrow as pa

MAGIC = {b"PAR1": "parquet", b"ARROW1": "feather", b"FEA1": "feather", b"\x93NUMPY": "npy"}
COMPRESSION_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2"}
REFUSED_MAGIC = {
    b"PK\x03\x04": "an Excel or zip file: save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel file: save the sheet as CSV",
    b"%PDF": "a PDF", b"SQLite": "a database: export the table as CSV or Parquet",
}  # fmt: skip
MAX_ROWS_NAMED = 3


class ReadReport(NamedTuple):
    """How a table was read."""

    source: str
    format: str  # "CSV", "Parquet", "Feather", "NumPy"
    n_rows: int
    dialect: Dialect | None  # of text files
    missing: tuple[str, ...]  # marks of missing values that were found
    notes: tuple[str, ...]

    def lines(self) -> list[str]:
        """The report, for a person."""
        lines = [f"{self.source}: {self.format}, {count(self.n_rows, 'row')}"]
        if self.dialect is not None:
            d = self.dialect
            name = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar"}.get(d.delimiter)
            mark = "comma" if d.decimal == "," else "point"
            lines.append(f"delimiter: {name or repr(d.delimiter)}, decimal {mark}, {d.encoding}")
        if self.missing:
            marks = ", ".join("empty" if m == "" else repr(m) for m in self.missing)
            lines.append(f"missing values: {marks}")
        return [*lines, *self.notes]


@dataclass(frozen=True)
class InputTable:
    """A table, what its columns look like, and how it was read."""

    data: "pa.Table"
    columns: tuple[Column, ...]
    report: ReadReport
    _by_name: dict[str, Column] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._by_name.update({c.name: c for c in self.columns})

    def column(self, name: str) -> Column:
        """A column by its name, or ``TableError`` with the name that was meant."""
        if name not in self._by_name:
            raise TableError(unknown("column", name, self._by_name, self.report.source))
        return self._by_name[name]

    def target(self, name: str) -> np.ndarray:
        """The values of a target column: numbers, or text as labels. None may be missing."""
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
        numbers = values.to_numpy()
        return numbers.astype(str) if numbers.dtype == object else numbers

    def _missing_rows(self, name: str) -> list[int]:
        import pyarrow.compute as pc

        mask = pc.is_null(self.data.column(name), nan_is_null=True)
        return [row + 1 for row in pc.indices_nonzero(mask)[:MAX_ROWS_NAMED].to_pylist()]

    def used(self, exclude: Sequence[str] = ()) -> tuple[Column, ...]:
        """Columns that a model uses, without those named."""
        return tuple(c for c in self.columns if c.is_used and c.name not in exclude)

    def left_out(self, exclude: Sequence[str] = ()) -> tuple[Column, ...]:
        """Columns that a model does not use, each with its reason."""
        return tuple(c for c in self.columns if not c.is_used and c.name not in exclude)

    def select(self, names: Sequence[str]) -> "pa.Table":
        """The columns of these names, in this order."""
        return self.data.select([self.column(name).name for name in names])

    def schema(self) -> dict[str, object]:
        """Names, roles and categories, as JSON: what a model file keeps of its table."""
        columns = []
        for c in self.columns:
            row: dict[str, object] = {"name": c.name, "role": c.role}
            if c.role in ("category", "truth"):
                values = self.data.column(c.name).unique().drop_null().to_pylist()
                row["categories"] = sorted(map(str, values))
            columns.append(row)
        return {"columns": columns}


def read_table(
    source: str | PathLike[str] | IO[bytes],
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> InputTable:
    """Read a CSV, TSV, Parquet, Feather or .npy file, also compressed; "-" is standard input.

    Raises ``TableError`` with row, column and remedy, or ``MissingExtraError`` without pyarrow.
    """
    _require_pyarrow()
    name, stream = _opened(source)
    with stream:
        head = _peek(stream)
        for magic, what in REFUSED_MAGIC.items():
            if head.startswith(magic):
                raise TableError(f"{name} is {what}")
        kind = next((k for magic, k in MAGIC.items() if head.startswith(magic)), "text")
        if kind == "text":
            return _text(stream, name, delimiter, decimal, encoding)
        data = _numpy(stream, name) if kind == "npy" else _arrow(stream, name, kind)
    format_name = {"parquet": "Parquet", "feather": "Feather", "npy": "NumPy"}[kind]
    return _described(_plain_types(data), ReadReport(name, format_name, len(data), None, (), ()))


def _require_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise MissingExtraError('tables need pyarrow: pip install "certus[tables]"') from error


def _opened(source: str | PathLike[str] | IO[bytes]) -> tuple[str, IO[bytes]]:
    if source == "-":
        return "standard input", io.BytesIO(sys.stdin.buffer.read())
    if isinstance(source, (str, PathLike)):
        path = Path(source)
        try:
            if path.is_dir():
                raise TableError(f"{path} is a folder: give a file")
            return path.name, path.open("rb")
        except OSError as error:
            raise TableError(f"{path} cannot be read: {error.strerror or error}") from error
    return getattr(source, "name", "the stream"), source


def _peek(stream: IO[bytes]) -> bytes:
    head = stream.read(8)
    stream.seek(0)
    return head


def _described(data: "pa.Table", report: ReadReport, notes: Sequence[str] = ()) -> InputTable:
    if data.num_rows == 0:
        raise TableError(f"{report.source} has a header and no rows")
    odd = [*notes] or [""] * data.num_columns
    columns = tuple(
        described(name, data.column(name), note)
        for name, note in zip(data.column_names, odd, strict=True)
    )
    return InputTable(data, columns, _with_notes(report, columns))


def _with_notes(report: ReadReport, columns: Sequence[Column]) -> ReadReport:
    """The report, with what is odd about columns that are used."""
    odd = tuple(f"column '{c.name}': {c.reason}" for c in columns if c.is_used and c.reason)
    return report._replace(notes=(*report.notes, *odd))


# --- text -----------------------------------------------------------------------------------------


def _text(
    stream: IO[bytes], name: str, delimiter: str | None, decimal: str | None, encoding: str | None
) -> InputTable:
    import pyarrow as pa

    kind = next(
        (k for magic, k in COMPRESSION_MAGIC.items() if _peek(stream).startswith(magic)), None
    )
    try:
        sample = _decompressed(stream, kind).read(SAMPLE_BYTES)
        stream.seek(0)
        dialect = dialect_of(sample, encoding, delimiter, decimal)
        raw, invalid = _read_csv(_decompressed(stream, kind), dialect)
    except TableError as error:
        raise TableError(f"{name}: {error}") from error
    except (pa.ArrowInvalid, OSError, EOFError, UnicodeError) as error:
        raise TableError(f"{name} cannot be read as a table: {_first_line(error)}") from error
    if invalid:
        raise TableError(f"{name}: {_invalid_rows(invalid)}")
    names, notes = _unique_names(raw.column_names, dialect.header)
    arrays, marks, odd = [], set[str](), []
    for i in range(raw.num_columns):
        array, found, note = typed(raw.column(i), dialect.decimal)
        arrays.append(array)
        marks |= found
        odd.append(note)
    data = pa.table(arrays, names=names)
    report = ReadReport(name, "CSV", len(data), dialect, tuple(sorted(marks)), tuple(notes))
    return _described(data, report, odd)


def _decompressed(stream: IO[bytes], kind: str | None) -> IO[bytes]:
    if kind is None:
        return stream
    return cast("IO[bytes]", gzip.open(stream) if kind == "gzip" else bz2.open(stream))


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _read_csv(stream: IO[bytes], dialect: Dialect) -> tuple["pa.Table", list[tuple[int, int, str]]]:
    import pyarrow as pa
    from pyarrow import csv

    invalid: list[tuple[int, int, str]] = []

    def on_invalid_row(row: "csv.InvalidRow") -> str:
        invalid.append((row.expected_columns, row.actual_columns, row.text))
        return "skip"

    # columns of text: pyarrow names those without a header f0, f1, …
    n_columns = len(dialect.first_row)
    names = dialect.first_row if dialect.header else [f"f{i}" for i in range(n_columns)]
    data = csv.read_csv(
        stream,
        read_options=csv.ReadOptions(
            encoding=dialect.encoding, autogenerate_column_names=not dialect.header
        ),
        parse_options=csv.ParseOptions(
            delimiter=dialect.delimiter, newlines_in_values=True,
            invalid_row_handler=on_invalid_row,
        ),
        convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
    )  # fmt: skip
    for i, column in enumerate(data.columns):
        if not pa.types.is_string(column.type):  # its name was not the one expected
            data = data.set_column(i, data.column_names[i], column.cast(pa.string()))
    return data, invalid


def _invalid_rows(invalid: list[tuple[int, int, str]]) -> str:
    expected, actual, text = invalid[0]
    shown = text if len(text) <= 60 else f"{text[:57]}…"
    others = f" and {count(len(invalid) - 1, 'other row')}" if len(invalid) > 1 else ""
    return (
        f"the row {shown!r} has {actual} fields, the first row has {expected}{others}: quote "
        "values that hold the delimiter, or name the right one by --delimiter"
    )


def _unique_names(given: Sequence[str], header: bool) -> tuple[list[str], list[str]]:
    if not header:
        return [f"column_{i + 1}" for i in range(len(given))], ["no header: columns are numbered"]
    names: list[str] = []
    notes = []
    for i, name in enumerate(given):
        unique = stripped = name.strip() or f"column_{i + 1}"
        number = 2
        while unique in names:
            unique, number = f"{stripped}_{number}", number + 1
        if unique != stripped:
            notes.append(f"two columns are called '{stripped}': the later is read as '{unique}'")
        elif not name.strip():
            notes.append(f"column {i + 1} has no name: it is read as '{unique}'")
        names.append(unique)
    return names, notes


# --- binary files ---------------------------------------------------------------------------------


def _arrow(stream: IO[bytes], name: str, kind: str) -> "pa.Table":
    import pyarrow as pa
    from pyarrow import feather, parquet

    try:
        return parquet.read_table(stream) if kind == "parquet" else feather.read_table(stream)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise TableError(f"{name} cannot be read as {kind}: {_first_line(error)}") from error


def _numpy(stream: IO[bytes], name: str) -> "pa.Table":
    import pyarrow as pa

    try:
        array = np.load(stream, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise TableError(f"{name} cannot be read as .npy: {_first_line(error)}") from error
    if array.dtype.names is not None:
        return pa.table({field: array[field] for field in array.dtype.names})
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise TableError(f"{name} holds an array of shape {array.shape} and type {array.dtype}: "
                         "give numbers, a row each")  # fmt: skip
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    columns = [np.ascontiguousarray(column) for column in native.T]
    return pa.table(columns, names=[f"column_{j + 1}" for j in range(len(columns))])


def _plain_types(data: "pa.Table") -> "pa.Table":
    """Dictionaries as text, decimals and halves as float64: what scikit-learn's encoders read."""
    import pyarrow as pa

    for i, column in enumerate(data.columns):
        kind = column.type
        if pa.types.is_dictionary(kind):
            column = column.cast(kind.value_type)
        elif pa.types.is_decimal(kind) or pa.types.is_float16(kind):
            column = column.cast(pa.float64())
        if pa.types.is_large_string(column.type) or pa.types.is_string_view(column.type):
            column = column.cast(pa.string())
        data = data.set_column(i, data.column_names[i], column)
    return data
