"""The bytes of a model file: the safetensors layout.

    8 bytes       N, the length of the header, as an unsigned little-endian number
    N bytes       the header, JSON:  {"__metadata__": {text: text},
                                      name: {"dtype", "shape", "data_offsets": [begin, end]}, …}
    all the rest  the arrays, little-endian and in C order, one after the other

The reader trusts nothing: every size is compared with the length of the file before anything is
read or allocated, arrays must tile the rest of the file exactly, and whatever is not as above is
refused with the reason. Whoever writes a file decides its numbers, never what is executed.
"""

import json
import math
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from ..exceptions import ModelFileError
from ..text.files import write_whole

MAX_HEADER_BYTES = 100_000_000  # the limit of the official safetensors reader
MAX_DIMENSIONS = 32
METADATA = "__metadata__"
LENGTH_BYTES = 8
ALIGNMENT_BYTES = 8
ENTRY_KEYS = {"dtype", "shape", "data_offsets"}
DTYPES = {
    "BOOL": np.dtype(np.bool_),
    "U8": np.dtype("u1"), "U16": np.dtype("<u2"), "U32": np.dtype("<u4"), "U64": np.dtype("<u8"),
    "I8": np.dtype("i1"), "I16": np.dtype("<i2"), "I32": np.dtype("<i4"), "I64": np.dtype("<i8"),
    "F32": np.dtype("<f4"), "F64": np.dtype("<f8"),
}  # fmt: skip
NAMES = {dtype: name for name, dtype in DTYPES.items()}

FilePath: TypeAlias = "str | PathLike[str]"
Arrays: TypeAlias = "dict[str, np.ndarray]"


class Contents(NamedTuple):
    """Metadata and arrays of a file."""

    metadata: dict[str, str]
    arrays: Arrays


# --- writing --------------------------------------------------------------------------------------


def write(path: FilePath, metadata: Mapping[str, str], arrays: Mapping[str, np.ndarray]) -> None:
    """Write a file atomically; the same contents give the same bytes."""
    write_whole(path, to_bytes(metadata, arrays))


def to_bytes(metadata: Mapping[str, str], arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return the bytes of a file.

    The widest numbers come first, so that every array begins at a multiple of its item size.
    """
    little = {name: _little_endian(name, array) for name, array in arrays.items()}
    order = sorted(little, key=lambda name: (-little[name].dtype.itemsize, name))
    header: dict[str, object] = {METADATA: dict(metadata)}
    begin = 0
    for name in order:
        array = little[name]
        header[name] = {
            "dtype": NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [begin, begin + array.nbytes],
        }
        begin += array.nbytes
    try:
        text = json.dumps(header, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        encoded = text.encode()
    except UnicodeEncodeError as error:
        raise ModelFileError(f"a name or label is not valid Unicode text: {error}") from error
    encoded += b" " * (-len(encoded) % ALIGNMENT_BYTES)
    if len(encoded) > MAX_HEADER_BYTES:
        raise ModelFileError(
            f"the description of the model takes {len(encoded):,} bytes, and a file holds at most "
            f"{MAX_HEADER_BYTES:,}"
        )
    length = len(encoded).to_bytes(LENGTH_BYTES, "little")
    return b"".join([length, encoded, *(little[name].tobytes() for name in order)])


def _little_endian(name: str, array: np.ndarray) -> np.ndarray:
    if name == METADATA:
        raise ModelFileError(f"{METADATA!r} cannot be the name of an array")
    dtype = array.dtype.newbyteorder("<")
    if dtype not in NAMES:
        raise ModelFileError(f"{name}: a file cannot hold numbers of type {array.dtype}")
    return np.ascontiguousarray(array, dtype=dtype).reshape(array.shape)


# --- reading --------------------------------------------------------------------------------------


class _Entry(NamedTuple):
    """Place of one array in the file."""

    name: str
    dtype: np.dtype
    shape: tuple[int, ...]
    begin: int
    end: int


def read(path: FilePath) -> Contents:
    """Read a file, or raise ``ModelFileError`` with the reason. Memory: the size of the file."""
    path = Path(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}") from error
    try:
        return from_bytes(content)
    except ModelFileError as error:
        raise ModelFileError(f"{path.name} is not a model file: {error}") from error


def from_bytes(content: bytes) -> Contents:
    """Return the metadata and arrays of a file's bytes; the arrays are writable copies."""
    header, start = _header(content)
    metadata = _metadata(header.pop(METADATA, {}))
    entries = sorted(
        (_entry(name, value) for name, value in header.items()),
        key=lambda entry: (entry.begin, entry.end),
    )
    position, size = 0, len(content) - start
    for entry in entries:
        if entry.begin != position:
            raise ModelFileError(
                f"array {entry.name!r} begins at byte {entry.begin:,}, expected {position:,}"
            )
        position = entry.end
    if position != size:
        raise ModelFileError(f"the arrays take {position:,} bytes, the file holds {size:,}")
    return Contents(metadata, {e.name: _array(content, start, e) for e in entries})


def _header(content: bytes) -> tuple[dict[str, object], int]:
    if len(content) < LENGTH_BYTES:
        raise ModelFileError(f"it has {len(content)} bytes")
    length = int.from_bytes(content[:LENGTH_BYTES], "little")
    available = len(content) - LENGTH_BYTES
    if length > min(available, MAX_HEADER_BYTES):
        raise ModelFileError(
            f"it does not begin with the length of a header: its header should take {length:,} "
            f"bytes, and {available:,} follow (at most {MAX_HEADER_BYTES:,} are allowed)"
        )
    text = content[LENGTH_BYTES : LENGTH_BYTES + length]
    if text[:1] != b"{":
        raise ModelFileError("its header does not begin with '{'")
    header = parsed(text, "the header")
    assert isinstance(header, dict)
    return header, LENGTH_BYTES + length


def parsed(text: bytes | str, what: str) -> object:
    """Return the value of a JSON text; duplicate keys, NaN and deep nesting are refused."""
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        return json.loads(decoded, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ModelFileError(f"{what} is nested too deeply") from error
    except ModelFileError:
        raise
    except ValueError as error:  # JSONDecodeError, UnicodeDecodeError, numbers of 5,000 digits
        raise ModelFileError(f"{what} is not JSON: {error}") from error


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise ModelFileError(f"the key {key!r} occurs twice")
            seen.add(key)
    return values


def _refuse_constant(name: str) -> float:
    raise ModelFileError(f"{name} is not JSON")


def _metadata(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
        raise ModelFileError(f"{METADATA} must map text to text")
    return value


def _entry(name: str, value: object) -> _Entry:
    if not isinstance(value, dict) or set(value) != ENTRY_KEYS:
        raise ModelFileError(f"array {name!r} needs dtype, shape and data_offsets")
    dtype, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ModelFileError(f"array {name!r} has the unknown type {dtype!r}")
    if not _are_sizes(shape) or len(shape) > MAX_DIMENSIONS:
        raise ModelFileError(f"array {name!r} has the shape {shape!r}")
    if not _are_sizes(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise ModelFileError(f"array {name!r} has the offsets {offsets!r}")
    expected = math.prod(shape) * DTYPES[dtype].itemsize
    if offsets[1] - offsets[0] != expected:
        raise ModelFileError(
            f"array {name!r} takes {offsets[1] - offsets[0]:,} bytes, its shape needs {expected:,}"
        )
    return _Entry(name, DTYPES[dtype], tuple(shape), offsets[0], offsets[1])


def _are_sizes(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(v, int) and not isinstance(v, bool) and 0 <= v < 2**63 for v in value
    )


def _array(content: bytes, start: int, entry: _Entry) -> np.ndarray:
    count = math.prod(entry.shape)
    try:
        if count == 0:
            return np.zeros(entry.shape, entry.dtype.newbyteorder("="))
        if entry.dtype == np.bool_:
            stored = np.frombuffer(content, np.uint8, count, start + entry.begin)
            if (stored > 1).any():
                raise ModelFileError(f"array {entry.name!r} has truth values other than 0 and 1")
        values = np.frombuffer(content, entry.dtype, count, start + entry.begin)
        return values.reshape(entry.shape).astype(entry.dtype.newbyteorder("="), copy=True)
    except (ValueError, MemoryError, OverflowError) as error:  # e.g. a shape of 0 × 2^62
        raise ModelFileError(f"array {entry.name!r}: {error}") from error
