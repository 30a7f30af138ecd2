"""The data that a proof is given: X, y, s in blocks of rows, as ``check(data, …) = claim`` asks."""

from typing import Any, Protocol

import numpy as np


class RowData(Protocol):
    """Rows of X with their targets y and weights s; sums over them, and a few of them."""

    shape: tuple[int, int]
    depth: int  # the longest chain of additions in a sum over rows
    eps: float  # what the data are rounded to
    sparse: bool  # blocks may be sparse rows
    threads: int
    y: np.ndarray
    s: np.ndarray

    def reduce(self, statistic: Any, *args: Any, **how: Any) -> Any:
        """The sum over blocks of a pure function of one block."""
        ...

    def some(self, count: int) -> tuple[Any, Any, Any]:
        """(X, y, s) of a few rows, spread over all."""
        ...

    def sample(self, count: int) -> "RowData":
        """A few rows as data."""
        ...

    def take(self, rows: np.ndarray) -> tuple[Any, Any, Any]:
        """(X, y, s) of rows by their numbers."""
        ...

    def all_rows(self) -> np.ndarray:
        """X as one dense array."""
        ...
