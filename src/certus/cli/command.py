"""The ``certus`` command: which one, and what its end means.

    certus fit        fit a model to a table, print its certificate, write a model file
    certus predict    answers of a model file for the rows of a table
    certus verify     recompute the claim of a model file from its table
    certus audit      the same for a model that any library fitted
    certus report     can a column be predicted, how well, with what evidence: a page to send
    certus cluster    groups of rows, with evidence or "none found"
    certus show       what a model file holds
    certus export     a model file as ONNX, or its certificate as a script
    certus demo       fits beside scikit-learn's, each with its certificate
    certus doctor     versions, threads, BLAS, and whether compiled kernels can be kept
    certus warm       compile the kernels now rather than at the first large fit

Exit codes: 0 done, 1 a claim does not hold, 2 usage, 3 data refused, 4 model file refused, 70 a bug
of certus, 130 stopped.
"""

import argparse
import os
import sys
import traceback
from collections.abc import Sequence

from ..exceptions import (
    CannotVerifyError,
    CertificateError,
    MissingExtraError,
    ModelFileError,
    TableError,
    UsageError,
)
from ..text.suggestions import unknown
from . import (
    audit,
    cluster,
    demo,
    doctor,
    export,
    fit,
    output,
    predict,
    report,
    show,
    verify,
    warm,
)
from .exit_codes import BUG, DATA_REFUSED, MODEL_FILE_REFUSED, OK, STOPPED, USAGE
from .models import split_flags
from .tables import with_marks_attached

COMMANDS = (report, fit, predict, verify, audit, cluster, show, export, demo, doctor, warm)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in arguments
    arguments = [a for a in arguments if a != "--debug"]
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        output.error("stopped")
        return STOPPED
    except BrokenPipeError:  # the reader (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except Exception as failure:
        if debug:
            traceback.print_exc()
        return _failed(failure)
    return code


def _failed(failure: Exception) -> int:
    """Say why the command failed; return the exit code of that reason."""
    for kind, code in REASONS.items():
        if isinstance(failure, kind):
            output.error(str(failure))
            return code
    name = type(failure).__name__
    text = str(failure).rstrip(".")
    output.error(f"a bug of certus: {name}: {text}. Please report it; --debug shows where.")
    return BUG


REASONS: dict[type[Exception], int] = {
    UsageError: USAGE,
    MissingExtraError: USAGE,
    TableError: DATA_REFUSED,
    ModelFileError: MODEL_FILE_REFUSED,
    CannotVerifyError: DATA_REFUSED,
    CertificateError: MODEL_FILE_REFUSED,  # it has no script
    MemoryError: DATA_REFUSED,  # estimated before anything is allocated
    OSError: USAGE,  # a file that cannot be written, a full disk
}


def _run(arguments: list[str]) -> int:
    parser, commands = _parser()
    if not arguments:
        parser.print_help()
        return USAGE
    name = arguments[0]
    if not name.startswith("-") and name not in commands:
        raise UsageError(unknown("command", name, commands))
    flags: list[str] = []
    arguments = with_marks_attached(arguments)
    if name == "fit":  # takes the parameters of any model besides its own options
        arguments, flags = split_flags(arguments, commands[name])
    try:
        chosen = parser.parse_args(arguments)
    except SystemExit as stop:  # --help, --version, or an option that does not exist
        return stop.code if isinstance(stop.code, int) else USAGE
    chosen.flags, chosen.arguments = flags, arguments
    code: int = chosen.run(chosen)
    return code


def _parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    from .. import __version__

    parser = argparse.ArgumentParser(
        prog="certus", description="Classical machine learning you can check.", allow_abbrev=False,
        epilog="exit codes: 0 done, 1 a claim does not hold, 2 usage, 3 data refused, 4 model file "
        "refused, 70 a bug of certus (--debug shows where), 130 stopped",
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"certus {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)
    for command in COMMANDS:
        command.register(commands)
    return parser, dict(commands.choices)
