"""The view of the rows that proofs work on: sums over all rows, and small samples."""

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np
from numpy.typing import DTypeLike

from ..data.changed_rows import divided
from ..data.rows import Rows, RowState, add, as_floats
from ..proofs.types import RowValues
from ..runtime.pool import interruptible, long_enough_to_listen
from .matrix import Matrix

if TYPE_CHECKING:
    from .check_results import Result
    from .registry import ClaimKind

T = TypeVar("T")
Block = tuple[Matrix, np.ndarray | None, np.ndarray | None]  # X, y, s

MAX_HELD_ELEMENTS = 1 << 24  # of a sample of rows that are read block by block
MIN_SHARED_ELEMENTS = 1 << 20  # elements of X from which threads share the work


class Data:
    """The rows as a proof sees them."""

    def __init__(self, rows: Rows):
        self.rows, self.shape, self.sparse = rows, rows.shape, rows.sparse
        self.sample_block = rows.sample_block
        self.y, self.s, self.threads = rows.y, rows.s, rows.threads
        # CSC input is one block: converting it to rows would cost more than threads save
        self.whole = rows.sparse and rows.X.columns_only
        edges = [(0, rows.shape[0])] if self.whole else rows.edges(self._block_rows())
        # longest chain of additions: the longest block and the levels of the reduction tree
        self.depth = max(b - a for a, b in edges) + len(edges).bit_length()
        self.eps = float(np.finfo(np.float32 if rows.X.dtype == np.float32 else float).eps)

    def _block_rows(self, times: int = 1) -> int:
        several = 8 if self.rows.stored else 1  # definitions slice dense blocks as they need
        by_columns = self.rows.stored and not self.rows.row_major
        least, (n, p) = 64 if by_columns else 16, self.shape
        rows = several * self.rows.block_rows(least)
        if rows >= n and times * n * p >= MIN_SHARED_ELEMENTS:  # few long rows, or many passes
            rows = max(least, -(-n // (2 if by_columns else 4)))
        return rows

    def reduce(
        self,
        statistic: Callable[..., T],
        *args: object,
        combine: Callable[[T, T], T] | None = None,
        beside: Sequence[RowValues] = (),
        square: bool = False,
        times: int = 1,
        least: int = 0,
        most: int | None = None,
        exactly: int | None = None,
        most_threads: int | None = None,
    ) -> T:
        """Reduce ``statistic`` over all rows, as ``Rows.reduce`` does.

        ``square``: the statistic is p×p, so a block should have about p rows. ``times``: how often
        each element is read. ``least``: minimum rows of a block if X is in memory. ``most``:
        maximum rows of a block. ``exactly``: rows of a block, or as few less as makes blocks equal.
        """
        alone = combine is None and not beside and most_threads is None and exactly is None
        if self.whole and alone:
            return statistic(as_floats(self.rows.X.columns), self.rows.y, self.rows.s, *args)
        rows = self._block_rows(times)
        rows = max(rows, self.shape[1]) if square else rows
        if self.rows.stored:
            rows = max(rows, least)
        rows = exactly or min(rows, most or rows)
        total: T = self.rows.reduce(
            statistic, *args, combine=combine or add, beside=beside, block_rows=rows,
            square=square, times=times, most_threads=most_threads,
        )  # fmt: skip
        return total

    def reduce_targets(self, statistic: Callable[..., T], *args: object) -> T:
        """Sum ``statistic(y_b, s_b, *args)`` over the blocks of ``reduce``; X is not read."""
        rows = self.shape[0] if self.whole else self._block_rows()
        total: T = self.rows.reduce_targets(statistic, *args, block_rows=rows)
        return total

    def reduce_beside(
        self,
        statistic: Callable[..., T],
        values: RowValues,
        others: RowValues | None,
        *args: object,
        combine: Callable[[T, T], T] | None = None,
    ) -> T:
        """Reduce ``statistic(values_b, others_b, *args)`` over blocks; X is not read.

        ``values``, ``others``: what ``allocate`` gave or arrays; others also the weights, or None.
        """
        rows = self.rows.with_targets(cast(RowState, values), cast(RowState | None, others))
        total: T = rows.reduce_targets(statistic, *args, combine=combine or add)
        return total

    def allocate(self, columns: tuple[int, ...] = (), dtype: DTypeLike = float) -> RowState:
        """Room for values of every row, to be given as ``beside``: see ``Rows.allocate``."""
        room: RowState = self.rows.allocate(columns, dtype)
        return room

    def sample(self, count: int) -> "Data":
        """A few rows, as data; all of them where that is cheaper than to hold so many."""
        if self.rows.streamed and count * self.shape[1] > MAX_HELD_ELEMENTS:
            return self
        return Data(self.rows.sample(count))

    @property
    def S(self) -> float:
        """Σ s: without weights, the number of rows."""
        return self.rows.S

    def all_rows(self) -> np.ndarray:
        """X as one dense array; no copy if it is one of floats."""
        X = self.rows.X[: self.shape[0]]
        floats: np.ndarray = as_floats(X if isinstance(X, np.ndarray) else X.toarray())
        return floats

    def divided(self, unit: float) -> "Data":
        """Return the same rows with X/unit; a copy, unless the unit is 1."""
        return self if unit == 1.0 else Data(divided(self.rows, unit))

    def take(self, i: np.ndarray) -> Block:
        """(X, y, s) of rows by their numbers."""
        return self.rows.take(i).block(0, len(i))


def checked(claim: "ClaimKind", data: Data, **claims: object) -> "Result":
    """Run the proof of a claim; a long one can be interrupted by Ctrl-C."""
    check = partial(import_module(claim.proof).check, data, **claims)
    listen = claim.factors and long_enough_to_listen(data.shape)
    result: Result = interruptible(check) if listen else check()
    return result
