"""Rows that are computed when they are read, as a source for ``Rows``.

    rows start:stop of Φ  =  make(given[start:stop])

Many columns that follow from few (basis functions) are then never held as a whole: each pass over
the blocks makes them anew.
"""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

CHUNK_ELEMENTS = 1 << 17  # made at a time for a copy of all rows; they stay in cache


class Rowwise(Protocol):
    """What lazy rows are made of: an array, or anything that gives arrays of its rows."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: Any, /) -> np.ndarray: ...


class LazyRows:
    """Φ, (n, columns) of ``dtype``. ``make`` is a function of each row alone, with finite values.

    Estimators of certus read it block by block; other code gets the whole array.
    """

    ndim = 2

    def __init__(
        self,
        given: "Rowwise",
        columns: int,
        dtype: DTypeLike,
        make: Callable[[np.ndarray], np.ndarray],
    ):
        self.given, self.make = given, make
        self.shape = (len(given), columns)
        self.dtype = np.dtype(dtype)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: object) -> Any:
        """Return an array: rows by a slice, numbers or a mask, or [rows, columns]."""
        rows, *columns = key if isinstance(key, tuple) else (key,)
        if np.ndim(rows) == 0 and not isinstance(rows, slice):
            return self[[rows]][(0, *columns)]
        made = self.make(self.given[rows]).astype(self.dtype, copy=False)
        return made[(slice(None), *columns)] if columns else made

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[i] for i in range(len(self)))

    def take(self, i: np.ndarray) -> "LazyRows":
        """Return rows by their numbers, as lazy rows."""
        return LazyRows(self.given[i], self.shape[1], self.dtype, self.make)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("lazy rows exist only while they are read: an array of them is a copy")
        out = np.empty(self.shape, dtype=dtype or self.dtype)
        step = max(1, CHUNK_ELEMENTS // self.shape[1])
        for start in range(0, len(self), step):
            out[start : start + step] = self[start : start + step]
        return out

    def __repr__(self) -> str:
        n, p = self.shape
        return f"LazyRows({n:,} rows × {p:,} columns, {self.dtype}, made when they are read)"
