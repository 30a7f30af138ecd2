"""CSV and its relatives as tables.

Text files are read as text first; each column is then converted whole, so that a letter in the last
row cannot spoil what the first rows suggested. The text of a column is freed once it is converted.
"""

import bz2
import gzip
import lzma
from collections.abc import Callable, Mapping, Sequence
from typing import IO, TYPE_CHECKING, NamedTuple, cast

from ..exceptions import TableError
from ..text.format import count
from .binary_files import first_line
from .conversion import MAX_ROWS_NAMED, Converted, clipped, converted
from .names import numbered_names, unique_names
from .sniff import SAMPLE_BYTES, Dialect, dialect_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import csv

COMPRESSED: dict[bytes, Callable[..., object]] = {
    b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open,
}  # fmt: skip
BLOCK_BYTES = (1 << 20, 1 << 24, 1 << 28)  # a row must fit into one; tried in this order
ROW_NAME = "row_name"

Opened = Callable[[], IO[bytes]]


class TextOptions(NamedTuple):
    """What the user states about a text file; None: it is found."""

    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    header: bool | None = None
    missing: Sequence[str] = ()


class TextTable(NamedTuple):
    """Columns of a text file with their names, and how it is written."""

    names: list[str]
    columns: list[Converted]
    dialect: Dialect
    notes: list[str]


class NotUtf8Error(Exception):
    """A file that begins as UTF-8 does not go on so."""


def read_text(
    stream: IO[bytes], head: bytes, options: TextOptions, roles: Mapping[str, str]
) -> TextTable:
    """The table of a text file, also of a compressed one."""
    opener = next((o for magic, o in COMPRESSED.items() if head.startswith(magic)), None)

    def opened() -> IO[bytes]:
        stream.seek(0)
        return stream if opener is None else cast("IO[bytes]", opener(stream))

    dialect, strings = _strings(opened, options)
    names, notes = _names(dialect)
    columns = []
    strings.reverse()
    for name in names:
        text = strings.pop()
        columns.append(converted(name, text, dialect.decimal, options.missing, roles.get(name)))
        del text
    return TextTable(names, columns, dialect, notes)


def _strings(opened: Opened, options: TextOptions) -> tuple[Dialect, "list[pa.ChunkedArray]"]:
    """How the file is written, and its columns as text."""
    try:
        sample = opened().read(SAMPLE_BYTES)
        dialect = dialect_of(sample, *options[:4])
        try:
            return dialect, _columns(opened, dialect)
        except NotUtf8Error:
            if options.encoding is not None:
                raise
            dialect = dialect._replace(encoding="cp1252")
            return dialect, _columns(opened, dialect)
    except TableError:
        raise
    except NotUtf8Error as error:
        raise TableError(
            "the file is not UTF-8 throughout: name its encoding (--encoding)"
        ) from error
    except Exception as error:  # damaged archives and odd encodings raise nearly anything
        raise TableError(f"it cannot be read as a table: {first_line(error)}") from error


def _names(dialect: Dialect) -> tuple[list[str], list[str]]:
    if not dialect.header:
        return numbered_names(dialect.n_fields), ["no header: columns are numbered"]
    given = dialect.first_row
    if dialect.n_fields == len(given):
        return unique_names(given)
    names, notes = unique_names([ROW_NAME, *given])
    return names, [f"rows have one field more than the header: it is read as '{ROW_NAME}'", *notes]


# --- by Arrow -------------------------------------------------------------------------------------


def _columns(opened: Opened, dialect: Dialect) -> "list[pa.ChunkedArray]":
    """All columns as text; ``TableError`` names rows with another number of fields."""
    import pyarrow as pa

    for block_bytes in BLOCK_BYTES:
        try:
            columns = list(_read_csv(opened(), dialect, block_bytes).columns)
            _require_closed_quotes(opened(), columns)
            return columns
        except pa.ArrowInvalid as error:
            message = str(error)
            if "straddling" in message:  # a row is longer than a block
                continue
            if "invalid UTF8" in message:
                raise NotUtf8Error from error
            if "Expected" in message:
                raise TableError(_invalid_rows(opened(), dialect, block_bytes)) from error
            raise
    raise TableError(
        f"a row is longer than {BLOCK_BYTES[-1] >> 20} MB: is there a quote that is not closed?"
    )


def _read_csv(
    stream: IO[bytes],
    dialect: Dialect,
    block_bytes: int,
    on_invalid_row: "Callable[[csv.InvalidRow], str] | None" = None,
) -> "pa.Table":
    import pyarrow as pa
    from pyarrow import csv

    names = [str(i) for i in range(dialect.n_fields)]
    return csv.read_csv(
        stream,
        read_options=csv.ReadOptions(
            encoding=dialect.encoding, column_names=names, block_size=block_bytes,
            skip_rows=int(dialect.hint), skip_rows_after_names=dialect.n_rows_before,
            use_threads=on_invalid_row is None,  # rows are counted by one thread alone
        ),
        parse_options=csv.ParseOptions(
            delimiter=dialect.delimiter, newlines_in_values=True,
            invalid_row_handler=on_invalid_row,
        ),
        convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
    )  # fmt: skip


def _require_closed_quotes(stream: IO[bytes], columns: "list[pa.ChunkedArray]") -> None:
    """Raise ``TableError`` where the last row has swallowed the lines after an opening quote."""
    n_rows = len(columns[0])
    if not n_rows or not any("\n" in column[n_rows - 1].as_py() for column in columns):
        return
    n_quotes = sum(block.count(b'"') for block in iter(lambda: stream.read(SAMPLE_BYTES), b""))
    if n_quotes % 2:
        raise TableError(f"row {n_rows:,} has a quote that is not closed: close it, or remove it")


def _invalid_rows(stream: IO[bytes], dialect: Dialect, block_bytes: int) -> str:
    """Which rows have another number of fields than the first, and what to do."""
    first: list[tuple[int, int, str]] = []
    n_invalid = 0

    def on_invalid_row(row: "csv.InvalidRow") -> str:
        nonlocal n_invalid
        n_invalid += 1
        if len(first) < MAX_ROWS_NAMED:
            first.append((row.number - dialect.header, row.actual_columns, row.text))
        return "skip"

    _read_csv(stream, dialect, block_bytes, on_invalid_row)
    if not first:
        return "rows differ in their number of fields"
    shown = ", ".join(
        f"row {row:,} has {count(n_fields, 'field')} ({clipped(text)})"
        for row, n_fields, text in first
    )
    others = f", and {count(n_invalid - len(first), 'other row')}" if n_invalid > len(first) else ""
    quote = " (is a quote not closed?)" if "\n" in first[0][2] else ""
    which = "header" if dialect.header else "first row"
    return (
        f"the {which} has {count(dialect.n_fields, 'field')}, but {shown}{others}{quote}: "
        "quote values that hold the delimiter, or name the right one (--delimiter)"
    )
