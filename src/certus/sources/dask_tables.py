"""Dask arrays, data frames and delayed blocks as tables whose parts stay on the workers.

A collection is persisted once, cut into parts of good size, checked and encoded where it is:

    chunks of X, y, s  ─►  parts (X_b, y_b, s_b), C-contiguous  ─►  first pass  ─►  class indices

Chunks of y and of the weights need not be those of X. Chunks that are small are joined, those that
are large are cut, so that every worker has parts to work on.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..data.rows import spread
from ..data.streamed import RowBlock, StreamedTable, sample_rows
from ..engines.dask import DaskEngine, Opaque, require_equal_workers
from ..exceptions import MissingExtraError, TableError
from ..tables.suggestions import unknown
from ..text.format import count

if TYPE_CHECKING:
    from distributed import Client

MAX_PART_BYTES = 1 << 27  # of X: several parts fit into the memory of any worker
MAX_NUMBER_CLASSES = 1000  # different whole numbers that may be class labels
MIN_PART_BYTES = 1 << 22  # smaller parts cost more messages than work


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


class _Chunks(NamedTuple):
    """One of X, y and s: chunks in order, on the workers or here, and their numbers of rows."""

    chunks: list[Any]
    lengths: list[int]

    def pieces(self, start: int, stop: int) -> list[list[Any]]:
        """Return [chunk, start, stop] for the chunks that hold rows start:stop."""
        found, before = [], 0
        for chunk, length in zip(self.chunks, self.lengths, strict=True):
            a, b = max(start - before, 0), min(stop - before, length)
            if a < b:
                found.append([chunk, a, b])
            before += length
        return found


class _Here:
    """Stand-in for a client: Dask's own scheduler makes the chunks, and calls are made at once."""

    def compute(self, delayed: list[Any]) -> list[Any]:
        import dask

        return list(dask.compute(*delayed))

    def submit(self, function: Callable[..., Any], *args: Any, **_: Any) -> Any:
        return function(*args)

    def gather(self, values: Any) -> Any:
        return values


class Columns(NamedTuple):
    """Which columns of a frame are X, targets and weights; None for arrays."""

    X: tuple[str, ...] | None
    target: tuple[str, ...] | None
    weights: str | None


def dask_rows(source: Any, columns: Any, target: Any, weights: Any) -> "DaskTable":
    """Return the table of ``open_rows(source, columns, target, weights)`` for a collection."""
    if not _is_frame(source):
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
        return dask_table(source, target, weights, Columns(columns, None, None))
    known = list(source.columns)
    for name in (*(columns or ()), *(targets or ()), *([] if weights is None else [weights])):
        if name not in known:
            raise TableError(unknown("column", name, known, "the frame"))
    chosen = Columns(columns, None if targets is None else tuple(targets), weights)
    return dask_table(source, columns=chosen)


def dask_table(X: Any, y: Any = None, s: Any = None, columns: Columns | None = None) -> DaskTable:
    """Return the rows of a Dask collection, persisted and checked.

    Parameters
    ----------
    X : dask array, dask data frame, or list of delayed blocks
    y, s : the same, or arrays; in any chunks
    columns : Columns
        Of a frame, which also holds the target.
    """
    client = _client()
    at: Any = client or _Here()
    if client is not None:
        require_equal_workers(client)
    columns = columns or Columns(None, None, None)
    if _is_frame(X) and columns.X is None:
        used = {*(columns.target or ()), columns.weights}
        columns = columns._replace(X=tuple(c for c in X.columns if c not in used))
    rows = _chunks(at, X)
    targets = None if y is None else _chunks(at, y)
    given = None if s is None else _chunks(at, s)
    n = sum(rows.lengths)
    _require_equal_lengths(n, targets, given)
    p, dtype = _width_and_dtype(at, X, rows, columns)
    threads = 1 if client is None else sum(client.nthreads().values())
    cuts = _cuts(rows.lengths, p * dtype.itemsize, threads)
    parts = [
        at.submit(
            _part, rows.pieces(a, b), targets.pieces(a, b) if targets else None,
            given.pieces(a, b) if given else None, Opaque((columns, dtype, a, p)),
            key=f"certus-part-{id(rows):x}-{i}", pure=False,
        )
        for i, (a, b) in enumerate(pairwise(cuts))
    ]  # fmt: skip
    looks = at.gather([at.submit(_first_look, part, pure=False) for part in parts])
    _refuse_bad_values(looks, columns.X)
    has_weights = any(look.weights is not None for look in looks)
    n_targets = looks[0].n_targets
    classes = _classes(looks) if n_targets == 1 else None
    labels = classes is not None and looks[0].labels
    if labels:
        parts = [at.submit(_encoded, part, Opaque(classes), pure=False) for part in parts]
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


def _client() -> "Client | None":
    """Return the user's client, if there is one."""
    try:
        import dask  # noqa: F401
        from distributed import get_client
    except ImportError as error:
        raise MissingExtraError("Dask is needed: pip install 'certus[distributed]'") from error
    try:
        return get_client()
    except ValueError:
        return None


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "to_delayed")


def _chunks(at: Any, X: Any) -> _Chunks:
    """Persist a collection, and count the rows of its chunks."""
    if isinstance(X, (list, tuple)):
        delayed = list(X)
    elif hasattr(X, "to_delayed"):
        if getattr(X, "ndim", 0) == 2 and hasattr(X, "rechunk"):
            X = X.rechunk({1: -1})
        made = X.to_delayed()
        delayed = made.ravel().tolist() if isinstance(made, np.ndarray) else list(made)
    elif hasattr(X, "__dask_graph__"):
        delayed = [X]
    else:  # an array in this process
        values = np.asarray(X)
        return _Chunks([at.submit(_given, Opaque(values), pure=False)], [len(values)])
    futures = at.compute(delayed)
    known = X.chunks[0] if hasattr(X, "chunks") else ()
    if known and not np.isnan(known).any():
        return _Chunks(futures, [int(length) for length in known])
    lengths = at.gather([at.submit(_length, chunk, pure=False) for chunk in futures])
    return _Chunks(futures, lengths)


def _require_equal_lengths(n: int, *others: _Chunks | None) -> None:
    if n == 0:
        raise ValueError("the collection has no rows")
    for name, other in zip(("y", "sample_weight"), others, strict=True):
        if other is not None and sum(other.lengths) != n:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has "
                f"{count(n, 'row')}, {name} has {sum(other.lengths):,}"
            )


def _width_and_dtype(at: Any, X: Any, rows: _Chunks, columns: Columns) -> tuple[int, np.dtype]:
    """Return the number of columns, and float32 where all of them are, else float64."""
    first = next(c for c, length in zip(rows.chunks, rows.lengths, strict=True) if length)
    p, single = at.gather([at.submit(_kind, first, Opaque(columns), pure=False)])[0]
    return p, np.dtype(np.float32 if single else np.float64)


def _cuts(lengths: Sequence[int], row_bytes: int, threads: int) -> list[int]:
    """Return where the table is cut: at the edges of chunks where these are of good size."""
    n = sum(lengths)
    most = max(1, min(MAX_PART_BYTES // max(1, row_bytes), -(-n // threads)))
    least = min(most, max(1, MIN_PART_BYTES // max(1, row_bytes)))
    cuts, at = [0], 0
    for length in lengths:
        pieces = max(1, -(-length // most))
        for k in range(1, pieces + 1):
            edge = at + k * length // pieces
            if edge - cuts[-1] >= least:
                cuts.append(edge)
        at += length
    if cuts[-1] < n:
        cuts[-1:] = [n] if len(cuts) > 1 else [0, n]
    return cuts


class _FirstLook(NamedTuple):
    """What the first pass over a part found."""

    n_targets: int
    labels: bool  # whether the target is text
    classes: np.ndarray | None  # distinct targets; None if too many
    weights: tuple[float, float] | None  # least and largest
    bad: str | None  # the first value that is not finite


def _classes(looks: Sequence[_FirstLook]) -> np.ndarray | None:
    found = [look.classes for look in looks]
    if any(classes is None for classes in found):
        return None
    distinct = np.unique(np.concatenate([classes for classes in found if classes is not None]))
    return distinct if looks[0].labels or len(distinct) <= MAX_NUMBER_CLASSES else None


def _refuse_bad_values(looks: Sequence[_FirstLook], names: Sequence[str] | None) -> None:
    for i, look in enumerate(looks):
        if look.bad is not None:
            raise ValueError(f"part {i} of {len(looks)}: {look.bad}")
        if look.weights is not None and look.weights[0] < 0:
            raise ValueError(
                f"part {i} of {len(looks)}: Negative values in data passed to `sample_weight` "
                f"(least: {look.weights[0]:g}); use 0 to leave a row out"
            )
    weights = [look.weights for look in looks if look.weights is not None]
    if weights and max(high for _, high in weights) == 0:
        raise ValueError("Sample weights must contain at least one non-zero number: all are 0")


# --- what runs on the workers ---------------------------------------------------------------------


def _given(values: Opaque) -> Any:
    return values.value


def _length(chunk: Any) -> int:
    return len(chunk)


def _kind(chunk: Any, columns: Opaque) -> tuple[int, bool]:
    """Return the number of columns of X, and whether all are float32."""
    X = _numbers(chunk, columns.value.X)
    return X.shape[1], X.dtype == np.float32


def _numbers(chunk: Any, names: Sequence[str] | None) -> np.ndarray:
    """Return X of a chunk as an array of numbers."""
    if names is not None:
        missing = [name for name in names if name not in chunk.columns]
        if missing:
            raise ValueError(f"a part of the frame has no column {missing[0]!r}")
        chunk = chunk[list(names)]
    X = np.asarray(chunk)
    if X.ndim != 2:
        raise ValueError(f"X should be a 2d array, a chunk of it has shape {X.shape}")
    if X.dtype.kind not in "fiub":
        try:
            X = X.astype(float)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"X holds something that is no number ({error}): encode text as numbers, or name "
                "the columns to use, open_rows(…, columns=[…])"
            ) from error
    return X


def _part(
    X: list[list[Any]], y: list[list[Any]] | None, s: list[list[Any]] | None, how: Opaque
) -> tuple[Any, Any, Any]:
    """Return rows of consecutive chunks as (X, y, s): X C-contiguous, y (rows, k), s (rows,)."""
    columns, dtype, first, p = how.value
    rows = [chunk[start:stop] for chunk, start, stop in X]
    blocks = [_numbers(chunk, columns.X) for chunk in rows]
    widths = {block.shape[1] for block in blocks}
    if widths != {p}:
        raise ValueError(f"rows from {first:,} on: {sorted(widths)} columns, and others have {p}")
    block = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
    block = np.ascontiguousarray(block, dtype=dtype)
    if columns.target is not None:
        targets = _concatenated([np.asarray(chunk[list(columns.target)]) for chunk in rows])
    else:
        targets = _concatenated(_values(y))
    if columns.weights is not None:
        weights = _concatenated([np.asarray(chunk[columns.weights]) for chunk in rows])
    else:
        weights = _concatenated(_values(s))
    if targets is not None:
        targets = targets.reshape(len(block), -1)
        if targets.dtype.kind in "fiub":
            targets = np.ascontiguousarray(targets, dtype=float)
    if weights is not None:
        weights = np.ascontiguousarray(weights, dtype=float).reshape(-1)
    return block, targets, weights


def _values(pieces: list[list[Any]] | None) -> list[np.ndarray]:
    return [np.asarray(chunk[start:stop]) for chunk, start, stop in pieces or []]


def _concatenated(arrays: list[np.ndarray]) -> np.ndarray | None:
    if not arrays:
        return None
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _first_look(part: tuple[Any, Any, Any]) -> _FirstLook:
    """Check the values of a part."""
    X, y, s = part
    bad = _not_finite(X, "X")
    k = 0 if y is None else y.shape[1]
    labels = y is not None and y.dtype.kind != "f"
    classes = None
    if y is not None and not labels:
        bad = bad or _not_finite(y, "y")
    if k == 1 and bad is None:
        classes = np.unique(y)
        if not labels and (len(classes) > MAX_NUMBER_CLASSES or (classes % 1 != 0).any()):
            classes = None
    if s is not None:
        bad = bad or _not_finite(s[:, None], "sample_weight")
    weights = None if s is None else (float(s.min()), float(s.max()))
    return _FirstLook(k, labels, classes, weights, bad)


def _not_finite(values: np.ndarray, what: str) -> str | None:
    wrong = ~np.isfinite(values)
    if not wrong.any():
        return None
    row, column = np.argwhere(wrong)[0]
    return (
        f"{what} holds {values[row, column]} (row {row} of the part, column {column}): impute it "
        "or drop the row"
    )


def _encoded(part: tuple[Any, Any, Any], classes: Opaque) -> tuple[Any, Any, Any]:
    """Return the part with class indices as targets."""
    X, y, s = part
    return X, np.searchsorted(classes.value, y[:, 0]).astype(float)[:, None], s
