"""A collection's chunks: computed where the client computes, counted, and cut into parts.

Chunks of y and of the weights need not be those of X. Chunks that are small are joined, those that
are large are cut, so that every worker has parts to work on.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...engines.dask import start
from ...engines.on_workers import Opaque
from ...exceptions import MissingExtraError, TableError
from ...text.format import count

if TYPE_CHECKING:
    from distributed import Client

MAX_PART_BYTES = 1 << 29  # of X: several fit into the memory of a worker, and each costs a task
MIN_PART_BYTES = 1 << 22  # smaller parts cost more messages than work
PARTS_PER_THREAD = (
    8  # to which smaller chunks are joined, and copied; larger ones stay where they are
)


def users_client() -> "Client | None":
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


def is_frame(X: Any) -> bool:
    """Return whether X is a Dask data frame."""
    return hasattr(X, "columns") and hasattr(X, "to_delayed")


class Collection(NamedTuple):
    """X, targets or weights as delayed chunks; or as an array of this process."""

    chunks: list[Any]
    lengths: tuple[int, ...] | None  # None: not known before they are computed
    array: np.ndarray | None
    word: str  # of a chunk, for messages
    title: str
    name: str  # of the parameter: X, y or sample_weight

    def place(self, k: int) -> str:
        """Return the name of chunk k, for messages."""
        return f"{self.word} {k} of {self.title}"


def collection_of(X: Any, what: str) -> Collection:
    """Return the chunks of a Dask array, frame or series, of delayed blocks, or of an array.

    ``what``: "X", "target" or "weights".
    """
    name = {"target": "y", "weights": "sample_weight"}.get(what, what)
    if isinstance(X, (str, bytes)) or (np.ndim(X) == 0 and not hasattr(X, "__dask_graph__")):
        raise TypeError(
            f"{what}={X!r} is no column: name a column of a Dask frame, or give a collection or an "
            "array with an entry for every row"
        )
    if isinstance(X, (list, tuple)) and any(hasattr(part, "__dask_graph__") for part in X):
        return Collection(list(X), None, None, "block", "the delayed blocks", name)
    if is_frame(X) or (hasattr(X, "npartitions") and hasattr(X, "to_delayed") and not _is_array(X)):
        return Collection(list(X.to_delayed()), None, None, "partition", "the Dask frame", name)
    if _is_array(X):
        if what == "X" and X.ndim != 2:
            raise ValueError(
                f"Expected 2D array, got {X.ndim}D array instead: X has a row for each observation "
                "and a column for each feature"
            )
        if X.ndim == 2:
            X = X.rechunk({1: -1})
        known = None if np.isnan(X.chunks[0]).any() else tuple(int(n) for n in X.chunks[0])
        chunks = X.to_delayed().ravel().tolist()
        return Collection(chunks, known, None, "chunk", "the Dask array", name)
    if hasattr(X, "__dask_graph__"):
        return Collection([X], None, None, "block", "the delayed blocks", name)
    return Collection([], (len(X),), np.asarray(X), "rows", "the array", name)


def _is_array(X: Any) -> bool:
    return hasattr(X, "rechunk") and hasattr(X, "to_delayed")


# --- on the workers -------------------------------------------------------------------------------


class Chunks(NamedTuple):
    """A collection's chunks on the workers, in order, with their numbers of rows."""

    futures: list[Any]
    lengths: list[int]

    def pieces(self, begin: int, end: int) -> list[tuple[int, int, int]]:
        """Return (chunk, start, stop) for the chunks that hold rows begin:end."""
        found, before = [], 0
        for k, length in enumerate(self.lengths):
            a, b = max(begin - before, 0), min(end - before, length)
            if a < b:
                found.append((k, a, b))
            before += length
        return found


def computed(
    client: "Client",
    collection: Collection,
    started: list[tuple[Collection, list[Any]]],
    cuts: Sequence[int] = (),
) -> Chunks:
    """Return the chunks as futures, noted in ``started``; those of an array are cut and sent."""
    if collection.array is not None:
        parts = np.split(collection.array, cuts)
        return Chunks([start(client, _given, Opaque(p)) for p in parts], [len(p) for p in parts])
    futures = client.compute(collection.chunks)
    started.append((collection, futures))
    if collection.lengths is not None:
        return Chunks(futures, list(collection.lengths))
    lengths = client.gather([start(client, rows_in, chunk) for chunk in futures])
    return Chunks(futures, lengths)


def _given(values: Opaque) -> Any:
    return values.value


def rows_in(chunk: Any) -> int:
    """Return the number of rows of an array, sparse matrix or frame."""
    return int(chunk.shape[0]) if hasattr(chunk, "shape") else len(chunk)


def require_equal_lengths(n: int, *others: Chunks | None) -> None:
    """Refuse a collection without rows, and targets or weights of another length."""
    if n == 0:
        raise TableError("the collection has no rows")
    for name, other in zip(("y", "sample_weight"), others, strict=True):
        if other is not None and sum(other.lengths) != n:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has "
                f"{count(n, 'row')}, {name} has {sum(other.lengths):,}"
            )


def cuts_of(lengths: Sequence[int], row_bytes: int, threads: int) -> list[int]:
    """Return where the table is cut: at the edges of chunks where these are of good size."""
    n = sum(lengths)
    most = max(1, min(MAX_PART_BYTES // max(1, row_bytes), -(-n // threads)))
    least = max(MIN_PART_BYTES // max(1, row_bytes), n // (PARTS_PER_THREAD * threads))
    least = max(1, min(most, least))
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


class PartPlaces:
    """Which worker makes which part, where there are fewer chunks than threads.

    Dask makes a part where its chunks are; a single large chunk would keep all parts on one worker.
    """

    def __init__(self, client: "Client", rows: Chunks, n_parts: int):
        self.client, self.rows, self.n_parts = client, rows, n_parts
        slots = [worker for worker, n in sorted(client.nthreads().items()) for _ in range(n)]
        n_chunks = sum(n > 0 for n in rows.lengths)
        self.slots = slots if n_chunks < min(len(slots), n_parts) else []

    def workers(self, i: int) -> list[str] | None:
        """Return where part i is made; None: where its chunks are."""
        return [self.slots[i * len(self.slots) // self.n_parts]] if self.slots else None

    def cut(self, pieces: list[tuple[int, int, int]], ranges: Any) -> list[Any]:
        """Return the chunks of the pieces; where parts move, only the rows that they need."""
        futures = [self.rows.futures[k] for k, _, _ in pieces]
        if not self.slots:
            return futures
        cut = [
            start(self.client, _copied_rows, future, a, b, self.rows.lengths[k])
            for future, (k, a, b) in zip(futures, pieces, strict=True)
        ]
        ranges[0][:] = [(0, b - a) for _, a, b in pieces]
        return cut


def rows_of(chunk: Any, start: int, stop: int) -> Any:
    """Return rows start:stop of an array or a frame."""
    return chunk.iloc[start:stop] if hasattr(chunk, "iloc") else chunk[start:stop]


def require_length(chunk: Any, length: int, where: str) -> None:
    """Refuse a chunk that has another number of rows than its collection says."""
    n = rows_in(chunk)
    if n != length:
        raise TableError(
            f"{where} has {count(n, 'row')}, and Dask says {length:,}: a function of its chunks "
            "returns another number of rows than it is given. For a Dask array, "
            "compute_chunk_sizes() counts them"
        )


def _copied_rows(chunk: Any, start: int, stop: int, length: int) -> Any:
    require_length(chunk, length, "a chunk of X")
    return rows_of(chunk, start, stop).copy()
