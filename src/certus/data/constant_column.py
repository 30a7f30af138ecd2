"""Rows with a constant column behind those of X; its coefficient is a penalised intercept.

A table has it appended whenever its rows are read.
"""

from typing import Any

import numpy as np
from scipy import sparse

from .changed_rows import ChangedTable
from .csr import CSR
from .rows import Rows


class AppendedConstant:
    """Function of rows (X, y, s) that appends a column to X."""

    def __init__(self, value: float):
        self.value = value

    def __call__(self, X: Any, y: Any, s: Any) -> tuple[Any, Any, Any]:
        return np.column_stack([X, np.full(len(X), self.value)]), y, s


def streamed_with_constant(rows: Rows, value: float) -> Rows:
    """Return streamed rows with a constant column behind those of X."""
    table, p = rows.X.table, rows.shape[1]
    dtype = np.result_type(table.dtype, np.float64)
    return ChangedTable(table, AppendedConstant(value), p + 1, dtype).rows(rows)


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
