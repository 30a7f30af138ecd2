"""Which blocks belong to which part, and which rows of other parts they need."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .protocol import Piece

Edges = Sequence[tuple[int, int]]  # first and last row of each block, in order


class Share(NamedTuple):
    """The blocks that belong to one part."""

    part: int
    first: int  # number of its first block
    start: int  # rows of the table that they cover
    stop: int


def shares_of(lengths: Sequence[int], edges: Edges) -> list[Share]:
    """Return which blocks belong to which part; parts in which none begins are left out."""
    ends = np.cumsum(lengths).tolist()
    starts = [a for a, _ in edges]
    shares, first = [], 0
    for part, end in enumerate(ends):
        last = bisect_right(starts, end - 1)
        if last > first:
            shares.append(Share(part, first, starts[first], edges[last - 1][1]))
            first = last
    return shares


def pieces_of(lengths: Sequence[int], start: int, stop: int) -> tuple[Piece, ...]:
    """Return the pieces of parts that rows start:stop of the table consist of."""
    pieces, before = [], 0
    for part, length in enumerate(lengths):
        a, b = max(start, before), min(stop, before + length)
        if a < b:
            pieces.append(Piece(part, a - before, b - before))
        before += length
    return tuple(pieces)
