"""Types of the data that proofs take, ``check(data, …) = claim``: X, y, s in blocks of rows."""

from typing import Any, Protocol, TypeVar, overload

import numpy as np

Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class FunctionTo(Protocol[Result_co]):
    """A function with a known result type and unspecified arguments."""

    def __call__(self, *args: Any, **options: Any) -> Result_co: ...


class PairFunction(Protocol):
    """A function of two arrays, of all pairs of their rows or elementwise."""

    def __call__(self, A: np.ndarray, B: np.ndarray, /) -> np.ndarray: ...


class SparseMatrix(Protocol):
    """Interface of SciPy's sparse arrays in CSR or CSC, as far as proofs use it."""

    format: str  # "csr" or "csc"
    shape: tuple[int, int]
    dtype: np.dtype
    data: np.ndarray  # the stored entries
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


class RowValues(Protocol):
    """Interface: values of every row, an array or kept out of memory and read in slices.

    Slices of arrays are views, others are copies; both can be assigned, also by numbers of rows.
    """

    def __getitem__(self, rows: slice | np.ndarray, /) -> np.ndarray: ...

    def __setitem__(self, rows: slice | np.ndarray, values: Any, /) -> None: ...

    def copy(self) -> "RowValues": ...


class RowData(Protocol):
    """Interface: rows of X with their weights s, if any; sums over them, and samples."""

    shape: tuple[int, int]
    depth: int  # the longest chain of additions in a sum over rows
    eps: float  # rounding of the data
    sparse: bool  # blocks may be sparse rows
    threads: int
    s: Any  # weights: an array, a source that is sliced as one, or None

    @property
    def S(self) -> float:
        """Σ s: without weights, the number of rows."""
        ...

    def reduce(
        self,
        statistic: FunctionTo[Result],
        *args: object,
        combine: FunctionTo[Result] | None = None,
        beside: tuple[RowValues, ...] = (),
        square: bool = False,
        times: int = 1,
        least: int = 0,
        most: int | None = None,
        exactly: int | None = None,
        most_threads: int | None = None,
    ) -> Result:
        """Sum a pure function of one block over all blocks, or combine results by ``combine``.

        ``beside``: values of every row; the function is given those of its block, and may fill
        them.
        ``square``: the result is p×p. ``times``: how often each element is read. ``least``,
        ``most``: limits of the rows of a block. ``exactly`` m: ⌈n/m⌉ blocks, of which block b
        has the rows ⌊b n/⌈n/m⌉⌋, … up to those of the next.
        """
        ...

    def reduce_beside(
        self,
        statistic: FunctionTo[Result],
        values: RowValues,
        others: Any,
        *args: object,
        combine: FunctionTo[Result] | None = None,
    ) -> Result:
        """Sum statistic(values_b, others_b, *args) over blocks, for values of every row.

        ``others`` may be the weights, or None. X is not read.
        """
        ...

    def allocate(self, columns: tuple[int, ...] = (), dtype: Any = float) -> Any:
        """Room for values of every row, zeros at first: an array, or out of memory."""
        ...

    def reduce_targets(self, statistic: FunctionTo[Result], *args: object) -> Result:
        """Sum a pure function of targets and weights of one block over all blocks."""
        ...

    def sample_block(self, count: int) -> tuple[Any, Any, Any]:
        """(X, y, s) of a few rows, evenly spread."""
        ...

    def sample(self, count: int) -> "RowData":
        """A few rows, as data."""
        ...

    def divided(self, unit: float) -> "RowData":
        """Return the same rows with X/unit."""
        ...

    def take(self, rows: np.ndarray) -> tuple[Any, Any, Any]:
        """(X, y, s) of the rows with the given indices."""
        ...

    def all_rows(self) -> np.ndarray:
        """X as one dense array."""
        ...


class TargetedRows(RowData, Protocol):
    """Interface: rows with all their targets in one array."""

    y: np.ndarray  # (n, k)
