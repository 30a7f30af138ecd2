"""Parquet and Arrow (Feather) files as parts, decoded a few thousand rows at a time.

A Parquet row group is read through a buffer of each column, never as a whole, so that a file with
one giant row group needs as little memory as any other.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from .parts import cannot_be_read

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import parquet

MAX_BUFFER_BYTES = 1 << 18  # of a column; 1 MB and 4 MB were as fast
BUFFERED_BYTES = 1 << 25  # of all columns
MIN_BUFFER_BYTES = 1 << 14


class ParquetPart:
    """A Parquet file."""

    kind = "Parquet"

    def __init__(self, path: str, name: str):
        self.path: str | None = path
        self.name = name
        with self._opened(1) as file:
            self.schema = file.schema_arrow
            metadata = file.metadata
            self.n_rows: int | None = metadata.num_rows
            self._group_rows = [
                metadata.row_group(g).num_rows for g in range(metadata.num_row_groups)
            ]

    def _opened(self, n_columns: int) -> "parquet.ParquetFile":
        from pyarrow import parquet

        buffer = BUFFERED_BYTES // max(1, n_columns)
        try:
            return parquet.ParquetFile(
                self.path,
                buffer_size=max(MIN_BUFFER_BYTES, min(MAX_BUFFER_BYTES, buffer)),
                pre_buffer=False,
                page_checksum_verification=True,  # of files that have checksums
            )
        except Exception as error:  # a damaged file may raise nearly anything
            raise cannot_be_read(self.name, self.kind, error) from error

    def batches(
        self, columns: Sequence[str], start: int, batch_rows: int
    ) -> "Iterator[tuple[int, pa.RecordBatch]]":
        """Yield batches from the row group that holds row ``start``."""
        first, group = 0, 0
        while group < len(self._group_rows) and first + self._group_rows[group] <= start:
            first += self._group_rows[group]
            group += 1
        groups = list(range(group, len(self._group_rows)))
        with self._opened(len(columns)) as file:
            reader = file.iter_batches(batch_rows, row_groups=groups, columns=[*columns])
            while True:
                try:
                    batch = next(reader, None)
                except Exception as error:
                    raise cannot_be_read(self.name, self.kind, error) from error
                if batch is None:
                    return
                yield first, batch.select([*columns])
                first += batch.num_rows


class ArrowPart:
    """An Arrow file (Feather), or an Arrow stream in a file; one record batch is read at a time."""

    kind = "Feather"

    def __init__(self, path: str, name: str, is_stream: bool = False):
        self.path: str | None = path
        self.name, self._is_stream = name, is_stream
        self.n_rows: int | None = None
        try:
            with self._opened(None) as reader:
                self.schema = reader.schema
        except Exception as error:
            raise cannot_be_read(self.name, self.kind, error) from error

    def _opened(self, columns: Sequence[str] | None) -> "pa.RecordBatchFileReader":
        import pyarrow as pa

        if self._is_stream:
            return pa.ipc.open_stream(pa.OSFile(self.path))
        options = None
        if columns is not None:
            fields = sorted(self.schema.get_field_index(name) for name in columns)
            options = pa.ipc.IpcReadOptions(included_fields=fields)
        return pa.ipc.open_file(pa.OSFile(self.path), options=options)

    def batches(
        self, columns: Sequence[str], start: int, batch_rows: int
    ) -> "Iterator[tuple[int, pa.RecordBatch]]":
        """Yield slices of the record batches from ``start`` on."""
        first = 0
        with closing(self._record_batches(columns)) as record_batches:
            for batch in record_batches:
                for at in range(max(0, start - first), batch.num_rows, batch_rows):
                    yield first + at, batch.slice(at, batch_rows)
                first += batch.num_rows

    def _record_batches(self, columns: Sequence[str]) -> "Generator[pa.RecordBatch, None, None]":
        try:
            with self._opened(columns) as reader:
                if self._is_stream:
                    for batch in reader:
                        yield batch.select([*columns])
                else:
                    for i in range(reader.num_record_batches):
                        yield reader.get_batch(i).select([*columns])
        except Exception as error:  # also offsets and indices that Arrow finds impossible
            raise cannot_be_read(self.name, self.kind, error) from error
