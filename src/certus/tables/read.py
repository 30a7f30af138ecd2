"""Read a table from a file or a stream, and say how it was read.

What a file is, is decided by its first bytes; its name does not matter.
"""

import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, TYPE_CHECKING

from ..exceptions import MissingExtraError, TableError
from ..text.suggestions import did_you_mean
from .binary_files import read_arrow, read_numpy
from .columns import described
from .conversion import Converted, converted
from .names import unique_names
from .table import ReadReport, Table, truth_as_text
from .text_files import TextOptions, read_text

if TYPE_CHECKING:
    pass

MAGIC = {
    b"PAR1": "Parquet", b"ARROW1": "Feather", b"\x93NUMPY": "NumPy",
    b"\xff\xff\xff\xff": "Arrow stream",
}  # fmt: skip
SAVE_AS_CSV = "save the sheet as CSV"
REFUSED_MAGIC = {
    b"PK\x03\x04": f"an Excel file or another zip archive: {SAVE_AS_CSV}, or unpack it",
    b"\xd0\xcf\x11\xe0": f"an old Excel file: {SAVE_AS_CSV}",
    b"%PDF": "a PDF: export the table as CSV",
    b"SQLite format 3": "a database: export the table as CSV or Parquet",
    b"FEA1": "a Feather file of version 1: write it again with a current library",
    b"\x28\xb5\x2f\xfd": "compressed by zstd: unpack it, or use gzip",
    b"\x89HDF": "an HDF5 file: export the table as CSV or Parquet",
    b"\x80\x04\x95": "a pickle, which may run code: save the table as CSV or Parquet",
    b"\x80\x05\x95": "a pickle, which may run code: save the table as CSV or Parquet",
}  # fmt: skip
HEAD_BYTES = 16


def read_table(
    source: str | PathLike[str] | IO[bytes],
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    missing: Sequence[str] = (),
    roles: Mapping[str, str] | None = None,
) -> Table:
    """Read a CSV, TSV, Parquet, Feather or .npy file.

    Parameters
    ----------
    source : path or binary stream
        "-" is standard input. Text may be compressed by gzip, bzip2 or xz.
    delimiter, decimal, encoding, header : str, str, str, bool, default=None
        How a text file is written. None: it is found, and reported.
    missing : sequence of str, default=()
        Further marks of missing values in text files.
    roles : mapping of str to str, default=None
        The roles that columns must have ("number", "category", "truth"): those of the table that a
        model was fitted on (``roles_of``), or to overrule what was found. Others are ignored.

    Raises
    ------
    TableError
        If there is no table; it names row, column and remedy.
    MissingExtraError
        Without pyarrow.
    """
    _require_pyarrow()
    roles = roles or {}
    options = TextOptions(encoding, delimiter, decimal, header, tuple(missing))
    with _opened(source) as (name, stream):
        head = stream.read(HEAD_BYTES)
        stream.seek(0)
        for magic, what in REFUSED_MAGIC.items():
            if head.startswith(magic):
                raise TableError(f"{name} is {what}")
        kind = next((k for magic, k in MAGIC.items() if head.startswith(magic)), "CSV")
        if kind == "CSV":
            return _text_table(stream, name, head, options, roles)
        data = read_numpy(stream, name) if kind == "NumPy" else read_arrow(stream, name, kind)
    names, notes = unique_names(data.column_names)
    columns = [
        _with_role(name, Converted(values, frozenset()), roles.get(name))
        for name, values in zip(names, data.columns, strict=True)
    ]
    return _table(names, columns, ReadReport(name, kind, len(data), None, (), tuple(notes)), roles)


def _require_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise MissingExtraError('tables need pyarrow: pip install "certus[tables]"') from error


@contextmanager
def _opened(source: str | PathLike[str] | IO[bytes]) -> Iterator[tuple[str, IO[bytes]]]:
    """Name and stream of a source; the stream can be read again."""
    if source == "-":
        yield "standard input", io.BytesIO(sys.stdin.buffer.read())
    elif isinstance(source, (str, PathLike)):
        path = Path(source)
        try:
            stream = path.open("rb")
        except (OSError, ValueError) as error:  # ValueError: a zero character
            raise TableError(_cannot_open(path, error)) from error
        with stream:
            yield path.name, _seekable(stream)
    else:
        name = getattr(source, "name", None)
        yield name if isinstance(name, str) else "the stream", _seekable(source)


def _seekable(stream: IO[bytes]) -> IO[bytes]:
    return stream if stream.seekable() else io.BytesIO(stream.read())


def _cannot_open(path: Path, error: Exception) -> str:
    if isinstance(error, IsADirectoryError):
        return f"{path} is a folder: give a file"
    if isinstance(error, FileNotFoundError):
        there = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        close = did_you_mean(path.name, there)
        hint = f" Did you mean '{path.with_name(close)}'?" if close else ""
        return f"there is no file '{path}'.{hint}"
    return f"{path} cannot be read: {getattr(error, 'strerror', None) or error}"


def _text_table(
    stream: IO[bytes], name: str, head: bytes, options: TextOptions, roles: Mapping[str, str]
) -> Table:
    try:
        text = read_text(stream, head, options, roles)
    except TableError as error:
        raise TableError(f"{name}: {error}") from error
    marks = sorted({mark for column in text.columns for mark in column.missing})
    n_rows = len(text.columns[0].values)
    report = ReadReport(name, "CSV", n_rows, text.dialect, tuple(marks), tuple(text.notes))
    return _table(text.names, text.columns, report, roles)


def _with_role(name: str, column: Converted, role: str | None) -> Converted:
    """A column of a typed file, as numbers or text where its role requires it."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.values.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if role == "number" and pa.types.is_string(kind):
        return converted(name, pc.fill_null(column.values, ""), role=role)
    if role in ("category", "truth") and is_number:
        return column._replace(values=column.values.cast(pa.string()))
    if role in ("category", "truth") and pa.types.is_boolean(kind):
        return column._replace(values=truth_as_text(column.values))
    return column


def _table(
    names: list[str], columns: list[Converted], report: ReadReport, roles: Mapping[str, str]
) -> Table:
    import pyarrow as pa

    if not columns:
        raise TableError(f"{report.source} has no columns")
    if report.n_rows == 0:
        raise TableError(f"{report.source} has no rows, only names of columns")
    found = tuple(
        described(name, column, roles.get(name))
        for name, column in zip(names, columns, strict=True)
    )
    odd = tuple(f"column '{c.name}': {c.reason}" for c in found if c.is_used and c.reason)
    data = pa.table([column.values for column in columns], names=names)
    return Table(data, found, report._replace(notes=(*report.notes, *odd)))
