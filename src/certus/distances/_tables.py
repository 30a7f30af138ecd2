"""Numeric and categorical columns of arrays and data frames.

Numbers are float64 with NaN for missing, categories objects with None or NaN for missing.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ..data.frames import library_of
from ..text.format import count, name_of
from .reading import require_columns

Categorical = str | Iterable[object] | None  # names, numbers or a mask of columns; "auto"


class MixedTable(NamedTuple):
    """Columns of mixed data."""

    columns: list[np.ndarray]
    categorical: np.ndarray  # a mask

    @property
    def width(self) -> int:
        return len(self.columns)


def as_table(X: object, categorical: Categorical = "auto") -> MixedTable:
    """Return the columns of X; ``categorical`` as in ``Gower``."""
    if library_of(X) is not None and len(getattr(X, "shape", ())) == 2:
        values, names, text = _of_frame(X)
    else:
        values, names, text = _of_array(X)
    mask = _mask(categorical, text, names)
    columns = []
    for l, column in enumerate(values):
        columns.append(_objects(column) if mask[l] else _numbers(column, l, names))
    return MixedTable(columns, mask)


def _of_frame(X: Any) -> tuple[list[np.ndarray], list[str] | None, np.ndarray]:
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    columns, text = [], []
    for series in frame.iter_columns():
        number = series.dtype.is_numeric()
        text.append(not number)
        values = np.empty(len(series), dtype=object)
        values[:] = series.to_list()
        columns.append(series.cast(nw.Float64).to_numpy() if number else values)
    return columns, [str(name) for name in frame.columns], np.array(text, dtype=bool)


def _of_array(X: object) -> tuple[list[np.ndarray], None, np.ndarray]:
    table = X.toarray() if hasattr(X, "toarray") else X
    if not isinstance(table, np.ndarray):
        objects = np.asarray(table, dtype=object)
        try:
            table = objects.astype(np.float64)
        except (TypeError, ValueError):
            table = objects
    if table.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {table.ndim}D array instead: X contains rows; reshape one "
            "row with x.reshape(1, -1)"
        )
    columns = [table[:, l] for l in range(table.shape[1])]
    is_numeric = table.dtype.kind in "fiub"
    text = [not is_numeric and any(_no_number(v) for v in column) for column in columns]
    return columns, None, np.array(text, dtype=bool)


def _no_number(value: object) -> bool:
    return isinstance(value, (str, bytes)) or not (
        value is None or isinstance(value, (int, float, np.number, np.bool_))
    )


def _mask(categorical: Categorical, text: np.ndarray, names: list[str] | None) -> np.ndarray:
    p = len(text)
    if categorical is None:
        return np.zeros(p, dtype=bool)
    if isinstance(categorical, str):
        if categorical != "auto":
            raise ValueError(
                f'categorical={categorical!r}: give "auto", None, a mask, or a list of columns'
            )
        return text
    given = list(categorical)
    if given and all(isinstance(v, (bool, np.bool_)) for v in given):
        require_columns(len(given), p, "categorical")
        return np.array(given, dtype=bool)
    mask = np.zeros(p, dtype=bool)
    for which in given:
        l = _position(which, p, names)
        mask[l] = True
    return mask


def _position(which: object, p: int, names: list[str] | None) -> int:
    if isinstance(which, str) and names is not None and which in names:
        return names.index(which)
    whole = isinstance(which, (int, np.integer)) and not isinstance(which, (bool, np.bool_))
    if not isinstance(which, (int, np.integer)) or not whole or not -p <= which < p:
        raise ValueError(f"categorical: no column {which!r} among {count(p, 'column')}")
    return int(which)


def _objects(column: np.ndarray) -> np.ndarray:
    out = np.empty(len(column), dtype=object)
    out[:] = column.tolist() if column.dtype.kind != "O" else column
    return out


def _numbers(column: np.ndarray, l: int, names: list[str] | None) -> np.ndarray:
    column_name = name_of(l, names)
    if column.dtype.kind == "O":
        column = np.array([np.nan if v is None else v for v in column], dtype=object)
    try:
        numbers = np.array(column, dtype=np.float64)
    except (TypeError, ValueError) as error:
        first = next((v for v in column if isinstance(v, str)), column[0])
        raise ValueError(
            f"{column_name} contains {first!r}, which is not a number: list it in categorical=…"
        ) from error
    infinite = np.flatnonzero(np.isinf(numbers))
    if len(infinite):
        raise ValueError(
            f"{column_name} has {count(len(infinite), 'infinite value')} (first: row "
            f"{infinite[0]}): replace them by finite numbers or drop the rows"
        )
    return numbers
