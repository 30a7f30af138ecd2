"""Whether rows of positive weight differ, decided by comparison: rounded sums are not exactly 0."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ...data.csr import Block, SparseMatrix
from ...data.rows import Rows, RowState


def two_points(part: Rows) -> bool:
    """Whether the rows of positive weight hold at least two distinct points."""
    first = 0 if part.s is None else int(np.argmax(part.s > 0))
    x, _, _ = part.block(first, first + 1)
    differs: bool = part.reduce(_differ, x, combine=_either)[0]
    return differs


def cluster_differs(rows: Rows, labels: RowState, label: int, x: Block) -> bool:
    """Whether any row of positive weight in cluster ``label`` differs from the row x."""
    differs: bool = rows.reduce(_cluster_differs, label, x, beside=(labels,), combine=_either)[0]
    return differs


def _cluster_differs(
    X: Block, _y: object, s: np.ndarray | None, labels: np.ndarray, label: int, x: Block
) -> tuple[bool]:
    members = np.flatnonzero(labels == label)
    return _differ(X[members], None, None if s is None else s[members], x)


def _either(a: tuple[bool], b: tuple[bool]) -> tuple[bool]:
    return (a[0] or b[0],)


def _differ(X: Block, _: object, s: np.ndarray | None, x: Any) -> tuple[bool]:
    X = X if s is None else X[s > 0]
    return (bool((x != X).any()) if isinstance(X, np.ndarray) else _sparse_differ(X, x),)


def _sparse_differ(given: SparseMatrix, row: np.ndarray) -> bool:
    X: SparseMatrix = csr_array(given, copy=True)
    x: SparseMatrix = csr_array(row, copy=True)
    X.eliminate_zeros()
    x.eliminate_zeros()
    m = x.nnz
    if (np.diff(X.indptr) != m).any():
        return True
    shape = (X.shape[0], m)
    same = (X.indices.reshape(shape) == x.indices) & (X.data.reshape(shape) == x.data)
    return not same.all()
