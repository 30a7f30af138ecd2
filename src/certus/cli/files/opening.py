"""Files that a command reads block by block: several ones, or those larger than memory allows.

A table of text takes about three times its size in memory while it is read, Parquet four times the
numbers in it. Above half of the free memory, files are read block by block.
"""

import argparse
import glob
import sys
import threading
import time
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...data.memory import available_memory
from ...exceptions import TableError, UsageError
from ...tables.table import dialect_in_words
from ...text.format import count
from .. import output, tables
from ..progress_line import ProgressLine, duration

if TYPE_CHECKING:
    from ...model_files import ModelFile
    from ...sources import FileBlock, FileTable

SHARE_OF_MEMORY = 0.5  # of the free memory: files that would need more are read block by block
MEMORY_OF_KIND = {"CSV": 3, "Feather": 3, "Arrow stream": 3, "NumPy": 3}  # times their size
MEMORY_OF_COMPRESSED = 12  # text by gzip and others
MEMORY_OF_NUMBERS = 4  # times 8 bytes a number, of Parquet
VALUES_AT_ONCE = 1 << 22  # of X in a block, 32 MB: more would only take more memory
SECONDS_BETWEEN = 0.5  # two looks at how long it takes
MAX_ROWS_AT_ONCE, MIN_ROWS_AT_ONCE = 1 << 16, 1 << 10


WHAT = "CSV, TSV, Parquet, Feather or .npy files, a glob or a folder of them; - for stdin"


def add_files(parser: argparse.ArgumentParser, what: str = WHAT) -> None:
    """Add the argument for one or several files, and the option to read them block by block."""
    parser.add_argument("table", nargs="+", help=what)
    parser.add_argument(
        "--stream", action="store_true",
        help="read block by block, as is done of several files and of those larger than memory",
    )  # fmt: skip


def must_be_streamed(paths: Sequence[str], stream: bool) -> bool:
    """Whether these are several files, or the user says that they are read block by block."""
    if "-" in paths:
        if len(paths) > 1 or stream:
            raise UsageError("standard input is read as a whole: give files, or - alone")
        return False
    path = Path(paths[0])
    is_several = len(paths) > 1 or path.is_dir() or (not path.exists() and glob.has_magic(paths[0]))
    return stream or is_several


def is_streamed(paths: Sequence[str], stream: bool) -> bool:
    """Whether a command reads these files block by block; a note says so of a large one."""
    if must_be_streamed(paths, stream):
        return True
    path = Path(paths[0])
    needed, free = memory_needed(path), available_memory()
    if free is None or needed <= SHARE_OF_MEMORY * free:
        return False
    from ...sources.kept import size_in_words

    output.note(
        f"{path.name} would take about {size_in_words(needed)} of memory, and "
        f"{size_in_words(free)} are free: it is read block by block"
    )
    return True


def memory_needed(path: Path) -> float:
    """Bytes that it takes to read a file as a whole, about; 0 for what is no file."""
    from ...sources.paths import kind_of_files

    try:
        size = path.stat().st_size
        kind = kind_of_files([path])
        if kind == "Parquet":
            from pyarrow import parquet

            found = parquet.read_metadata(path)
            return MEMORY_OF_NUMBERS * 8.0 * found.num_rows * found.num_columns
    except Exception:  # whoever reads it says why it cannot be read
        return 0.0
    with path.open("rb") as file:
        is_compressed = file.read(2) in (b"\x1f\x8b", b"BZ", b"\xfd7")
    return float(size * (MEMORY_OF_COMPRESSED if is_compressed else MEMORY_OF_KIND[kind]))


def rows_at_once(n_columns: int) -> int:
    """Rows of a block that a model is given, by the number of columns that it reads."""
    rows = VALUES_AT_ONCE // max(1, n_columns)
    return max(MIN_ROWS_AT_ONCE, min(MAX_ROWS_AT_ONCE, rows))


@contextmanager
def progress_of(what: str) -> "Iterator[PassProgress]":
    """Show how far a pass over the rows is."""
    line = ProgressLine(sys.stderr)
    try:
        yield PassProgress(line, what)
    finally:
        line.close()


class PassProgress:
    """Counts the rows of passes, and shows them."""

    def __init__(self, line: ProgressLine, what: str):
        self.line, self.what = line, what

    def blocks(
        self, table: "FileTable", columns: Sequence[str], rows: int
    ) -> "Iterator[FileBlock]":
        """Yield the blocks of a table."""
        for block in table.blocks(columns, rows):
            self.rows_read(table, block.start)
            yield block

    @contextmanager
    def shown_meanwhile(self) -> Iterator[None]:
        """Show what is being done, and for how long, while nothing is said of it."""
        done = threading.Event()
        began = time.monotonic()

        def show() -> None:
            while not done.wait(SECONDS_BETWEEN):
                passed = duration(time.monotonic() - began)
                self.line.step(f"{self.what}, {passed} so far", 0, 0)

        thread = threading.Thread(target=show, name="certus progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def rows_read(self, table: "FileTable", n: int) -> None:
        """Show that so many rows were read."""
        self.line.step(self.what, n, table.n_rows or 0)


def opened(
    args: argparse.Namespace, schema: object = None, whole: Container[str] = ()
) -> "FileTable":
    """The files of a command, after telling how they are read; see ``tables.read``.

    ``whole``: columns whose whole numbers are written again as such.
    """
    from ...sources import FileTable
    from ...sources.csv_files import TextReading

    options, roles = tables.text_options(args, schema), tables.roles_of_fit(schema)
    table = FileTable(args.table, TextReading(options, roles, whole))
    if table.dialect is None:
        tables.note_without_effect(table.name, args)
    _note(table)
    return table


def _note(table: "FileTable") -> None:
    from ...sources.kept import size_in_words

    size = size_in_words(table.bytes)
    rows = "" if table.n_rows is None else f"{count(table.n_rows, 'row')}, "
    kind = f"{table.kind}, " if len(table.parts) == 1 else ""
    output.note(f"{table.name}: {kind}{rows}{size}, read block by block")
    if table.dialect is not None:
        output.note(dialect_in_words(table.dialect))
    for text in table.notes:
        output.note(text)


# --- with a model file ----------------------------------------------------------------------------


def open_both(
    args: argparse.Namespace, whole: Container[str] = ()
) -> "tuple[ModelFile, FileTable]":
    """The model file and the files of a command, read block by block."""
    from ... import model_files

    _, schema = model_files.summary(args.model)
    table = opened(args, schema, whole)
    return model_files.read(args.model), table


def matching_columns(
    file: "ModelFile", table: "FileTable", known: Sequence[str], by_name: bool
) -> list[str]:
    """Names of the columns that the model reads; every file must have them, as it was fitted."""
    from ...tables import check_names, roles_of

    needed, roles = needed_columns(file.model), roles_of(file.table)
    notes: dict[str, None] = {}
    for part, names in table.names_of_parts():
        notes |= dict.fromkeys(check_names(needed, names, part, [*roles, *known], by_name))
    for text in notes:
        output.note(text)
    return needed


def needed_columns(model: object) -> list[str]:
    """Names of the columns that the model reads."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise TableError(
            "the model was fitted on an array without names of columns: predict in Python, or fit "
            "it on a table"
        )
    return [str(name) for name in names]


def columns_read(model: Any) -> int:
    """Columns of the rows that the model at the end of a pipeline reads."""
    last = model[-1] if hasattr(model, "named_steps") else model
    return int(getattr(last, "n_features_in_", model.n_features_in_))


def last_and_steps(file: "ModelFile") -> tuple[Any, Any]:
    """The model at the end of a pipeline, and the steps before it."""
    if not hasattr(file.model, "named_steps"):
        raise TableError(
            "the model file holds no pipeline from columns of a table: verify in Python, with "
            "certus.open_rows"
        )
    pipeline: Any = file.model
    return pipeline[-1], pipeline[:-1]
