"""Tables as commands read them: options, notes about columns, files written with care."""

import argparse
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..exceptions import TableError, UsageError
from ..text.files import write_whole
from ..text.format import count
from . import output

if TYPE_CHECKING:
    import pyarrow as pa

    from ..tables import Column, Table
    from .models import Task

MAX_CLASSES = 20  # of whole numbers: above, a target is taken as a number


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Options of a command that reads a table."""
    group = parser.add_argument_group("reading the table (found by itself if not given)")
    group.add_argument("--delimiter", help="what separates the fields, e.g. ';' or '\\t'")
    group.add_argument("--decimal", choices=[".", ","], help="the decimal mark")
    group.add_argument("--encoding", help="e.g. utf-8, cp1252, utf-16")


def read(path: str, args: argparse.Namespace) -> "Table":
    """The table of a file, after telling how it was read."""
    from ..tables import read_table

    delimiter = args.delimiter.replace("\\t", "\t") if args.delimiter else None
    table = read_table(path, delimiter=delimiter, decimal=args.decimal, encoding=args.encoding)
    for line in table.report.lines():
        output.note(line)
    return table


def task_of(column: "Column", table: "Table") -> "Task":
    """Return what a target holds: classes or numbers."""
    import pyarrow as pa

    if column.role in ("category", "truth", "text", "id") and not _is_numeric(table, column):
        return "classes"
    values = table.data.column(column.name)
    if pa.types.is_boolean(values.type):
        return "classes"
    whole = all(float(v).is_integer() for v in values.unique().drop_null().to_pylist()[:1000])
    return "classes" if whole and column.n_distinct <= MAX_CLASSES else "numbers"


def _is_numeric(table: "Table", column: "Column") -> bool:
    import pyarrow as pa

    kind = table.data.column(column.name).type
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def used_columns(
    table: "Table", excluded: list[str], only: list[str] | None, dropped: list[str]
) -> "tuple[Column, ...]":
    """Columns for the model; notes say which are left out, and why."""
    for name in [*excluded, *(only or ()), *dropped]:
        table.column(name)
    excluded = [*excluded, *dropped]
    if only is not None:
        chosen = tuple(table.column(name) for name in only if name not in excluded)
        unusable = [c for c in chosen if not c.is_used]
        if unusable:
            c = unusable[0]
            raise TableError(f"column '{c.name}' cannot be used ({c.role}): {c.reason}")
    else:
        chosen = table.used(excluded)
        for c in table.left_out(excluded):
            output.note(f"left out: '{c.name}' ({c.role}): {c.reason}")
    if not chosen:
        raise TableError("no column is left for the model: see what was left out, and why")
    missing = [c for c in chosen if c.n_missing]
    for c in missing[:10]:
        filled = "the median" if c.role == "number" else "a category of their own"
        output.note(f"'{c.name}': {count(c.n_missing, 'missing value')} become {filled}")
    return chosen


def names_in(text: str | None) -> list[str] | None:
    """Names separated by commas."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


# --- files ----------------------------------------------------------------------------------------


def require_new(path: str, force: bool, ours: bool = False) -> None:
    """Refuse to overwrite a file, unless it may be or is one that certus wrote."""
    if Path(path).exists() and not force and not ours:
        raise UsageError(f"{path} exists: choose another name, or give --force")


def is_model_file(path: str) -> bool:
    """Whether there is a model file of certus at this path."""
    from ..exceptions import ModelFileError
    from ..model_files import summary

    try:
        summary(path)
    except ModelFileError:
        return False
    return True


def write_table(data: "pa.Table", path: str | None) -> None:
    """Write a table as CSV or, by its suffix, as Parquet; None: CSV to stdout."""
    from pyarrow import csv, parquet

    buffer = io.BytesIO()
    if path is not None and path.endswith((".parquet", ".pq")):
        parquet.write_table(data, buffer)
    else:
        csv.write_csv(data, buffer)
    if path is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(buffer.getvalue())
        sys.stdout.buffer.flush()
    else:
        write_whole(path, buffer.getvalue())
