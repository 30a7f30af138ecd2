"""Objects that give Arrow streams, and callables that give batches, as parts.

    frame, relation, query, dataset     a fresh stream each time it is asked: read in every pass
    reader, generator                   one stream, which is gone when it was read
    callable                            called for every pass; returns an iterable of batches

A batch is anything with Arrow's interface, a frame of pandas, or a tuple of arrays (X, y, s).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import TableError
from ..tables.binary_files import first_line
from ..text.suggestions import unknown
from .columns import KINDS_IN_WORDS, kind_of

if TYPE_CHECKING:
    import pyarrow as pa

QUERY_ROWS = 1 << 14  # of a batch of DuckDB's, which gives 131,072 otherwise
ARRAY_TARGET, ARRAY_WEIGHT = "target", "weight"  # of tuples of arrays
ARRAYS_MARK = {"certus": "arrays"}  # in the schema of a batch that was a tuple of arrays


class StreamPart:
    """A stream of Arrow batches; ``opened`` gives it afresh, or raises when it is gone."""

    path: str | None = None
    n_rows: int | None = None

    def __init__(self, opened: "Callable[[], Iterator[pa.RecordBatch]]", name: str, once: bool):
        self._opened, self.name, self.once = opened, name, once
        self._begun: Iterator[pa.RecordBatch] | None = None
        self._first: pa.RecordBatch | None = None
        self._begin()
        if self._first is None:
            raise TableError(f"{name} is empty: it gives no batch")
        self.schema: pa.Schema = self._first.schema

    def _begin(self) -> None:
        self._begun = self._opened()
        self._first = self._next(self._begun, 0)

    def _next(self, stream: "Iterator[pa.RecordBatch]", done: int) -> "pa.RecordBatch | None":
        import pyarrow as pa

        try:
            return next(stream, None)
        except (pa.ArrowException, OSError) as error:
            raise TableError(
                f"{self.name} failed after {done:,} rows: {first_line(error)}"
            ) from error

    def batches(
        self, columns: Sequence[str], start: int, batch_rows: int
    ) -> "Iterator[tuple[int, pa.RecordBatch]]":
        """Yield batches from the beginning; those before ``start`` are skipped."""
        if self._begun is None:
            if self.once:
                raise TableError(f"{self.name} can be read only once, and was read")
            self._begin()
        assert self._begun is not None
        stream, batch = self._begun, self._first
        self._begun = self._first = None
        first = 0
        while batch is not None:
            if batch.schema != self.schema:
                self._require_like_first(batch.schema, columns, first)
            chosen = batch.select([*columns])
            for at in range(0, batch.num_rows, batch_rows):
                if first + min(at + batch_rows, batch.num_rows) > start:
                    yield first + at, chosen.slice(at, batch_rows)
            first += batch.num_rows
            batch = self._next(stream, first)

    def _require_like_first(self, schema: "pa.Schema", columns: Sequence[str], row: int) -> None:
        """Refuse a batch, whose first row is ``row``, with other columns than the first batch."""
        where = f"{self.name}, in the batch from row {row:,} on"
        for name in columns:
            if schema.names.count(name) != 1:
                raise TableError(
                    f"{unknown('column', name, schema.names, where)} The first batch has it: give "
                    "batches with the same columns"
                )
            here, before = schema.field(name).type, self.schema.field(name).type
            kinds = kind_of(here), kind_of(before)
            if kinds[0] == "null" or kinds[0] == kinds[1]:
                continue
            words = [KINDS_IN_WORDS.get(kind or "", "something else") for kind in kinds]
            if words[0] != words[1] or kinds[1] == "float32":
                raise TableError(
                    f"column '{name}' of {where} is {here}, and in the first batch {before}: give "
                    "batches of the same types"
                )


def stream_part(source: Any) -> StreamPart:
    """Return the part of an object that is no path: see the head of this file."""
    import pyarrow as pa
    from pyarrow import dataset

    name = f"the {type(source).__name__}"
    if isinstance(source, dataset.Dataset):
        return StreamPart(lambda: _of_dataset(source), name, False)
    if isinstance(source, dataset.Scanner):
        return StreamPart(lambda: iter(source.to_reader()), name, True)
    if isinstance(source, pa.RecordBatchReader):
        return StreamPart(lambda: iter(source), name, True)
    if callable(getattr(source, "collect_batches", None)):  # a lazy frame of polars
        return StreamPart(lambda: flat(source.collect_batches(maintain_order=True)), name, False)
    if type(source).__module__.startswith("polars") and hasattr(source, "collect"):
        raise TableError(
            f"this version of polars cannot read {name} in batches: update polars, or write it to "
            "a file (sink_parquet) and open that"
        )
    if callable(getattr(source, "to_arrow_reader", None)):  # a relation of DuckDB
        return StreamPart(lambda: iter(source.to_arrow_reader(QUERY_ROWS)), name, False)
    if hasattr(source, "__arrow_c_stream__") or hasattr(source, "__arrow_c_array__"):
        return StreamPart(lambda: flat([source]), name, False)
    if callable(source):
        called = f"the batches of {getattr(source, '__name__', name)}()"
        return StreamPart(lambda: flat(_called(source)), called, False)
    if isinstance(source, Iterator):
        return StreamPart(lambda: flat(source), name, True)
    if isinstance(source, np.ndarray):
        raise TypeError("open_rows reads files and streams; an array is given to fit as it is")
    raise TypeError(
        f"open_rows cannot read a {type(source).__name__}: give a path, a list of paths, an object "
        "with __arrow_c_stream__ (polars, DuckDB, Ibis, pyarrow), or a function that returns an "
        "iterable of batches"
    )


def _called(source: Callable[[], Any]) -> Iterable[Any]:
    """Return the batches that a function gives; one that is a batch itself is the only one."""
    given = source()
    is_arrays = isinstance(given, np.ndarray) or (
        isinstance(given, tuple) and any(isinstance(item, np.ndarray) for item in given)
    )
    is_arrow = hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__")
    return [given] if is_arrays or is_arrow or not isinstance(given, Iterable) else given


def _of_dataset(source: Any) -> "Iterator[pa.RecordBatch]":
    from pyarrow import dataset

    options = {}
    if getattr(getattr(source, "format", None), "default_extname", "") == "parquet":
        options["fragment_scan_options"] = dataset.ParquetFragmentScanOptions(
            use_buffered_stream=True, buffer_size=1 << 18, pre_buffer=False
        )
    return source.to_batches(batch_readahead=1, fragment_readahead=1, **options)


def flat(batches: Iterable[Any]) -> "Iterator[pa.RecordBatch]":
    """Yield the record batches of each; a frame may hold several."""
    for batch in batches:
        yield from _record_batches(batch)


def _record_batches(batch: Any) -> "Iterator[pa.RecordBatch]":
    import pyarrow as pa

    if isinstance(batch, pa.RecordBatch):
        yield batch
    elif type(batch).__module__.partition(".")[0] == "pandas":  # without its index
        yield from pa.Table.from_pandas(batch, preserve_index=False).to_batches()
    elif hasattr(batch, "__arrow_c_stream__"):
        yield from pa.RecordBatchReader.from_stream(batch)
    elif hasattr(batch, "__arrow_c_array__"):
        yield pa.record_batch(batch)
    elif isinstance(batch, (np.ndarray, tuple)):
        yield _of_arrays(batch if isinstance(batch, tuple) else (batch,))
    else:
        raise TableError(
            f"a batch is a {type(batch).__name__}: give Arrow batches, frames, or tuples of arrays "
            "(X, y) or (X, y, weights)"
        )


def _of_arrays(arrays: Sequence[Any]) -> "pa.RecordBatch":
    """Return the columns 0, 1, … of X, then those of y and the weights."""
    import pyarrow as pa

    X, y, s = [None if a is None else np.asarray(a) for a in (*arrays, None, None)][:3]
    if X is None or X.ndim != 2 or X.dtype.kind not in "fiub" or len(arrays) > 3:
        raise TableError("a batch of arrays is (X, y, weights) with X of two dimensions, numbers")
    columns = {str(j): X[:, j] for j in range(X.shape[1])}
    if y is not None and y.ndim == 2 and y.shape[1] > 1:
        columns |= {f"{ARRAY_TARGET} {j}": y[:, j] for j in range(y.shape[1])}
    elif y is not None:
        columns[ARRAY_TARGET] = y.reshape(len(y))
    if s is not None:
        columns[ARRAY_WEIGHT] = s
    if len({len(c) for c in columns.values()}) != 1:
        raise TableError(
            "a batch of arrays has "
            + " and ".join(f"{len(a):,}" for a in (X, y, s) if a is not None)
            + " rows in X, y and the weights: give as many of each"
        )
    arrow = [pa.array(np.ascontiguousarray(c)) for c in columns.values()]
    fields = [pa.field(name, a.type) for name, a in zip(columns, arrow, strict=True)]
    return pa.RecordBatch.from_arrays(arrow, schema=pa.schema(fields, ARRAYS_MARK))
