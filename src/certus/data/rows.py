"""Data as blocks of rows, with the two operations that all models are built from.

    reduce:  Σ_b statistic(X_b, y_b, s_b)        map:  rows of out_b = function(X_b, y_b, s_b)

Block edges depend on the shape and the kind of statistic only, and partial results are combined in
one fixed binary tree,

    ((0+1)+(2+3)) + ((4+5)+(6+7)) + …

so the answer is the same bits on any number of threads. Whichever thread completes a pair adds it;
blocks are taken in order, so at most log₂(blocks) + threads partial results are alive.

A source is anything with ``shape``, ``dtype`` and ``source[start:stop] → array``: a NumPy array,
a memory map, sparse rows (``csr.py``), rows that are computed when read (``lazy.py``) or those of
a table that is larger than memory (``streamed.py``). Targets and weights are sources as well.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from ..engines.calls import Pass, TargetSource, recode
from ..engines.parts import map_parts, reduce_parts
from ..engines.protocol import BlockEngine
from ..engines.tree import CombiningTree
from ..runtime.config import effective_threads
from ..runtime.pool import run_on_threads
from .csr import CSR, Block, DenseBlocks, SparseMatrix
from .lazy import LazyRows
from .spread import spread as spread
from .streamed import (
    KeptState,
    Recode,
    RowBlock,
    SpilledState,
    StreamedColumn,
    StreamedX,
    recoded_columns,
)

BLOCK_BYTES = 1 << 20  # a block stays in cache, and Python's overhead is small beside it
SMALL_WORK = 1 << 19  # elements below which a thread costs more than it saves
SQUARE_WORK = 16  # a p×p statistic costs p/16 passes over the elements
MAX_CACHED_SAMPLE_ELEMENTS = 1 << 19  # a larger sample does not stay in memory
TARGET_ROWS = 1 << 20  # of a block of targets and weights alone
ENTRY_BYTES = 12  # of a sparse matrix: a number and its column
NO_COLUMNS = np.empty((0, 0))
ENTRIES_PER_COLUMN = 16  # in a sparse block: adding up p sums then costs little beside it


def add(left: Any, right: Any) -> Any:
    """Left + right, field by field; arrays of left are updated in place."""
    fields = [_add_field(a, b) for a, b in zip(left, right, strict=True)]
    return tuple(fields) if type(left) is tuple else type(left)(*fields)


def _add_field(a: object, b: Any) -> Any:
    if isinstance(a, np.ndarray):
        a += b
        return a
    return a + b


class Source(Protocol):
    """A source of the rows of X: an array, a memory map, sparse or lazy rows."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def dtype(self) -> np.dtype: ...

    def __getitem__(self, rows: slice, /) -> Block: ...


RowState = np.ndarray | SpilledState | KeptState
Targets = StreamedColumn | RowState


class Rows:
    """Rows of X with their targets y (N×k, or None) and weights s (N, or None for ones).

    Blocks handed to a statistic are float32 or float64; whole numbers are cast block by block, so
    an int8 array never grows eightfold.
    """

    def __init__(
        self,
        X: Source,
        y: Targets | None = None,
        s: Targets | None = None,
        *,
        threads: int | None = None,
        population: int | None = None,
    ):
        self.X: Any = X
        self.y: Any = y
        self.s: Any = s
        self.shape: tuple[int, int] = X.shape
        self.population = population or X.shape[0]  # the rows that a sample was taken from
        self._samples: dict[int, Any] = {}
        self.found_in_X: dict[str, float] = {}  # sums over X that another pass need not repeat
        self.threads = threads or effective_threads()

    @property
    def sparse(self) -> bool:
        return isinstance(self.X, CSR)

    @property
    def streamed(self) -> bool:
        """Whether X, y and s are read block by block and never are arrays of the whole length."""
        return isinstance(self.X, StreamedX)

    @property
    def stored(self) -> bool:
        """Whether blocks are dense and cost little to read, as those of arrays and of files do."""
        return isinstance(self.X, (np.ndarray, StreamedX))

    @property
    def row_major(self) -> bool:
        """Whether blocks of X are dense and C-contiguous without a copy."""
        X = self.X
        return self.streamed or (isinstance(X, np.ndarray) and X.flags.c_contiguous)

    @property
    def S(self) -> float:
        """Σ s: without weights, the number of rows."""
        if self.s is None:
            return float(self.shape[0])
        return float(self.reduce_targets(_sum_of_weights)[0])

    def recoded(self, function: Recode, *args: Any) -> "Rows":
        """Rows whose targets and weights are function(y, s, *args), row by row.

        Streamed ones are recoded block by block, whenever they are read.
        """
        columns = self.y if isinstance(self.y, StreamedColumn) else self.s
        if not isinstance(columns, StreamedColumn):
            return self.with_targets(*function(self.y, self.s, *args))
        y, s = recoded_columns(columns.table, (*columns.recodes, (function, args)))
        return self.with_targets(y, s)

    def allocate(self, columns: tuple[int, ...] = (), dtype: Any = float, order: str = "C") -> Any:
        """Room for values of every row, to be given to ``reduce`` as ``beside``; zeros at first.

        An array, or for streamed rows a file (``SpilledState``), of which slices are copies.
        """
        if self.streamed:
            return self.X.allocate(columns, dtype, order)
        return np.zeros((self.shape[0], *columns), dtype=dtype, order=order)  # type: ignore[call-overload]

    def with_targets(self, y: Targets | None, s: Targets | None = None) -> "Rows":
        """Rows of this X with other targets and weights."""
        other = Rows(self.X, y, s, threads=self.threads, population=self.population)
        other._samples, other.found_in_X = self._samples, self.found_in_X
        return other

    @property
    def engine(self) -> BlockEngine | None:
        """Where passes run, if not on threads of this process."""
        return self.X.table.engine if isinstance(self.X, StreamedX) else None

    def _pass(
        self, statistic: Callable[..., Any], targets_only: bool = False
    ) -> tuple[Pass, list[KeptState]]:
        """Return a pass for the engine, and the kept states that are targets or weights in it."""
        read: list[KeptState] = []
        columns: list[TargetSource | None] = []
        for which, source in enumerate((self.y, self.s)):
            if isinstance(source, KeptState):
                columns.append(TargetSource(which, state=len(read)))
                read.append(source)
            else:
                columns.append(None if source is None else source.column)
        of = Pass(statistic, (columns[0], columns[1]), len(read), targets_only, dict(np.geterr()))
        return of, read

    def dense(self) -> "Rows":
        """These rows in dense blocks, each made when it is read."""
        if not self.sparse:
            return self
        return Rows(DenseBlocks(self.X), self.y, self.s, threads=self.threads)

    def block(self, start: int, stop: int) -> tuple[Any, np.ndarray | None, np.ndarray | None]:
        """(X_b, y_b, s_b) of rows start:stop."""
        if self.streamed:
            return self._read(start, stop)
        y = None if self.y is None else self.y[start:stop]
        s = None if self.s is None else self.s[start:stop]
        return as_floats(self.X[start:stop]), y, s

    def _read(self, start: int, stop: int) -> tuple[Any, Any, Any]:
        """(X_b, y_b, s_b) of streamed rows, in one reading of the table."""
        return self._recoded(self.X.table.read(start, stop), slice(start, stop))

    def _recoded(self, block: RowBlock, i: slice | np.ndarray) -> tuple[Any, Any, Any]:
        """(X_b, y_b, s_b) of streamed rows with the numbers ``i``, of what the table holds."""
        X, y, s = block
        given: dict[int, Any] = {}  # targets and weights that have the same recodes are made once
        values: list[Any] = []
        for source in (self.y, self.s):
            if isinstance(source, StreamedColumn):
                key = id(source.recodes)
                given[key] = given.get(key) or recode(y, s, source.recodes)
                values.append(given[key][source.which])
            else:
                values.append(None if source is None else source[i])
        return as_floats(X), values[0], values[1]

    def block_rows(self, least: int = 256, columns: int | None = None) -> int:
        """Rows of a cache-sized block, at least ``least``; ``columns``: of what is made of X."""
        if self.sparse:
            wanted = max(4 * BLOCK_BYTES // ENTRY_BYTES, ENTRIES_PER_COLUMN * self.shape[1])
            return max(least, wanted * self.shape[0] // max(1, self.X.entries))
        return max(least, BLOCK_BYTES // (8 * max(1, columns or self.shape[1])))

    def edges(self, block_rows: int | None = None) -> list[tuple[int, int]]:
        """Edges of near-equal blocks of about ``block_rows`` rows.

        They depend on the shape alone (and, for sparse rows, on the number of entries).
        """
        n = self.shape[0]
        count = -(-n // (block_rows or self.block_rows()))
        return [(i * n // count, (i + 1) * n // count) for i in range(count)]

    def reduce(
        self,
        statistic: Callable[..., Any],
        *args: Any,
        combine: Callable[[Any, Any], Any] = add,
        beside: Sequence[Any] = (),
        block_rows: int | None = None,
        square: bool = False,
        times: int = 1,
        most_threads: int | None = None,
        result_bytes: int = 0,
    ) -> Any:
        """Combine ``statistic(X_b, y_b, s_b, *beside_b, *args)`` over all blocks.

        ``statistic`` returns a tuple (or NamedTuple) of arrays and numbers of its own making;
        ``combine(left, right)`` may overwrite ``left``. ``beside``: what ``allocate`` gave, cut as
        X is, which the statistic may also fill. ``square``: the statistic is p×p, so its work
        grows with p². ``times``: how often it looks at each element. ``most_threads``: where more
        would wait for each other. ``result_bytes``: of its result, where that is not p numbers for
        each of ``times``, or p×p.
        """
        edges = self.edges(block_rows)
        if self.engine is not None:
            of, read = self._pass(statistic)
            size = result_bytes or 8 * self.shape[1] * (self.shape[1] if square else times)
            return reduce_parts(self.engine, edges, of, args, combine, read, beside, size)

        def one(i: int) -> Any:
            start, stop = edges[i]
            states = [a[start:stop] for a in beside]
            result = statistic(*self.block(start, stop), *states, *args)
            for a, state in zip(beside, states, strict=True):
                if not isinstance(a, np.ndarray):  # slices of arrays are views
                    a[start:stop] = state
            return result

        if len(edges) == 1:
            return one(0)
        tree = CombiningTree(len(edges), combine)
        threads = self._useful_threads(len(edges), square, times)
        threads = min(threads, most_threads or threads)
        run_on_threads(lambda i: tree.put(i, one(i)), len(edges), threads)
        return tree.root

    def reduce_targets(
        self,
        statistic: Callable[..., Any],
        *args: Any,
        combine: Callable[[Any, Any], Any] = add,
        block_rows: int | None = None,
    ) -> Any:
        """Combine ``statistic(y_b, s_b, *args)`` over blocks; X is not read."""
        edges = self.edges(block_rows or TARGET_ROWS)
        if self.engine is not None:
            of, read = self._pass(statistic, targets_only=True)
            return reduce_parts(self.engine, edges, of, args, combine, read, (), 0)
        tree = CombiningTree(len(edges), combine)
        for i, (start, stop) in enumerate(edges):
            tree.put(i, statistic(*self._target_block(start, stop), *args))
        return tree.root

    def _target_block(self, start: int, stop: int) -> tuple[Any, Any]:
        """(y_b, s_b) of rows start:stop."""
        if self.streamed:
            table = self.X.table
            block = RowBlock(NO_COLUMNS, *table.read_targets(start, stop))
            return self._recoded(block, slice(start, stop))[1:]
        y, s = (None if a is None else a[start:stop] for a in (self.y, self.s))
        return y, s

    def map(
        self,
        function: Callable[..., np.ndarray],
        out: np.ndarray,
        *args: Any,
        block_rows: int | None = None,
    ) -> np.ndarray:
        """Fill ``out[b] = function(X_b, y_b, s_b, *args)`` for all blocks b."""
        edges = self.edges(block_rows)
        if self.engine is not None:
            of, read = self._pass(function)
            map_parts(self.engine, edges, of, args, read, out)
            return out

        def fill(i: int) -> None:
            start, stop = edges[i]
            out[start:stop] = function(*self.block(start, stop), *args)

        run_on_threads(fill, len(edges), self._useful_threads(len(edges)))
        return out

    def sample(self, count: int) -> "Rows":
        """At most ``count`` distinct rows, spread over all (see ``spread``)."""
        n, p = self.shape
        if count >= n:
            return self
        i = spread(n, count)
        if self.streamed:
            return Rows(*self._recoded(self._stored_sample(i, count), i), threads=self.threads)
        X = self._samples.get(count)
        if X is None:
            X = self._gather(i)
            if self.sparse and self.X.columns_only:
                self._samples[count] = X
            elif count * p <= MAX_CACHED_SAMPLE_ELEMENTS and not self.sparse:
                X.flags.writeable = False
                self._samples[count] = X
        return self._subset(i, X)

    def _stored_sample(self, i: np.ndarray, count: int) -> RowBlock:
        """Return rows of the table, which small samples of the same size need not read again."""
        block: RowBlock | None = self._samples.get(count)
        if block is None:
            block = self.X.table.gather(i, self.threads)
            if count * self.shape[1] <= MAX_CACHED_SAMPLE_ELEMENTS:
                self._samples[count] = block
        return block

    def take(self, i: np.ndarray) -> "Rows":
        """Return a copy of rows by their numbers; many lazy rows stay lazy."""
        if self.streamed:
            block = self.X.table.gather(i, self.threads)
            return Rows(*self._recoded(block, i), threads=self.threads)
        return self._subset(i, self._gather(i))

    def _subset(self, i: np.ndarray, X: Source) -> "Rows":
        y = None if self.y is None else self.y[i]
        s = None if self.s is None else self.s[i]
        return Rows(X, y, s, threads=self.threads)

    def _gather(self, i: np.ndarray) -> Any:
        X, (_, p) = self.X, self.shape
        if self.sparse:
            return CSR(X[i])
        if isinstance(X, LazyRows) and len(i) * p > MAX_CACHED_SAMPLE_ELEMENTS:
            return X.take(i)
        plain = isinstance(X, np.ndarray) and X.flags.c_contiguous and len(i) * p >= SMALL_WORK
        if not plain or self.threads == 1:
            return X[i]
        out = np.empty((len(i), p), dtype=X.dtype)
        edges = np.linspace(0, len(i), 4 * self.threads + 1).astype(np.intp)

        def fill(part: int) -> None:
            rows = slice(edges[part], edges[part + 1])
            # "raise" would buffer; row numbers are all below n
            np.take(X, i[rows], axis=0, out=out[rows], mode="clip")

        run_on_threads(fill, len(edges) - 1, self.threads)
        return out

    def sample_block(self, count: int) -> tuple[Any, np.ndarray | None, np.ndarray | None]:
        """(X, y, s) of the sample."""
        rows = self.sample(count)
        return rows.block(0, rows.shape[0])

    def _useful_threads(self, blocks: int, square: bool = False, times: int = 1) -> int:
        n, p = self.shape
        elements = times * (self.X.entries if self.sparse else n * p)
        work = elements * (1 + p // SQUARE_WORK) if square else elements
        return 1 if work < SMALL_WORK else min(self.threads, blocks)


def _sum_of_weights(y: object, s: np.ndarray) -> tuple[Any, ...]:
    return (s.sum(),)


def rows_of_transpose(X: SparseMatrix, threads: int) -> Rows:
    """The columns of a sparse X in CSC, as rows of Xᵀ."""
    return Rows(CSR(X.T), threads=threads)


def as_floats(X: Any) -> Any:
    """X itself if float32 or float64, else a float64 copy."""
    return X if X.dtype in (np.float64, np.float32) else X.astype(np.float64)
