"""The data that a proof is given: X, y, s in blocks of rows, as ``check(data, …) = claim`` asks."""

from typing import Any, Protocol, TypeVar, overload

import numpy as np

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class FunctionTo(Protocol[Result_co]):
    """A function of which the caller and the callee agree on the arguments."""

    def __call__(self, *args: Any, **how: Any) -> Result_co: ...


class PairFunction(Protocol):
    """A function of two arrays: of all pairs of their rows, or entry by entry."""

    def __call__(self, A: np.ndarray, B: np.ndarray, /) -> np.ndarray: ...


class SparseMatrix(Protocol):
    """Rows of which most entries are 0, as CSR rows or CSC columns: what is asked of SciPy's."""

    format: str  # "csr" or "csc"
    shape: tuple[int, int]
    dtype: np.dtype
    data: np.ndarray  # the entries that are stored
    indices: np.ndarray
    indptr: np.ndarray

    @property
    def T(self) -> "SparseMatrix": ...

    @overload
    def __matmul__(self, other: np.ndarray, /) -> np.ndarray: ...

    @overload
    def __matmul__(self, other: "SparseMatrix", /) -> "SparseMatrix": ...

    def __getitem__(
        self, key: slice | np.ndarray | tuple[slice, np.ndarray], /
    ) -> "SparseMatrix": ...

    def astype(self, dtype: type | np.dtype, /, copy: bool = True) -> "SparseMatrix": ...

    def power(self, exponent: int, /) -> "SparseMatrix": ...

    def multiply(self, factor: np.ndarray, /) -> "SparseMatrix": ...

    def sum(self, *, axis: int) -> np.ndarray: ...

    def tocsc(self) -> "SparseMatrix": ...

    def toarray(self) -> np.ndarray: ...


Matrix = np.ndarray | SparseMatrix  # rows of X
Numbers = float | np.ndarray  # one number, or one for each target, class or component


class RowWeights(Protocol):
    """Weights of a block's rows, (n,)."""

    def __call__(self, X: Matrix, y: np.ndarray, s: np.ndarray, /) -> np.ndarray: ...


class RowData(Protocol):
    """Rows of X with their weights s, if they have any; sums over them, and a few of them."""

    shape: tuple[int, int]
    depth: int  # the longest chain of additions in a sum over rows
    eps: float  # what the data are rounded to
    sparse: bool  # blocks may be sparse rows
    threads: int
    s: np.ndarray | None

    def reduce(
        self,
        statistic: FunctionTo[Result],
        *args: object,
        combine: FunctionTo[Result] | None = None,
        beside: tuple[np.ndarray, ...] = (),
        square: bool = False,
        times: int = 1,
        least: int = 0,
        most: int | None = None,
        most_threads: int | None = None,
    ) -> Result:
        """The sum over blocks of a pure function of one block, or what ``combine`` makes of two.

        ``beside``: arrays with a row for each of X, of which the function is given its own.
        ``square``: the result is p×p. ``times``: how often each element is looked at. ``least``,
        ``most``: rows of a block.
        """
        ...

    def sample_block(self, count: int) -> tuple[Any, Any, Any]:
        """(X, y, s) of a few rows, spread over all."""
        ...

    def sample(self, count: int) -> "RowData":
        """A few rows as data."""
        ...

    def take(self, rows: np.ndarray) -> tuple[Any, Any, Any]:
        """(X, y, s) of rows by their numbers."""
        ...

    def all_rows(self) -> np.ndarray:
        """X as one dense array."""
        ...


class TargetedRows(RowData, Protocol):
    """Rows whose targets are asked for all at once."""

    y: np.ndarray  # (n, k)
