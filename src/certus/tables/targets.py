"""Targets and weights of a table, and the rows of which a model is made."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from ..exceptions import TableError
from ..text.format import count
from .columns import Column, described
from .conversion import MAX_ROWS_NAMED, Converted
from .table import DescribedTable, Table

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["classes", "numbers"]

MAX_CLASSES = 20  # of whole numbers: above, a target is taken as a number
MAX_WHOLE = 2.0**53  # above, not every whole number is a float64
TARGET_NAMES = ("target", "y", "label", "class", "outcome", "response", "diagnosis")


def tasks_of(column: Column, table: Table) -> tuple[Kind, ...]:
    """Return what a target may hold, classes or numbers; the likelier first."""
    import pyarrow as pa

    values = table.data.column(column.name)
    is_number = _is_numeric(values.type) and not pa.types.is_boolean(values.type)
    return tasks_by_kind(column, is_number, lambda: are_whole(values))


def tasks_by_kind(
    column: Column, is_number: bool, are_whole: Callable[[], bool]
) -> tuple[Kind, ...]:
    """``tasks_of`` by whether a column holds numbers, and whole ones alone."""
    if column.role in ("date", "nested"):
        raise TableError(f"the target '{column.name}' cannot be predicted: {column.reason}")
    if not is_number:
        return ("classes",)
    if not are_whole():
        return ("numbers",)
    return ("classes", "numbers") if column.n_distinct <= MAX_CLASSES else ("numbers", "classes")


def _is_numeric(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def are_whole(values: "pa.ChunkedArray") -> bool:
    """Are all values of a column of numbers whole?"""
    numbers = values.drop_null().to_numpy().astype(float)
    return bool(np.all(np.abs(numbers) < MAX_WHOLE)) and bool(np.all(numbers % 1 == 0))


def target_of(table: Table, name: str, task: object) -> np.ndarray:
    """The values of a target; classes that are whole numbers as such, also from decimals."""
    table.column(name)
    values = table.target(name)
    whole = task == "classes" and values.dtype.kind == "f" and are_whole(table.data.column(name))
    return values.astype(np.int64) if whole else values


def weights_of(table: Table, name: str) -> np.ndarray:
    """The weights of the rows."""
    column, values = table.column(name), table.data.column(name)
    if column.n_missing or not _is_numeric(values.type):
        what = count(column.n_missing, "missing value") if column.n_missing else "text"
        raise TableError(f"the weights '{name}' hold {what}: give a number for each row")
    weights: np.ndarray = values.to_numpy().astype(float)
    wrong = np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))
    if len(wrong):
        rows = ", ".join(f"{row:,}" for row in table.row_numbers[wrong[:MAX_ROWS_NAMED]])
        raise TableError(
            f"the weights '{name}' are negative or infinite in {count(len(wrong), 'row')} (row "
            f"{rows}{', …' if len(wrong) > MAX_ROWS_NAMED else ''}): give numbers from 0 up"
        )
    return weights


def likely_target(table: DescribedTable) -> str:
    """The column that is most likely meant: by its name, else the last that can be predicted."""
    candidates = [c.name for c in table.columns if c.is_used and not c.n_missing]
    named = [name for name in candidates if name.casefold() in TARGET_NAMES]
    return (named or candidates or [table.columns[-1].name])[-1]


# --- some of the rows -----------------------------------------------------------------------------


def rows_taken(table: Table, rows: Sequence[int] | np.ndarray) -> Table:
    """The table of these rows (indices from 0), with its columns counted again in their roles."""
    import pyarrow as pa

    indices = np.asarray(rows, dtype=np.int64)
    data = table.data.take(pa.array(indices))
    sample = table.sample
    if sample is not None:
        sample = sample._replace(numbers=sample.numbers[indices])
    numbers = None if sample is None else sample.numbers
    columns = tuple(
        described(
            c.name, Converted(data.column(c.name), frozenset(), "", c.is_mixed), c.role, numbers
        )
        for c in table.columns
    )
    return replace(table, data=data, columns=columns, sample=sample,
                   report=table.report._replace(n_rows=len(data)))  # fmt: skip
