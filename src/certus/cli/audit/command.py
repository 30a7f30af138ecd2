"""``certus audit``: is a model that anyone fitted, with any library, what it claims to be?

With ``--coef`` there is no model, only its printed coefficients (``coefficients.py``).
"""

import argparse
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from ...exceptions import ModelFileError, UsageError
from .. import certificates, output, tables
from ..models import needs_target
from ..refusals import refusals
from ..verify import certificate_of
from . import coefficients, onnx
from .page import write_page

if TYPE_CHECKING:
    from ...audited_files import FoundModel
    from ...certificate import Certificate


def register(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "audit",
        help="check a model that any library fitted, on the table of its fit",
        description="Recompute what a fitted model claims from the table that it was fitted on, "
        "and compare its predictions with those at the optimum. With --coef: the same of a printed "
        "table of coefficients.",
        epilog="exit codes: 0 the claim holds, 1 it does not, 2 usage, 3 data refused, 4 model "
        "refused",
        allow_abbrev=False,
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE",
        help="a model (.certus, .skops, .onnx, .pkl or .joblib, or a model folder of MLflow), then "
        "the table of its fit; - for stdin",
    )  # fmt: skip
    parser.add_argument("--target", help="the column that the model predicts")
    parser.add_argument("--weights", help="the column of weights")
    parser.add_argument(
        "--columns", help="the columns of the fit in their order, if the model keeps no names"
    )
    parser.add_argument(
        "--trust-pickle", action="store_true",
        help="load a pickle, which runs the code in it, in a process of its own",
    )  # fmt: skip
    parser.add_argument(
        "--by", choices=["proof", "page"], default="proof", help="what recomputes it"
    )
    coefficients.add_options(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--html", metavar="FILE", help="write a page that stands by itself")
    parser.add_argument("--force", action="store_true", help="overwrite --html")
    tables.add_reading_options(parser)
    parser.set_defaults(run=run, stream=False, decisions=True)


def run(args: argparse.Namespace) -> int:
    """Load the model, recompute its claim, print."""
    from ...audit import trusted_child
    from ...audited_files import found_model, is_pickled, onnx_file

    if args.coef is not None:
        if args.html is not None:
            tables.require_new(args.html, args.force)
        return coefficients.run(args)
    if len(args.files) < 2:
        raise UsageError("give a model file and the table of its fit: certus audit MODEL TABLE")
    args.model, args.table = args.files[0], args.files[1:]
    if args.html is not None:
        tables.require_new(args.html, args.force)
    path = Path(args.model)
    held = onnx_file(path)
    if held is not None:
        return onnx.run(args, *held)
    coefficients.require_none(args)
    if not trusted_child.is_child() and is_pickled(path) and args.trust_pickle:
        return _in_child(args.arguments, path)
    with _model_output_to_stderr():
        found = found_model(path)
        certificate, warned = _certificate(args, found)
    facts = _facts(args, found)
    if args.json:
        output.json_result("audit", {
            "facts": facts, "certificate": certificate.to_dict(), "warnings": warned,
        })  # fmt: skip
    else:
        certificates.show(certificate)
    if args.html is not None:
        write_page(args.html, certificate, facts, warned)
        if not args.json:
            output.written(args.html)
    return certificates.exit_code(certificate)


def _in_child(arguments: Sequence[str], path: Path) -> int:
    """Run the same audit in a process that may load the pickle."""
    from ...audit import trusted_child

    code = trusted_child.run(arguments)
    if code < 0:
        name = signal.Signals(-code).name
        raise ModelFileError(f"the process that loaded {path} was ended by the signal {name}")
    return code


@contextmanager
def _model_output_to_stderr() -> Iterator[None]:
    """Send what a model prints while it is loaded or predicts to stderr: stdout is the result."""
    with redirect_stdout(sys.stderr):
        yield


def _certificate(args: argparse.Namespace, found: "FoundModel") -> "tuple[Certificate, list[str]]":
    if found.ours is not None and isinstance(found.ours.table, dict):
        return certificate_of(args)  # the file describes the table of its fit
    return _of_foreign_model(args, found)


def _of_foreign_model(
    args: argparse.Namespace, found: "FoundModel"
) -> "tuple[Certificate, list[str]]":
    """The certificate of a model on the columns that it was fitted on."""
    from ... import verify
    from ...audited_files import rows_of_fit

    if len(args.table) > 1:
        raise UsageError("one table is audited: put the files together, or audit a .certus file")
    model = found.model
    if not hasattr(model, "get_params"):
        name = f"{type(model).__module__}.{type(model).__qualname__}"
        raise ModelFileError(f"{args.model} holds {name}, which is no fitted model")
    if args.target is None and needs_target(model):
        raise UsageError("say which column the model predicts: give --target")
    table = tables.read(args.table[0], args)
    chosen = tables.names_in(args.columns)
    rows = rows_of_fit(model, table, args.target, args.weights, chosen, found.columns)
    for line in rows.notes:
        output.note(line)
    with output.warnings_noted() as warned, refusals(model):
        certificate = verify(
            model, rows.X, rows.y, sample_weight=rows.sample_weight, by=args.by,
            decisions=args.decisions,
        )  # fmt: skip
    return certificate, warned


def _facts(args: argparse.Namespace, found: "FoundModel") -> dict[str, str]:
    """What was audited, for the page and the JSON object."""
    return {
        "model file": Path(args.model).name,
        "kind of file": found.kind,
        "table": ", ".join("standard input" if t == "-" else Path(t).name for t in args.table),
        "target": args.target or ("none" if found.ours is None else "as the model file says"),
        "weights": args.weights or "none",
    }
