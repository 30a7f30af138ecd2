"""Tables over arrays, read as files are, to compare fits on streamed rows with those on arrays."""

import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from certus.data import rows, streamed
from certus.data.streamed import RowBlock, StreamedTable


class ArrayTable(StreamedTable):
    """A table over arrays that gives copies of their rows."""

    description = "arrays read as a table"

    def __init__(
        self,
        X: np.ndarray,
        y: np.ndarray | None = None,
        s: np.ndarray | None = None,
        classes: np.ndarray | None = None,
        names: Sequence[str] | None = None,
    ):
        y = None if y is None else np.asarray(y, dtype=float).reshape(len(X), -1)
        super().__init__(X.shape, X.dtype, 0 if y is None else y.shape[1], s is not None)
        self.arrays = RowBlock(X, y, None if s is None else np.asarray(s, dtype=float))
        self.classes, self.names = classes, None if names is None else tuple(names)

    def read(self, start: int, stop: int) -> RowBlock:
        X, y, s = self.arrays
        return RowBlock(
            np.ascontiguousarray(X[start:stop]),
            None if y is None else y[start:stop],
            None if s is None else s[start:stop],
        )


class GuardedTable(ArrayTable):
    """A table of which no more than ``most`` rows may be read at once; it notes how many were."""

    def __init__(self, *arrays: Any, most: int, **options: Any):
        super().__init__(*arrays, **options)
        self.most, self.largest = most, 0

    def read(self, start: int, stop: int) -> RowBlock:
        self.largest = max(self.largest, stop - start)
        assert stop - start <= self.most, f"{stop - start} rows at once"
        return super().read(start, stop)


def cut_small(monkeypatch: pytest.MonkeyPatch, block_bytes: int) -> None:
    """Let all rows be read in blocks of about so many bytes, by any number of threads."""
    monkeypatch.setattr(rows, "BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(rows, "TARGET_ROWS", block_bytes // 8)
    monkeypatch.setattr(rows, "SMALL_WORK", 0)
    monkeypatch.setattr(streamed, "GATHER_BYTES", block_bytes)


def watch_blocks(monkeypatch: pytest.MonkeyPatch, streamed_alone: bool = False) -> list[str]:
    """Let every function of blocks be pickled before it is called, and its result be its own.

    Return the names of the functions, as they are called. ``streamed_alone``: functions of rows in
    memory, which are sent nowhere, are not watched.
    """
    called: list[str] = []

    def copied(function: Any, arguments: Any) -> Any:
        function, arguments = pickle.loads(pickle.dumps((function, arguments)))
        called.append(getattr(function, "__qualname__", repr(function)))
        return function, arguments

    def own(function: Any) -> Any:
        def of_block(*given: Any) -> Any:
            result = function(*given)
            before = list(arrays_in(given))
            for array in arrays_in(result):
                shared = any(np.may_share_memory(array, other) for other in before)
                assert not shared, f"{function.__qualname__} returns a view of an argument"
            return result

        return of_block

    for name in ("reduce", "reduce_targets", "map"):
        verb = getattr(rows.Rows, name)
        at = 1 if name == "map" else 0  # out comes before the arguments

        def watched(
            self: Any, function: Any, *given: Any, _verb: Any = verb, _at: int = at, **options: Any
        ) -> Any:
            if streamed_alone and not self.streamed:
                return _verb(self, function, *given, **options)
            function, arguments = copied(function, given[_at:])
            if "combine" in options:
                options["combine"], _ = copied(options["combine"], ())
            return _verb(self, own(function), *given[:_at], *arguments, **options)

        monkeypatch.setattr(rows.Rows, name, watched)

    recoded = rows.Rows.recoded

    def watched_recoded(self: Any, function: Any, *given: Any) -> Any:
        function, given = copied(function, given)
        return recoded(self, function, *given)

    monkeypatch.setattr(rows.Rows, "recoded", watched_recoded)
    return called


def arrays_in(values: Any) -> Iterator[np.ndarray]:
    """Yield the arrays in a result or among arguments, at any depth of tuples and lists."""
    if isinstance(values, np.ndarray):
        yield values
    elif isinstance(values, (tuple, list)):
        for value in values:
            yield from arrays_in(value)
