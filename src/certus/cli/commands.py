"""The ``certus`` command.

    certus demo     fits beside scikit-learn's, each with its certificate
    certus doctor   versions, threads, BLAS, and whether compiled kernels can be kept
    certus warm     compile the kernels now rather than at the first large fit

Exit codes: 0 all is well, 1 something is wrong, 2 the command was not understood, 130 Ctrl-C.
"""

import argparse
import difflib
import os
import sys
import textwrap
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from ..text.format import count, number, printable, small

if TYPE_CHECKING:
    from ..certificate import Certificate
    from .demo import AuditedFit, Shown

WIDTH = 80
LABEL_WIDTH = 15  # of explain(): wrapped lines are indented by it
INDENT = 4
NAME_WIDTH = 11  # the longest name of a row
COLOURS = {"good": "32", "bad": "1;31", "poor": "33", "dim": "2", "strong": "1"}
COLOUR_OF_STATUS = {
    "optimal": "good", "stationary": "good", "exact": "good", "local optimum": "good",
    "nearly optimal": "poor",
}  # fmt: skip
# lines of explain() that are equal in every audit of the demo
REPEATED_LABELS = ("Minimised", "Note", "Checked by")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _run(arguments: list[str]) -> int:
    parser = _parser()
    if not arguments:
        parser.print_help()
        return 2
    if not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        return _unknown("command", arguments[0], COMMANDS)
    try:
        chosen = parser.parse_args(arguments)
    except SystemExit as stop:  # --help, --version, or an option that does not exist
        return stop.code if isinstance(stop.code, int) else 2
    code: int = COMMANDS[chosen.command](chosen)
    return code


def _parser() -> argparse.ArgumentParser:
    from .. import __version__

    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="certus", description="Classical machine learning you can check.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"certus {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)
    demo = commands.add_parser(
        "demo",
        help="fits beside scikit-learn's, each with its certificate",
        description="Fit with certus and with scikit-learn, and audit both answers.",
        formatter_class=plain,
        allow_abbrev=False,
    )
    demo.add_argument("names", nargs="*", metavar="name", help="rows to show (default: all)")
    demo.add_argument(
        "--all-details", action="store_true", help="every certificate and audit in full"
    )
    commands.add_parser("doctor", help="versions, threads, BLAS, and the folder of kernels")
    commands.add_parser("warm", help="compile the kernels now, and say how long it took")
    return parser


def _unknown(what: str, given: str, known: Iterable[str]) -> int:
    known = list(known)
    close = difflib.get_close_matches(given, known, 1)
    hint = f" Did you mean '{close[0]}'?" if close else ""
    print(f"No {what} '{given}'.{hint} There is: {', '.join(known)}.", file=sys.stderr)
    return 2


# --- colour ---------------------------------------------------------------------------------------


def _colours() -> bool:
    """Whether to colour: on a capable terminal, unless NO_COLOR is set (no-color.org)."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and sys.stdout.isatty()


def _paint(text: str, tone: str) -> str:
    return f"\x1b[{COLOURS[tone]}m{text}\x1b[0m" if _colours() else text


def _print(text: str = "") -> None:
    print(printable(text))


# --- demo -----------------------------------------------------------------------------------------


def _demo(chosen: argparse.Namespace) -> int:
    import sklearn

    from .. import __version__
    from .demo import ROWS, run

    rows = {row.name: row for row in ROWS}
    for name in chosen.names:
        if name not in rows:
            return _unknown("row", name, rows)
    names = chosen.names or list(rows)
    title = f"certus {__version__} beside scikit-learn {sklearn.__version__}"
    _print(_paint(title, "strong"))
    _print("Every answer is checked from the data it was fitted to, by the same definition.\n")
    shown = []
    for name in names:
        shown.append(run(rows[name]))
        _row(shown[-1])
    for each in shown:
        if chosen.all_details:
            _details(each.row.name, each.ours.certificate, skip=())
        theirs = each.theirs
        if theirs is not None and (chosen.all_details or not theirs.certificate.certified):
            _details(
                each.row.name, theirs.certificate, () if chosen.all_details else REPEATED_LABELS
            )
    _closing(shown)
    return 0 if all(each.right for each in shown) else 1


def _row(shown: "Shown") -> None:
    row, n = shown.row, shown.ours.certificate.shape[0]
    lines = textwrap.wrap(f"{row.call}: {row.about}, {count(n, 'row')}", WIDTH - NAME_WIDTH - 1)
    _print(f"{_paint(f'{row.name:<{NAME_WIDTH}}', 'strong')} {lines[0]}")
    for line in lines[1:]:
        _print(" " * (NAME_WIDTH + 1) + line)
    proven = "proven" if shown.right else "please report this"
    _answer("certus", shown.ours, proven)
    if shown.theirs is None:
        _print(f"{' ' * INDENT}{'scikit-learn':<13} has no such model")
    else:
        _answer("scikit-learn", shown.theirs, _complaint(shown))
    for text in shown.ours.warned:
        _wrapped(text, first=INDENT, rest=INDENT)
    _print()


def _complaint(shown: "Shown") -> str:
    """The fault of scikit-learn's answer; empty where it is certified."""
    assert shown.theirs is not None
    warned = "with a warning" if shown.theirs.warned else "no warning"
    if shown.row.expects == "exact":
        wrong = count(int(shown.theirs.certificate.objective), "wrong answer")
        return f"{wrong}, {warned}"
    if shown.theirs.certificate.maximised:
        return f"{number(shown.below, 2)} a row too low, {warned}"
    none = shown.row.expects == "no finite optimum"
    return f"{'an answer' if none else _times(shown.times)}, {warned}"


def _times(times: float) -> str:
    if times >= 2:
        return f"{number(times, 3)} × the best"
    return f"{number(100 * (times - 1), 2)} % too high"


def _answer(library: str, fit: "AuditedFit", complaint: str) -> None:
    c = fit.certificate
    verdict = _paint(
        f"{c.status if c.certified else c.status.upper():<17}",
        COLOUR_OF_STATUS.get(c.status, "bad"),
    )
    good, value = f"within {small(c.gap)} of the best possible", number(c.objective, 6)
    if c.status == "stationary":
        good = "no small change lowers it"
    if c.kind == "exact":
        good, value = "every sampled answer is right", ""
    if c.kind == "local":
        good = f"no step {'raises' if c.maximised else 'lowers'} it"
    _print(
        f"{' ' * INDENT}{library:<13} {verdict} {value:>9}  {good if c.certified else complaint}"
    )


def _wrapped(text: str, first: int = 0, rest: int = 0) -> None:
    print(
        textwrap.fill(
            printable(text), WIDTH, initial_indent=" " * first, subsequent_indent=" " * rest
        )
    )


def _details(name: str, certificate: "Certificate", skip: tuple[str, ...]) -> None:
    first, *lines = certificate.explain().splitlines()
    _print(_paint(name, "strong"))
    for line in textwrap.wrap(first, WIDTH, subsequent_indent=" " * LABEL_WIDTH):
        print(_paint(line, COLOUR_OF_STATUS.get(certificate.status, "bad")))
    for line in lines:
        if not line.startswith(skip):
            _wrapped(line, rest=LABEL_WIDTH)
    print()


def _closing(shown: "list[Shown]") -> None:
    theirs = [each.theirs for each in shown if each.theirs is not None]
    wrong = [fit for fit in theirs if not fit.certificate.certified]
    silent = [fit for fit in wrong if not fit.warned]
    ours = sum(each.ours.certificate.certified for each in shown)
    none = sum(each.right and not each.ours.certificate.certified for each in shown)
    rest = f", {none} proven to have no finite optimum" if none else ""
    _print(f"certus: {ours} of {count(len(shown), 'fit')} certified{rest}.")
    _print(
        f"scikit-learn: {len(theirs) - len(wrong)} right, {len(wrong)} not, "
        f"{len(silent)} of those without a warning."
    )
    _print(
        "\nA certificate is about the arithmetic, not about your data: it proves how far\n"
        "the objective can be from its minimum, not that the model is true or predicts\n"
        "well.\n"
        "\nAudit a scikit-learn model of your own, on the rows that it was fitted on:\n"
    )
    _print(_paint("    import certus", "strong"))
    _print(_paint("    print(certus.verify(model, X, y).explain())", "strong"))


# --- doctor and warm ------------------------------------------------------------------------------


def _doctor(_: argparse.Namespace) -> int:
    import platform
    from importlib.metadata import version

    import scipy.linalg  # noqa: F401  its BLAS must be loaded to be seen
    from threadpoolctl import threadpool_info

    from .. import get_config
    from ..runtime.config import effective_threads

    libraries = ("certus", "numpy", "scipy", "scikit-learn", "numba", "threadpoolctl")
    lines = [("Python", f"{platform.python_version()}, {platform.system()} {platform.machine()}")]
    lines += [(name, version(name)) for name in libraries]
    threads = get_config()["threads"]
    lines.append(("threads", f"{effective_threads()} ({'set' if threads else 'all cores'})"))
    lines += [
        (
            "BLAS",
            f"{library['internal_api']} {library['version']}, {library['num_threads']} threads",
        )
        for library in threadpool_info()
        if library["user_api"] == "blas"
    ]
    folder, writable = _kernel_folder()
    remedy = "" if writable else ": not writable, so kernels are compiled anew in every session."
    remedy += "" if writable else " Set NUMBA_CACHE_DIR to a folder of yours."
    lines.append(("kernels", f"{folder}{remedy}"))
    for name, text in lines:
        _wrapped(f"{name:<{LABEL_WIDTH}}{text}", rest=LABEL_WIDTH)
    return 0 if writable else 1


def _kernel_folder() -> tuple[str, bool]:
    """The folder of compiled kernels, and whether it is writable, in Numba's order of choice."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    folder = chosen or os.path.join(os.path.dirname(os.path.dirname(__file__)), "kernels")
    parent = folder
    while not os.path.exists(parent):
        parent = os.path.dirname(os.path.abspath(parent))
    if os.access(parent, os.W_OK):
        return folder, True
    home = os.path.expanduser("~")  # Numba's next choice
    return folder, chosen is None and os.access(home, os.W_OK)


def _warm(_: argparse.Namespace) -> int:
    started = time.perf_counter()
    from importlib import import_module
    from pkgutil import walk_packages

    from .. import kernels

    for module in walk_packages(kernels.__path__, f"{kernels.__name__}."):
        if not module.ispkg and not module.name.rpartition(".")[2].startswith("_"):
            import_module(module.name).warm()
    print(f"Kernels are ready: {time.perf_counter() - started:.1f} s.")
    return 0


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "demo": _demo,
    "doctor": _doctor,
    "warm": _warm,
}
