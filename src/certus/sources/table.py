"""The table that ``open_rows`` returns: stored rows as X, targets and weights."""

import weakref
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, NoReturn, Protocol, Self

import numpy as np

from ..data.labels import places_among
from ..data.rows import BLOCK_BYTES, spread
from ..data.streamed import RowBlock, StreamedTable, rows_of_block, sample_rows
from ..exceptions import SourceChangedError
from ..text.format import count, listed
from .encoding import BatchEncoder, Expansion
from .first_pass import FirstPass

MAX_BYTES_BESIDE = 1 << 26  # see ``memory_bound``: what allocators keep, and small things
COLUMN_BYTES = 3 << 20  # of Parquet, a column: a page, the same decompressed, and what is buffered
READ_ROWS_GAP = 1 << 14  # bytes between rows, above which each is read by itself


class Store(Protocol):
    """Stored rows, which are read by position."""

    def read(self, start: int, stop: int) -> RowBlock:
        """Return rows start:stop."""

    def read_targets(self, start: int, stop: int) -> tuple[Any, Any]:
        """Return y and s of rows start:stop."""

    def close(self) -> None:
        """Release files and memory."""


class TableSource(Protocol):
    """Where rows come from."""

    def require_unchanged(self, start: int, stop: int) -> None:
        """Raise ``SourceChangedError`` if a file of these rows was written since."""

    def close(self) -> None:
        """Release files."""


class TargetCodes(NamedTuple):
    """How stored targets become indices of classes."""

    classes: np.ndarray
    ranks: np.ndarray | None  # of codes of text; None: numbers, searched among ``numbers``
    numbers: np.ndarray | None


class SourceTable(StreamedTable):
    """Rows of files or of a stream, read block by block; made by ``certus.open_rows``.

    Attributes
    ----------
    shape : (rows, columns of X)
    names : tuple of str, or None
        Names of the columns of X.
    classes : ndarray or None
        The classes, where the target holds labels.
    distinct_targets : ndarray or None
        The different targets, where they are few whole numbers: the classes for a classifier.
    means : ndarray
        The mean of each column of X.
    categories : dict of str to list
        The categories of each column of text, which became a column of X each.
    notes : tuple of str
        What a reader should know: where rows are kept, what was read as what.
    memory_bound : int
        Bytes that reading takes at most, whatever the number of rows.
    """

    def __init__(
        self,
        source: TableSource,
        store: Store,
        found: FirstPass,
        *,
        dtype: Any,
        names: Sequence[str] | None,
        roles: tuple[tuple[str, ...], str | None],
        expansion: Expansion | None,
        encoder: BatchEncoder | None,
        target_codes: TargetCodes | None,
        missing: bool,
        description: str,
        notes: Sequence[str],
        memory_bound: int,
    ):
        p = len(found.sums) if expansion is None else len(expansion.names)
        super().__init__((found.n_rows, p), dtype, len(roles[0]), roles[1] is not None)
        self.names = None if names is None else tuple(names)
        self.missing, self.description = missing, description
        self.notes, self.memory_bound = tuple(notes), memory_bound
        self.target_names, self.weights_name = roles
        self.categories = {} if expansion is None else expansion.categories
        self._source, self._store = source, store
        self._expansion = expansion if expansion is not None and expansion.is_needed else None
        self.expansion, self.encoder = self._expansion, encoder
        self._stored_means = found.means
        self._codes = target_codes
        self._is_closed = False
        if target_codes is not None:
            self.classes = target_codes.classes
        elif found.distinct is not None and found.distinct.values is not None:
            self.distinct_targets = found.distinct.values.astype(found.distinct.dtype)
        self._finalizer = weakref.finalize(self, _close, source, store)
        self._gathers_sample = found.sample is None or found.sample.n_rows != found.n_rows
        if found.sample is not None and not self._gathers_sample:
            numbers = spread(found.n_rows, min(found.n_rows, sample_rows(p)))
            at = np.searchsorted(found.sample.numbers, numbers)
            self.keep_sample(numbers, self._as_read(rows_of_block(found.sample.rows(), at)))
            found.sample = None

    # --- reading ---

    def read(self, start: int, stop: int) -> RowBlock:
        """Return rows start:stop as arrays (X, y, s)."""
        self._require_open()
        self._source.require_unchanged(start, stop)
        return self._as_read(self._store.read(start, stop))

    def read_targets(self, start: int, stop: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Return y and s of rows start:stop."""
        self._require_open()
        self._source.require_unchanged(start, stop)
        y, s = self._store.read_targets(start, stop)
        return self._indices(y), s

    def _as_read(self, stored: RowBlock) -> RowBlock:
        X = stored.X if self._expansion is None else self._expansion.expand(stored.X)
        return RowBlock(X, self._indices(stored.y), stored.s)

    def _indices(self, y: np.ndarray | None) -> np.ndarray | None:
        codes = self._codes
        if y is None or codes is None:
            return y
        if codes.ranks is not None:
            return codes.ranks[y.astype(np.intp)].astype(float)
        assert codes.numbers is not None
        k = places_among(codes.numbers, y)
        at = np.clip(k, 0, len(codes.numbers) - 1).astype(np.intp)
        if not np.array_equal(codes.numbers[at], y):
            raise SourceChangedError(
                f"the target of {self.description} holds a class that it did not when open_rows "
                "read it first: open it again, and fit again"
            )
        return k

    def gather(self, i: np.ndarray, threads: int = 1) -> RowBlock:
        """Return the rows with the numbers ``i``; those of the fixed sample are in memory."""
        if self._gathers_sample:
            n, p = self.shape
            self._gathers_sample = False
            numbers = spread(n, min(n, sample_rows(p)))
            self.keep_sample(numbers, self._gather(numbers, threads))
        return super().gather(i, threads)

    def _gather(self, i: np.ndarray, threads: int) -> RowBlock:
        read_rows = getattr(self._store, "read_rows", None)
        n, p = self.shape
        row_bytes = self.dtype.itemsize * p
        if read_rows is None or n * row_bytes < READ_ROWS_GAP * max(1, len(i)):
            return super()._gather(i, threads)
        self._require_open()
        self._source.require_unchanged(0, n)
        order = np.argsort(i, kind="stable")
        block = self._as_read(read_rows(i[order]))
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return RowBlock(*(None if a is None else a[back] for a in block))  # type: ignore[arg-type]

    # --- what people use ---

    @property
    def means(self) -> np.ndarray:
        """The mean of each column of X."""
        if self._expansion is None:
            return self._stored_means.copy()
        total = np.zeros(self.shape[1])
        for block in self.batches():
            total += block.X.sum(axis=0, dtype=float)
        return total / self.shape[0]

    def batches(self, rows: int | None = None) -> Iterator[RowBlock]:
        """Yield all rows in order, as blocks of arrays (X, y, s).

        Parameters
        ----------
        rows : int, default=None
            Of a block; None: about 1 MB.
        """
        n, p = self.shape
        step = rows or max(256, BLOCK_BYTES // (8 * p))
        for start in range(0, n, step):
            yield self.read(start, min(n, start + step))

    def head(self, rows: int = 5) -> RowBlock:
        """Return the first rows as arrays (X, y, s)."""
        return self.read(0, min(rows, self.shape[0]))

    def close(self) -> None:
        """Close the files, and delete temporary ones. The table cannot be read afterwards."""
        self._is_closed = True
        self._finalizer()

    def _require_open(self) -> None:
        if self._is_closed:
            raise ValueError(f"{self.description}: the table was closed, open it again")

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"{self.description}: a table of open_rows refers to open files, so it cannot be "
            "pickled or copied: open it again where it is used"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        n, p = self.shape
        lines = [f"{self.description}: {count(n, 'row')} × {count(p, 'column')} ({self.dtype})"]
        if self.target_names:
            lines.append(f"target: {listed([repr(name) for name in self.target_names])}")
            if self.classes is not None:
                shown = listed([repr(c) for c in self.classes.tolist()])
                lines[-1] += f", {len(self.classes)} classes ({shown})"
        if self.weights_name is not None:
            lines.append(f"weights: {self.weights_name!r}")
        return "\n".join([*lines, *self.notes])


def _close(source: TableSource, store: Store) -> None:
    store.close()
    source.close()
