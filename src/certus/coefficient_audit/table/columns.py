"""The columns of the data: as numbers, and as levels of factors in every way they are spelt.

A level of a column is 1 in its rows and 0 in others; where the column is missing, NaN.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...data.frames import library_of
from ...exceptions import TableError

MAX_NUMERIC_LEVELS = 50  # distinct numbers of a column whose values may be levels
TRUTHS = ({"true", "t"}, {"false", "f"})


class DataColumns:
    """Named columns of n rows."""

    def __init__(self, values: dict[str, np.ndarray], n: int):
        self.values, self.n = values, n
        self._levels: dict[str, dict[str, np.ndarray]] = {}

    @property
    def names(self) -> list[str]:
        return list(self.values)

    def is_number(self, name: str) -> bool:
        """Return whether a column holds numbers or truth values."""
        return self.values[name].dtype.kind in "fb"

    def numbers(self, name: str) -> np.ndarray:
        """Return a column as floats; NaN where it is missing."""
        if not self.is_number(name):
            first = next(v for v in self.values[name] if v is not None)
            raise TableError(
                f"column '{name}' holds text (first: {first!r}): a term of it names a level, such "
                f"as '{name}{first}'"
            )
        return self.values[name].astype(float)

    def missing(self, name: str) -> np.ndarray:
        """Return the rows in which a column is missing."""
        values = self.values[name]
        if values.dtype.kind == "O":
            return np.array([v is None for v in values])
        return np.isnan(values) if values.dtype.kind == "f" else np.zeros(self.n, dtype=bool)

    def levels(self, name: str) -> dict[str, np.ndarray]:
        """Return the rows of each level, by its spelling in the data; none of many numbers."""
        if name not in self._levels:
            self._levels[name] = self._find_levels(name)
        return self._levels[name]

    def _find_levels(self, name: str) -> dict[str, np.ndarray]:
        values, missing = self.values[name], self.missing(name)
        if self.is_number(name) and len(np.unique(values[~missing])) > MAX_NUMERIC_LEVELS:
            return {}
        distinct = sorted({_plain(v) for v in values[~missing].tolist()})
        text = np.array([str(_plain(v)) for v in values.tolist()], dtype=object)
        found = {}
        for level in map(str, distinct):
            found[level] = np.where(missing, np.nan, (text == level).astype(float))
        return found

    def spelt(self, name: str, level: str) -> set[str]:
        """Return the ways in which programs write a level of a column."""
        same = {level}
        for words in TRUTHS:
            if level.casefold() in words:
                same |= {level.upper(), level.capitalize(), level.casefold()}
        texts = set()
        for one in same:
            texts |= {f"{name}{one}", f"{name}_{one}", f"{name}={one}", f"{name}.{one}",
                      f"{name} {one}", f"{name}[T.{one}]", f"{name}[{one}]", f"{name}: {one}",
                      f"C({name})[T.{one}]", f"C({name})[{one}]", f"factor({name}){one}",
                      f"as.factor({name}){one}"}  # fmt: skip
        return texts


def _plain(value: Any) -> Any:
    """Return whole numbers without a decimal point."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def data_columns(X: Any, terms: Sequence[str]) -> DataColumns:
    """Return the columns of a frame, a mapping or an array; those of an array are x0, x1, …

    They are counted from 1 where the terms are.
    """
    if isinstance(X, dict):
        given = {str(k): v for k, v in X.items()}
    elif library_of(X) is not None and hasattr(X, "shape") and len(X.shape) == 2:
        import narwhals as nw

        frame = nw.from_native(X, eager_only=True)
        given = {str(name): frame[name].to_list() for name in frame.columns}
        if len(given) < len(frame.columns):
            raise TableError("X has columns of the same name: rename or drop them")
    else:
        array = np.asarray(X)
        if array.ndim != 2:
            raise TableError(
                f"X has shape {array.shape}: give a frame, or an array (rows, columns)"
            )
        p = array.shape[1]
        first = 1 if f"x{p}" in terms and "x0" not in terms else 0
        given = {f"x{j + first}": array[:, j].tolist() for j in range(p)}
    columns = {name: _column(name, list(values)) for name, values in given.items()}
    lengths = {len(values) for values in columns.values()}
    if len(lengths) != 1 or not max(lengths):
        raise TableError("X has no rows" if lengths <= {0} else "columns of X differ in length")
    return DataColumns(columns, lengths.pop())


def _column(name: str, values: list[Any]) -> np.ndarray:
    """Return floats, truth values, or texts with None where one is missing."""
    known = [v for v in values if v is not None and v == v]
    if known and all(isinstance(v, bool | np.bool_) for v in known) and len(known) == len(values):
        return np.array(values, dtype=bool)
    if all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in known):
        return np.array([np.nan if v is None else float(v) for v in values])
    out = np.empty(len(values), dtype=object)
    out[:] = [None if v is None or v != v else str(v) for v in values]
    return out
