"""Rows whose X is changed: a table whenever it is read, and X in another unit.

    read(a, b) = change(X_b, y_b, s_b),  a function of each row alone        X/u,  u a power of two

Dividing is exact, but for values below 2⁻¹⁰²²·u, which become multiples of 2⁻¹⁰⁷⁴·u. So squares of
differences that float64 cannot hold are held in a unit near the largest difference.
"""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_array

from ..engines.mapped import Change, MappedEngine
from .csr import CSR
from .lazy import LazyRows
from .rows import Rows
from .streamed import RowBlock, StreamedColumn, StreamedTable


class ChangedTable(StreamedTable):
    """Rows of ``table`` after ``change``, which leaves targets and weights as they are."""

    def __init__(self, table: StreamedTable, change: Change, n_columns: int, dtype: DTypeLike):
        shape = table.shape[0], n_columns
        super().__init__(shape, dtype, table.n_targets, table.has_weights)
        self.table, self.change = table, change
        self.classes, self.distinct_targets = table.classes, table.distinct_targets
        self.missing, self.description = table.missing, table.description
        if table.engine is not None:
            self.engine = MappedEngine(table.engine, change)

    def read(self, start: int, stop: int) -> RowBlock:
        return RowBlock(*self.change(*self.table.read(start, stop)))

    def read_targets(self, start: int, stop: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        return self.table.read_targets(start, stop)

    def gather(self, i: np.ndarray, threads: int = 1) -> RowBlock:
        return RowBlock(*self.change(*self.table.gather(i, threads)))

    def rows(self, rows: Rows) -> Rows:
        """Return these rows, with the targets and weights of ``rows``, which are of ``table``."""
        y, s = (
            StreamedColumn(self, source.which, source.recodes)
            if isinstance(source, StreamedColumn)
            else source
            for source in (rows.y, rows.s)
        )
        return Rows(self.X, y, s, threads=rows.threads)


class Divided:
    """Function that divides X, or the X of rows (X, y, s), in float64.

    Finite values stay finite: the largest float stands for quotients beyond it.
    """

    def __init__(self, unit: float):
        self.unit = unit

    def __call__(self, X: Any, y: Any, s: Any) -> tuple[Any, Any, Any]:
        return self.values(X), y, s

    def values(self, X: np.ndarray) -> np.ndarray:
        X = X.astype(np.float64, copy=False)
        with np.errstate(over="ignore"):
            quotient = np.asarray(X / self.unit)
        beyond = np.isinf(quotient) & np.isfinite(X)
        quotient[beyond] = np.copysign(np.finfo(np.float64).max, X[beyond])
        return quotient


def divided(rows: Rows, unit: float) -> Rows:
    """Return the rows with X/unit; X in memory is copied, unless the unit is 1."""
    if unit == 1.0:
        return rows
    X, division = rows.X, Divided(unit)
    if rows.streamed:
        return ChangedTable(X.table, division, rows.shape[1], np.float64).rows(rows)
    if rows.sparse:
        matrix = csr_array((division.values(X.data), X.indices, X.indptr), shape=rows.shape)
        X = CSR(matrix)
    elif isinstance(X, LazyRows):
        X = LazyRows(X, rows.shape[1], np.float64, division.values)
    else:
        X = division.values(X)
    return Rows(X, rows.y, rows.s, threads=rows.threads, population=rows.population)
