"""Parquet, Feather (Arrow), and NumPy files as tables of plain types.

Nothing in a file is believed before it is checked: Arrow validates offsets and indices, the size
that a .npy header states is compared with the file's, and Python objects are refused.
"""

import math
from typing import IO, TYPE_CHECKING

import numpy as np

from ..exceptions import TableError

if TYPE_CHECKING:
    import pyarrow as pa


def read_arrow(stream: IO[bytes], name: str, kind: str) -> "pa.Table":
    """The table of a Parquet or Feather file, or of an Arrow stream."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        if kind == "Parquet":
            data = parquet.read_table(stream)
        elif kind == "Feather":
            data = pa.ipc.open_file(stream).read_all()
        else:
            data = pa.ipc.open_stream(stream).read_all()
        data.validate(full=True)
        return plain_types(data)
    except Exception as error:  # a damaged file may raise nearly anything
        raise TableError(f"{name} cannot be read as {kind}: {first_line(error)}") from error


def first_line(error: BaseException) -> str:
    """What an error says in its first line."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def plain_types(data: "pa.Table") -> "pa.Table":
    """Dictionaries as their values, decimals as float64, all kinds of text as one."""
    import pyarrow as pa

    arrays = []
    for column in data.columns:
        kind = column.type
        if isinstance(kind, pa.BaseExtensionType):
            column = pa.chunked_array([c.storage for c in column.chunks], kind.storage_type)
            kind = column.type
        if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
            column = column.cast(kind.value_type)
            kind = column.type
        if pa.types.is_decimal(kind) or pa.types.is_floating(kind):
            column = column.cast(pa.float64())
        elif pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
            column = column.cast(pa.string())
        elif pa.types.is_integer(kind) and not pa.types.is_uint64(kind):
            column = column.cast(pa.int64())
        arrays.append(column)
    return pa.table(arrays, names=data.column_names)


# --- NumPy ----------------------------------------------------------------------------------------


def read_numpy(stream: IO[bytes], name: str) -> "pa.Table":
    """The table of a .npy file: an array of numbers, or a structured one with a field a column."""
    try:
        return _numpy_table(_array(stream))
    except Exception as error:  # a damaged file may raise nearly anything
        raise TableError(f"{name} cannot be read as .npy: {first_line(error)}") from error


def _array(stream: IO[bytes]) -> np.ndarray:
    n_bytes = _stated_bytes(stream)
    if n_bytes is None:
        raise TableError("it holds Python objects: save numbers, or text of a fixed width")
    start = stream.tell()
    if n_bytes > stream.seek(0, 2) - start:
        raise TableError("the file is shorter than its header states")
    stream.seek(0)
    return np.load(stream, allow_pickle=False)


def _numpy_table(array: np.ndarray) -> "pa.Table":
    import pyarrow as pa

    fields = array.dtype.names
    if fields is None:
        return _plain_array(array)
    if array.ndim != 1 or any(array.dtype[f].kind not in "fiubU" for f in fields):
        raise TableError(
            f"it holds records of shape {array.shape} and type {array.dtype}: give a row each, "
            "with fields of numbers or text"
        )
    return pa.table({f: _native(array[f]) for f in fields})


def _stated_bytes(stream: IO[bytes]) -> int | None:
    """Bytes of the array by its header, after which the stream stands; None: Python objects."""
    version = np.lib.format.read_magic(stream)
    header = np.lib.format.read_array_header_1_0
    if version != (1, 0):  # 3.0 differs from 2.0 in the encoding of names alone
        header = np.lib.format.read_array_header_2_0
    shape, _, dtype = header(stream)
    return None if dtype.hasobject else math.prod(shape) * dtype.itemsize


def _plain_array(array: np.ndarray) -> "pa.Table":
    import pyarrow as pa

    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise TableError(
            f"it holds an array of shape {array.shape} and type {array.dtype}: give numbers, a row "
            "each"
        )
    columns = [_native(column) for column in array.T]
    return pa.table(columns, names=[f"column_{j + 1}" for j in range(len(columns))])


def _native(column: np.ndarray) -> np.ndarray:
    """A column in the byte order of this machine, and in a type that Arrow has."""
    kind = column.dtype.kind
    if kind == "f":
        return np.ascontiguousarray(column, dtype=np.float64)
    if kind == "i" or (kind == "u" and column.dtype.itemsize < 8):
        return np.ascontiguousarray(column, dtype=np.int64)
    return np.ascontiguousarray(column, dtype=column.dtype.newbyteorder("="))
