"""Values of a model as JSON and arrays.

    None, True, 3, "text", [..]       as they are in JSON
    2.5, −0.0                         a JSON number; inf and NaN  {"$float": "inf"}
    (..)                              {"$tuple": [..]}
    {key: value}                      {"$dict": [[key, value], ..]}
    array of numbers                  {"$array": name}           an array of the file
    array of text                     {"$text": [dtype, shape, values]}
    array of objects                  {"$objects": [shape, values]}
    NumPy scalar                      {"$scalar": [dtype, value]}
    sparse matrix                     {"$sparse": [format, sparse array?, shape, its three arrays]}
    slice                             {"$slice": [start, stop, step]}
    dtype, type of numbers            {"$dtype": "<f8"}, {"$type": "float64"}
    object of a known class           {"$object": [name, {attribute: value}]}
    known function                    {"$function": name}

Which objects there are, and what is kept of them, is decided by a table of classes (``kinds.py``):
a file names a class, but it never brings one.
"""

import math
import re
from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp

from ..exceptions import ModelFileError
from .layout import DTYPES, NAMES, Arrays

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

NON_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
SPARSE_CLASSES = {
    ("csr", True): sp.csr_array, ("csc", True): sp.csc_array,
    ("csr", False): sp.csr_matrix, ("csc", False): sp.csc_matrix,
}  # fmt: skip
NUMBER_TYPES: dict[str, type] = {
    t.__name__: t
    for t in (np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_, float, int, bool)
}
ATTRIBUTES = "attributes"  # of an estimator, beside its parameters
MAX_TEXT_DTYPE = 1 << 20  # characters of one label
# A file may take more memory than it has bytes, within limits: an array that several attributes
# hold is stored once, and text is padded to the width of its type.
MAX_COPIES = 16  # of all arrays together
MAX_SMALL_BYTES = 1 << 26  # of copies and of padding, whatever the size of the file
PLAIN_DTYPE = re.compile(r"\|b1|\|O|[|<>][iuf][1248]|[<>]U[0-9]{1,6}")


class Kinds(Protocol):
    """The table of classes whose objects a file may hold."""

    def state_of(self, value: object, where: str) -> tuple[str, dict[str, object]] | None:
        """Name and state of an object; None: its class is not in the table."""

    def function_name(self, value: object) -> str | None:
        """The name of a function that files may refer to."""

    def function(self, name: str) -> object:
        """The function of a name, or ``ModelFileError``."""

    def restore(self, name: str, state: dict[str, object]) -> object:
        """The object of a name and state, or ``ModelFileError``."""


# --- writing --------------------------------------------------------------------------------------


class Encoder:
    """Turns values into JSON, and collects the arrays by the path at which they stand."""

    def __init__(self, kinds: Kinds):
        self.kinds = kinds
        self.arrays: Arrays = {}
        self._names: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    def encode(self, value: object, where: str) -> Json:
        """``where``: the path of the value, for names of arrays and for messages."""
        if value is None or isinstance(value, (bool, str)):
            return value
        if type(value) is int:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"$float": str(value)}
        if type(value) is list:
            return [self.encode(v, f"{where}.{i}") for i, v in enumerate(value)]
        if type(value) is tuple:
            return {"$tuple": [self.encode(v, f"{where}.{i}") for i, v in enumerate(value)]}
        if type(value) is dict:
            return {"$dict": [self._pair(k, v, where) for k, v in value.items()]}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, np.generic):
            return self._scalar(value, where)
        if sp.issparse(value):
            return self._sparse(value, where)
        if isinstance(value, slice):
            ends = (value.start, value.stop, value.step)
            return {"$slice": [self.encode(end, where) for end in ends]}
        if isinstance(value, np.dtype):
            return {"$dtype": value.str}
        if isinstance(value, type) and value.__name__ in NUMBER_TYPES:
            return {"$type": value.__name__}
        if (function := self.kinds.function_name(value)) is not None:
            return {"$function": function}
        known = self.kinds.state_of(value, where)
        if known is None:
            raise ModelFileError(f"{where} is {_described(value)}, which a file cannot hold")
        name, state = known
        return {"$object": [name, {k: self.encode(v, _join(where, k)) for k, v in state.items()}]}

    def _pair(self, key: object, value: object, where: str) -> Json:
        return [self.encode(key, f"{where}.key"), self.encode(value, _join(where, str(key)))]

    def _array(self, value: np.ndarray, where: str) -> Json:
        dtype = value.dtype
        if dtype.kind == "U":
            return {"$text": [dtype.str[1:], list(value.shape), value.ravel().tolist()]}
        if dtype.kind == "O":
            items = [self.encode(v, f"{where}.{i}") for i, v in enumerate(value.ravel())]
            return {"$objects": [list(value.shape), items]}
        if dtype.newbyteorder("<") not in NAMES:
            raise ModelFileError(f"{where} has the type {dtype}, which a file cannot hold")
        # equal arrays (coefficients, and those that a certificate is about) are stored once
        same = (dtype.str, value.shape, value.tobytes())
        if same not in self._names:
            name = where
            while name in self.arrays:
                name += "'"
            self._names[same] = name
            self.arrays[name] = value
        return {"$array": self._names[same]}

    def _scalar(self, value: np.generic, where: str) -> Json:
        if isinstance(value, np.str_):
            return {"$scalar": ["text", str(value)]}
        dtype = value.dtype.newbyteorder("<")
        if dtype not in NAMES:
            raise ModelFileError(f"{where} is a number of type {dtype}, which a file cannot hold")
        return {"$scalar": [NAMES[dtype], self.encode(value.item(), where)]}

    def _sparse(self, value: sp.sparray, where: str) -> Json:
        if value.format not in ("csr", "csc"):
            value = value.tocsr()
        is_array = isinstance(value, sp.sparray)
        parts = [
            self._array(getattr(value, part), _join(where, part))
            for part in ("data", "indices", "indptr")
        ]
        return {"$sparse": [value.format, is_array, list(value.shape), *parts]}


def _join(where: str, name: str) -> str:
    if name == ATTRIBUTES:  # an array is called "coef_", not "attributes.coef_"
        return where
    return f"{where}.{name}" if where else name


def _described(value: object) -> str:
    if callable(value) and not isinstance(value, type):
        return f"a function ({getattr(value, '__name__', type(value).__name__)})"
    return f"an object of class {type(value).__module__}.{type(value).__qualname__}"


# --- reading --------------------------------------------------------------------------------------


class Decoder:
    """Turns JSON and arrays back into values; raises ``ModelFileError`` on anything else."""

    def __init__(self, kinds: Kinds, arrays: Mapping[str, np.ndarray]):
        self.kinds, self.arrays = kinds, arrays
        self.used: set[str] = set()
        self._bytes_left = MAX_SMALL_BYTES + MAX_COPIES * sum(a.nbytes for a in arrays.values())
        self._tags: dict[str, Callable[[Json], object]] = {
            "$float": self._float, "$tuple": self._tuple, "$dict": self._dict,
            "$array": self._array, "$text": self._text, "$objects": self._objects,
            "$scalar": self._scalar, "$sparse": self._sparse, "$object": self._object,
            "$slice": self._slice, "$dtype": self._dtype, "$type": self._type,
            "$function": self._function,
        }  # fmt: skip

    def decode(self, value: Json) -> object:
        if isinstance(value, list):
            return [self.decode(v) for v in value]
        if not isinstance(value, dict):
            return value
        if len(value) != 1 or next(iter(value)) not in self._tags:
            raise ModelFileError(f"a value has the keys {sorted(value)[:5]}")
        ((tag, content),) = value.items()
        return self._tags[tag](content)

    def _float(self, content: Json) -> float:
        if not isinstance(content, str) or content not in NON_FINITE:
            raise ModelFileError(f"{content!r} is not inf, -inf or nan")
        return NON_FINITE[content]

    def _tuple(self, content: Json) -> tuple[object, ...]:
        return tuple(self.decode(v) for v in _items(content))

    def _dict(self, content: Json) -> dict[object, object]:
        pairs = [_items(pair, 2) for pair in _items(content)]
        try:
            values = {self.decode(key): self.decode(value) for key, value in pairs}
        except TypeError as error:  # a key that is a list
            raise ModelFileError(f"a key of a dictionary: {error}") from error
        if len(values) < len(pairs):
            raise ModelFileError("a dictionary has a key twice")
        return values

    def _array(self, content: Json) -> np.ndarray:
        if not isinstance(content, str) or content not in self.arrays:
            raise ModelFileError(f"there is no array {content!r}")
        array = self.arrays[content]
        if content in self.used:
            self._spend(array.nbytes, "copies of arrays")
            return array.copy()  # stored once, but two attributes must not share memory
        self.used.add(content)
        return array

    def _spend(self, n_bytes: int, what: str) -> None:
        """Refuse a small file that would take much memory."""
        self._bytes_left -= n_bytes
        if self._bytes_left < 0:
            raise ModelFileError(f"it takes far more memory than it has bytes, for {what}")

    def _text(self, content: Json) -> np.ndarray:
        dtype, shape, values = _items(content, 3)
        length = dtype[1:] if isinstance(dtype, str) else ""
        if dtype != f"U{length}" or not length.isdecimal() or int(length) > MAX_TEXT_DTYPE:
            raise ModelFileError(f"text of the type {dtype!r}")
        texts = _items(values)
        if not all(isinstance(text, str) and len(text) <= int(length) for text in texts):
            raise ModelFileError("an array of text holds something else, or longer text")
        padding = int(length) * len(texts) - sum(len(str(text)) for text in texts)
        self._spend(4 * padding, "padded text")
        return _reshaped(np.array(texts, dtype=f"<{dtype}"), shape)

    def _objects(self, content: Json) -> np.ndarray:
        shape, values = _items(content, 2)
        items = [self.decode(v) for v in _items(values)]
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return _reshaped(array, shape)

    def _scalar(self, content: Json) -> np.generic:
        dtype, value = _items(content, 2)
        if dtype == "text" and isinstance(value, str):
            return np.str_(value)
        if not isinstance(dtype, str) or dtype not in DTYPES:
            raise ModelFileError(f"a number of the type {dtype!r}")
        number = self.decode(value)
        if not isinstance(number, (bool, int, float)):
            raise ModelFileError(f"{number!r} is not a number")
        try:
            return DTYPES[dtype].newbyteorder("=").type(number)
        except (OverflowError, ValueError, TypeError) as error:
            raise ModelFileError(f"a number of the type {dtype}: {error}") from error

    def _sparse(self, content: Json) -> sp.sparray:
        kind, is_array, shape, *parts = _items(content, 6)
        if not isinstance(kind, str) or (kind, is_array) not in SPARSE_CLASSES:
            raise ModelFileError(f"a sparse matrix in the format {kind!r}")
        data, indices, indptr = (self.decode(part) for part in parts)
        try:
            matrix = SPARSE_CLASSES[kind, bool(is_array)](
                (data, indices, indptr), shape=tuple(_items(shape, 2))
            )
            matrix.check_format(full_check=True)
        except (ValueError, TypeError, OverflowError, MemoryError) as error:
            raise ModelFileError(f"a sparse matrix: {error}") from error
        return matrix

    def _slice(self, content: Json) -> slice:
        ends = _items(content, 3)
        if not all(end is None or type(end) is int for end in ends):
            raise ModelFileError("a slice needs whole numbers")
        return slice(*ends)

    def _dtype(self, content: Json) -> np.dtype:
        if not isinstance(content, str) or not PLAIN_DTYPE.fullmatch(content):
            raise ModelFileError(f"a type {content!r}")
        return np.dtype(content)

    def _type(self, content: Json) -> type:
        if not isinstance(content, str) or content not in NUMBER_TYPES:
            raise ModelFileError(f"a type {content!r}")
        return NUMBER_TYPES[content]

    def _function(self, content: Json) -> object:
        return self.kinds.function(str(content))

    def _object(self, content: Json) -> object:
        name, state = _items(content, 2)
        if not isinstance(name, str) or not isinstance(state, dict):
            raise ModelFileError("an object needs the name of its class, and its state")
        return self.kinds.restore(name, {k: self.decode(v) for k, v in state.items()})


def _items(value: Json, count: int | None = None) -> list[Json]:
    if not isinstance(value, list) or (count is not None and len(value) != count):
        raise ModelFileError(f"a list {'' if count is None else f'of {count} '}was expected")
    return value


def _reshaped(array: np.ndarray, shape: Json) -> np.ndarray:
    sizes = [size for size in _items(shape) if isinstance(size, int) and size >= 0]
    if len(sizes) < len(_items(shape)):
        raise ModelFileError(f"a shape {shape!r}")
    try:
        return array.reshape(tuple(sizes))
    except (ValueError, OverflowError, MemoryError) as error:
        raise ModelFileError(f"an array of {array.size} values: {error}") from error
