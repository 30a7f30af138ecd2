"""A collection without a client: its chunks in order, as Dask's own scheduler computes them.

``open_rows`` reads them as any other stream, and keeps the rows in a temporary file.
"""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...exceptions import TableError
from ...text.format import count
from .collection import Collection, rows_in
from .failed_chunks import computed_in_order
from .parts import FrameReader, require_dense
from .request import TARGET, WEIGHTS, Request, require_no_names
from .table import AnswerSource

if TYPE_CHECKING:
    from ..table import SourceTable


def batches_of(request: Request) -> Iterator[Any]:
    """Yield frames, or tuples of arrays (X, y, s), as Dask's own scheduler computes them."""
    x, y, s = request.collections()
    others = [None if c is None else _Queue(c) for c in (y, s)]
    done = 0
    for chunk in _chunks_in_order(x):
        n = rows_in(chunk)
        require_dense(chunk, x.title)
        if n == 0:
            continue
        beside = [None if other is None else other.take(n) for other in others]
        done += n
        if hasattr(chunk, "columns"):
            yield _frame_with(chunk, *beside)
        else:
            require_no_names(request)
            yield (np.asarray(chunk), *beside)
    for name, other in zip(("y", "sample_weight"), others, strict=True):
        if other is not None and (other.missing or other.rest()):
            raise TableError(
                f"Found input variables with inconsistent numbers of samples: X has "
                f"{count(done, 'row')}, {name} has {other.length():,}"
            )


def names_beside(request: Request) -> tuple[Any, Any]:
    """Return the names of target and weights in the frames that ``batches_of`` yields."""
    if not request.is_frame:
        return None, None
    y, s = request.target_beside, request.weights_beside
    return (request.target if y is None else TARGET), (request.weights if s is None else WEIGHTS)


def _frame_with(chunk: Any, y: Any, s: Any) -> Any:
    new = {
        name: np.asarray(values).reshape(len(chunk))
        for name, values in ((TARGET, y), (WEIGHTS, s))
        if values is not None
    }
    return chunk.assign(**new) if new else chunk


def _chunks_in_order(collection: Collection) -> Iterator[Any]:
    import dask

    if collection.array is not None:
        yield collection.array
    at_once = os.cpu_count() or 1
    n = len(collection.chunks)
    for first in range(0, n, at_once):
        ks = range(first, min(n, first + at_once))
        yield from computed_in_order(collection, ks, dask.compute)


class _Queue:
    """Rows of a collection, taken in the order of the rows of another."""

    def __init__(self, collection: Collection):
        self.chunks = _chunks_in_order(collection)
        self.waiting: list[Any] = []
        self.taken = 0
        self.missing = 0

    def take(self, n: int) -> Any:
        """Return the next n rows, or those that are left and zeros for what is missing."""
        while sum(map(len, self.waiting)) < n:
            chunk = next(self.chunks, None)
            if chunk is None:
                break
            self.waiting.append(np.asarray(chunk))
        everything = np.concatenate(self.waiting) if self.waiting else np.empty(0)
        found, self.waiting = everything[:n], [everything[n:]]
        self.taken += len(found)
        self.missing += n - len(found)
        return np.resize(found, (n, *found.shape[1:])) if len(found) < n else found

    def rest(self) -> int:
        """Return how many rows are left."""
        self.waiting += [np.asarray(chunk) for chunk in self.chunks]
        return sum(map(len, self.waiting))

    def length(self) -> int:
        """Return the number of all rows."""
        return self.taken + self.rest()


def with_answers(table: "SourceTable", request: Request) -> "SourceTable":
    """Return the table, whose answers are lazy arrays about the collection."""
    encoder, expansion = table.encoder, table.expansion
    assert encoder is not None
    reader = None if expansion is None else FrameReader(encoder, expansion)
    features = encoder.columns.features if table.names is not None else None
    table.answers_to = AnswerSource(request.source, features, reader)
    return table
