"""What a source is made of: parts with a name, each read from its beginning to its end.

A part is a file or a stream. It gives its rows in order, as Arrow batches or as arrays, and says
by a stamp (size, time of change, inode) whether its file is still the one that was opened.
"""

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ..exceptions import SourceChangedError, TableError
from ..tables.binary_files import first_line

if TYPE_CHECKING:
    import pyarrow as pa

Stamp = tuple[int, int, int]


class SourcePart(Protocol):
    """A file, or a stream, with rows of the columns of its schema."""

    @property
    def name(self) -> str:
        """The name for messages."""

    @property
    def path(self) -> str | None:
        """Where the file is; None: a stream."""

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where it is known without reading them."""

    @property
    def schema(self) -> "pa.Schema":
        """Names and types of the columns."""

    def batches(
        self, columns: Sequence[str], start: int, batch_rows: int
    ) -> "Iterator[tuple[int, pa.RecordBatch]]":
        """Yield batches of these columns with the number of their first row, from ``start`` on.

        The first batch may begin before ``start``.
        """


class Place(NamedTuple):
    """Where a row is, for messages."""

    part: str
    row: int  # within the part, from 0

    def __str__(self) -> str:
        return f"row {self.row:,} of {self.part}, counted from 0"


def stamp_of(path: str | None) -> Stamp | None:
    """Return what changes when a file is written again; None for a stream."""
    if path is None:
        return None
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns, status.st_ino


def require_stamp(path: str | None, name: str, stamp: Stamp | None) -> None:
    """Raise ``SourceChangedError`` if a file is not the one that was opened."""
    if stamp is None:
        return
    try:
        found = stamp_of(path)
    except OSError as error:
        raise SourceChangedError(
            f"{name} was removed or cannot be read since open_rows read it "
            f"({error.strerror}): open it again"
        ) from error
    if found != stamp:
        raise SourceChangedError(
            f"{name} was written again since open_rows read it (its size or time of change "
            "differs): open it again, and fit again"
        )


def cannot_be_read(name: str, kind: str, error: BaseException) -> TableError:
    """Return the error of a damaged or truncated file."""
    if isinstance(error, TableError):
        return error
    if isinstance(error, FileNotFoundError):
        return TableError(f"there is no file {name}")
    return TableError(
        f"{name} cannot be read as {kind}: {first_line(error).rstrip('.')}. Is it damaged, or cut "
        "off? Write it again, or leave it out"
    )
