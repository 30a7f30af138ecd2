"""CSV files as parts: how they are written is decided by the first file and its first megabyte.

The rules are those of ``read_table`` (encoding, delimiter, decimal mark, header, marks of missing
values). A column is numbers or text by what its first cells are; a later cell that breaks this is
refused, since a stream cannot change its mind.
"""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..exceptions import TableError
from ..tables.conversion import clipped, converted
from ..tables.formats import MISSING, MISSING_NUMBERS
from ..tables.names import numbered_names, unique_names
from ..tables.sniff import SAMPLE_BYTES, Dialect, dialect_of
from ..tables.text_files import ROW_NAME, TextOptions
from ..text.suggestions import unknown
from .parts import Place, cannot_be_read

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import csv

BLOCK_BYTES = 1 << 20  # of text, which a row must fit into; 4 MB were as fast and took 110 MB more
LATER_SAMPLE_BYTES = 1 << 16  # of a file whose columns are known from the first one
CONVERSION = re.compile(r"CSV column #(\d+): Row #(\d+): CSV conversion error to \w+: (.*)", re.S)
OTHER_WIDTH = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")


class TextReading(NamedTuple):
    """What is stated about text files; None and empty: it is found."""

    options: TextOptions = TextOptions()
    roles: Mapping[str, str] = {}  # that columns must have: "number", "category", "truth"
    whole: Container[str] = ()  # columns whose whole numbers are not read as floats


class CSVPart:
    """A CSV file; gzip, bzip2 and zstd by the end of its name."""

    kind = "CSV"

    def __init__(
        self,
        path: str,
        name: str,
        like: "CSVPart | None" = None,
        reading: TextReading = TextReading(),  # noqa: B008 – it is immutable
    ):
        import pyarrow as pa

        self.path: str | None = path
        self.name, self._reading = name, reading
        self.n_rows: int | None = None
        sample = self._sample(SAMPLE_BYTES if like is None else LATER_SAMPLE_BYTES)
        known: Dialect | None = None if like is None else like.dialect
        self.dialect: Dialect = self._dialect(sample, known)
        self._names, self.notes = self._columns(like)
        self.has_rows = True
        if like is None:
            kinds = self._kinds()
        else:
            of_first = {field.name: field.type for field in like.schema}
            kinds = [of_first.get(column, pa.string()) for column in self._names]
        self.schema: pa.Schema = pa.schema(list(zip(self._names, kinds, strict=True)))

    def _sample(self, n_bytes: int) -> bytes:
        import pyarrow as pa

        try:
            with pa.input_stream(self.path, compression="detect") as stream:
                sample: bytes = stream.read(n_bytes)
        except Exception as error:
            raise cannot_be_read(self.name, self.kind, error) from error
        if not sample.strip():
            raise TableError(f"{self.name} is empty: remove it, or leave it out")
        return sample

    def _dialect(self, sample: bytes, known: Dialect | None) -> Dialect:
        try:
            if known is None:
                return dialect_of(sample, *self._reading.options[:4])
            return dialect_of(sample, known.encoding, known.delimiter, known.decimal, known.header)
        except TableError as error:
            raise TableError(f"{self.name}: {error}") from error

    def _columns(self, like: "CSVPart | None") -> tuple[list[str], list[str]]:
        """Return the names of the columns, and notes on those that were changed."""
        d = self.dialect
        if d.header:
            given = d.first_row
            extra = d.n_fields > len(given)  # tables of R: names of the rows
            return unique_names([ROW_NAME, *given] if extra else given)
        if like is not None and d.n_fields != len(like._names):
            raise TableError(
                f"{self.name} has {d.n_fields} fields a row, and {like.name} has "
                f"{len(like._names)}: give files with the same columns"
            )
        return numbered_names(d.n_fields), ["no header: columns are numbered"]

    def _kinds(self) -> "list[pa.DataType]":
        """Return the types of the columns by their first cells."""
        import pyarrow as pa

        text = dict.fromkeys(self._names, pa.string())
        try:
            with self._opened(self._names, text) as reader:
                first = next((batch for batch in reader if batch.num_rows), None)
        except Exception as error:
            raise self._refusal(self._names, text, error) from error
        if first is None:
            self.has_rows = False
            return [pa.float64()] * len(self._names)
        kinds = []
        for name, cells in zip(self._names, first.columns, strict=True):
            role = self._reading.roles.get(name)
            found = converted(
                name, pa.chunked_array([cells]), self.dialect.decimal,
                self._reading.options.missing, role,
            )  # fmt: skip
            if found.note:
                self.notes.append(f"column '{name}': {found.note}")
            empty = found.values.null_count == len(found.values)
            is_text = role in ("category", "truth")
            kinds.append(pa.float64() if empty and not is_text else found.values.type)
        return kinds

    def batches(
        self, columns: Sequence[str], start: int, batch_rows: int
    ) -> "Iterator[tuple[int, pa.RecordBatch]]":
        """Yield batches from the beginning: rows of text cannot be skipped unread."""
        first = 0
        types = self._types()
        reader = None
        try:
            reader = self._opened(columns, types)
            for batch in reader:
                for at in range(0, batch.num_rows, batch_rows):
                    if first + min(at + batch_rows, batch.num_rows) > start:
                        yield first + at, self._cleaned(batch.slice(at, batch_rows))
                first += batch.num_rows
        except Exception as error:
            raise self._refusal(columns, types, error) from error
        finally:
            if reader is not None:
                reader.close()

    def _types(self) -> "dict[str, pa.DataType]":
        import pyarrow as pa

        return {
            field.name: field.type
            if pa.types.is_string(field.type) or field.name in self._reading.whole
            else pa.float64()
            for field in self.schema
        }

    def _opened(
        self, columns: Sequence[str], types: "dict[str, pa.DataType]", counted: bool = False
    ) -> "csv.CSVStreamingReader":
        """Return a reader; ``counted``: one whose errors name the row, on one thread."""
        import pyarrow as pa
        from pyarrow import csv

        d = self.dialect
        return csv.open_csv(
            pa.input_stream(self.path, compression="detect"),
            read_options=csv.ReadOptions(
                encoding=d.encoding, column_names=self._names, block_size=BLOCK_BYTES,
                skip_rows=int(d.hint), skip_rows_after_names=d.n_rows_before,
                use_threads=not counted,
            ),
            parse_options=csv.ParseOptions(delimiter=d.delimiter, newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types=types, include_columns=[*columns], decimal_point=d.decimal,
                null_values=[*MISSING, *MISSING_NUMBERS, *self._reading.options.missing],
                strings_can_be_null=False,
            ),
        )  # fmt: skip

    def _refusal(
        self, columns: Sequence[str], types: "dict[str, pa.DataType]", error: Exception
    ) -> TableError:
        """Return the error of a cell or a row, which is looked for by a reader that counts."""
        missing = [c for c in columns if c not in self._names]
        if missing:
            return TableError(unknown("column", missing[0], self._names, self.name))
        if "straddling" in str(error):
            return TableError(
                f"{self.name} has a row longer than {BLOCK_BYTES >> 20} MB: is there a quote that "
                "is not closed?"
            )
        if "invalid UTF8" in str(error):
            return TableError(
                f"{self.name} is not {self.dialect.encoding} throughout: write it again as UTF-8"
            )
        try:
            with self._opened(columns, types, counted=True) as reader:
                for _ in reader:
                    pass
        except Exception as counted:
            message = str(counted)
            cell, width = CONVERSION.search(message), OTHER_WIDTH.search(message)
            if cell is not None:
                return self._bad_cell(int(cell[1]), int(cell[2]), cell[3])
            if width is not None:
                return TableError(
                    f"{self._place(int(width[1]))}, has {width[3]} fields, and others have "
                    f"{width[2]}: quote values that hold the delimiter, or correct the row"
                )
        return cannot_be_read(self.name, self.kind, error)

    def _bad_cell(self, j: int, line: int, what: str) -> TableError:
        value = re.search(r"'(.*)'", what, re.S)
        shown = clipped(value[1]) if value else "something else"
        return TableError(
            f"column '{self._names[j]}' holds {shown} ({self._place(line)}), and its first rows "
            "hold numbers: write numbers plainly (1234.5), leave missing cells empty, or leave the "
            "column out of columns=[…]"
        )

    def _place(self, line: int) -> Place:
        return Place(self.name, line - 1 - self.dialect.n_rows_before - self.dialect.hint)

    def _cleaned(self, batch: "pa.RecordBatch") -> "pa.RecordBatch":
        """Return a batch whose text is without spaces around it, and null where it is missing."""
        import pyarrow as pa

        marks = pa.array([*MISSING, *self._reading.options.missing], pa.string())
        columns = [
            _text(column, marks) if pa.types.is_string(column.type) else column
            for column in batch.columns
        ]
        return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _text(cells: "pa.Array", marks: "pa.Array") -> "pa.DictionaryArray":
    """Return text as codes of the different cells, of which there are few."""
    import pyarrow as pa
    import pyarrow.compute as pc

    coded = cells.dictionary_encode()
    values = pc.utf8_trim_whitespace(coded.dictionary)
    is_missing = pc.is_in(values, value_set=marks)
    return pa.DictionaryArray.from_arrays(coded.indices, pc.if_else(is_missing, None, values))


def csv_parts(
    paths: Sequence[str],
    names: Sequence[str],
    reading: TextReading = TextReading(),  # noqa: B008 – it is immutable
) -> list[Any]:
    """Return a part for each file; the first one with rows says what the columns hold."""
    parts: list[CSVPart] = []
    like: CSVPart | None = None
    for path, name in zip(paths, names, strict=True):
        part = CSVPart(path, name, like, reading)
        if like is None and part.has_rows:
            like = part
        parts.append(part)
    if like is not None:
        for i, part in enumerate(parts):
            if not part.has_rows:
                parts[i] = CSVPart(str(part.path), part.name, like, reading)
    return parts
