"""Rows with a constant column behind those of X; its coefficient is a penalised intercept.

A table has it appended whenever its rows are read.
"""

from typing import Any

import numpy as np
from scipy import sparse

from ..engines.mapped import MappedEngine
from .csr import CSR
from .rows import Rows
from .streamed import RowBlock, StreamedColumn, StreamedTable


class AppendedConstant:
    """Function of rows (X, y, s) that appends a column to X."""

    def __init__(self, value: float):
        self.value = value

    def __call__(self, X: Any, y: Any, s: Any) -> tuple[Any, Any, Any]:
        return np.column_stack([X, np.full(len(X), self.value)]), y, s


class TableWithConstant(StreamedTable):
    """A table whose X has a constant column behind its own."""

    def __init__(self, table: StreamedTable, value: float):
        n, p = table.shape
        dtype = np.result_type(table.dtype, np.float64)
        super().__init__((n, p + 1), dtype, table.n_targets, table.has_weights)
        self.table, self.append = table, AppendedConstant(value)
        self.classes, self.distinct_targets = table.classes, table.distinct_targets
        self.missing, self.description = table.missing, table.description
        if table.engine is not None:
            self.engine = MappedEngine(table.engine, self.append)

    def read(self, start: int, stop: int) -> RowBlock:
        return RowBlock(*self.append(*self.table.read(start, stop)))

    def read_targets(self, start: int, stop: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        return self.table.read_targets(start, stop)

    def gather(self, i: np.ndarray, threads: int = 1) -> RowBlock:
        return RowBlock(*self.append(*self.table.gather(i, threads)))


def streamed_with_constant(rows: Rows, value: float) -> Rows:
    """Return streamed rows with a constant column behind those of X."""
    table = TableWithConstant(rows.X.table, value)
    y, s = (
        StreamedColumn(table, source.which, source.recodes)
        if isinstance(source, StreamedColumn)
        else source
        for source in (rows.y, rows.s)
    )
    return Rows(table.X, y, s, threads=rows.threads)


def with_constant(rows: Rows, value: float) -> Rows:
    """Return the rows with an additional constant column; X in memory is copied."""
    if rows.streamed:
        return streamed_with_constant(rows, value)
    n = rows.shape[0]
    if rows.sparse:
        X = sparse.csr_array((rows.X.data, rows.X.indices, rows.X.indptr), shape=rows.shape)
        column = sparse.csr_array(np.full((n, 1), value, dtype=rows.X.dtype))
        extended: np.ndarray | CSR = CSR(sparse.hstack([X, column], format="csr"))
    else:
        extended = np.column_stack([rows.X, np.full(n, value)])
    return Rows(extended, rows.y, rows.s, threads=rows.threads)
