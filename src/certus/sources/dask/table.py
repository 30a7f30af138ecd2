"""Dask arrays, data frames and delayed blocks as tables whose parts stay on the workers.

A collection is persisted once, cut into parts of good size, checked and encoded where it is:

    chunks of X, y, s  ─►  parts (X_b, y_b, s_b), C-contiguous  ─►  first pass  ─►  class indices
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data.rows import spread
from ...data.streamed import RowBlock, StreamedTable, sample_rows
from ...engines.dask import DaskEngine, Opaque, require_equal_workers
from ...exceptions import TableError
from ...tables.suggestions import unknown
from ...text.format import count
from .chunks import Chunks, FrameColumns, LocalCalls, chunks_of, cuts_of, is_frame, users_client
from .first_look import check_part, classes_of, encoded, refuse_bad_values
from .parts import kind_of_chunk, part_of_chunks

if TYPE_CHECKING:
    from distributed import Client


class DaskTable(StreamedTable):
    """Rows whose parts are on Dask's workers, or, without a client, in this process."""

    def __init__(
        self,
        shape: tuple[int, int],
        dtype: Any,
        n_targets: int,
        has_weights: bool,
        parts: Sequence[Any],
        lengths: Sequence[int],
        client: "Client | None",
        collection: Any,
        names: tuple[str, ...] | None,
    ):
        super().__init__(shape, dtype, n_targets, has_weights)
        self.collection, self.names = collection, names
        self.parts, self.lengths = list(parts), tuple(lengths)
        self.engine = None if client is None else DaskEngine(client, parts, lengths)
        where = "in this process" if client is None else "on Dask's workers"
        self.description = f"{count(len(self.parts), 'part')} {where}"

    def read(self, start: int, stop: int) -> RowBlock:
        """Return rows start:stop; from the workers, if the parts are there."""
        if self.engine is not None:
            return self.gather(np.arange(start, stop))
        found, before = [], 0
        for part, length in zip(self.parts, self.lengths, strict=True):
            a, b = max(start - before, 0), min(stop - before, length)
            if a < b:
                found.append([None if column is None else column[a:b] for column in part])
            before += length
        if len(found) == 1:
            return RowBlock(*found[0])  # type: ignore[arg-type]
        columns = zip(*found, strict=True)
        return RowBlock(*(None if c[0] is None else np.concatenate(c) for c in columns))  # type: ignore[arg-type]

    def __repr__(self) -> str:
        n, p = self.shape
        return f"<{n:,} rows × {p:,} columns: {self.description}>"


def dask_rows(source: Any, columns: Any, target: Any, weights: Any) -> "DaskTable":
    """Return the table of ``open_rows(source, columns, target, weights)`` for a collection."""
    if not is_frame(source):
        if columns is not None:
            raise ValueError(
                "columns names those of a frame: select the columns of a Dask array by slicing it"
            )
        return dask_table(source, target, weights)
    if columns is not None:
        columns = (columns,) if isinstance(columns, str) else tuple(columns)
    targets = (target,) if isinstance(target, str) else target
    named = targets is None or all(isinstance(name, str) for name in targets)
    if not named:  # collections beside the frame
        return dask_table(source, target, weights, FrameColumns(columns, None, None))
    known = list(source.columns)
    for name in (*(columns or ()), *(targets or ()), *([] if weights is None else [weights])):
        if name not in known:
            raise TableError(unknown("column", name, known, "the frame"))
    chosen = FrameColumns(columns, None if targets is None else tuple(targets), weights)
    return dask_table(source, columns=chosen)


def dask_table(
    X: Any, y: Any = None, s: Any = None, columns: FrameColumns | None = None
) -> DaskTable:
    """Return the rows of a Dask collection, persisted and checked.

    Parameters
    ----------
    X : dask array, dask data frame, or list of delayed blocks
    y, s : the same, or arrays; in any chunks
    columns : FrameColumns
        Of a frame, which also holds the target.
    """
    client = users_client()
    at: Any = client or LocalCalls()
    if client is not None:
        require_equal_workers(client)
    columns = columns or FrameColumns(None, None, None)
    if is_frame(X) and columns.X is None:
        used = {*(columns.target or ()), columns.weights}
        columns = columns._replace(X=tuple(c for c in X.columns if c not in used))
    rows = chunks_of(at, X)
    targets = None if y is None else chunks_of(at, y)
    given = None if s is None else chunks_of(at, s)
    n = sum(rows.lengths)
    _require_equal_lengths(n, targets, given)
    p, dtype = _width_and_dtype(at, X, rows, columns)
    threads = 1 if client is None else sum(client.nthreads().values())
    cuts = cuts_of(rows.lengths, p * dtype.itemsize, threads)
    parts = [
        at.submit(
            part_of_chunks, rows.pieces(a, b), targets.pieces(a, b) if targets else None,
            given.pieces(a, b) if given else None, Opaque((columns, dtype, a, p)),
            key=f"certus-part-{id(rows):x}-{i}", pure=False,
        )
        for i, (a, b) in enumerate(pairwise(cuts))
    ]  # fmt: skip
    looks = at.gather([at.submit(check_part, part, pure=False) for part in parts])
    refuse_bad_values(looks, columns.X)
    has_weights = any(look.weights is not None for look in looks)
    n_targets = looks[0].n_targets
    classes = classes_of(looks) if n_targets == 1 else None
    labels = classes is not None and looks[0].labels
    if labels:
        parts = [at.submit(encoded, part, Opaque(classes), pure=False) for part in parts]
    table = DaskTable(
        (n, p), dtype, n_targets, has_weights, parts,
        [b - a for a, b in pairwise(cuts)], client, X, columns.X,
    )  # fmt: skip
    if labels:
        table.classes = classes
    else:
        table.distinct_targets = classes
    i = spread(n, min(n, sample_rows(p)))
    table.keep_sample(i, table.gather(i) if table.engine is not None else table._gather(i))
    return table


def _require_equal_lengths(n: int, *others: Chunks | None) -> None:
    if n == 0:
        raise ValueError("the collection has no rows")
    for name, other in zip(("y", "sample_weight"), others, strict=True):
        if other is not None and sum(other.lengths) != n:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has "
                f"{count(n, 'row')}, {name} has {sum(other.lengths):,}"
            )


def _width_and_dtype(at: Any, X: Any, rows: Chunks, columns: FrameColumns) -> tuple[int, np.dtype]:
    """Return the number of columns, and float32 where all of them are, else float64."""
    first = next(c for c, length in zip(rows.chunks, rows.lengths, strict=True) if length)
    p, single = at.gather([at.submit(kind_of_chunk, first, Opaque(columns), pure=False)])[0]
    return p, np.dtype(np.float32 if single else np.float64)
