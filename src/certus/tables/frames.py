"""Data frames (pandas, polars, Arrow) as tables, in the types that files are read in."""

from typing import TYPE_CHECKING, Any

from ..exceptions import MissingExtraError, TableError
from .binary_files import first_line, plain_types
from .columns import described
from .conversion import Converted
from .names import unique_names
from .table import ReadReport, Table

if TYPE_CHECKING:
    import pyarrow as pa

SOURCE = "the data frame"


def table_of_frame(frame: Any, source: str = SOURCE) -> Table:
    """A frame of any library that narwhals knows, as a table; an index is not a column.

    Raises ``TableError`` if it is no frame, has no rows, or mixes types in a column.
    """
    data = _arrow(frame)
    if not data.num_columns or not len(data):
        raise TableError(f"{source} has no {'rows' if data.num_columns else 'columns'}")
    try:
        data = plain_types(data)
    except Exception as error:
        raise TableError(f"{source} cannot be read: {first_line(error)}") from error
    names, notes = unique_names(data.column_names)
    columns = tuple(
        described(name, Converted(values, frozenset()))
        for name, values in zip(names, data.columns, strict=True)
    )
    report = ReadReport(source, "data frame", len(data), None, (), tuple(notes))
    return Table(data.rename_columns(names), columns, report)


def order_of(frame: Any, name: str) -> tuple[str, ...]:
    """The categories of an ordered column, from low to high; () where there is no order."""
    dtype = getattr(getattr(frame, "dtypes", None), "get", lambda _: None)(name)
    if dtype is None or not getattr(dtype, "ordered", False):
        return ()
    return tuple(str(category) for category in dtype.categories)


def _arrow(frame: Any) -> "pa.Table":
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtraError('tables need pyarrow: pip install "certus[tables]"') from error
    if isinstance(frame, pa.Table):
        return frame
    import narwhals as nw

    try:
        return nw.from_native(frame, eager_only=True).to_arrow()
    except TypeError as error:
        if "narwhals" not in str(error).casefold() and "frame" not in str(error).casefold():
            raise TableError(_mixed(frame, error)) from error
        kind = type(frame).__name__
        raise TableError(
            f"a {kind} is no table: give a path, or a frame of pandas, polars or Arrow"
        ) from error
    except (pa.ArrowException, ValueError) as error:
        raise TableError(_mixed(frame, error)) from error


def _mixed(frame: Any, error: Exception) -> str:
    return (
        f"the {type(frame).__name__} cannot be read: {first_line(error)}. Give each column values "
        "of one type, text or numbers"
    )
