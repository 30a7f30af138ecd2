"""Tables as commands read them: options, notes about columns, files written with care."""

import argparse
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..exceptions import TableError, UsageError
from ..tables.targets import likely_target
from ..tables.text_files import TextOptions
from ..text.format import count
from . import output

if TYPE_CHECKING:
    from ..model_files import ModelFile
    from ..tables import Column, DescribedTable, Table

MAX_COLUMNS_SHOWN = 40
TEXT_OPTIONS = ("delimiter", "decimal", "encoding", "header", "missing")


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Options of a command that reads a table."""
    group = parser.add_argument_group("reading the table (found by itself if not given)")
    group.add_argument("--delimiter", help="what separates the fields, e.g. ';' or '\\t'")
    group.add_argument("--decimal", choices=[".", ","], help="the decimal mark")
    group.add_argument("--encoding", help="e.g. utf-8, cp1252, utf-16")
    group.add_argument("--header", choices=["yes", "no"], help="is the first row one of names?")
    group.add_argument(
        "--missing", action="append", metavar="MARK[,MARK]",
        help="further marks of missing values, e.g. -999; may be repeated",
    )  # fmt: skip


def with_marks_attached(arguments: Sequence[str]) -> list[str]:
    """Arguments with "--missing", "-9,-99" as one: argparse takes the mark for an option."""
    words: list[str] = []
    for word in arguments:
        if words and words[-1] == "--missing" and not word.startswith("--"):
            words[-1] = f"--missing={word}"
        else:
            words.append(word)
    return words


def reading_options(args: argparse.Namespace) -> dict[str, object]:
    """What the user says about every table of this kind; a model file keeps it for later ones."""
    header = None if args.header is None else args.header == "yes"
    return {"header": header, "missing": _marks(args.missing or [])}


def _marks(given: Sequence[str]) -> list[str]:
    marks = (mark.strip() for text in given for mark in text.split(","))
    return [*dict.fromkeys(mark for mark in marks if mark)]


def read(path: str, args: argparse.Namespace, schema: object = None) -> "Table":
    """The table of a file, after telling how it was read.

    ``schema``: what a model file keeps of the table of its fit. Roles are those of that table, and
    so are header and marks of missing values where the options do not say otherwise.
    """
    from ..tables import read_table

    options = text_options(args, schema)
    table = read_table(path, **options._asdict(), roles=roles_of_fit(schema))
    for line in table.report.lines():
        output.note(line)
    if table.report.dialect is None:
        note_without_effect(path, args)
    return table


def text_options(args: argparse.Namespace, schema: object = None) -> TextOptions:
    """What the user says about text files, and header and marks of the fit where nothing is."""
    kept = schema if isinstance(schema, dict) else {}
    earlier = kept.get("reading")
    header, missing = reading_options(args).values()
    if isinstance(earlier, dict):
        header = earlier.get("header") if header is None else header
        missing = missing or earlier.get("missing")
    delimiter = args.delimiter.replace("\\t", "\t") if args.delimiter else None
    return TextOptions(
        args.encoding, delimiter, args.decimal, header if isinstance(header, bool) else None,
        [str(mark) for mark in missing] if isinstance(missing, list) else (),
    )  # fmt: skip


def note_without_effect(path: str, args: argparse.Namespace) -> None:
    """Say which options are for text files, of which this is none."""
    for name in TEXT_OPTIONS:
        if getattr(args, name):
            output.note(f"--{name} is for text files, and has no effect on {path}")


def roles_of_fit(schema: object) -> dict[str, str]:
    """Roles of the columns that a model uses, by what its file keeps of the table of the fit."""
    from ..tables import roles_of

    used = schema.get("used") if isinstance(schema, dict) else None
    return {k: v for k, v in roles_of(schema).items() if isinstance(used, list) and k in used}


def read_both(args: argparse.Namespace) -> "tuple[ModelFile, Table]":
    """The model file and the table of a command."""
    from .. import model_files

    _, schema = model_files.summary(args.model)  # refused before a large table is read
    table = read(args.table[0], args, schema)
    return model_files.read(args.model), table


def which_target(command: str, path: str, table: "DescribedTable") -> str:
    """Return advice for a table without a target: its columns, the likely one, commands to try."""
    lines = ["which column shall be predicted? Name it by --target. The columns are:"]
    for c in table.columns[:MAX_COLUMNS_SHOWN]:
        looks = f"{c.role}, {', '.join(c.examples)}" + (", …" if c.n_distinct > 3 else "")
        lines.append(f"  {c.name:<20} {looks}")
    if len(table.columns) > MAX_COLUMNS_SHOWN:
        lines.append(f"  … and {len(table.columns) - MAX_COLUMNS_SHOWN} more")
    likely, name = shlex.quote(likely_target(table)), shlex.quote(path)
    structure = "report" if command == "report" else "cluster"
    lines.append("Try one of")
    lines.append(f"  certus {command} {name} --target {likely}")
    lines.append(f"  certus {structure} {name}{' --cluster' if structure == 'report' else ''}")
    return "\n".join(lines)


def used_columns(
    table: "DescribedTable", excluded: list[str], only: list[str] | None, dropped: list[str]
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
    if not chosen and only is None and not table.left_out(excluded):
        raise TableError("no column is left for the model: the table has no others")
    if not chosen:
        raise TableError("no column is left for the model: see what was left out, and why")
    missing = [c for c in chosen if c.n_missing]
    for c in missing[:10]:
        filled = "the median" if c.role == "number" else "a category"
        become = "becomes" if c.n_missing == 1 else "become"
        output.note(f"'{c.name}': {count(c.n_missing, 'missing value')} {become} {filled}")
    return chosen


def names_in(text: str | None) -> list[str] | None:
    """Names separated by commas."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


# --- files ----------------------------------------------------------------------------------------


def require_new(path: str, force: bool, ours: bool = False) -> None:
    """Refuse to overwrite a file, unless it may be or is one that certus wrote."""
    if Path(path).is_dir():
        raise UsageError(f"{path} is a folder: give the name of a file")
    if not Path(path).parent.is_dir():
        raise UsageError(f"{path} cannot be written: there is no folder {Path(path).parent}")
    if Path(path).exists() and not force and not ours:
        raise UsageError(f"{path} exists: choose another name, or give --force")


def is_model_file(path: str) -> bool:
    """Whether there is a model file of certus at this path."""
    from ..exceptions import ModelFileError
    from ..model_files import summary

    if not Path(path).is_file():
        return False
    try:
        summary(path)
    except ModelFileError:
        return False
    return True
