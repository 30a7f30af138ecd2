"""The data as the checks read them: columns as arrays, the target as classes or numbers."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...arrays import CategoryCodes, codes_of, numbers_of, sample_of_rows

if TYPE_CHECKING:
    from ....tables import Column
    from ...prepared import Prepared, PreparedTest
    from ...procedure.result import ProcedureResult
    from ...settings import Settings

MAX_PAIRWISE_ROWS = 20_000  # checks that compare rows with each other use a sample above it


@dataclass(frozen=True, eq=False)
class DataView:
    """The rows of a report with their columns as arrays."""

    prepared: "Prepared"
    settings: "Settings"
    test: "PreparedTest | None" = None
    result: "ProcedureResult | None" = None

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.prepared.n

    @cached_property
    def number_columns(self) -> "tuple[Column, ...]":
        """Columns of numbers that models use."""
        return tuple(c for c in self.prepared.columns if c.role == "number")

    @cached_property
    def category_columns(self) -> "tuple[Column, ...]":
        """Columns of categories and truth values that models use."""
        return tuple(c for c in self.prepared.columns if c.role != "number")

    @cached_property
    def numbers(self) -> np.ndarray:
        """Columns of numbers, (n, p), NaN where missing; column by column in memory."""
        values = np.empty((self.n, len(self.number_columns)), order="F")
        for j, column in enumerate(self.number_columns):
            values[:, j] = numbers_of(self.prepared.X.column(column.name))
        return values

    @cached_property
    def ordered_numbers(self) -> np.ndarray:
        """The values of each column in ascending order, missing ones last."""
        return np.sort(self.numbers, axis=0)

    @cached_property
    def n_present(self) -> np.ndarray:
        """Rows with a value, for each column of numbers."""
        return np.count_nonzero(~np.isnan(self.numbers), axis=0)

    @cached_property
    def n_distinct(self) -> np.ndarray:
        """Distinct values of each column of numbers."""
        changes = np.diff(self.ordered_numbers, axis=0) > 0
        return np.count_nonzero(changes, axis=0) + (self.n_present > 0)

    @cached_property
    def categories(self) -> dict[str, CategoryCodes]:
        """Columns of categories by name."""
        return {c.name: codes_of(self.prepared.X.column(c.name)) for c in self.category_columns}

    @property
    def is_classes(self) -> bool:
        """Is the target a class?"""
        return self.prepared.task not in ("numbers", "structure")

    @property
    def has_target(self) -> bool:
        """Is there anything to predict?"""
        return self.prepared.task != "structure"

    @cached_property
    def target_codes(self) -> np.ndarray:
        """The class of each row; for numbers its third, from 0 (low) to 2 (high).

        All 0 without a target.
        """
        if self.is_classes:
            return self.prepared.codes()
        edges = np.quantile(self.prepared.y, [1 / 3, 2 / 3])
        return np.searchsorted(edges, self.prepared.y, side="left")

    @cached_property
    def first_of_duplicates(self) -> np.ndarray:
        """Indices of the first row of each set of equal rows, ascending."""
        return np.unique(self.prepared.duplicates, return_index=True)[1].astype(np.intp)

    @cached_property
    def pairwise_rows(self) -> np.ndarray:
        """Rows that pairwise checks compare: one of each set of equal ones, at most 20,000."""
        distinct = np.sort(self.first_of_duplicates)
        return distinct[sample_of_rows(len(distinct), MAX_PAIRWISE_ROWS)]

    @property
    def assigned_columns(self) -> frozenset[str]:
        """Columns that the settings give a purpose, or drop: no model sees them."""
        s = self.settings
        named = {s.target, s.id, s.weights, s.group, s.time, *s.drop} - {None}
        return frozenset(str(name) for name in named)

    @cached_property
    def unassigned(self) -> "tuple[Column, ...]":
        """Columns of the file that models do not use and that the settings do not name."""
        used = {c.name for c in self.prepared.columns}
        return tuple(
            c
            for c in self.prepared.table.columns
            if c.name not in used and c.name not in self.assigned_columns
        )

    def file_column(self, name: str) -> CategoryCodes:
        """Codes of any column of the file, for the rows of the report."""
        values = self.prepared.table.data.column(name)
        return codes_of(values.take(self.prepared.positions))

    def rows_in_file(self, rows: np.ndarray) -> tuple[int, ...]:
        """The first 20 of these rows, by their numbers in the file."""
        return tuple(int(row) for row in self.prepared.row_numbers[rows[:MAX_ROWS_SHOWN]])


MAX_ROWS_SHOWN = 20
