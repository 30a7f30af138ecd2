"""An engine whose parts are those of another, each changed where it is, whenever it is read."""

from collections.abc import Callable, Sequence
from typing import Any

from .protocol import BlockEngine, Call, CallResult, Handle

Change = Callable[[Any, Any, Any], tuple[Any, Any, Any]]  # of X, y and s of some rows


class MappedEngine:
    """Parts change(X, y, s) of another engine's parts; as many rows, and nothing is kept twice."""

    def __init__(self, engine: BlockEngine, change: Change):
        self.engine, self.change, self.name = engine, change, engine.name

    def lengths(self) -> Sequence[int]:
        return self.engine.lengths()

    def run(
        self,
        function: Callable[..., tuple[Any, ...]],
        args: tuple[Any, ...],
        calls: Sequence[Call],
        keeps: int = 0,
    ) -> list[CallResult]:
        return self.engine.run(on_changed_parts, (self.change, function, args), calls, keeps)

    def keep(self, i: int, state: Any) -> Handle:
        return self.engine.keep(i, state)


def on_changed_parts(
    parts: list[Any],
    states: list[Any],
    own: tuple[Any, ...],
    change: Change,
    function: Callable[..., tuple[Any, ...]],
    args: tuple[Any, ...],
) -> tuple[Any, ...]:
    """Call a function of parts with changed ones."""
    return function([change(*part) for part in parts], states, own, *args)
