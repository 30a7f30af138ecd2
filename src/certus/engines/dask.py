"""Dask's workers as an engine: parts of a table are futures, whose workers make the calls.

A pass is one message to each worker (``direct.py``). A call that a worker could not make, since the
part has moved or the worker is lost, is made by a task: Dask makes the part again, and the states
that the call needs follow from it by the tasks of the calls that had made them. They are the same
calls with the same arguments, so the bits of the result do not change.
"""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from .direct import DirectCalls, KeptItem, KeptResult, Recipe, Shared
from .on_workers import Opaque, called, rows_of, targets_of
from .protocol import Call, CallResult, Handle, Piece
from .workers import versions_here

if TYPE_CHECKING:
    from distributed import Client, Future

EMBEDDED_BYTES = 1 << 16  # of arguments; larger ones are sent to each worker once, not by task
MAX_REMEMBERED_BYTES = 1 << 20  # of a call that keeps a state; larger ones stay with Dask
QUIET_SECONDS = 1.0  # without a task, after which one shows on Dask's dashboard how far it is


class DaskEngine:
    """Parts that are futures of a client: ``WorkerPart`` each, in the order of the table."""

    name = "dask"

    def __init__(self, client: "Client", parts: Sequence["Future[Any]"], lengths: Sequence[int]):
        self.client, self.parts = client, list(parts)
        self._lengths = tuple(int(n) for n in lengths)
        self._direct = DirectCalls(client, self.parts)
        self._last_task, self._n_passes, self._sign = time.monotonic(), 0, None

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
        shared = Shared(function, args, versions_here())
        found: list[CallResult | None] = [None] * len(calls)
        if not keeps or _remembered_bytes(args, calls) <= MAX_REMEMBERED_BYTES:
            self._show_work()
            found = self._direct.run(shared, calls, keeps)
        lost = [i for i, result in enumerate(found) if result is None]
        for i, result in zip(
            lost, self._run_tasks(shared, [calls[i] for i in lost], keeps), strict=True
        ):
            found[i] = result
        return [result for result in found if result is not None]

    def keep(self, i: int, state: Any) -> Handle:
        """Keep a value beside part i."""
        (result,) = self.run(_kept, (), [Call((Piece(i, 0, 0),), (), (state,))], 1)
        return result.states[0]

    def close(self) -> None:
        """Let go of the parts, which the workers then forget."""
        self.parts.clear()

    def _run_tasks(self, shared: Shared, calls: Sequence[Call], keeps: int) -> list[CallResult]:
        """Make calls by a task each, and one for the value of each that keeps states."""
        if not calls:
            return []
        recipes = [Recipe(shared, call) for call in calls]
        made = [self._future_of(recipe) for recipe in recipes]
        values = [self._start(item, result, 0) for result in made] if keeps else made
        try:
            found = self.client.gather(values)
        except BaseException:
            self.client.cancel([*made, *values])
            raise
        results = []
        for recipe, value in zip(recipes, found, strict=True):
            result = KeptResult(0, -1, [], recipe)
            states = tuple(KeptItem(result, j) for j in range(1, keeps + 1))
            results.append(CallResult(value if keeps else value[0], states))
        return results

    def _start(self, function: Callable[..., Any], *args: Any) -> "Future[Any]":
        self._last_task = time.monotonic()
        return start(self.client, function, *args)

    def _start_call(self, shared: Shared, recipe: Recipe) -> "Future[Any]":
        call, pieces = recipe.call, list[Any]()
        for k, (part, first, last) in enumerate(call.pieces):
            whole = first == 0 and last == self._lengths[part]
            if k == 0 or (whole and not call.targets_only):
                pieces.append([self.parts[part], first, last])
            else:  # cut where they are, for the worker of the part before them
                cut = targets_of if call.targets_only else rows_of
                pieces.append([self._start(cut, self.parts[part], first, last), None, None])
        states = [[before.future, j] for before, j in recipe.states]
        return self._start(_call, self._sent(shared), pieces, states, Opaque(call.own))

    def _sent(self, shared: Shared) -> Any:
        if shared.sent is None:
            shared.sent = Opaque(shared.value)
            if size_of(shared.value[1]) > EMBEDDED_BYTES:
                shared.sent = self._start(_same, shared.sent)
        return shared.sent

    def _future_of(self, recipe: Recipe) -> "Future[Any]":
        """Return the result of a recipe, made by tasks of all calls that it follows from."""
        waiting = [recipe]
        while waiting:
            last = waiting[-1]
            before = [each for each, _ in last.states if each.future is None]
            if before:
                waiting += before
                continue
            waiting.pop()
            if last.future is None and last.shared is not None:
                last.is_made_by(self._start_call(last.shared, last))
        assert recipe.future is not None
        return recipe.future

    def _show_work(self) -> None:
        """Start a task now and then, which is not waited for.

        Dashboards show it as one of "certus-passes", and a scheduler may close workers that have
        no task for a while.
        """
        self._n_passes += 1
        if time.monotonic() - self._last_task > QUIET_SECONDS:
            self._sign = self._start(_passes, self._n_passes)


def start(
    client: "Client", function: Callable[..., Any], *args: Any, workers: Sequence[str] | None = None
) -> "Future[Any]":
    """Return the future of a task, on one of these workers if they are there."""
    key = f"certus-{function.__name__.strip('_')}-{uuid4().hex}"
    return client.submit(
        function, *args, key=key, pure=False, workers=workers, allow_other_workers=bool(workers)
    )


def _remembered_bytes(args: tuple[Any, ...], calls: Sequence[Call]) -> int:
    """Return the bytes of what this process keeps to make the states of calls again."""
    own = [value for call in calls for value in call.own if isinstance(value, np.ndarray)]
    return size_of(args) + size_of(own)


def size_of(value: Any) -> int:
    """Return the bytes of all arrays in a value, its items and its attributes."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, (list, tuple, set)):
        return sum(map(size_of, value))
    if isinstance(value, dict):
        return sum(map(size_of, value.values()))
    return size_of(vars(value)) if hasattr(value, "__dict__") and not callable(value) else 0


# --- tasks ----------------------------------------------------------------------------------------


def _call(shared: Opaque, pieces: list[Any], states: list[Any], own: Opaque) -> tuple[Any, ...]:
    """Call a function of parts and states."""
    parts = [part if start is None else rows_of(part, start, stop) for part, start, stop in pieces]
    return called(shared.value, parts, [result[j] for result, j in states], own.value)


def _passes(made: int) -> int:
    return made


def _same(value: Any) -> Any:
    return value


def _kept(parts: list[Any], states: list[Any], own: tuple[Any]) -> tuple[None, Any]:
    return None, own[0]


def item(call: tuple[Any, ...], j: int) -> Any:
    """Return one of the values of a call, on the worker where they are."""
    return call[j]
