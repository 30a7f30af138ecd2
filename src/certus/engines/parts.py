"""Passes over the parts of a table, on any engine.

The blocks of a pass are those of an array of the same shape, wherever the table is cut into parts.
A block belongs to the part in which it begins; rows that lie in the parts behind it are sent there.
What belongs to one part is combined there, in the nodes of the fixed tree, and the nodes of all
parts are combined here: the same operations in the same order as on threads.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .calls import Fill, Pass, merged, nodes_of_part, nothing, owned, rows_of_part, taken
from .cuts import Edges, Share, pieces_of, shares_of
from .protocol import BlockEngine, Call, CallResult, Piece
from .state import KeptState
from .tree import CombiningTree

PAIRWISE_BYTES = 1 << 20  # of one partial result, from which pairs are combined on the workers


def reduce_parts(
    engine: BlockEngine,
    edges: Edges,
    of: Pass,
    args: tuple[Any, ...],
    combine: Callable[[Any, Any], Any],
    read: Sequence[KeptState],
    beside: Sequence[KeptState],
    result_bytes: int,
) -> Any:
    """Combine ``statistic(X_b, y_b, s_b, *beside_b, *args)`` over all blocks."""
    shares = shares_of(engine.lengths(), edges)
    results = _run(engine, edges, shares, of, args, combine, read, beside, result_bytes)
    tree = CombiningTree(len(edges), combine)
    for result in results:
        tree.add(owned(result.value))
    return tree.root


def _run(
    engine: BlockEngine,
    edges: Edges,
    shares: list[Share],
    of: Pass,
    args: tuple[Any, ...],
    combine: Callable[[Any, Any], Any],
    read: Sequence[KeptState],
    beside: Sequence[KeptState],
    result_bytes: int,
) -> list[CallResult]:
    lengths = engine.lengths()
    handles = [state.cut_at(shares) for state in (*read, *beside)]
    calls = [
        Call(
            pieces_of(lengths, share.start, share.stop),
            tuple(handle[i] for handle in handles),
            (share.first, tuple(edges[share.first : _end(shares, i, edges)])),
            of.targets_only,
        )
        for i, share in enumerate(shares)
    ]
    pairwise = result_bytes >= PAIRWISE_BYTES and len(calls) > 1
    common = of, len(edges), combine, args, pairwise
    results = engine.run(nodes_of_part, common, calls, pairwise + len(beside))
    for j, state in enumerate(beside):
        state.handles = [result.states[pairwise + j] for result in results]
    if not pairwise:
        return results
    kept = [result.states[0] for result in results]
    while len(kept) > 1:
        pairs = [tuple(kept[i : i + 2]) for i in range(0, len(kept), 2)]
        fetch = len(pairs) == 1
        calls = [Call((), pair) for pair in pairs]
        results = engine.run(merged, (len(edges), combine, fetch), calls, int(not fetch))
        if fetch:
            return results
        kept = [result.states[0] for result in results]
    return results


def _end(shares: list[Share], i: int, edges: Edges) -> int:
    return shares[i + 1].first if i + 1 < len(shares) else len(edges)


def map_parts(
    engine: BlockEngine,
    edges: Edges,
    of: Pass,
    args: tuple[Any, ...],
    read: Sequence[KeptState],
    out: np.ndarray | KeptState,
) -> None:
    """Fill ``out[b] = function(X_b, y_b, s_b, *args)`` for all blocks b."""
    shares = shares_of(engine.lengths(), edges)
    if isinstance(out, KeptState):
        filled = of._replace(statistic=Fill(of.statistic))
        _run(engine, edges, shares, filled, args, nothing, read, [out], 0)
        return
    handles = [state.cut_at(shares) for state in read]
    calls = [
        Call(
            pieces_of(engine.lengths(), share.start, share.stop),
            tuple(handle[i] for handle in handles),
            (tuple(edges[share.first : _end(shares, i, edges)]),),
        )
        for i, share in enumerate(shares)
    ]
    for share, result in zip(shares, engine.run(rows_of_part, (of, args), calls), strict=True):
        out[share.start : share.stop] = result.value


def gather_parts(engine: BlockEngine, i: np.ndarray) -> list[np.ndarray | None]:
    """Return X, y and s of rows by their numbers in the table."""
    ends = np.cumsum(engine.lengths())
    part = np.searchsorted(ends, i, side="right")
    lengths = engine.lengths()
    places, calls = [], []
    for k in np.unique(part).tolist():
        at = np.flatnonzero(part == k)
        places.append(at)
        calls.append(Call((Piece(k, 0, lengths[k]),), (), (i[at] - (ends[k] - lengths[k]),)))
    found = [result.value for result in engine.run(taken, (), calls)]
    columns: list[np.ndarray | None] = []
    for values in zip(*found, strict=True):
        if values[0] is None:
            columns.append(None)
            continue
        column = np.empty((len(i), *values[0].shape[1:]), values[0].dtype)
        for at, value in zip(places, values, strict=True):
            column[at] = value
        columns.append(column)
    return columns
