"""Calls that Dask's workers make on the parts they hold, without a task for each.

A pass is one message to each worker that has parts, and one answer (``on_workers.serve``). Tasks
would cost Dask's scheduler and workers 3 ms of CPU time each, a message costs 1.3, however many
parts a worker has. What a message cannot do is left to tasks: parts may move, workers may be lost.

States are kept beside the parts. Each is known here with the call that made it, so that a lost one
follows again from what was kept before, by tasks (``dask.py``).
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from .on_workers import Message, PlacedCall, PlacedPiece, ResultPlace, answers_of, serve, stop
from .protocol import Call, CallResult
from .workers import Versions

if TYPE_CHECKING:
    from distributed import Client, Future

POLL_SECONDS = 0.2  # within which a lost part is noticed while its worker is asked


class Shared:
    """What all calls of a pass have in common, and the future of its copy on the workers."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], versions: Versions):
        self.value = function, args, versions
        self.sent: Any = None


class Recipe:
    """How a result is made again: its call, of results that have recipes too.

    ``future`` is the result where that was done; Dask then knows what it follows from.
    """

    def __init__(self, shared: Shared, call: Call):
        self.shared: Shared | None = shared
        self.call = call._replace(states=())
        self.states: tuple[tuple[Recipe, int], ...] = tuple(
            (state.result.recipe, state.j) for state in call.states
        )
        self.future: Future[Any] | None = None

    def is_made_by(self, future: "Future[Any]") -> None:
        """Note the task that makes the result, and forget the rest."""
        self.future, self.shared, self.states = future, None, ()


class KeptResult:
    """The result of a call, kept beside a part until nothing refers to it here.

    Its recipe stays as long as later results follow from it.
    """

    def __init__(self, home: int, number: int, released: list[tuple[int, int]], recipe: Recipe):
        self.home, self.number, self.released, self.recipe = home, number, released, recipe

    def __del__(self) -> None:
        self.released.append((self.home, self.number))


class KeptItem(NamedTuple):
    """A state that stays on a worker: item j of the result of a call, which stays as a whole."""

    result: KeptResult
    j: int


class DirectCalls:
    """Which worker has which part, and calls on them."""

    def __init__(self, client: "Client", parts: list["Future[Any]"]):
        self.client, self.parts = client, parts
        self.workers: dict[int, str] = {}  # of each part; empty: not known
        self.released: list[tuple[int, int]] = []  # results that no state refers to any more
        self.numbers = count()

    def run(self, shared: Shared, calls: Sequence[Call], keeps: int) -> list[CallResult | None]:
        """Make the calls where their parts are; None for those that could not be made there."""
        from distributed.protocol.pickle import dumps

        elsewhere = self._locate(calls)
        placed: dict[str, list[tuple[int, PlacedCall]]] = defaultdict(list)
        for i, call in enumerate(calls):
            home = home_of(call)
            found = self._placed(call, home, keeps, elsewhere)
            if found is not None:
                placed[self.workers[home]].append((i, found))
        if not placed:
            return [None] * len(calls)
        name, common = uuid4().hex, dumps(shared.value)
        released = self._released_on(set(placed))
        messages = {
            worker: dumps(Message(name, common, [c for _, c in asked], released[worker]))
            for worker, asked in placed.items()
        }
        try:
            answers = self.client.sync(self._ask, messages)
        except BaseException:
            with suppress(Exception):
                self.client.run(stop, name, workers=list(messages), on_error="ignore")
            raise
        results: list[CallResult | None] = [None] * len(calls)
        for worker, asked in placed.items():
            for (i, one), value in zip(asked, answers[worker] or [None] * len(asked), strict=True):
                if value is None:
                    self.workers = {}
                    continue
                states: tuple[Any, ...] = ()
                if one.number is not None:
                    recipe = Recipe(shared, calls[i])
                    result = KeptResult(home_of(calls[i]), one.number, self.released, recipe)
                    states = tuple(KeptItem(result, j) for j in range(1, keeps + 1))
                results[i] = CallResult(value[0], states)
        return results

    def _locate(self, calls: Sequence[Call]) -> dict[str, str]:
        """Find the workers of all parts, and of the states that tasks made, by their keys."""
        from distributed import wait

        made = {
            state.result.recipe.future.key: state.result.recipe.future
            for call in calls
            for state in call.states
            if state.result.recipe.future is not None
        }
        if any(part.status != "finished" for part in self.parts):
            wait(self.parts)  # they are made, or made again
            self.workers = {}
        if self.workers and not made:
            return {}
        holders = self.client.who_has([*self.parts, *made.values()])
        self.workers, load = {}, Counter[str]()
        for i, part in enumerate(self.parts):
            if at := holders.get(part.key):
                self.workers[i] = min(at, key=lambda worker: (load[worker], worker))
                load[self.workers[i]] += 1
        return {key: sorted(holders[key])[0] for key in made if holders.get(key)}

    def _placed(
        self, call: Call, home: int, keeps: int, elsewhere: dict[str, str]
    ) -> PlacedCall | None:
        """Return a call with the places of its inputs; None where one is not known."""
        worker = self.workers.get(home)
        needed = {piece.part for piece in call.pieces}
        needed |= {state.result.home for state in call.states if state.result.recipe.future is None}
        if worker is None or not needed <= self.workers.keys():
            return None

        def from_there(other: str) -> str | None:
            return None if other == worker else other

        pieces = tuple(
            PlacedPiece(
                ResultPlace(self.parts[part].key, None, from_there(self.workers[part])),
                start, stop_, call.targets_only,
            )
            for part, start, stop_ in call.pieces
        )  # fmt: skip
        states = []
        for kept, j in call.states:
            future = kept.recipe.future
            if future is None:
                key, number, at = self.parts[kept.home].key, kept.number, self.workers[kept.home]
            elif future.key in elsewhere:
                key, number, at = future.key, None, elsewhere[future.key]
            else:
                return None
            states.append((ResultPlace(key, number, from_there(at)), j))
        number = next(self.numbers) if keeps else None
        return PlacedCall(self.parts[home].key, number, pieces, tuple(states), call.own)

    def _released_on(self, asked: set[str]) -> dict[str, list[tuple[str, int]]]:
        """Return what the workers that are asked may forget; the rest is told to others later."""
        found: dict[str, list[tuple[str, int]]] = defaultdict(list)
        later = []
        while self.released:
            part, number = self.released.pop()
            worker = self.workers.get(part)
            if worker in asked:
                found[worker].append((self.parts[part].key, number))
            else:
                later.append((part, number))
        self.released += later
        return found

    async def _ask(self, messages: dict[str, bytes]) -> dict[str, Any]:
        """Return the answers of the workers; None of those that are lost."""
        from distributed.protocol.pickle import loads

        asked = {
            worker: asyncio.ensure_future(
                self.client.run(serve, message, workers=[worker], on_error="return")
            )
            for worker, message in messages.items()
        }
        found: dict[str, Any] = dict.fromkeys(messages)
        try:
            waiting = set(asked.values())
            while waiting:
                done, waiting = await asyncio.wait(waiting, timeout=POLL_SECONDS)
                for worker, task in asked.items():
                    if task in done and task.exception() is None:
                        answer = task.result().get(worker)
                        found[worker] = loads(answer) if isinstance(answer, bytes) else None
                waiting -= {asked[worker] for worker in self._lost() if worker in asked}
        finally:
            for task in asked.values():
                task.cancel()
        return found

    def _lost(self) -> set[str]:
        """Return the workers whose parts Dask makes again."""
        return {worker for i, worker in self.workers.items() if self.parts[i].status != "finished"}


def ask(
    client: "Client", futures: Sequence["Future[Any]"], function: Callable[[Any], Any]
) -> list[Any]:
    """Return ``function(result)`` of each future, where the results are.

    Errors of the futures are raised. It is for functions that take no time.
    """
    from distributed import wait

    wait(futures)
    for future in futures:
        if future.status == "error":
            future.result()
    keys = [future.key for future in futures]
    found: dict[str, Any] = {}
    by_worker: dict[str, list[str]] = defaultdict(list)
    for key, workers in client.who_has(list(futures)).items():
        if workers:
            by_worker[sorted(workers)[0]].append(key)
    answers = (
        client.run(
            answers_of, dict(by_worker), function, workers=list(by_worker), on_error="return"
        )
        if by_worker
        else {}
    )
    for answer in answers.values():
        if isinstance(answer, dict):
            found |= answer
    lost = [future for future in futures if future.key not in found]
    if lost:
        made = client.gather([client.submit(function, future, pure=False) for future in lost])
        found |= dict(zip([future.key for future in lost], made, strict=True))
    return [found[key] for key in keys]


def home_of(call: Call) -> int:
    """Return the part where a call is made: that of its first piece, or of its first state."""
    if call.pieces:
        return call.pieces[0].part
    home: int = call.states[0].result.home if call.states else 0
    return home
