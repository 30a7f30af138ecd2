"""Sparse rows: the nonzero entries of X, as a source for ``Rows``.

    row i holds data[t] in columns indices[t], for indptr[i] ≤ t < indptr[i + 1]

A block of rows is a view: data and indices are cut, not copied, and indptr is shifted.
"""

from functools import cached_property
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import coo_array, csc_array, csr_array

MIN_CACHED_BLOCK_ROWS = 1024  # its own indptr takes 4 bytes a row


class SparseMatrix(Protocol):
    """A SciPy matrix in CSR or CSC, as far as certus uses it; SciPy itself is not typed."""

    format: str
    has_canonical_format: bool
    shape: tuple[int, int]
    dtype: np.dtype
    nnz: int
    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray

    @property
    def T(self) -> "SparseMatrix": ...

    @overload
    def __matmul__(self, other: np.ndarray, /) -> np.ndarray: ...

    @overload
    def __matmul__(self, other: "SparseMatrix", /) -> "SparseMatrix": ...

    def __neg__(self) -> "SparseMatrix": ...

    def __sub__(self, other: "SparseMatrix", /) -> "SparseMatrix": ...

    def __getitem__(
        self, key: slice | np.ndarray | list[np.intp] | tuple[slice, np.ndarray], /
    ) -> "SparseMatrix": ...

    def astype(self, dtype: DTypeLike) -> "SparseMatrix": ...

    def copy(self) -> "SparseMatrix": ...

    def eliminate_zeros(self) -> None: ...

    def multiply(self, other: "np.ndarray | SparseMatrix") -> "SparseMatrix": ...

    def power(self, n: int) -> "SparseMatrix": ...

    def sum(self, axis: int) -> np.ndarray: ...

    def sum_duplicates(self) -> None: ...

    def toarray(self) -> np.ndarray: ...

    def tocsc(self) -> "SparseMatrix": ...

    def tocsr(self) -> "SparseMatrix": ...


Block = np.ndarray | SparseMatrix  # rows of X, as a statistic gets them


class CSR:
    """Canonical CSR (columns ascending, none twice) that is never written to.

    Canonical CSR is taken as it is, and canonical CSC is converted when its rows are first read.
    Other layouts, unsorted columns and duplicate entries are converted at once. A conversion takes
    memory for a copy of the entries.
    """

    def __init__(self, matrix: SparseMatrix):
        if matrix.format not in ("csr", "csc"):
            matrix = matrix.tocsr()
        if not matrix.has_canonical_format:
            matrix = matrix.copy()  # the user's matrix is not changed
            matrix.sum_duplicates()
        self.columns: SparseMatrix | None = None
        if matrix.format == "csc":
            self.columns = _set(csc_array(matrix.shape, dtype=matrix.dtype), *_parts(matrix))
        else:
            self._rows = matrix
        self.shape: tuple[int, int] = matrix.shape
        self.dtype: np.dtype = matrix.dtype
        self.entries = len(matrix.data)
        self._made: dict[tuple[int, int], SparseMatrix] = {}
        _require_inside(matrix)

    @cached_property
    def _rows(self) -> SparseMatrix:
        assert self.columns is not None
        return self.columns.tocsr()

    def to_columns(self) -> SparseMatrix:
        """Return X in CSC; a copy if X was given in CSR."""
        if self.columns is not None:
            return self.columns
        return csr_array((self.data, self.indices, self.indptr), shape=self.shape).tocsc()

    @property
    def columns_only(self) -> bool:
        """Whether X is held in CSC and has not been converted to rows yet."""
        return "_rows" not in vars(self)

    @property
    def values(self) -> np.ndarray:
        """The entries, in the order in which they are stored."""
        if self.columns is not None and self.columns_only:
            return self.columns.data
        return self._rows.data

    @property
    def data(self) -> np.ndarray:
        return self._rows.data

    @property
    def indices(self) -> np.ndarray:
        return self._rows.indices

    @property
    def indptr(self) -> np.ndarray:
        return self._rows.indptr

    @cached_property
    def density(self) -> float:
        n, p = self.shape
        return self.entries / max(1, n * p)

    def __getitem__(self, rows: slice | np.ndarray) -> SparseMatrix:
        """Return rows as a SciPy ``csr_array``: a view for a slice, a copy for row numbers."""
        if not isinstance(rows, slice):
            if self.columns is not None and self.columns_only:
                return _rows_of_columns(self.columns, rows)
            whole = csr_array((self.data, self.indices, self.indptr), shape=self.shape)
            return whole[rows]
        start, stop, _ = rows.indices(self.shape[0])
        block = self._made.get((start, stop))
        if block is None:
            a, b = int(self.indptr[start]), int(self.indptr[stop])
            block = _Block((stop - start, self.shape[1]), dtype=self.dtype)
            indptr = self.indptr[start : stop + 1] - self.indptr[start]
            _set(block, self.data[a:b], self.indices[a:b], indptr)
            if stop - start > MIN_CACHED_BLOCK_ROWS:
                self._made[start, stop] = block  # for the next pass
        return block

    def column(self, j: int) -> np.ndarray:
        """Column j with its zeros, (n,)."""
        at = np.flatnonzero(self.indices == j)
        x = np.zeros(self.shape[0], dtype=self.dtype)
        x[np.searchsorted(self.indptr, at, side="right") - 1] = self.data[at]
        return x

    def where(self, bad: np.ndarray) -> np.ndarray:
        """Columns of the marked entries, ascending."""
        return np.unique(self.indices[bad])


def _require_inside(matrix: SparseMatrix) -> None:
    """Raise ValueError for an index out of range: kernels use indices without checks."""
    by_rows = matrix.format == "csr"
    most, what = (matrix.shape[1], "column") if by_rows else (matrix.shape[0], "row")
    unsigned = matrix.indices.view(f"u{matrix.indices.itemsize}")  # makes −1 very large
    if len(unsigned) and unsigned.max() >= most:
        raise ValueError(
            f"the sparse X has {most:,} {what}s and an entry in {what} "
            f"{matrix.indices[unsigned.argmax()]:,}: its indices were changed after it was made"
        )


def _rows_of_columns(X: SparseMatrix, rows: np.ndarray) -> SparseMatrix:
    """Return rows of a CSC matrix by their distinct numbers, in one pass over the entries."""
    wanted = np.zeros(X.shape[0], dtype=bool)
    wanted[rows] = True
    at = np.flatnonzero(wanted.take(X.indices))
    number = np.empty(X.shape[0], dtype=np.intp)
    number[rows] = np.arange(len(rows))
    column = np.searchsorted(X.indptr, at, side="right") - 1
    rows_in_order = coo_array(
        (X.data[at], (number[X.indices[at]], column)), shape=(len(rows), X.shape[1])
    ).tocsr()
    rows_in_order.sort_indices()
    return rows_in_order


class _Block(csr_array):  # type: ignore[misc]
    """A ``csr_array`` whose transpose is a view too; SciPy's would copy parts of larger arrays."""

    def transpose(self, axes: object = None, copy: bool = False) -> Any:
        if copy or axes is not None:
            return super().transpose(axes, copy)
        return _set(csc_array(self.shape[::-1], dtype=self.dtype), *_parts(self))


def _parts(X: SparseMatrix) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return X.data, X.indices, X.indptr


def _set(
    X: SparseMatrix, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray
) -> SparseMatrix:
    """Set the arrays of X directly; the constructor would check and trim them once more."""
    X.data, X.indices, X.indptr = data, indices, indptr
    return X


class DenseBlocks:
    """Sparse rows in dense blocks, for statistics that are p×p anyway."""

    def __init__(self, X: CSR):
        self.X, self.shape, self.dtype = X, X.shape, X.dtype

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        return self.X[rows].toarray()
