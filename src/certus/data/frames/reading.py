"""Frames (pandas, polars, Arrow tables and others of narwhals) as arrays with column names.

    frame → (X, names):  columns of numbers; missing values become NaN, True and False 1 and 0

narwhals is imported when a frame is seen, and brings in no library that the user does not have.
Rows are taken in their order: an index is not a column, and nothing is aligned by it.
"""

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...text.format import listed
from .plain import column_names, plain_numbers

if TYPE_CHECKING:
    import narwhals as nw

LIBRARIES = ("pandas", "polars", "pyarrow", "modin", "cudf", "narwhals")


class Frame(NamedTuple):
    X: np.ndarray
    names: list[str]


def library_of(values: object) -> str | None:
    """Return the frame library that a value comes from, without importing any."""
    for cls in type(values).__mro__:
        root = cls.__module__.partition(".")[0]
        if root in LIBRARIES:
            return root
    return None


def from_frame(X: Any) -> Frame | None:
    """Return the columns of X as one array; None if X is no frame, or has no names."""
    library = library_of(X)
    if library is None or not hasattr(X, "shape") or len(X.shape) != 2:
        return None
    names = column_names(X)
    if not names or not all(issubclass(kind, str) for kind in set(map(type, names))):
        return None
    if len(set(names)) < len(names):
        twice = listed([repr(name) for name, times in Counter(names).items() if times > 1])
        raise ValueError(f"X has columns of the same name: {twice}. Rename or drop them")
    plain = plain_numbers(X, library)
    if plain is not None:
        return Frame(plain, names)
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    dtypes = list(frame.schema.values())
    width = np.float32 if all(dtype == nw.Float32 for dtype in dtypes) else np.float64
    out = np.empty(frame.shape, dtype=width)
    for j, name in enumerate(names):
        out[:, j] = _numbers(frame[name], f"column {name!r}", name)
    return Frame(out, names)


def from_series(values: object, what: str) -> Any:
    """y or weights as an array, from a Series, an Arrow column or a frame; others as they are."""
    if library_of(values) is None:
        return values
    frame = from_frame(values)
    if frame is not None:
        return frame.X
    import narwhals as nw

    series = nw.from_native(_as_series(values), series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return values
    return _numbers(series, what, None)


def labels_from_frame(values: object) -> Any:
    """Labels as an array of numbers or objects, (n, k) from a frame; others as they are."""
    if library_of(values) is None:
        return values
    import narwhals as nw

    values = _as_series(values)
    native = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.Series):
        return _labels(native)
    if isinstance(native, nw.DataFrame):
        return np.stack([_labels(native[name]) for name in native.columns], axis=1)
    return np.asarray(values)


def ordered_categories(values: object) -> list[Any] | None:
    """The categories of a column in the order of its type; None where that has none."""
    if library_of(values) is None:
        return None
    import narwhals as nw

    series = nw.from_native(_as_series(values), series_only=True, pass_through=True)
    if not isinstance(series, nw.Series) or not isinstance(series.dtype, nw.Enum):
        return None
    return list(series.dtype.categories)


def _as_series(values: Any) -> Any:
    """Return a pandas array, such as ``pd.Categorical``, as a Series; others as they are."""
    if library_of(values) != "pandas" or hasattr(values, "iloc"):
        return values
    import pandas as pd

    return pd.Series(values) if isinstance(values, pd.api.extensions.ExtensionArray) else values


def _labels(series: "nw.Series[Any]") -> np.ndarray:
    import narwhals as nw

    dtype = series.dtype
    plain = dtype.is_integer() or dtype.is_float() or dtype == nw.Boolean
    if plain and not series.null_count():
        values: np.ndarray = np.asarray(series.to_numpy())
        return values.astype(bool) if dtype == nw.Boolean else values
    values = np.empty(len(series), dtype=object)
    values[:] = series.to_list()
    return values


def _numbers(series: "nw.Series[Any]", called: str, name: str | None) -> np.ndarray:
    """Return a column as floats, or raise ValueError with what it holds instead."""
    import narwhals as nw

    dtype = series.dtype
    if dtype.is_decimal():
        raise ValueError(f"{called} holds decimals: cast it to floating point numbers")
    if dtype.is_temporal():
        raise ValueError(
            f"{called} holds dates or times (first: {str(_first(series))!r}): turn it into "
            "numbers, e.g. days since the first of them, or year, month and weekday"
        )
    if dtype.is_integer():  # rounded by NumPy: Arrow's cast refuses those above 2⁵³
        return np.asarray(series.to_numpy(), dtype=float)
    if dtype.is_numeric() or dtype == nw.Boolean:
        wide = nw.Float32 if dtype == nw.Float32 else nw.Float64
        return np.asarray(series.cast(wide).to_numpy(), dtype=float)
    if dtype.is_nested():
        raise ValueError(f"{called} holds lists or records: give a column to each of their parts")
    return _parsed(series.to_list(), called, name)


def _first(series: "nw.Series[Any]") -> Any:
    return next((value for value in series.to_list() if value is not None), None)


def _parsed(values: list[Any], called: str, name: str | None) -> np.ndarray:
    """Return objects, text or categories as floats, or raise ValueError with the first other."""
    out = np.empty(len(values))
    for i, value in enumerate(values):
        try:
            out[i] = np.nan if value is None else float(value)
        except (TypeError, ValueError) as error:
            raise ValueError(
                holds_text(called, value, name)
                if isinstance(value, str) and name is not None
                else f"{called} holds something that is no number (first: {value!r})"
            ) from error
    return out


def holds_text(called: str, first: str, column: object) -> str:
    return (
        f"{called} holds text (first: {first!r}): encode it, e.g. "
        f"make_column_transformer((OneHotEncoder(), [{column!r}]), remainder='passthrough')"
    )
