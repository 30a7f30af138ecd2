"""CSV files as parts: how they are written is decided by the first file and its first megabyte.

The rules are those of ``read_table`` (encoding, delimiter, decimal mark, header, marks of missing
values). A column is numbers or text by what its cells in the first megabyte are; a later cell that
breaks this is refused, since a stream cannot change its mind.
"""

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..exceptions import TableError
from ..tables.formats import MISSING, MISSING_NUMBERS
from ..tables.sniff import SAMPLE_BYTES, Dialect, dialect_of
from ..tables.suggestions import did_you_mean
from ..tables.text_files import TextOptions, read_text
from .parts import cannot_be_read

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_BYTES = 1 << 22  # of text, parsed at a time; a row must fit into one


class CSVPart:
    """A CSV file; gzip, bzip2 and zstd by the end of its name."""

    kind = "CSV"

    def __init__(self, path: str, name: str, like: "CSVPart | None" = None):
        import pyarrow as pa

        self.path: str | None = path
        self.name = name
        self.n_rows: int | None = None
        sample = self._sample()
        if like is None:
            text = read_text(io.BytesIO(sample), b"", TextOptions(), {})
            self.dialect: Dialect = text.dialect
            self._names, self.notes = text.names, text.notes
            kinds = [c.values.type for c in text.columns]
        else:
            d = like.dialect
            self.dialect = dialect_of(sample, d.encoding, d.delimiter, d.decimal, d.header)
            self._names, self.notes, kinds = self._names_like(like), [], []
            known = {field.name: field.type for field in like.schema}
            kinds = [known.get(column, pa.string()) for column in self._names]
        self.schema: pa.Schema = pa.schema(list(zip(self._names, kinds, strict=True)))

    def _names_like(self, like: "CSVPart") -> list[str]:
        if not self.dialect.header:
            if self.dialect.n_fields != len(like._names):
                raise TableError(
                    f"{self.name} has {self.dialect.n_fields} fields a row, and {like.name} has "
                    f"{len(like._names)}: give files with the same columns"
                )
            return like._names
        return [column.strip() for column in self.dialect.first_row]

    def _sample(self) -> bytes:
        import pyarrow as pa

        try:
            with pa.input_stream(self.path, compression="detect") as stream:
                sample: bytes = stream.read(SAMPLE_BYTES)
        except Exception as error:
            raise cannot_be_read(self.name, self.kind, error) from error
        if not sample.strip():
            raise TableError(f"{self.name} is empty: remove it, or leave it out")
        if len(sample) < SAMPLE_BYTES:
            return sample
        return sample[: sample.rfind(b"\n") + 1] or sample

    def batches(
        self, columns: Sequence[str], start: int, batch_rows: int
    ) -> "Iterator[tuple[int, pa.RecordBatch]]":
        """Yield batches from the beginning: rows of text cannot be skipped unread."""
        first = 0
        try:
            with self._opened(columns) as reader:
                for batch in reader:
                    for at in range(0, batch.num_rows, batch_rows):
                        if first + min(at + batch_rows, batch.num_rows) > start:
                            yield first + at, self._stripped(batch.slice(at, batch_rows))
                    first += batch.num_rows
        except GeneratorExit:
            raise
        except TableError:
            raise
        except Exception as error:
            raise self._refusal(columns, error) from error

    def _opened(self, columns: Sequence[str]) -> "pa.csv.CSVStreamingReader":
        import pyarrow as pa
        from pyarrow import csv

        d = self.dialect
        types = {
            field.name: pa.string() if pa.types.is_string(field.type) else pa.float64()
            for field in self.schema
        }
        return csv.open_csv(
            pa.input_stream(self.path, compression="detect"),
            read_options=csv.ReadOptions(
                encoding=d.encoding, column_names=self._names, block_size=BLOCK_BYTES,
                skip_rows=int(d.hint), skip_rows_after_names=d.n_rows_before,
            ),
            parse_options=csv.ParseOptions(delimiter=d.delimiter, newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types=types, include_columns=[*columns], decimal_point=d.decimal,
                null_values=[*MISSING, *MISSING_NUMBERS], strings_can_be_null=True,
            ),
        )  # fmt: skip

    def _stripped(self, batch: "pa.RecordBatch") -> "pa.RecordBatch":
        import pyarrow as pa
        import pyarrow.compute as pc

        columns = [
            pc.utf8_trim_whitespace(column) if pa.types.is_string(column.type) else column
            for column in batch.columns
        ]
        return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)

    def _refusal(self, columns: Sequence[str], error: Exception) -> TableError:
        message = str(error)
        if "conversion error" in message:
            at = message.partition("CSV column #")[2].partition(":")[0]
            j = int(at) if at.isdigit() else -1
            column = f"column '{columns[j]}' of " if 0 <= j < len(columns) else ""
            return TableError(
                f"{column}{self.name} holds something else than a number "
                f"({message.partition('conversion error ')[2].strip() or message}), and the first "
                "rows hold numbers: correct the cell, write numbers plainly (1234.5), or leave the "
                "column out of columns=[…]"
            )
        missing = [c for c in columns if c not in self._names]
        if missing:
            close = did_you_mean(missing[0], self._names)
            hint = f": did you mean '{close}'?" if close else ""
            return TableError(f"{self.name} has no column '{missing[0]}'{hint}")
        return cannot_be_read(self.name, self.kind, error)
