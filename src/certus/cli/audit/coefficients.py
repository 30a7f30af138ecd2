"""``certus audit --coef``: is a printed table of coefficients an optimum on the rows of a table?"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ...exceptions import UsageError
from .. import output, tables
from ..exit_codes import CLAIM_FAILS, OK
from ..refusals import refusals
from .page import write_document

if TYPE_CHECKING:
    from ...coefficient_audit import CoefficientAudit

OF_COEFFICIENTS = ("objective", "penalty", "positive", "offset")
OF_MODELS = ("columns", "trust_pickle")  # options that a table of coefficients does not have


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of an audit without a model."""
    group = parser.add_argument_group("a printed table of coefficients in place of a model")
    group.add_argument("--coef", metavar="FILE", help="the table of coefficients, as CSV")
    group.add_argument("--objective", help="what it is said to minimise, such as glmnet.binomial")
    group.add_argument(
        "--penalty", metavar="NAME=NUMBER[,…]", help="the stated strength: lambda=0.05,alpha=1"
    )
    group.add_argument("--positive", metavar="CLASS", help="the class that has the probability")
    group.add_argument("--offset", metavar="COLUMN", help="a column whose coefficient is 1")
    group.add_argument(
        "--na", choices=["error", "omit"], default="error", help="rows with missing values"
    )


def require_none(args: argparse.Namespace) -> None:
    """Refuse options of coefficients where there is a model."""
    for name in OF_COEFFICIENTS:
        if getattr(args, name):
            raise UsageError(f"--{name} is for --coef, and has no meaning with a model")


def run(args: argparse.Namespace) -> int:
    """Audit the table of coefficients, print."""
    if len(args.files) != 1:
        raise UsageError("give one table beside the coefficients: certus audit --coef COEF TABLE")
    if args.target is None:
        raise UsageError("say which column the coefficients predict: give --target")
    given = [name.replace("_", "-") for name in OF_MODELS if getattr(args, name)]
    if given:
        raise UsageError(f"--{given[0]} is for models, and has no meaning with --coef")
    audit, warned = _audited(args)
    return finished(args, audit, warned, _facts(args))


def finished(
    args: argparse.Namespace, audit: "CoefficientAudit", warned: list[str], facts: dict[str, str]
) -> int:
    """Print and write what an audit found; return its exit code."""
    if args.json:
        output.json_result("coefficient_audit", {"audit": audit.to_dict(), "warnings": warned})
    else:
        _show(audit)
    if args.html is not None:
        title = f"Audit of {next(iter(facts.values()))}"
        finding, box = audit.explain(), audit._repr_html_()
        write_document(args.html, title, box, facts, finding, warned, None)
        if not args.json:
            output.written(args.html)
    return OK if audit.holds else CLAIM_FAILS


def _audited(args: argparse.Namespace) -> "tuple[CoefficientAudit, list[str]]":
    from ... import audit_coefficients

    penalty = penalty_of(args.penalty)
    table = tables.read(args.files[0], args)
    for name in (args.target, args.weights, args.offset):
        if name is not None:
            table.column(name)
    offset = None if args.offset is None else table.data[args.offset].to_numpy()
    with output.warnings_noted() as warned, refusals(None):
        audit = audit_coefficients(
            args.coef, table.data, args.target, objective=args.objective, penalty=penalty,
            sample_weight=args.weights, positive_class=args.positive, offset=offset, na=args.na,
        )  # fmt: skip
    return audit, warned


def penalty_of(text: str | None) -> float | dict[str, float] | None:
    """Return "0.5" as a number, "lambda=0.05,alpha=1" as numbers by their names."""
    if text is None:
        return None
    try:
        if "=" not in text:
            return float(text)
        pairs = (pair.split("=", 1) for pair in text.split(","))
        return {name.strip(): float(value) for name, value in pairs}
    except ValueError:
        raise UsageError(f"--penalty {text}: give a number, or NAME=NUMBER,NAME=NUMBER") from None


def _show(audit: "CoefficientAudit") -> None:
    """Print the finding in words, its table unwrapped."""
    words, _, table = audit.explain().partition("\n\n")
    output.explained(words)
    output.result()
    for line in table.splitlines():
        output.result(output.printable(line))


def _facts(args: argparse.Namespace) -> dict[str, str]:
    return {
        "coefficients": Path(args.coef).name,
        "table": "standard input" if args.files[0] == "-" else Path(args.files[0]).name,
        "target": args.target,
        "weights": args.weights or "none",
        "objective": args.objective or "any that fits",
        "penalty": args.penalty or "estimated",
    }
