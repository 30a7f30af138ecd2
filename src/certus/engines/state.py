"""Values of every row that stay where the parts are."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .calls import joined, replaced, value_of_joined, values_of_rows
from .cuts import Share
from .protocol import BlockEngine, Call, Handle, Piece


class KeptState:
    """Values of every row that stay where the parts are: labels, bounds, slopes.

    A pass replaces the values of the rows that it reads by those that its statistic left. They can
    be made again after a loss, since each follows from the part and from what was kept before.
    """

    def __init__(self, engine: BlockEngine, shape: tuple[int, ...], dtype: Any, order: str = "C"):
        self.engine, self.shape, self.dtype, self.order = engine, shape, np.dtype(dtype), order
        self.cuts: tuple[int, ...] = ()  # rows at which the values are cut
        self.handles: list[Handle] = []

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def cut_at(self, shares: Sequence[Share]) -> list[Handle]:
        """Return a handle for the rows of each share, cutting anew where blocks have changed."""
        cuts = (*(share.start for share in shares), shares[-1].stop)
        if cuts != self.cuts:
            calls = [
                Call((Piece(share.part, 0, 0),), *self._values(share.start, share.stop))
                for share in shares
            ]
            made = self.engine.run(joined, (self.shape[1:], self.dtype, self.order), calls, 1)
            self.cuts, self.handles = cuts, [result.states[0] for result in made]
        return self.handles

    def _values(self, start: int, stop: int) -> tuple[tuple[Handle, ...], tuple[Any, ...]]:
        """Return the handles that hold rows start:stop, and which of their rows."""
        handles, ranges = [], []
        for handle, a, b in zip(self.handles, self.cuts[:-1], self.cuts[1:], strict=True):
            low, high = max(start, a), min(stop, b)
            if low < high:
                handles.append(handle)
                ranges.append((low - a, high - a))
        return tuple(handles), (stop - start, tuple(ranges))

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        self._begin()
        if not isinstance(rows, slice):
            return self._gathered(rows)
        start, stop, _ = rows.indices(self.shape[0])
        states, own = self._values(start, stop)
        calls = [Call((), states, own)]
        return self.engine.run(value_of_joined, (self.shape[1:], self.dtype, "C"), calls)[0].value

    def _gathered(self, rows: np.ndarray) -> np.ndarray:
        """Return the values of a few rows, by their numbers."""
        out = np.empty((len(rows), *self.shape[1:]), self.dtype)
        share = np.searchsorted(self.cuts, rows, side="right") - 1
        used = np.unique(share)
        calls = [
            Call((), (self.handles[k],), (rows[share == k] - self.cuts[k],)) for k in used.tolist()
        ]
        for k, result in zip(used, self.engine.run(values_of_rows, (), calls), strict=True):
            out[share == k] = result.value
        return out

    def __setitem__(self, rows: slice | np.ndarray, values: Any) -> None:
        if not isinstance(rows, slice):
            set_row_by_row(self, rows, values)
            return
        start, stop, _ = rows.indices(self.shape[0])
        self._begin()
        values = np.asarray(values, self.dtype)  # one value stays one on its way
        if values.ndim == len(self.shape):
            values = np.broadcast_to(values, (stop - start, *self.shape[1:]))
        changed, calls = [], []
        for i, (a, b) in enumerate(pairwise(self.cuts)):
            low, high = max(start, a), min(stop, b)
            if low < high:
                part = values
                if values.ndim == len(self.shape):
                    part = np.ascontiguousarray(values[low - start : high - start])
                changed.append(i)
                calls.append(Call((), (self.handles[i],), (low - a, high - a, part)))
        for i, result in zip(changed, self.engine.run(replaced, (), calls, 1), strict=True):
            self.handles[i] = result.states[0]

    def copy(self) -> "KeptState":
        """Return a copy; both share their values until one of them changes."""
        other = KeptState(self.engine, self.shape, self.dtype, self.order)
        other.cuts, other.handles = self.cuts, list(self.handles)
        return other

    def _begin(self) -> None:
        """Make zeros beside each part, if there are no values yet."""
        if not self.handles:
            lengths = self.engine.lengths()
            ends = np.cumsum(lengths).tolist()
            self.cut_at(
                [
                    Share(i, 0, end - n, end)
                    for i, (n, end) in enumerate(zip(lengths, ends, strict=True))
                    if n
                ]
            )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        whole = self[0 : self.shape[0]]
        return whole if dtype is None else whole.astype(dtype)


def set_row_by_row(state: Any, rows: np.ndarray, values: Any) -> None:
    """Set the values of a few rows by their numbers; of repeated ones the last counts."""
    rows = np.asarray(rows, dtype=np.intp)
    values = np.broadcast_to(np.asarray(values, state.dtype), (len(rows), *state.shape[1:]))
    last = len(rows) - 1 - np.unique(rows[::-1], return_index=True)[1]
    wanted, values = rows[last], values[last]
    ends = [*(np.flatnonzero(np.diff(wanted) != 1) + 1).tolist(), len(wanted)]
    for start, stop in pairwise([0, *ends] if len(wanted) else []):
        state[int(wanted[start]) : int(wanted[stop - 1]) + 1] = values[start:stop]
