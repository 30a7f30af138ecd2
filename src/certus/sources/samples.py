"""A random sample of the rows of files, as a table in memory.

Each row gets a random number, in the order of the rows; those with the smallest are the sample. So
it is drawn in one pass without knowing how many rows there are, and the same rows come from the
same seed, however the files are read.
"""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from ..exceptions import TableError, UsageError
from ..tables.columns import described
from ..tables.conversion import Converted
from ..tables.table import ReadReport, SampledRows, Table
from ..tables.targets import MAX_WHOLE
from ..text.format import count
from .csv_files import TextReading
from .file_blocks import FileTable

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 100_000
VALUES = 1 << 24  # of a sample by default, in all columns: 134 MB
BLOCK_VALUES = 1 << 20


def read_sample(
    source: str | PathLike[str] | Sequence[str],
    rows: int | None = None,
    *,
    seed: int = 0,
    reading: TextReading = TextReading(),  # noqa: B008 – it is immutable
    on_block: Callable[[FileTable, int], None] | None = None,
) -> Table:
    """Read a random sample of the rows of files, in their order; all of them if they are few.

    Parameters
    ----------
    source : path, glob, folder or list of paths
        Files of one kind, as ``open_rows`` takes them.
    rows : int, default=None
        Of the sample; None: 100,000, and fewer of more than 167 columns.
    seed : int, default=0
        Of the sample.
    reading : TextReading, default=TextReading()
        How text files are written, and roles of columns.
    on_block : callable, default=None
        Is told the files and how many rows were read, for progress.
    """
    if rows is not None and rows < 1:
        raise UsageError(f"a sample of {rows} rows: give a number from 1 up")
    files = FileTable(source, reading)
    most = rows or max(1, min(ROWS, VALUES // max(1, len(files.names))))
    rng = np.random.default_rng(seed)
    drawn = _DrawnRows(most)
    n = 0
    for block in files.blocks(files.names, max(256, BLOCK_VALUES // max(1, len(files.names)))):
        drawn.add(block.data, rng.random(len(block.data)), block.start)
        n = block.start + len(block.data)
        if on_block is not None:
            on_block(files, n)
    data, numbers = drawn.rows()
    return _table(files, data, numbers, n, seed)


class _DrawnRows:
    """The rows with the smallest random numbers so far."""

    def __init__(self, most: int):
        self.most = most
        self.bound = np.inf  # rows with larger numbers are out
        self.data: list[pa.Table] = []
        self.keys: list[np.ndarray] = []
        self.numbers: list[np.ndarray] = []

    def add(self, data: "pa.Table", keys: np.ndarray, start: int) -> None:
        """Include the rows of a block; ``start``: the place of the first one, from 0."""
        chosen = np.flatnonzero(keys < self.bound)
        if not len(chosen):
            return
        self.data.append(data.take(chosen))
        self.keys.append(keys[chosen])
        self.numbers.append(start + chosen + 1)
        if sum(map(len, self.keys)) > 2 * self.most:
            self._narrow()

    def _narrow(self) -> None:
        import pyarrow as pa

        keys, numbers = np.concatenate(self.keys), np.concatenate(self.numbers)
        data = pa.concat_tables(self.data)
        if len(keys) > self.most:
            chosen = np.sort(np.argpartition(keys, self.most - 1)[: self.most])
            data, keys, numbers = data.take(chosen), keys[chosen], numbers[chosen]
            self.bound = float(keys.max())
        self.data, self.keys, self.numbers = [data.combine_chunks()], [keys], [numbers]

    def rows(self) -> "tuple[pa.Table, np.ndarray]":
        """Return the rows that were drawn, and their numbers from 1."""
        self._narrow()
        return self.data[0], self.numbers[0]


def rows_by_number(files: FileTable, columns: Sequence[str], numbers: np.ndarray) -> Table:
    """Read the rows with these numbers, from 1, as a table of these columns."""
    import pyarrow as pa

    order = np.argsort(numbers)
    wanted = numbers[order]
    rows = max(256, BLOCK_VALUES // max(1, len(columns)))
    found: list[pa.Table] = []
    n = 0
    for block in files.blocks(columns, rows):
        n = block.start + len(block.data)
        first, last = np.searchsorted(wanted, [block.start + 1, n + 1])
        found.append(block.data.take(wanted[first:last] - 1 - block.start))
    if len(wanted) and wanted[-1] > n:
        raise TableError(
            f"{files.name} has {count(n, 'row')}, and the model was fitted on a table with row "
            f"{wanted[-1]:,}: give that table"
        )
    data = pa.concat_tables(found).take(np.argsort(order))
    return _table(files, data, numbers, n, None)


def _table(
    files: FileTable, data: "pa.Table", numbers: np.ndarray, n: int, seed: int | None
) -> Table:
    import pyarrow as pa

    names = data.column_names
    arrays = [
        _as_written(files, name, values) for name, values in zip(names, data.columns, strict=True)
    ]
    columns = tuple(
        described(name, Converted(values, frozenset()), files.role_of(name), numbers)
        for name, values in zip(names, arrays, strict=True)
    )
    odd = tuple(f"column '{c.name}': {c.reason}" for c in columns if c.is_used and c.reason)
    report = ReadReport(
        files.name, files.kind, len(data), files.dialect, (), (*files.notes, *odd),
        n if len(data) < n else None,
    )  # fmt: skip
    sample = SampledRows(numbers, n, seed, tuple(files.given)) if len(data) < n else None
    return Table(pa.table(arrays, names=names), columns, report, sample)


def _as_written(files: FileTable, name: str, values: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """Whole numbers of text files as such, which blocks hold as floats."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(values.type) or not files.is_whole(name):
        return values
    fits = pc.and_(pc.equal(values, pc.trunc(values)), pc.less(pc.abs(values), MAX_WHOLE))
    return pc.cast(values, pa.int64()) if pc.all(fits).as_py() is not False else values
