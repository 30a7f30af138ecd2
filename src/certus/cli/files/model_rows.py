"""Blocks of files as the rows of a model: ``certus fit`` and ``certus verify`` read them so.

The fitted steps of a Pipeline make numbers of each block; ``open_rows`` keeps them in a temporary
file if the disk has room, and the model reads them as it reads any rows larger than memory.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...exceptions import TableError, UsageError
from ...tables.table import truth_as_text
from ...text.format import count
from .. import output
from ..models import class_names

if TYPE_CHECKING:
    import pyarrow as pa

    from ...sources import FileBlock, FileTable, SourceTable
    from .opening import PassProgress

    Arrays = tuple[np.ndarray, np.ndarray | None, np.ndarray | None]


class ColumnRoles(NamedTuple):
    """Columns of files by their roles."""

    used: Sequence[str]
    target: str | None = None
    weights: str | None = None
    whole_classes: bool = False  # targets are classes that are whole numbers


def require_reads_rows(model: object) -> None:
    """Refuse a model that needs all rows in memory, and name those that do not."""
    if not getattr(model, "_reads_rows", False):
        raise UsageError(
            f"{type(model).__name__} needs all rows in memory, and these are read block by block: "
            "give one file that fits, or a sample of the rows. Models that read blocks: "
            f"{', '.join(reading_models())}"
        )


def reading_models() -> list[str]:
    """Names of the estimators that read rows block by block."""
    from importlib import import_module

    found = []
    for name, place in class_names().items():
        module = import_module(f"certus.{place.rpartition('.')[0]}")
        if getattr(getattr(module, name), "_reads_rows", False):
            found.append(name)
    return found


def rows_of_model(
    table: "FileTable",
    steps: Any,
    columns: ColumnRoles,
    progress: "PassProgress",
    rows_at_once: int,
    left_out: "RowsLeftOut | None" = None,
) -> "SourceTable":
    """Return the rows that the model after the fitted ``steps`` reads, from one pass over files."""
    from ...sources import SourceTable, open_rows

    read = [*dict.fromkeys([*columns.used, *filter(None, (columns.target, columns.weights))])]

    def rows_of_files() -> "Iterator[Arrays]":
        for block in progress.blocks(table, read, rows_at_once):
            if left_out is not None:
                block = left_out.without(block)
            if len(block.data):
                X = np.asarray(steps.transform(as_given(block, columns.used)), dtype=float)
                yield X, _target_of(block, columns), _weights_of(block, columns.weights)

    rows = open_rows(rows_of_files)
    assert isinstance(rows, SourceTable)
    rows.description = table.name
    if rows.classes is not None and rows.classes.dtype == object:
        rows.classes = rows.classes.astype(str)  # as the labels of a table in memory
    for text in rows.notes:
        output.note(text)
    return rows


class RowsLeftOut:
    """Numbers of rows, from 1, that a model was not fitted on."""

    def __init__(self, numbers: Sequence[int]):
        self.rows = np.sort(np.asarray(numbers, dtype=np.int64)) - 1

    def without(self, block: "FileBlock") -> "FileBlock":
        """Return the block without these rows."""
        import pyarrow as pa

        first, last = np.searchsorted(self.rows, [block.start, block.start + len(block.data)])
        if first == last:
            return block
        mask = np.ones(len(block.data), dtype=bool)
        mask[self.rows[first:last] - block.start] = False
        data = block.data.filter(pa.array(mask))
        return block._replace(data=data, kept=np.flatnonzero(mask))

    def note(self, table: "FileTable") -> None:
        """Say how many rows there are; refuse a table without some of them."""
        n = table.n_rows or 0
        if len(self.rows) and self.rows[-1] >= n:
            raise TableError(
                f"{table.name} has {count(n, 'row')}, and the model was fitted on a table with row "
                f"{self.rows[-1] + 1:,}: give that table"
            )
        kept = count(n - len(self.rows), "row")
        output.note(f"{kept} of {n:,}: the model was fitted without the others")


# --- columns of a block ---------------------------------------------------------------------------


def as_given(block: "FileBlock", names: Sequence[str]) -> "pa.Table":
    """Columns of a block as a model is given them: finite, truth values as text."""
    import pyarrow as pa

    chosen = block.data.select(list(names))
    for i, (name, values) in enumerate(zip(names, chosen.columns, strict=True)):
        if pa.types.is_floating(values.type):
            _require_finite(block, name, values)
        elif pa.types.is_boolean(values.type):
            chosen = chosen.set_column(i, name, truth_as_text(values))
    return chosen


def _require_finite(block: "FileBlock", name: str, values: "pa.ChunkedArray") -> None:
    import pyarrow.compute as pc

    infinite = pc.is_inf(values)
    if pc.any(infinite).as_py():
        raise TableError(
            f"column '{name}' is infinite in {_place(block, pc.index(infinite, True).as_py())}: "
            "correct the value, leave it empty, or drop the row"
        )


def _place(block: "FileBlock", i: int) -> str:
    row = i if block.kept is None else int(block.kept[i])
    return f"row {block.row + row + 1:,} of {block.part}"


def _target_of(block: "FileBlock", columns: ColumnRoles) -> np.ndarray | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    name = columns.target
    if name is None:
        return None
    values = block.data.column(name)
    missing = pc.is_null(values, nan_is_null=True)
    if pc.any(missing).as_py():
        raise TableError(
            f"the target '{name}' is missing in {_place(block, pc.index(missing, True).as_py())}: "
            "drop such rows, or fill them in"
        )
    if pa.types.is_floating(values.type):
        _require_finite(block, name, values)
    numbers: np.ndarray = values.to_numpy()
    if numbers.dtype == object:
        return numbers.astype(str)
    return numbers.astype(np.int64) if columns.whole_classes else numbers


def _weights_of(block: "FileBlock", name: str | None) -> np.ndarray | None:
    import pyarrow as pa

    if name is None:
        return None
    values = block.data.column(name)
    if not (pa.types.is_integer(values.type) or pa.types.is_floating(values.type)):
        raise TableError(f"the weights '{name}' hold text: give a number for each row")
    weights: np.ndarray = np.asarray(values.to_numpy(), dtype=float)
    wrong = np.flatnonzero(~((weights >= 0) & np.isfinite(weights)))
    if len(wrong):
        raise TableError(
            f"the weights '{name}' are missing, negative or infinite in "
            f"{_place(block, int(wrong[0]))}: give numbers from 0 up"
        )
    return weights
