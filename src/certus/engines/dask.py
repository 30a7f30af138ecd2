"""Dask's workers as an engine: parts of a table are futures, and a pass is a task for each part.

Tasks are submitted to the scheduler with the futures that they need, so that they run where their
part is. What a task is given follows from the graph alone: if a worker is lost, Dask makes its
parts and states again, by the same calls, and the bits of the result do not change.

No graph of dask.array is made: a pass costs the scheduler one task for each part.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

import numpy as np

from ..runtime.config import config_context
from ..runtime.pool import blas_limiter
from .protocol import Call, CallResult, Handle, Piece
from .workers import require_versions, versions_here

if TYPE_CHECKING:
    from distributed import Client, Future

EMBEDDED_BYTES = 1 << 16  # of arguments; larger ones are sent to each worker once, not by task
MAX_SENT_PIECES = 8  # for each part: passes with blocks of different sizes need different ones


class Opaque:
    """A value that Dask hands on as it is, without looking for futures or calls inside."""

    def __init__(self, value: Any):
        self.value = value


class KeptItem(NamedTuple):
    """A state that stays on a worker: item j of the result of a call.

    The result stays as a whole while one of its states is needed. A task of its own for each state
    would cost the scheduler as much as the call.
    """

    result: "Future[Any]"
    j: int


class DaskEngine:
    """Parts that are futures of a client: ``(X, y, s)`` each, in the order of the table."""

    name = "dask"

    def __init__(self, client: "Client", parts: Sequence["Future[Any]"], lengths: Sequence[int]):
        self.client, self.parts = client, list(parts)
        self._lengths = tuple(int(n) for n in lengths)
        # ends of blocks that begin in the part before, with X or without
        self._sent: dict[tuple[Piece, bool], Future[Any]] = {}

    def lengths(self) -> Sequence[int]:
        return self._lengths

    def run(
        self,
        function: Callable[..., tuple[Any, ...]],
        args: tuple[Any, ...],
        calls: Sequence[Call],
        keeps: int = 0,
    ) -> list[CallResult]:
        """Make the calls and wait for their values; the states stay on the workers."""
        if not self.parts:
            raise ValueError("the table was closed: open it again")
        shared: Any = Opaque((function, args, versions_here()))
        if size_of(args) > EMBEDDED_BYTES:
            shared = self._start(_same, shared)
        made = [self._start_call(shared, call) for call in calls]
        values = [self._start(item, result, 0) for result in made] if keeps else made
        states = [tuple(KeptItem(result, j) for j in range(1, keeps + 1)) for result in made]
        try:
            found = self.client.gather(values)
        except BaseException:
            self.client.cancel([*made, *values])
            raise
        return [
            CallResult(value if keeps else value[0], left)
            for value, left in zip(found, states, strict=True)
        ]

    def keep(self, i: int, state: Any) -> Handle:
        """Keep a value beside part i."""
        return KeptItem(self._start(_beside, Opaque(state), self.parts[i]), 0)

    def close(self) -> None:
        """Let go of the parts, which the workers then forget."""
        self.parts.clear()
        self._sent.clear()

    def _start(self, function: Callable[..., Any], *args: Any) -> "Future[Any]":
        return start(self.client, function, *args)

    def _start_call(self, shared: Any, call: Call) -> "Future[Any]":
        pieces: list[Any] = []
        for k, piece in enumerate(call.pieces):
            whole = piece.start == 0 and piece.stop == self._lengths[piece.part]
            if k == 0 or (whole and not call.targets_only):
                pieces.append([self.parts[piece.part], piece.start, piece.stop])
            else:
                pieces.append([self._cut(piece, call.targets_only), None, None])
        states = [[kept.result, kept.j] for kept in call.states]
        return self._start(_call, shared, pieces, states, Opaque(call.own))

    def _cut(self, piece: Piece, targets_only: bool) -> "Future[Any]":
        """Return some rows of a part, cut where it is, for the worker of the part before it."""
        sent = piece, targets_only
        if sent not in self._sent:
            if len(self._sent) >= MAX_SENT_PIECES * len(self.parts):
                self._sent.clear()
            cut = _targets_of if targets_only else _rows_of
            self._sent[sent] = self._start(cut, self.parts[piece.part], piece.start, piece.stop)
        return self._sent[sent]


def start(
    client: "Client", function: Callable[..., Any], *args: Any, workers: Sequence[str] | None = None
) -> "Future[Any]":
    """Return the future of a task, on one of these workers if they are there."""
    key = f"certus-{function.__name__.strip('_')}-{uuid4().hex}"
    return client.submit(
        function, *args, key=key, pure=False, workers=workers, allow_other_workers=bool(workers)
    )


def size_of(value: Any) -> int:
    """Return the bytes of all arrays in a value, its items and its attributes."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, (list, tuple, set)):
        return sum(map(size_of, value))
    if isinstance(value, dict):
        return sum(map(size_of, value.values()))
    return size_of(vars(value)) if hasattr(value, "__dict__") and not callable(value) else 0


# --- what runs on the workers ---------------------------------------------------------------------


def _call(shared: Opaque, pieces: list[Any], states: list[Any], own: Opaque) -> tuple[Any, ...]:
    """Call a function of parts and states on one thread."""
    function, args, expected = shared.value
    require_versions(expected)
    parts = [part if start is None else _rows_of(part, start, stop) for part, start, stop in pieces]
    with config_context(threads=1), blas_limiter:
        kept = [result[j] for result, j in states]
        result: tuple[Any, ...] = function(parts, kept, own.value, *args)
    return result


def _rows_of(part: Any, start: int, stop: int) -> Any:
    return tuple(None if column is None else column[start:stop] for column in part)


def _targets_of(part: Any, start: int, stop: int) -> Any:
    return _rows_of((None, *part[1:]), start, stop)


def _same(value: Any) -> Any:
    return value


def _beside(state: Opaque, part: Any) -> tuple[Any]:
    return (state.value,)


def item(call: tuple[Any, ...], j: int) -> Any:
    """Return one of the values of a call, on the worker where they are."""
    return call[j]
