"""``certus report``: a page that says whether a column can be predicted, and how well."""

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..exceptions import UsageError
from ..text.format import count
from . import certificates, output, tables
from .exit_codes import OK, STOPPED
from .files import opening
from .progress_line import ProgressLine
from .refusals import refusals

if TYPE_CHECKING:
    from ..reporting.report import Report
    from ..reporting.settings import Settings
    from ..tables import Table

TASKS = ("auto", "two-classes", "classes", "ordered", "numbers")
SUFFIXES = (".gz", ".bz2", ".xz", ".csv", ".tsv", ".txt", ".parquet", ".pq", ".feather", ".npy")
MAX_PROBLEMS_SHOWN = 8


def register(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "report",
        help="can a column be predicted, how well, and with what evidence: a page to send",
        description="Compare models, score the whole choice on rows it had not seen, and write a "
        "page with the verdict, the certificates and the problems of the data.",
        epilog="exit codes: 0 done, 1 the chosen model is not certified, 2 usage, 3 data refused, "
        "130 stopped (a page of what was finished is written)",
        allow_abbrev=False,
    )
    parser.add_argument("table", nargs="*", help=opening.WHAT)
    parser.add_argument("--target", metavar="COLUMN", help="the column to predict")
    parser.add_argument("--cluster", action="store_true", help="look for groups, without a target")
    parser.add_argument("--demo", action="store_true", help="on red wines that come with certus")
    _add_columns(parser)
    _add_work(parser)
    _add_output(parser)
    tables.add_reading_options(parser)
    parser.set_defaults(run=run)


def _add_columns(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the question")
    group.add_argument("--task", choices=TASKS, default="auto", help="what the target is taken as")
    group.add_argument("--positive", metavar="CLASS", help="of two (default: the rarer)")
    group.add_argument("--order", metavar="LOW,…,HIGH", help="classes from low to high")
    group.add_argument("--drop", metavar="COLUMNS", help="not used, separated by commas")
    group.add_argument("--id", metavar="COLUMN", help="names the rows; not used")
    group.add_argument("--weights", metavar="COLUMN", help="weights of the rows")
    group.add_argument("--group", metavar="COLUMN", help="rows of a group stay in one fold")
    group.add_argument("--time", metavar="COLUMN", help="folds are consecutive in time")
    group.add_argument(
        "--test", metavar="FILE", help="other rows: scored and compared, never used for choosing"
    )
    group.add_argument("--by", metavar="COLUMNS", help="the verdict within groups of rows")
    group.add_argument("--cost", metavar="fp=1,fn=20", help="costs of errors set the threshold")
    group.add_argument("--against", metavar="FILE", help="an earlier report.json or model file")


def _add_work(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the work")
    group.add_argument("--models", metavar="NAMES", help="compare these alone (logistic,knn,…)")
    group.add_argument("--budget", metavar="5m", help="about how long it may take")
    group.add_argument("--threads", type=int, metavar="N", help="default: all cores")
    group.add_argument("--seed", type=int, default=0, help="of folds and resamples (default: 0)")
    group.add_argument(
        "--sample", type=int, metavar="ROWS",
        help="use a random sample; of files larger than memory, and of several, at most 100,000",
    )  # fmt: skip


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the output")
    group.add_argument("--out", metavar="FOLDER", help="default: NAME-report")
    group.add_argument("--open", action="store_true", help="show the page in the browser")
    group.add_argument("--show-rows", action="store_true", help="show cells of explained rows")
    group.add_argument("--json", action="store_true", help="print report.json instead of text")
    group.add_argument("--force", action="store_true", help="replace what --out holds")


def run(args: argparse.Namespace) -> int:
    """Read, compare, write, print."""
    from ..reporting import demo, folder
    from ..reporting.options import cost_of, names_of, seconds_of
    from ..reporting.report import made, read_earlier
    from ..reporting.settings import Settings

    if args.demo and args.table:
        raise UsageError(f"--demo reads its own table: leave out {args.table[0]}, or --demo")
    if not args.table and not args.demo:
        raise UsageError("which table? Give a file, or --demo")
    if args.threads is not None and args.threads < 1:
        raise UsageError(f"--threads {args.threads}: give a whole number from 1 up")
    _require_jinja()
    extra: dict[str, bytes] = {}
    if args.demo:
        args.target = args.target or (None if args.cluster else demo.TARGET)
        extra = {demo.NAME: demo.text()}
    settings = Settings(
        target=args.target, cluster=args.cluster, task=args.task, positive=args.positive,
        drop=names_of(args.drop), id=args.id, weights=args.weights, group=args.group,
        time=args.time, by=names_of(args.by), order=names_of(args.order), **cost_of(args.cost),
        models=names_of(args.models), threads=args.threads, budget=seconds_of(args.budget),
        seed=args.seed, show_rows=args.show_rows,
    )  # fmt: skip
    out = args.out or f"{_stem(args.table[0] if args.table else demo.NAME)}-report"
    folder.require_ours(out, args.force)
    table = demo.table() if args.demo else _read(args)
    if args.target is None and not args.cluster:
        raise UsageError(tables.which_target("report", args.table[0], table))
    test = (
        None
        if args.test is None
        else tables.read(args.test, args, table.schema([c.name for c in table.used()]))
    )
    earlier = None if args.against is None else read_earlier(args.against)
    line = ProgressLine()
    try:
        with output.warnings_noted(), refusals(object()):
            found = made(
                table, settings, test=test, earlier=earlier, progress=line, extra=extra,
                command=_command(args, settings, table), reading=tables.reading_options(args),
                announce=line.note,
            )  # fmt: skip
    finally:
        line.close()
    place = found.save(out, args.force)
    if args.json:
        sys.stdout.write(found.to_json())
    else:
        _show(found, place)
    if args.open:
        _open(place / folder.PAGE)
    if found.content.unfinished:
        output.error("stopped: the page holds what was finished")
        return STOPPED
    result = found.built.result
    return OK if result is None else certificates.exit_code(result.certificate)


def _read(args: argparse.Namespace) -> "Table":
    """The table, or a sample of the rows of large or several files."""
    is_sampled = args.sample is not None
    if not is_sampled and not opening.is_streamed(args.table, stream=False):
        return tables.read(args.table[0], args)
    opening.must_be_streamed(args.table, is_sampled)
    from ..sources import read_sample
    from ..sources.csv_files import TextReading

    with opening.progress_of("drawing a sample") as progress:
        table = read_sample(
            args.table, args.sample, seed=args.seed, reading=TextReading(tables.text_options(args)),
            on_block=progress.rows_read,
        )  # fmt: skip
    for line in table.report.lines():
        output.note(line)
    if table.report.dialect is None:
        tables.note_without_effect(table.report.source, args)
    return table


def _require_jinja() -> None:
    from importlib.util import find_spec

    from ..exceptions import MissingExtraError

    if find_spec("jinja2") is None:
        raise MissingExtraError('a report needs jinja2: pip install "certus[report]"')


def _stem(path: str) -> str:
    """The name of a table without its suffixes; "table" for standard input."""
    name = "table" if path == "-" else Path(path).name.replace("*", "").strip("-_.")
    while name.casefold().endswith(SUFFIXES):
        name = name.rpartition(".")[0]
    return name or "table"


def _command(args: argparse.Namespace, settings: "Settings", table: "Table") -> str:
    """The command that repeats the report, with names of files for their paths."""
    from ..reporting.options import command_of

    files = [] if args.demo else [Path(path).name for path in args.table]
    words = [command_of(files or [table.report.source], settings)]
    given = {name: Path(path).name for name in ("test", "against") if (path := getattr(args, name))}
    for option in ("delimiter", "decimal", "encoding", "header", "sample"):
        given[option] = getattr(args, option)
    words += [f"--{name} {shlex.quote(str(text))}" for name, text in given.items() if text]
    words += [f"--missing={shlex.quote(mark)}" for mark in args.missing or []]
    return " ".join(words)


def _show(found: "Report", place: Path) -> None:
    """Print the verdict, the certificates, the problems and the paths."""
    from ..reporting import folder

    content = found.content
    output.result(output.paint(content.verdict.headline, "strong"))
    output.wrapped(content.verdict.text)
    if content.verdict.how:
        output.wrapped(f"({content.verdict.how})")
    output.result()
    for box in content.certificates.boxes:
        tone = "good" if box.certified else "bad"
        output.wrapped(f"{box.model}: {box.line}", rest=2)
        if not box.certified:
            output.result(output.paint("  not certified", tone))
    problems = content.problems.problems
    for problem in problems[:MAX_PROBLEMS_SHOWN]:
        output.wrapped(f"[{problem.code}] {problem.title}", rest=2)
    if len(problems) > MAX_PROBLEMS_SHOWN:
        output.result(f"and {count(len(problems) - MAX_PROBLEMS_SHOWN, 'problem')} more")
    if not problems:
        output.result("No problem of the data was found.")
    output.result()
    for name in (*folder.NAMES, *found.extra):
        if (place / name).exists():
            output.written(str(place / name))


def _open(page: Path) -> None:
    """Show the page in the browser of the desktop, or say where it is."""
    import shutil
    import subprocess

    if sys.platform == "win32":
        import os

        os.startfile(page)
        return
    opener = shutil.which("open" if sys.platform == "darwin" else "xdg-open")
    if opener is None:
        output.note(f"there is no browser to open here: open {page} yourself")
        return
    subprocess.Popen(
        [opener, str(page)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
