"""What runs on Dask's workers: calls of functions on the parts that a worker holds.

A part is the result of a task of Dask. What calls keep for its rows is kept beside it, in the same
object, so that it is gone when the part is. A worker is asked in one message for all calls on its
parts (``serve``); they run on its task threads, one call on each. What a call needs of other
workers is fetched from them. A call that cannot be made here, since its part has moved or what was
kept is lost, is answered by None, and whoever asked makes it by tasks of Dask (``dask.py``).
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..runtime.allocator import kept_memory
from ..runtime.config import config_context
from ..runtime.pool import blas_limiter
from .workers import Versions, require_versions

MAX_FETCHED_PIECES = 8  # beside each part: passes with blocks of different sizes need others

_serving: set[str] = set()  # passes that are under way
_stopped: set[str] = set()  # those of them whose further calls nobody waits for


class Opaque:
    """A value that Dask hands on as it is, without looking for futures or calls inside."""

    def __init__(self, value: Any):
        self.value = value


class WorkerPart(tuple[Any, Any, Any]):
    """(X, y, s) of consecutive rows, with what is kept beside them on a worker.

    A copy on another worker, or one that was on disk, has nothing beside it.
    """

    summary: Any  # what its first reading found
    kept: dict[int, tuple[Any, ...]]  # results of calls, by their numbers
    fetched: dict[Any, Any]  # rows of parts on other workers

    def __new__(cls, X: Any, y: Any, s: Any, summary: Any = None) -> "WorkerPart":
        part = super().__new__(cls, (X, y, s))
        part.summary, part.kept, part.fetched = summary, {}, {}
        return part

    def __reduce__(self) -> Any:
        return WorkerPart, (*self, self.summary)


class ResultPlace(NamedTuple):
    """A result of Dask, or what is kept beside it, and the worker that has it."""

    key: str
    number: int | None = None  # of the call whose result it is; None: the result of the task
    worker: str | None = None  # None: the one that is asked


class PlacedPiece(NamedTuple):
    """Rows start:stop of a part, and whether X of them may be left out."""

    place: ResultPlace
    start: int
    stop: int
    targets_only: bool


class PlacedCall(NamedTuple):
    """A call, and where its inputs are. Its states are kept beside ``home`` as ``number``."""

    home: str
    number: int | None
    pieces: tuple[PlacedPiece, ...]
    states: tuple[tuple[ResultPlace, int], ...]  # and which item of the result
    own: tuple[Any, ...]


class Message(NamedTuple):
    """All calls of a pass on one worker."""

    name: str  # of the pass
    shared: bytes  # (function, args, versions), the same for all workers
    calls: Sequence[PlacedCall]
    released: Sequence[tuple[str, int]]  # results that nobody needs any more


class NotHere(Exception):
    """A part or a state is not where it was."""


async def serve(message: bytes, dask_worker: Any = None) -> bytes:
    """Make the calls of a message; return their values, (value,) each, or None for those that fail.

    Whoever asked makes these by tasks, which raise again what was raised here.
    """
    from distributed.protocol.pickle import dumps, loads

    with kept_memory:
        answer: bytes = dumps(await _answered(dask_worker, loads(message)))
    return answer


async def _answered(worker: Any, asked: Message) -> list[tuple[Any] | None]:
    """Return the values of all calls of a message."""
    from distributed.protocol.pickle import loads

    for key, number in asked.released:
        part = worker.data.get(key)
        if isinstance(part, WorkerPart):
            part.kept.pop(number, None)
    shared = loads(asked.shared)
    turns = asyncio.Semaphore(worker.state.nthreads)
    _serving.add(asked.name)
    try:
        return await asyncio.gather(
            *(_made(worker, asked.name, shared, call, turns) for call in asked.calls)
        )
    finally:
        _serving.discard(asked.name)
        _stopped.discard(asked.name)


def stop(name: str) -> None:
    """Begin no further call of a pass."""
    if name in _serving:
        _stopped.add(name)


async def _made(
    worker: Any, name: str, shared: Any, call: PlacedCall, turns: asyncio.Semaphore
) -> tuple[Any] | None:
    async with turns:
        if name in _stopped:
            return None
        try:
            pieces = [await _rows(worker, call.home, piece) for piece in call.pieces]
            states = [(await _found(worker, place))[j] for place, j in call.states]
            home = worker.data.get(call.home)
            if call.number is not None and not isinstance(home, WorkerPart):
                raise NotHere
        except NotHere:
            return None
        loop, executor = asyncio.get_running_loop(), worker.executors["default"]
        try:
            result = await loop.run_in_executor(executor, called, shared, pieces, states, call.own)
        except Exception:  # the task of Dask raises it again
            return None
        if call.number is not None:
            home.kept[call.number] = (None, *result[1:])
        return (result[0],)


async def _rows(worker: Any, home: str, piece: PlacedPiece) -> Any:
    """Return the rows of a piece; those of another worker are fetched once."""
    place, start, stop, targets_only = piece
    if place.worker is None:
        return rows_of(await _found(worker, place), start, stop)
    beside = worker.data.get(home)
    fetched = beside.fetched if isinstance(beside, WorkerPart) else {}
    name = place.key, start, stop, targets_only
    if name not in fetched:
        if len(fetched) >= MAX_FETCHED_PIECES:
            fetched.clear()
        fetched[name] = await _fetched(worker, place, (start, stop, targets_only))
    return fetched[name]


async def _found(worker: Any, place: ResultPlace) -> Any:
    """Return a result of Dask, or what is kept beside it."""
    if place.worker is not None:
        return await _fetched(worker, place, None)
    return given(worker, place, None)


async def _fetched(worker: Any, place: ResultPlace, rows: tuple[int, int, bool] | None) -> Any:
    from distributed.protocol.pickle import dumps

    there = worker.rpc(place.worker)
    try:
        answer = await there.run(function=dumps(given_or_none), args=dumps((place, rows)))
    except OSError as error:
        raise NotHere from error
    if answer["status"] != "OK" or answer["result"] is None:
        raise NotHere
    return answer["result"]


def given(worker: Any, place: ResultPlace, rows: tuple[int, int, bool] | None) -> Any:
    """Return what is at a place of this worker, or some rows of it."""
    value = worker.data.get(place.key)
    if place.number is not None:
        value = value.kept.get(place.number) if isinstance(value, WorkerPart) else None
    if value is None:
        raise NotHere
    if rows is None:
        return value
    start, stop, targets_only = rows
    return targets_of(value, start, stop) if targets_only else rows_of(value, start, stop)


def given_or_none(
    place: ResultPlace, rows: tuple[int, int, bool] | None, dask_worker: Any = None
) -> Any:
    """Return what is at a place, for another worker; None where it is lost."""
    try:
        return given(dask_worker, place._replace(worker=None), rows)
    except NotHere:
        return None


def answers_of(
    keys: dict[str, list[str]], function: Callable[[Any], Any], dask_worker: Any = None
) -> dict[str, Any]:
    """Return ``function(result)`` of the results that this worker is asked for, and has."""
    data = dask_worker.data
    return {key: function(data[key]) for key in keys[dask_worker.address] if key in data}


def rows_of(part: Any, start: int, stop: int) -> Any:
    """Return rows start:stop of a part, as views."""
    return tuple(None if column is None else column[start:stop] for column in part)


def targets_of(part: Any, start: int, stop: int) -> Any:
    """Return targets and weights of rows start:stop, with an X without columns."""
    return rows_of((part[0][:, :0], *part[1:]), start, stop)


def called(
    shared: tuple[Callable[..., tuple[Any, ...]], tuple[Any, ...], Versions],
    parts: list[Any],
    states: list[Any],
    own: tuple[Any, ...],
) -> tuple[Any, ...]:
    """Call a function of parts and states on one thread."""
    function, args, expected = shared
    require_versions(expected)
    with config_context(threads=1), blas_limiter, kept_memory:
        return function(parts, states, own, *args)
