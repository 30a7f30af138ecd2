"""Tables that commands write: block by block, and whole or not at all."""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from ...exceptions import UsageError
from ...text.files import whole_file

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import csv, parquet

OTHER_SUFFIXES = (
    ".xlsx", ".xls", ".ods", ".feather", ".arrow", ".npy", ".npz", ".json", ".gz", ".bz2", ".xz",
    ".zip", ".pkl", ".certus",
)  # fmt: skip
SPOOLED_BYTES = 1 << 24  # for stdout, kept in memory; more in a temporary file


def require_table_suffix(path: str) -> None:
    """Refuse the name of a table in a format that is not written."""
    suffix = Path(path).suffix.casefold()
    if suffix in OTHER_SUFFIXES:
        raise UsageError(f"tables are written as CSV, TSV or Parquet, not as {suffix}: name {path} "
                         "with one of the suffixes .csv, .tsv and .parquet")  # fmt: skip


def write_table(data: "pa.Table", path: str | None) -> None:
    """Write a table as CSV or, by its suffix, as TSV or Parquet; None: CSV to stdout."""
    with table_written(path) as write:
        write(data)


@contextmanager
def table_written(path: str | None) -> "Iterator[Callable[[pa.Table], None]]":
    """Give a function that writes the next rows; the file is there when all of them are written.

    All blocks have the columns and types of the first one.
    """
    suffix = "" if path is None else Path(path).suffix.casefold()
    if path is not None:
        with whole_file(path) as draft, _Writer(draft, suffix) as writer:
            yield writer.write
        return
    with tempfile.SpooledTemporaryFile(SPOOLED_BYTES) as spooled:
        file = cast("IO[bytes]", spooled)
        with _Writer(file, suffix) as writer:
            yield writer.write
        file.seek(0)
        sys.stdout.flush()
        shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()


class _Writer:
    """Writes blocks of rows to a file, in the format of its suffix."""

    def __init__(self, file: IO[bytes], suffix: str):
        self.file, self.suffix = file, suffix
        self.writer: csv.CSVWriter | parquet.ParquetWriter | None = None

    def write(self, data: "pa.Table") -> None:
        if self.writer is None:
            self.writer = self._opened(data.schema)
        self.writer.write_table(data)

    def _opened(self, schema: "pa.Schema") -> "csv.CSVWriter | parquet.ParquetWriter":
        from pyarrow import csv, parquet

        if self.suffix in (".parquet", ".pq"):
            return parquet.ParquetWriter(self.file, schema)
        mark = "\t" if self.suffix == ".tsv" else ","
        return csv.CSVWriter(self.file, schema, write_options=csv.WriteOptions(delimiter=mark))

    def __enter__(self) -> "_Writer":
        return self

    def __exit__(self, *_: object) -> None:
        if self.writer is not None:
            self.writer.close()
