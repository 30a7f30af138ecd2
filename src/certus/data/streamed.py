"""Tables that are not in memory as a whole: X, targets and weights are read block by block.

A table has n rows and gives any range of them as arrays,

    read(start, stop) = X_b (rows × p),  y_b (rows × k or None),  s_b (rows or None)

so that ``Rows`` takes its columns as it takes arrays: ``Rows(table.X, table.y, table.s)``. What the
solvers keep for every row (labels, bounds, slopes) is kept by the table too, out of memory.
"""

import os
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..engines.calls import TargetSource, recode
from ..engines.parts import gather_parts
from ..engines.protocol import BlockEngine
from ..engines.state import KeptState, set_row_by_row
from ..runtime.pool import run_on_threads

CACHED_SAMPLE_ELEMENTS = 1 << 19  # of X: the sample that all smaller ones are taken from
MAX_SAMPLE_ROWS = 1 << 13
GATHER_BYTES = 1 << 23  # of X, read at a time to gather rows
WORTH_KEEPING = 0.5  # share of rows in memory above which only the others are read


class RowBlock(NamedTuple):
    """Some rows of a table, as arrays."""

    X: np.ndarray
    y: np.ndarray | None
    s: np.ndarray | None


Recode = Callable[..., tuple[np.ndarray | None, np.ndarray | None]]


class StreamedTable(ABC):
    """Rows that are read block by block, again in every pass.

    X holds finite numbers (unless ``missing``), of which the first pass over the source made sure.
    """

    names: tuple[str, ...] | None = None  # of the columns of X
    classes: np.ndarray | None = None  # where y holds class indices, the classes; else None
    # where y holds few different whole numbers, those, ascending: the classes for a classifier
    distinct_targets: np.ndarray | None = None
    target_names: tuple[str, ...] = ()  # of the columns of y, where they have names
    missing = False  # whether X may hold NaN
    description = "rows"  # of the source, for messages
    engine: BlockEngine | None = None  # where passes run, if not on threads of this process
    answers_to: Any = None  # the Dask collection that answers are lazy arrays about

    def __init__(
        self, shape: tuple[int, int], dtype: Any, n_targets: int = 0, has_weights: bool = False
    ):
        self.shape, self.dtype = shape, np.dtype(dtype)
        self.n_targets, self.has_weights = n_targets, has_weights
        self._sample: tuple[np.ndarray, RowBlock] | None = None

    @abstractmethod
    def read(self, start: int, stop: int) -> RowBlock:
        """Return rows start:stop as C-contiguous arrays; called by several threads at once."""

    def read_targets(self, start: int, stop: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Return y and s of rows start:stop; cheaper than ``read`` where columns are apart."""
        _, y, s = self.read(start, stop)
        return y, s

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError(
            f"{self.description}: {self.shape[0]:,} rows are read block by block, and arrays are "
            "needed here. Estimators of certus and certus.verify take such a table; scikit-learn's "
            "classes (pipelines, searches, scalers) take arrays: of a sample of the rows, say"
        )

    # --- the table as sources of Rows ---

    @property
    def X(self) -> "StreamedX":
        return StreamedX(self)

    @property
    def y(self) -> "StreamedColumn | None":
        return None if self.n_targets == 0 else StreamedColumn(self, 0)

    @property
    def s(self) -> "StreamedColumn | None":
        return StreamedColumn(self, 1) if self.has_weights else None

    # --- rows by their numbers ---

    def gather(self, i: np.ndarray, threads: int = 1) -> RowBlock:
        """Return the rows with the numbers ``i``, in one pass over the ranges that hold them."""
        i = np.asarray(i, dtype=np.intp)
        if self._sample is not None:
            numbers, sample = self._sample
            at = np.minimum(np.searchsorted(numbers, i), len(numbers) - 1)
            known = numbers[at] == i
            if known.all():
                return rows_of_block(sample, at)
            if known.mean() > WORTH_KEEPING:  # only the others are read
                others = self._read_rows(i[~known], threads)
                return _interleaved(known, rows_of_block(sample, at[known]), others)
        return self._read_rows(i, threads)

    def _read_rows(self, i: np.ndarray, threads: int) -> RowBlock:
        if self.engine is not None:
            return RowBlock(*gather_parts(self.engine, i))  # type: ignore[arg-type]
        return self._gather(i, threads)

    def keep_sample(self, numbers: np.ndarray, sample: RowBlock) -> None:
        """Keep rows that ``gather`` then need not read; ``numbers`` ascend."""
        self._sample = numbers, sample

    def _gather(self, i: np.ndarray, threads: int) -> RowBlock:
        order = np.argsort(i, kind="stable")
        ascending = i[order]
        n, p = self.shape
        step = max(1, GATHER_BYTES // (self.dtype.itemsize * max(1, p)))
        X = np.empty((len(i), p), self.dtype)
        y = np.empty((len(i), self.n_targets)) if self.n_targets else None
        s = np.empty(len(i)) if self.has_weights else None
        edges = [0]
        while edges[-1] < len(i):
            edges.append(int(np.searchsorted(ascending, ascending[edges[-1]] + step)))

        def fill(part: int) -> None:
            first, last = edges[part], edges[part + 1]
            start = int(ascending[first])
            block = self.read(start, min(n, int(ascending[last - 1]) + 1))
            to, at = order[first:last], ascending[first:last] - start
            X[to] = block.X[at]
            if y is not None and block.y is not None:
                y[to] = block.y[at]
            if s is not None and block.s is not None:
                s[to] = block.s[at]

        run_on_threads(fill, len(edges) - 1, threads if len(edges) > 2 else 1)
        return RowBlock(X, y, s)

    # --- what is kept for every row ---

    def allocate(self, columns: tuple[int, ...], dtype: Any, order: str = "C") -> "RowState":
        """Return room for ``columns`` values for each row, zeros at first.

        It is a temporary file, or where the parts of the table are.
        """
        shape = (self.shape[0], *columns)
        if self.engine is not None:
            return KeptState(self.engine, shape, dtype, order)
        return SpilledState(shape, dtype, order)


def rows_of_block(block: RowBlock, at: np.ndarray) -> RowBlock:
    """Return the rows with the numbers ``at`` of a block."""
    return RowBlock(*(None if part is None else part[at] for part in block))  # type: ignore[arg-type]


def _interleaved(first: np.ndarray, some: RowBlock, others: RowBlock) -> RowBlock:
    """Return the rows of both, those of ``some`` where ``first`` (n,) is true."""
    columns: list[Any] = []
    for one, other in zip(some, others, strict=True):
        if one is None or other is None:
            columns.append(None)
            continue
        both = np.empty((len(first), *one.shape[1:]), np.result_type(one, other))
        both[first], both[~first] = one, other
        columns.append(both)
    return RowBlock(*columns)


class _Source:
    """Base of a table's columns as a source: sliced, never turned into one array."""

    table: StreamedTable
    shape: tuple[int, ...]
    dtype: np.dtype

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        raise TypeError(
            f"{self.table.description}: {self.shape[0]:,} rows are read block by block, and this "
            "step needs them as one array in memory. It is not available for open_rows; load the "
            "table, or a sample of it, as an array"
        )

    def _range(self, rows: slice) -> tuple[int, int]:
        start, stop, step = rows.indices(self.shape[0])
        if step != 1:
            raise IndexError("streamed rows are sliced in steps of 1")
        return start, max(start, stop)


class StreamedX(_Source):
    """X of a table, as a source of ``Rows``."""

    shape: tuple[int, int]

    def __init__(self, table: StreamedTable):
        self.table, self.shape, self.dtype = table, table.shape, table.dtype

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        if isinstance(rows, slice):
            return self.table.read(*self._range(rows)).X
        return self.table.gather(rows).X

    def allocate(self, columns: tuple[int, ...], dtype: Any, order: str = "C") -> "RowState":
        return self.table.allocate(columns, dtype, order)


class StreamedColumn(_Source):
    """Targets (n, k) or weights (n,) of a table, recoded by functions of each row alone.

    ``which``: 0 for the targets, 1 for the weights. ``recodes``: (function, args) in turn, each
    with function(y_b, s_b, *args) → (y_b, s_b).
    """

    dtype = np.dtype(float)

    def __init__(
        self,
        table: StreamedTable,
        which: int,
        recodes: Sequence[tuple[Recode, tuple[Any, ...]]] = (),
    ):
        self.table, self.which, self.recodes = table, which, tuple(recodes)
        n = table.shape[0]
        one = self._recoded(*table.read_targets(0, min(1, n)))[which] if recodes else None
        columns = (one.shape[1:] if one is not None else (table.n_targets,)) if which == 0 else ()
        self.shape = (n, *columns)

    def _recoded(self, y: Any, s: Any) -> tuple[Any, Any]:
        return recode(y, s, self.recodes)

    @property
    def column(self) -> TargetSource:
        """Return where a pass of an engine finds this column."""
        return TargetSource(self.which, self.recodes)

    def __getitem__(self, rows: slice | np.ndarray) -> Any:
        if isinstance(rows, slice):
            y, s = self.table.read_targets(*self._range(rows))
        else:
            _, y, s = self.table.gather(rows)
        return self._recoded(y, s)[self.which]


def recoded_columns(
    table: StreamedTable, recodes: Sequence[tuple[Recode, tuple[Any, ...]]]
) -> tuple[StreamedColumn | None, StreamedColumn | None]:
    """Return (y, s) of a table after ``recodes``; None for what they do not give."""
    y, s = table.read_targets(0, min(1, table.shape[0]))
    y, s = recode(y, s, recodes)
    return (
        None if y is None else StreamedColumn(table, 0, recodes),
        None if s is None else StreamedColumn(table, 1, recodes),
    )


class SpilledState:
    """An array with an entry for every row, in an unnamed temporary file.

    Slices are copies, and so are rows by their numbers; ``state[start:stop] = values`` writes them.
    Ranges that different threads write must not overlap.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, order: str = "C"):
        self.shape, self.dtype, self.order = shape, np.dtype(dtype), order
        self._width = self.dtype.itemsize * int(np.prod(shape[1:], dtype=np.int64))
        self._file = tempfile.TemporaryFile(prefix="certus-state-", buffering=0)  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self._file.truncate(self._width * shape[0])
        weakref.finalize(self, self._file.close)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        if not isinstance(rows, slice):  # a few, by their numbers
            out = np.empty((len(rows), *self.shape[1:]), self.dtype)
            for to, i in enumerate(rows.tolist()):
                read_into(self._file.fileno(), out[to : to + 1], i * self._width)
            return out
        start, stop, _ = rows.indices(self.shape[0])
        out = np.empty((max(0, stop - start), *self.shape[1:]), self.dtype)
        read_into(self._file.fileno(), out, start * self._width)
        return np.asfortranarray(out) if self.order == "F" else out

    def __setitem__(self, rows: slice | np.ndarray, values: Any) -> None:
        if not isinstance(rows, slice):
            set_row_by_row(self, rows, values)
            return
        start, stop, _ = rows.indices(self.shape[0])
        part = np.empty((max(0, stop - start), *self.shape[1:]), self.dtype)
        part[:] = values
        write_from(self._file.fileno(), part, start * self._width)

    def copy(self) -> "SpilledState":
        """Return a copy, in a file of its own."""
        other = SpilledState(self.shape, self.dtype, self.order)
        step = max(1, GATHER_BYTES // max(1, self._width))
        for start in range(0, self.shape[0], step):
            other[start : start + step] = self[start : start + step]
        return other

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        whole = self[0 : self.shape[0]]
        return whole if dtype is None else whole.astype(dtype)


RowState = SpilledState | KeptState  # what is kept for every row, out of memory


def read_into(file: int, out: np.ndarray, offset: int) -> None:
    """Fill the C-contiguous array ``out`` with the bytes of a file from ``offset`` on."""
    view = out.reshape(-1).view(np.uint8).data
    done = 0
    while done < len(view):
        count = os.preadv(file, [view[done:]], offset + done)
        if count == 0:
            raise EOFError("the file ends before its last row: it was cut while it was read")
        done += count


def write_from(file: int, values: np.ndarray, offset: int) -> None:
    """Write the bytes of a C-contiguous array to a file at ``offset``."""
    view = values.reshape(-1).view(np.uint8).data
    done = 0
    while done < len(view):
        done += os.pwrite(file, view[done:], offset + done)


def sample_rows(p: int) -> int:
    """Return how many rows the sample has that a table of p columns keeps in memory."""
    return max(16, min(MAX_SAMPLE_ROWS, CACHED_SAMPLE_ELEMENTS // max(1, p)))
