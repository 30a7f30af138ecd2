"""Files as blocks of a table in the types that ``read_table`` gives, for the commands.

``open_rows`` makes numbers of a table; a command has a fitted Pipeline for that, which reads the
columns as they are: numbers, text and truth values, with missing ones. Blocks have the same rows in
every pass, and do not reach over the end of a file:

    file 1: rows 0…r, r…2r, …     file 2: rows 0…r, …
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..exceptions import MissingExtraError, SourceChangedError, TableError
from ..tables.binary_files import plain_types
from ..tables.names import unique_names
from ..tables.sniff import Dialect
from ..tables.table import truth_as_text
from ..text.format import count, listed
from ..text.suggestions import unknown
from .csv_files import TextReading
from .numpy_files import NumpyFile
from .parts import SourcePart, Stamp, require_stamp, stamp_of
from .paths import files_of, kind_of_files, names_of, parts_of
from .read_ahead import ahead

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_BYTES = 1 << 22  # decoded at a time, of which blocks are put together


class FileBlock(NamedTuple):
    """Some rows of a file, in the types of ``read_table``."""

    data: "pa.Table"
    part: str  # the name of the file
    row: int  # of the first one, within the file, from 0
    start: int  # the same, within all files
    kept: np.ndarray | None = None  # which of the rows from there on; None: all


class FileTable:
    """The columns of one or several files, read block by block.

    ``reading``: what is stated about text files, and the roles that columns of any file must have.
    The columns are those of the first file; one that is read must hold numbers in all files, or
    text in all.
    """

    def __init__(
        self,
        source: str | PathLike[str] | Sequence[str],
        reading: TextReading = TextReading(),  # noqa: B008 – it is immutable
    ):
        _require_pyarrow()
        files = files_of(source)
        self.kind = kind_of_files(files)
        self.parts = _parts(files, self.kind, reading)
        self.bytes = sum(path.stat().st_size for path in files)
        self.name = (
            self.parts[0].name if len(files) == 1 else f"{count(len(files), self.kind + ' file')}"
        )
        self.given = [source] if isinstance(source, str | PathLike) else list(source)
        self._reading = reading
        self._stamps: list[Stamp | None] = [stamp_of(part.path) for part in self.parts]
        self._raw = [_names_in(part) for part in self.parts]
        self.notes = _notes(self.parts)
        self.names = list(self._raw[0])
        self._types: dict[str, pa.DataType] = {}
        self._part_rows = [part.n_rows for part in self.parts]

    @property
    def dialect(self) -> Dialect | None:
        """How text files are written; None: they are of another kind."""
        found: Dialect | None = getattr(self.parts[0], "dialect", None)
        return found

    @property
    def n_rows(self) -> int | None:
        """The number of rows; None before all were read once."""
        known = [n for n in self._part_rows if n is not None]
        return sum(known) if len(known) == len(self.parts) else None

    def type_of(self, name: str) -> "pa.DataType":
        """The type of a column in every block; files that differ are refused."""
        if name not in self._raw[0]:
            raise TableError(unknown("column", name, self.names, self.name))
        if name not in self._types:
            self._types[name] = self._in_role(name, self._type(name))
        return self._types[name]

    def is_whole(self, name: str) -> bool:
        """Whether the first cells of a column of numbers are whole, or its type says so."""
        import pyarrow as pa

        return bool(pa.types.is_integer(self.parts[0].schema.field(self._raw[0][name]).type))

    def role_of(self, name: str) -> str | None:
        """The role that a column must have; None: it is found."""
        return self._reading.roles.get(name)

    def names_of_parts(self) -> list[tuple[str, list[str]]]:
        """The name of each file, and those of its columns."""
        return [(p.name, list(raw)) for p, raw in zip(self.parts, self._raw, strict=True)]

    def _type(self, name: str) -> "pa.DataType":
        """The type of a column in all files."""
        import pyarrow as pa

        found: dict[str, tuple[pa.DataType, SourcePart]] = {}
        for part, raw in zip(self.parts, self._raw, strict=True):
            if name not in raw:
                raise TableError(
                    f"{part.name} has no column '{name}', and {self.parts[0].name} has it: give "
                    "files with the same columns"
                )
            kind = plain_types(pa.schema([(name, part.schema.field(raw[name]).type)]).empty_table())
            found.setdefault(str(kind.schema.types[0]), (kind.schema.types[0], part))
        types = [kind for kind, _ in found.values() if not pa.types.is_null(kind)] or [pa.null()]
        if len(types) > 1 and not all(map(_is_number, types)):
            (one, first), (other, second) = list(found.values())[:2]
            raise TableError(
                f"column '{name}' holds {other} in {second.name}, and {one} in {first.name}: "
                "write the files with the same types"
            )
        if self.kind == "CSV" and _is_number(types[0]) and name not in self._reading.whole:
            return pa.float64()  # a cell with a fraction may follow
        return types[0] if len(types) == 1 else pa.float64()

    def _in_role(self, name: str, kind: "pa.DataType") -> "pa.DataType":
        import pyarrow as pa

        role = self.role_of(name)
        if role == "number" and not (_is_number(kind) or pa.types.is_null(kind)):
            raise TableError(
                f"column '{name}' of {self.name} must hold numbers, and holds {kind}: correct it"
            )
        if role == "number":
            return kind if _is_number(kind) else pa.float64()
        if role in ("category", "truth") and (_is_number(kind) or pa.types.is_boolean(kind)):
            return pa.string()
        return pa.string() if role in ("category", "truth") and pa.types.is_null(kind) else kind

    # --- reading ---

    def blocks(self, columns: Sequence[str], rows: int) -> Iterator[FileBlock]:
        """Yield all rows of these columns in order, ``rows`` at a time.

        A file that was written since it was opened, or has another number of rows than in an
        earlier pass, raises ``SourceChangedError``.
        """
        for name in columns:
            self.type_of(name)
        start = 0
        for number, part in enumerate(self.parts):
            require_stamp(part.path, part.name, self._stamps[number])
            row = 0
            with closing(ahead(self._tables(number, columns, rows))) as tables:  # type: ignore[type-var]
                for data in tables:
                    yield FileBlock(data, part.name, row, start + row)
                    row += len(data)
            require_stamp(part.path, part.name, self._stamps[number])
            known = self._part_rows[number]
            if known is not None and known != row:
                raise SourceChangedError(
                    f"{part.name} had {count(known, 'row')}, and now has {row:,}: read it again "
                    "when nothing writes it"
                )
            self._part_rows[number] = row
            start += row
        if start == 0:
            raise TableError(f"{self.name} has no rows, only names of columns")

    def _tables(self, number: int, columns: Sequence[str], rows: int) -> "Iterator[pa.Table]":
        """Yield tables of ``rows`` rows of a file; the last has the rest."""
        import pyarrow as pa

        part, raw = self.parts[number], self._raw[number]
        pending: list[pa.Table] = []
        n_pending = 0
        batch_rows = max(256, min(rows, BATCH_BYTES // (8 * max(1, len(columns)))))
        for _, batch in part.batches([raw[name] for name in columns], 0, batch_rows):
            table = pa.Table.from_batches([batch])
            while n_pending + len(table) >= rows:
                taken = rows - n_pending
                yield self._typed(pa.concat_tables([*pending, table.slice(0, taken)]), columns)
                table, pending, n_pending = table.slice(taken), [], 0
            if len(table):
                pending.append(table)
                n_pending += len(table)
        if n_pending:
            yield self._typed(pa.concat_tables(pending), columns)

    def _typed(self, raw: "pa.Table", columns: Sequence[str]) -> "pa.Table":
        import pyarrow as pa
        import pyarrow.compute as pc

        data = plain_types(raw)
        arrays = []
        for name, values in zip(columns, data.columns, strict=True):
            kind = self.type_of(name)
            if pa.types.is_boolean(values.type) and pa.types.is_string(kind):
                values = truth_as_text(values)
            arrays.append(values if values.type.equals(kind) else pc.cast(values, kind))
        return pa.table(arrays, names=list(columns))


def _require_pyarrow() -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise MissingExtraError('tables need pyarrow: pip install "certus[tables]"') from error


def _is_number(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _names_in(part: SourcePart) -> dict[str, str]:
    """Names of the columns as ``read_table`` has them, each with the one in the file."""
    raw = part.schema.names
    twice = [name for name in dict.fromkeys(raw) if raw.count(name) > 1]
    if twice:
        raise TableError(
            f"{part.name} has columns of the same name: {listed([repr(n) for n in twice])}. Rename "
            "or drop them"
        )
    return dict(zip(unique_names(raw)[0], raw, strict=True))


def _notes(parts: Sequence[SourcePart]) -> list[str]:
    return [note for part in parts for note in getattr(part, "notes", [])]


def _parts(files: Sequence[Path], kind: str, reading: TextReading) -> list[SourcePart]:
    if kind != "NumPy":
        return parts_of(files, kind, reading)
    return [NumpyPart(str(path), name) for path, name in zip(files, names_of(files), strict=True)]


class NumpyPart:
    """A ``.npy`` file of numbers, with columns column_1, column_2, …"""

    kind = ".npy"

    def __init__(self, path: str, name: str):
        import pyarrow as pa

        self.path: str | None = path
        self.name = name
        self._file = NumpyFile(path, name)
        self.n_rows: int | None = self._file.n_rows
        self.schema = pa.schema(
            [
                (f"column_{j + 1}", pa.from_numpy_dtype(self._file.dtype.newbyteorder("=")))
                for j in range(self._file.n_columns)
            ]
        )

    def batches(
        self, columns: Sequence[str], start: int, batch_rows: int
    ) -> "Iterator[tuple[int, pa.RecordBatch]]":
        """Yield batches of these columns."""
        import pyarrow as pa

        places = [self.schema.get_field_index(name) for name in columns]
        n = self._file.n_rows
        for row in range(start, n, batch_rows):
            values: Any = self._file.read(row, min(n, row + batch_rows))
            arrays = [pa.array(values[:, j]) for j in places]
            yield row, pa.RecordBatch.from_arrays(arrays, names=list(columns))
