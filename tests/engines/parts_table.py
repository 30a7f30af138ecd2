"""Tables in parts whose engine pickles all that goes to a part or comes from it."""

import itertools
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from certus.data.streamed import RowBlock, StreamedTable
from certus.engines.protocol import Call, CallResult


class PicklingEngine:
    """Parts in this process; functions, arguments and results are pickled, arrays are read-only."""

    name = "pickling"

    def __init__(self, parts: Sequence[tuple[Any, ...]]):
        self.parts = [_frozen(part) for part in parts]
        self.calls: list[str] = []

    def lengths(self) -> Sequence[int]:
        return [len(part[0]) for part in self.parts]

    def run(
        self,
        function: Callable[..., tuple[Any, ...]],
        args: tuple[Any, ...],
        calls: Sequence[Call],
        keeps: int = 0,
    ) -> list[CallResult]:
        sent = pickle.dumps((function, args))
        results = []
        for call in calls:
            pieces = [
                tuple(
                    None if c is None or (j == 0 and k > 0 and call.targets_only)
                    else c[piece.start : piece.stop]
                    for j, c in enumerate(self.parts[piece.part])
                )
                for k, piece in enumerate(call.pieces)
            ]  # fmt: skip
            function, args = _frozen(pickle.loads(sent))
            self.calls.append(function.__name__)
            value, *states = function(pieces, list(call.states), _frozen(call.own), *args)
            assert len(states) == keeps
            results.append(CallResult(_frozen(value), tuple(_frozen(state) for state in states)))
        return results

    def keep(self, i: int, state: Any) -> Any:
        return _frozen(state)


def _frozen(value: Any) -> Any:
    """Return a copy whose arrays are read-only, as Dask's often are."""
    copied = pickle.loads(pickle.dumps(value))
    for array in _arrays(copied):
        array.flags.writeable = False
    return copied


def _arrays(value: Any) -> list[np.ndarray]:
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, (tuple, list)):
        return [array for item in value for array in _arrays(item)]
    return []


class PartsTable(StreamedTable):
    """Arrays as a table in parts, cut at given rows."""

    def __init__(
        self,
        X: np.ndarray,
        y: np.ndarray | None = None,
        s: np.ndarray | None = None,
        cuts: Sequence[int] = (),
        classes: np.ndarray | None = None,
    ):
        y = None if y is None else np.asarray(y, dtype=float).reshape(len(X), -1)
        super().__init__(X.shape, X.dtype, 0 if y is None else y.shape[1], s is not None)
        at = [0, *cuts, len(X)]
        self.classes = classes
        self.engine = PicklingEngine(
            [
                tuple(None if c is None else np.ascontiguousarray(c[a:b]) for c in (X, y, s))
                for a, b in itertools.pairwise(at)
            ]
        )

    def read(self, start: int, stop: int) -> RowBlock:
        return self.gather(np.arange(start, stop))
