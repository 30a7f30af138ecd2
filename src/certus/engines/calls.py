"""What runs where the parts are: pure functions of parts, kept states and arguments.

A call returns (value, state, …) and changes nothing that it is given, so that it can be made again
after a loss.
"""

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .cuts import Edges
from .tree import CombiningTree

Recode = tuple[Callable[..., tuple[Any, Any]], tuple[Any, ...]]  # function(y, s, *args) → (y, s)


def recode(y: Any, s: Any, recodes: Sequence[Recode]) -> tuple[Any, Any]:
    """Return targets and weights of some rows after all recodes."""
    for function, args in recodes:
        y, s = function(y, s, *args)
    return y, s


class TargetSource(NamedTuple):
    """Where a pass takes its targets or weights from.

    ``state``: the place among the states of the pass. Otherwise the table's own, after ``recodes``.
    """

    which: int  # 0: targets, 1: weights
    recodes: tuple[Recode, ...] = ()
    state: int | None = None


class Pass(NamedTuple):
    """A statistic, and how its arguments are made of parts and states. Pickled for each pass."""

    statistic: Callable[..., Any]
    columns: tuple[TargetSource | None, TargetSource | None]  # of y and s
    n_read: int  # states that only columns read; those behind them are handed to the statistic
    targets_only: bool  # statistic(y, s, *args), without X and states
    errors: dict[str, Any]  # NumPy's error state, as ``np.geterr`` gives it


class Fill:
    """Statistic that leaves ``function(X_b, y_b, s_b, *args)`` as the state of its block."""

    def __init__(self, function: Callable[..., np.ndarray]):
        self.function = function

    def __call__(self, X: Any, y: Any, s: Any, out: np.ndarray, *args: Any) -> tuple[()]:
        out[:] = self.function(X, y, s, *args)
        return ()


def nothing(left: Any, right: Any) -> tuple[()]:
    return ()


def nodes_of_part(
    parts: list[Any],
    states: list[np.ndarray],
    own: tuple[int, Edges],
    of: Pass,
    leaves: int,
    combine: Callable[[Any, Any], Any],
    args: tuple[Any, ...],
    pairwise: bool,
) -> tuple[Any, ...]:
    """Return the nodes of the blocks of one part, and the states that the statistic left."""
    first, edges = own
    left = [np.array(state, order="K") for state in states[of.n_read :]]  # filled by the statistic
    tree = CombiningTree(leaves, combine)
    blocks = _blocks(parts, [*states[: of.n_read], *left], edges, of)
    with np.errstate(**of.errors):
        for i, (block, beside) in enumerate(blocks, first):
            tree.put(i, of.statistic(*block, *beside, *args))
    nodes = tree.nodes()
    return (None, nodes, *left) if pairwise else (nodes, *left)


def merged(
    parts: list[Any],
    states: list[Any],
    own: tuple[()],
    leaves: int,
    combine: Callable[[Any, Any], Any],
    fetch: bool,
) -> tuple[Any, ...]:
    """Return the nodes of two neighbours, combined where they are siblings."""
    tree = CombiningTree(leaves, combine)
    for nodes in states:
        tree.add(owned(nodes))
    return (tree.nodes(),) if fetch else (None, tree.nodes())


def rows_of_part(
    parts: list[Any], states: list[np.ndarray], own: tuple[Edges], of: Pass, args: tuple[Any, ...]
) -> tuple[np.ndarray]:
    with np.errstate(**of.errors):
        made = [
            of.statistic(*block, *beside, *args)
            for block, beside in _blocks(parts, states, own[0], of)
        ]
    return (np.concatenate(made),)


def taken(parts: list[Any], states: list[Any], own: tuple[np.ndarray]) -> tuple[Any, ...]:
    return (tuple(None if column is None else column[own[0]] for column in parts[0]),)


def joined(
    parts: list[Any],
    states: list[np.ndarray],
    own: tuple[int, tuple[tuple[int, int], ...]],
    columns: tuple[int, ...],
    dtype: np.dtype,
    order: Any,
) -> tuple[None, np.ndarray]:
    """Return values of consecutive rows, taken from several states; zeros without any."""
    rows, ranges = own
    out = np.zeros((rows, *columns), dtype, order=order)
    done = 0
    for state, (start, stop) in zip(states, ranges, strict=True):
        out[done : done + stop - start] = state[start:stop]
        done += stop - start
    return None, out


def value_of_joined(*args: Any) -> tuple[np.ndarray]:
    return (joined(*args)[1],)


def values_of_rows(
    parts: list[Any], states: list[np.ndarray], own: tuple[np.ndarray]
) -> tuple[np.ndarray]:
    return (states[0][own[0]],)


def replaced(
    parts: list[Any], states: list[np.ndarray], own: tuple[int, int, np.ndarray]
) -> tuple[None, np.ndarray]:
    start, stop, values = own
    state = np.array(states[0], order="K")
    state[start:stop] = values
    return None, state


def _blocks(
    parts: list[Any], states: list[np.ndarray], edges: Edges, of: Pass
) -> Iterator[tuple[tuple[Any, ...], list[np.ndarray]]]:
    """Yield the arguments of the statistic for each block: of the rows, and of their states."""
    origin = edges[0][0]
    for a, b in edges:
        start, stop = a - origin, b - origin
        X, y, s = _slice(parts, start, stop, of.targets_only)
        values = [state[start:stop] for state in states]
        y, s = _targets(of.columns, y, s, values)
        if X is not None and X.dtype not in (np.float64, np.float32):
            X = X.astype(np.float64)
        block = (y, s) if of.targets_only else (X, y, s)
        yield block, values[of.n_read :]


def _slice(parts: list[Any], start: int, stop: int, targets_only: bool) -> list[Any]:
    """Return rows start:stop of consecutive pieces; views where they lie in one."""
    found: list[list[Any]] = []
    before = 0
    for part in parts:
        n = next(len(column) for column in part if column is not None)
        a, b = max(start - before, 0), min(stop - before, n)
        if a < b:
            columns = (None, *part[1:]) if targets_only else part
            found.append([None if c is None else c[a:b] for c in columns])
        before += n
    if len(found) == 1:
        return found[0]
    return [None if c[0] is None else np.concatenate(c) for c in zip(*found, strict=True)]


def _targets(
    columns: tuple[TargetSource | None, TargetSource | None],
    y: Any,
    s: Any,
    states: list[np.ndarray],
) -> tuple[Any, Any]:
    recoded: tuple[Any, Any] | None = None
    of: tuple[Recode, ...] = ()
    values: list[Any] = []
    for column in columns:
        if column is None:
            values.append(None)
        elif column.state is not None:
            values.append(states[column.state])
        else:
            if recoded is None or column.recodes is not of:
                recoded, of = recode(y, s, column.recodes), column.recodes
            values.append(recoded[column.which])
    return values[0], values[1]


def owned(nodes: Any) -> Any:
    """Return a copy that ``combine`` may overwrite: the original may be read again after a loss."""
    return copy.deepcopy(nodes)
