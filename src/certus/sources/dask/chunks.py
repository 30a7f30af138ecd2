"""A collection's chunks: persisted where the client computes, counted, and cut into parts.

Chunks of y and of the weights need not be those of X. Chunks that are small are joined, those that
are large are cut, so that every worker has parts to work on.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...engines.dask import Opaque
from ...exceptions import MissingExtraError

if TYPE_CHECKING:
    from distributed import Client

MAX_PART_BYTES = 1 << 27  # of X: several parts fit into the memory of any worker
MIN_PART_BYTES = 1 << 22  # smaller parts cost more messages than work


class Chunks(NamedTuple):
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


class LocalCalls:
    """Stand-in for a client: Dask's own scheduler makes the chunks, and calls are made at once."""

    def compute(self, delayed: list[Any]) -> list[Any]:
        import dask

        return list(dask.compute(*delayed))

    def submit(self, function: Callable[..., Any], *args: Any, **_: Any) -> Any:
        return function(*args)

    def gather(self, values: Any) -> Any:
        return values


class FrameColumns(NamedTuple):
    """Which columns of a frame are X, targets and weights; None for arrays."""

    X: tuple[str, ...] | None
    target: tuple[str, ...] | None
    weights: str | None


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
    return hasattr(X, "columns") and hasattr(X, "to_delayed")


def chunks_of(at: Any, X: Any) -> Chunks:
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
        return Chunks([at.submit(_given, Opaque(values), pure=False)], [len(values)])
    futures = at.compute(delayed)
    known = X.chunks[0] if hasattr(X, "chunks") else ()
    if known and not np.isnan(known).any():
        return Chunks(futures, [int(length) for length in known])
    lengths = at.gather([at.submit(_length, chunk, pure=False) for chunk in futures])
    return Chunks(futures, lengths)


def cuts_of(lengths: Sequence[int], row_bytes: int, threads: int) -> list[int]:
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


# --- what runs on the workers ---------------------------------------------------------------------


def _given(values: Opaque) -> Any:
    return values.value


def _length(chunk: Any) -> int:
    return len(chunk)
