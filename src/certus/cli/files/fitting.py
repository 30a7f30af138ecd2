"""A model fitted to files that are read block by block.

1st pass    what the columns look like; categories, missing values
then        medians of numbers, which take about three passes, and scales, which take one
last pass   rows as the model reads them, kept in a temporary file; the fit reads that
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ...exceptions import TableError
from ...tables.columns import Column
from ...tables.scan import ScannedTable, scanned
from ...tables.targets import tasks_by_kind
from ...text.format import count, listed
from ...text.suggestions import unknown
from .. import output, tables
from ..models import Task
from .model_rows import ColumnRoles, as_given, require_reads_rows, rows_of_model
from .opening import opened, progress_of, rows_at_once

if TYPE_CHECKING:
    import pyarrow as pa
    from sklearn.base import BaseEstimator
    from sklearn.pipeline import Pipeline

    from ...sources import FileTable


class RowsOfFiles:
    """The files of ``certus fit``, read once."""

    def __init__(self, args: argparse.Namespace):
        self.files = opened(args)
        names = self._names(args)
        self.table = self._scanned(names)
        for text in self.table.report.notes:
            output.note(text)

    def _names(self, args: argparse.Namespace) -> list[str]:
        chosen = tables.names_in(args.columns)
        if chosen is None:
            _require_same_columns(self.files)
            return self.files.names
        dropped = tables.names_in(args.drop) or []
        named = [*chosen, *dropped, *filter(None, (args.target, args.weights))]
        for name in named:
            if name not in self.files.names:
                raise TableError(unknown("column", name, self.files.names, self.files.name))
        return [*dict.fromkeys(named)]

    def _scanned(self, names: Sequence[str]) -> ScannedTable:
        with progress_of("reading") as progress:
            blocks = progress.blocks(self.files, names, rows_at_once(len(names)))
            found = scanned(
                ((b.data, b.part, b.row) for b in blocks), self.files.name, self.files.kind
            )
        read = {c.name: c for c in found.columns}
        return replace(
            found, columns=tuple(read.get(name, _unread(name)) for name in self.files.names)
        )

    def tasks(self, name: str) -> tuple[Task, ...]:
        """What a target may hold; the likelier first."""
        column, scan = self.table.column(name), self.table.scans[name]
        self.table.require_target(name)
        return tasks_by_kind(column, scan.is_number, lambda: scan.is_whole)

    def reads(self, model: "BaseEstimator") -> bool:
        """Whether the model reads rows block by block."""
        return bool(getattr(model, "_reads_rows", False))

    def fit(
        self,
        model: "BaseEstimator",
        columns: "Sequence[Column]",
        target: str | None,
        task: Task,
        weights: str | None,
    ) -> "Pipeline":
        """Return the fitted pipeline from columns to the model."""
        from ...tables import fit_steps_to_blocks, pipeline_for

        require_reads_rows(model)
        used = [c.name for c in columns]
        for name in used:
            self.table.require_finite(name)
        pipeline = pipeline_for(columns, model)
        with progress_of("finding medians and scales") as progress:

            def blocks(names: Sequence[str]) -> "Iterator[pa.Table]":
                for block in progress.blocks(self.files, names, rows_at_once(len(names))):
                    yield as_given(block, names)

            fit_steps_to_blocks(pipeline, columns, self.table, blocks)
        n_columns = len(pipeline[0].get_feature_names_out())
        scan = None if target is None else self.table.scans[target]
        are_whole = scan is not None and scan.is_number and scan.is_whole and task == "classes"
        with progress_of("preparing rows") as progress:
            rows = rows_of_model(
                self.files, pipeline[:-1], ColumnRoles(used, target, weights, are_whole), progress,
                rows_at_once(n_columns),
            )  # fmt: skip
        with rows, progress_of("fitting") as progress, progress.shown_meanwhile():
            pipeline[-1].fit(rows)
        return pipeline


def _unread(name: str) -> Column:
    """A column that is not among --columns: later tables may have it or not."""
    return Column(name, "unread", 0, 0, (), "it is not among --columns")


def _require_same_columns(files: "FileTable") -> None:
    """Refuse files of which a later one has columns that the first has not."""
    for part, names in files.names_of_parts()[1:]:
        extra = [name for name in names if name not in files.names]
        if extra:
            raise TableError(
                f"{part} has {count(len(extra), 'column')} that {files.parts[0].name} has not "
                f"({listed([repr(name) for name in extra])}): name the columns to use, --columns"
            )
