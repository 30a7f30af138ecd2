"""The three verbs of an engine: all that a pass over the rows needs to know of where they are.

    lengths()                   rows of each part, in the order of the table
    run(function, args, calls)  function(parts, states, own, *args) of each task, where parts are
    keep(i, state)              a value that stays beside part i

A further engine (Ray, Spark) implements these verbs and nothing else; ``docs/scale.md`` shows one.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

Handle = Any  # a value that an engine keeps: a future, a reference


class Piece(NamedTuple):
    """Rows start:stop of a part."""

    part: int
    start: int
    stop: int


class Call(NamedTuple):
    """What one call of a function is given beside the arguments that all calls share.

    ``pieces``: rows of consecutive parts; the call runs where the first is. ``states``: what
    earlier calls have kept. ``own``: arguments of this call alone. ``targets_only``: X of the
    pieces may be None, since the call reads targets and weights alone.
    """

    pieces: tuple[Piece, ...]
    states: tuple[Handle, ...] = ()
    own: tuple[Any, ...] = ()
    targets_only: bool = False


class CallResult(NamedTuple):
    """The result of a task: its value, and handles of the states that it left behind."""

    value: Any
    states: tuple[Handle, ...]


class BlockEngine(Protocol):
    """Parts of a table, and functions that run where they are.

    A call returns (value, state, …) with as many states as ``keeps`` says, and must not change what
    it is given. A call that is lost with its worker is made again, from the part and the states.
    """

    name: str

    def lengths(self) -> Sequence[int]: ...

    def run(
        self,
        function: Callable[..., tuple[Any, ...]],
        args: tuple[Any, ...],
        calls: Sequence[Call],
        keeps: int = 0,
    ) -> list[CallResult]: ...

    def keep(self, i: int, state: Any) -> Handle: ...
