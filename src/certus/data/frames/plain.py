"""Frames of plain numbers (pandas, polars, Arrow) as one array, without a look at each column.

A wide table has thousands of columns, and a few microseconds for each are longer than a fit. Where
all columns are floats, whole numbers or booleans of NumPy's kinds, the library converts them in one
call; nulls become NaN. Anything else is left to the caller, column by column.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

MAX_BYTES = 8  # of a number: longer ones lose digits as float64
# of rows with more columns than rows, laid out anew: at 72 × 7,129 a copy takes 3 ms, and fits of
# LogisticRegression and LinearSVC took 2 to 3 times as long without it
MAX_COPIED_BYTES = 1 << 28


def plain_numbers(X: Any, library: str) -> np.ndarray | None:
    """Return the frame as float32 (if all columns are) or float64; None if it is not plain."""
    found = CONVERSIONS[library](X) if library in CONVERSIONS and 0 not in X.shape else None
    if found is None or found.dtype.kind not in "fiub" or found.dtype.itemsize > MAX_BYTES:
        return None
    if found.dtype != np.float64:  # a copy in any case, or half as large
        return np.ascontiguousarray(found, np.float32 if found.dtype == np.float32 else np.float64)
    # libraries hold columns together, but solvers for wide rows, and those that skip missing
    # entries, read row by row
    by_rows = found.shape[1] > found.shape[0] or not np.isfinite(_total(found))
    return np.ascontiguousarray(found) if by_rows and found.nbytes <= MAX_COPIED_BYTES else found


def _total(array: np.ndarray) -> float:
    """Return the sum of all numbers: not finite if one of them is not."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(array.sum(dtype=float))


def column_names(X: Any) -> list[Any]:
    """Return the names of a frame's columns."""
    if hasattr(type(X), "column_names"):  # Arrow: its schema makes them in a seventh of the time
        return list(X.schema.names)
    columns = X.columns
    # the elements of a pandas index, one by one, take 20 times as long as all at once
    return list(columns.tolist() if hasattr(columns, "tolist") else columns)


def _from_pandas(X: Any) -> np.ndarray | None:
    dtypes = set(X.dtypes.tolist())
    if not all(isinstance(one, np.dtype) and one.kind in "fiub" for one in dtypes):
        return None
    if any(one.itemsize > MAX_BYTES for one in dtypes):
        return None
    if len(dtypes) > 1:
        return np.ascontiguousarray(X.to_numpy(dtype=np.float64))
    array: np.ndarray = X.to_numpy()
    return array


def _from_polars(X: Any) -> np.ndarray | None:
    kinds: set[Any] = set(map(type, X.dtypes))  # hashing an instance takes longer
    if not all(one.is_float() or one.is_integer() or str(one) == "Boolean" for one in kinds):
        return None
    if len(kinds) > 1 and not any(str(one) == "Float64" for one in kinds):
        return None  # the common type may be float32, which has too few digits for whole numbers
    names = {str(one) for one in kinds}
    # numbers with nulls become floats with NaN; by rows the library is slower than two copies
    array: np.ndarray = X.to_numpy(order="fortran")
    array = array if names == {"Float64"} else np.ascontiguousarray(array)
    return _with_all_digits(array, names == {"Float32"})


def _from_arrow(X: Any) -> np.ndarray | None:
    import pyarrow as pa

    if not hasattr(pa.RecordBatch, "to_tensor"):
        return None
    batches = X.to_batches() if isinstance(X, pa.Table) else [X]
    tall = X.num_rows >= X.num_columns  # of wide rows, two copies are faster
    try:
        tensors = [batch.to_tensor(null_to_nan=True, row_major=tall) for batch in batches]
    except (pa.ArrowTypeError, pa.ArrowNotImplementedError):  # not of numbers, or of float16
        return None
    parts = [tensor.to_numpy() for tensor in tensors]
    array = np.concatenate(parts) if len(parts) > 1 else parts[0]
    if array.dtype == np.float64:
        return array
    # only here, since the types of 7,129 columns take 2 ms: float32 has too few digits for whole
    # numbers, and the common type of uint64 and int64 too few bits
    types = set(X.schema.types)
    same = len(types) == 1 or (array.dtype.kind == "i" and pa.uint64() not in types)
    return _with_all_digits(array, types == {pa.float32()}) if same else None


def _with_all_digits(array: np.ndarray, single: bool) -> np.ndarray | None:
    """Return numbers as float64 unless ``single``; None for objects."""
    if array.dtype.kind not in "fiub":
        return None
    return array if single else array.astype(np.float64, copy=False)


CONVERSIONS: dict[str, Callable[[Any], np.ndarray | None]] = {
    "pandas": _from_pandas, "polars": _from_polars, "pyarrow": _from_arrow,
}  # fmt: skip
