"""Paths, globs and folders as the files that they name, in order, and what kind of files they are.

What a file is, is decided by its first bytes; its name does not matter. Files of a folder are taken
in the order of their paths. Hidden ones, and those whose names begin with ``_``, are left out.
"""

import glob
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from ..exceptions import TableError
from ..tables.read import HEAD_BYTES, MAGIC, REFUSED_MAGIC
from ..text.format import listed
from ..text.suggestions import did_you_mean
from .arrow_files import ArrowPart, ParquetPart
from .csv_files import TextReading, csv_parts
from .parts import SourcePart


def is_paths(source: object) -> bool:
    """Whether a source is a path, or a list of paths."""
    if isinstance(source, (str, os.PathLike)):
        return True
    return (
        isinstance(source, Sequence)
        and len(source) > 0
        and all(isinstance(item, (str, os.PathLike)) for item in source)
    )


def files_of(source: object) -> list[Path]:
    """Return the files that paths, globs and folders name."""
    items = [source] if isinstance(source, (str, os.PathLike)) else list(_each(source))
    found: list[Path] = []
    for item in items:
        found += _files(os.fspath(item))
    twice = [path for path, times in Counter(found).items() if times > 1]
    if twice:
        raise TableError(f"{twice[0]} is named twice: its rows would count twice")
    return found


def _each(source: object) -> Iterable[str | os.PathLike[str]]:
    assert isinstance(source, Iterable)
    return source


def _files(name: str) -> list[Path]:
    if "://" in name:
        raise TableError(
            f"'{name}' is not a local path: give a dataset of pyarrow, "
            "open_rows(pyarrow.dataset.dataset('…'))"
        )
    path = Path(name).expanduser()
    if path.is_dir():
        return _in_folder(path)
    if path.exists():
        return [path]
    if glob.has_magic(name):
        matches = sorted(glob.glob(str(path), recursive=True))
        files = [Path(match) for match in matches if not os.path.isdir(match)]
        if not files:
            raise TableError(f"no file matches '{name}'")
        return files
    there = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
    close = did_you_mean(path.name, there)
    hint = f". Did you mean '{path.with_name(close)}'?" if close else ""
    raise TableError(f"there is no file '{path}'{hint}")


def _in_folder(folder: Path) -> list[Path]:
    files = []
    for path in folder.rglob("*"):
        inside = path.relative_to(folder).parts
        if path.is_file() and not any(part.startswith((".", "_")) for part in inside):
            values = [part for part in inside[:-1] if "=" in part]
            if values:
                raise TableError(
                    f"{folder} has folders with a value as their name ('{values[0]}'). To have it "
                    "as a column, open pyarrow.dataset.dataset(…, partitioning='hive'); to leave "
                    f"it out, name the files by '{folder / '**' / ('*' + path.suffix)}'"
                )
            files.append(path)
    if not files:
        raise TableError(
            f"{folder} holds no file of rows (hidden ones, and names that begin with _, are left "
            "out)"
        )
    return sorted(files)


def kind_of_files(files: Sequence[Path]) -> str:
    """Return "Parquet", "Feather", "Arrow stream", "NumPy" or "CSV", which all files are."""
    kinds = {path: _kind(path) for path in files}
    different = Counter(kinds.values())
    if len(different) > 1:
        shown = listed([f"{kind}: {times}" for kind, times in different.items()])
        rare = min(kinds, key=lambda path: different[kinds[path]])
        raise TableError(
            f"the files are of several kinds ({shown}; {rare.name} is {kinds[rare]}): name those "
            f"of one kind, for example by '{rare.parent / '*.parquet'}'"
        )
    return next(iter(different))


def _kind(path: Path) -> str:
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror}") from error
    if not head:
        raise TableError(f"{path.name} is empty (0 bytes): remove it, or leave it out")
    compressed = path.suffix == ".zst"  # of text; zstd within Parquet has Parquet's own beginning
    for magic, what in REFUSED_MAGIC.items():
        if head.startswith(magic) and not compressed:
            raise TableError(f"{path.name} is {what}")
    return next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), "CSV")


def names_of(files: Sequence[Path]) -> list[str]:
    """Return the names of files for messages: as short as they differ."""
    if len({path.name for path in files}) == len(files):
        return [path.name for path in files]
    common = os.path.commonpath([str(path.parent) for path in files])
    return [os.path.relpath(path, common) for path in files]


def parts_of(
    files: Sequence[Path],
    kind: str,
    reading: TextReading = TextReading(),  # noqa: B008 – it is immutable
) -> list[SourcePart]:
    """Return a part for each file of one kind (not .npy)."""
    paths, names = [str(path) for path in files], names_of(files)
    if kind == "CSV":
        return csv_parts(paths, names, reading)
    if kind == "Parquet":
        return [ParquetPart(path, name) for path, name in zip(paths, names, strict=True)]
    is_stream = kind == "Arrow stream"
    return [ArrowPart(path, name, is_stream) for path, name in zip(paths, names, strict=True)]
