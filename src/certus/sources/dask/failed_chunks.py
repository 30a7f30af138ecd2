"""Chunks that could not be computed: the error names the chunk, and its cause is what was raised.

A collection is a graph of the user's own functions, which run when its chunks are computed.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from ...exceptions import ChunkFailedError
from .collection import Collection

COMPUTE_ONE = {"chunk": "{}.blocks[{}].compute()", "partition": "{}.partitions[{}].compute()"}


@contextmanager
def failures_named(started: list[tuple[Collection, list[Any]]]) -> Iterator[None]:
    """Raise ChunkFailedError where one of the futures that were ``started`` has failed."""
    try:
        yield
    except Exception:
        for collection, futures in started:
            for k, future in enumerate(futures):
                if future.status == "error":
                    _refuse(collection, k, future.exception().with_traceback(future.traceback()))
        raise


def computed_in_order(collection: Collection, ks: range, compute: Callable[..., Any]) -> Any:
    """Return some chunks, by ``compute`` all at once; to name one that fails, one by one."""
    try:
        return compute(*(collection.chunks[k] for k in ks))
    except Exception:
        for k in ks:
            try:
                compute(collection.chunks[k])
            except Exception as error:
                _refuse(collection, k, error)
        raise


def _refuse(collection: Collection, k: int, error: BaseException) -> NoReturn:
    alone = COMPUTE_ONE.get(collection.word, "{}[{}].compute()").format(collection.name, k)
    raise ChunkFailedError(
        f"{collection.place(k)}, given as {collection.name}, could not be computed: "
        f"{type(error).__name__}: {error}. A function of its own graph raised this; "
        f"{alone} does the same on its own"
    ) from error
