"""The rows of a report: what models are given, and what is known of each row."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

    from ..tables import Column, Table


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table whose rows have a target, ready for folds.

    ``X`` holds the used columns of the rows that remain, as ``Table.select`` gives them; all arrays
    have a value for each of these rows. Folds and models see nothing else.
    """

    table: "Table"  # all rows of the file
    columns: "tuple[Column, ...]"  # those that models use, in the order of X
    X: "pa.Table"
    y: np.ndarray  # labels (text or numbers) of classes, float64 of numbers
    task: str  # "two classes", "classes", "ordered classes", "numbers"
    classes: tuple[str, ...]  # as text, in the order of ``labels``; () for numbers
    labels: tuple[object, ...]  # the same, as they occur in y; ordered classes: from low to high
    positive: int | None  # two classes: index into ``labels``
    positive_reason: str
    row_numbers: np.ndarray  # (n,) int: rows as in the file, from 1, the header not counted
    weights: np.ndarray | None
    groups: np.ndarray | None  # (n,) codes of --group
    times: np.ndarray | None  # (n,) float64, sortable, of --time
    duplicates: np.ndarray  # (n,) codes: rows equal in every used column share one
    dropped: tuple[str, ...] = ()  # which rows and columns were left out and why, in sentences
    notes: tuple[str, ...] = ()

    @property
    def positions(self) -> np.ndarray:
        """Where the rows are in the table, from 0."""
        if self.table.sample is None:
            return self.row_numbers - 1
        return np.searchsorted(self.table.sample.numbers, self.row_numbers)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y)

    def codes(self) -> np.ndarray:
        """Classes as indices into ``labels``."""
        place = {label: k for k, label in enumerate(self.labels)}
        return np.array([place[label] for label in self.y.tolist()])


@dataclass(frozen=True, eq=False)
class PreparedTest:
    """Rows of ``--test FILE``: never used for choosing or fitting."""

    X: "pa.Table"
    y: np.ndarray
    row_numbers: np.ndarray
    source: str
