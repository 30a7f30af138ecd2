"""Rows by period: ``by`` is an array, or the name of a column that is not part of the model."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..text.format import listed


class Periods:
    """The period of each row."""

    def __init__(self, values: Any):
        given = np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)
        if given.ndim != 1:
            raise ValueError(f"by has shape {given.shape}: give one value for each row")
        missing = np.flatnonzero([v is None or v != v for v in given.tolist()])
        if len(missing):
            raise ValueError(f"by has a missing value (row {missing[0]:,}): name its period")
        if given.dtype.kind == "M":  # days, where that is all that they are
            days = given.astype("datetime64[D]")
            given = days if (days == given).all() else given.astype("datetime64[s]")
        try:
            self.names, self.index = np.unique(given, return_inverse=True)
        except TypeError:  # values of several kinds have no order
            self.names, self.index = np.unique(given.astype(str), return_inverse=True)

    def require(self, n: int, most: int) -> None:
        """Raise where there is not one period for each row, or where there are too many."""
        if len(self.index) != n:
            raise ValueError(f"by has {len(self.index):,} values for {n:,} rows")
        if len(self.names) > most:
            raise ValueError(
                f"by has {len(self.names):,} different values, at most {most:,} can be compared: "
                "give months instead of days"
            )

    def row_numbers(self) -> Iterator[tuple[str, np.ndarray]]:
        """Yield the name of each period and the numbers of its rows."""
        for k, name in enumerate(self.names):
            yield str(name), np.flatnonzero(self.index == k)


def split(model: Any, X: Any, by: Any) -> tuple[Any, Periods | None]:
    """Return X as the model takes it, and the periods; a column of them is taken out."""
    if by is None:
        return X, None
    if not isinstance(by, str):
        return X, Periods(by)
    columns = getattr(X, "column_names", None) or getattr(X, "columns", None)
    if columns is None:
        raise ValueError(f"by={by!r} names a column, and X has no names: give an array of periods")
    names = [str(name) for name in columns]
    if by not in names:
        raise ValueError(f"by={by!r} is no column of X: there are {listed(names)}")
    used = [str(name) for name in getattr(model, "feature_names_in_", ())]
    periods = Periods(X[by])
    if by in used:
        return X, periods
    others = [name for name in names if name != by]
    return (X.select(others) if hasattr(X, "column_names") else X[others]), periods
