"""``certus verify``: recompute the claim of a model file from the table it was fitted on."""

import argparse
from typing import TYPE_CHECKING

import numpy as np

from ..exceptions import TableError, UsageError
from ..tables.targets import rows_taken, target_of, weights_of
from ..text.format import count
from . import certificates, output, tables
from .models import needs_target
from .predict import matching_rows
from .refusals import refusals

if TYPE_CHECKING:
    from ..tables import Table


def register(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "verify",
        help="recompute the claim of a model file from its table",
        description="Recompute what a model file claims from the table that it was fitted on.",
        epilog="exit codes: 0 the claim holds, 1 it does not, 3 data refused, 4 model refused",
        allow_abbrev=False,
    )
    parser.add_argument("model", help="a model file")
    parser.add_argument("table", help="the table of the fit; - for stdin")
    parser.add_argument("--target", help="the target, if it has another name in this table")
    parser.add_argument("--weights", help="the column of weights, if it has another name")
    parser.add_argument(
        "--by", choices=["proof", "page"], default="proof", help="what recomputes it"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    tables.add_reading_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read, recompute, print."""
    from .. import verify
    from ..tables import inner_problem

    file, table = tables.read_both(args)
    schema = file.table if isinstance(file.table, dict) else {}
    table = _rows_of_the_fit(table, schema.get("rows"))
    target = args.target or schema.get("target")
    weights = args.weights or schema.get("weights")
    known = [str(name) for name in (target, weights) if name is not None]
    X = matching_rows(file.model, file.table, table, known, by_name=True)
    if target is None and needs_target(file.model):
        raise UsageError("the file does not say which column was the target: give --target")
    y = None if target is None else target_of(table, str(target), schema.get("task"))
    s = None if weights is None else weights_of(table, str(weights))
    with output.warnings_noted() as warned, refusals(file.model):
        model, rows = inner_problem(file.model, X)
        certificate = verify(model, rows, y, sample_weight=s, by=args.by)
    if args.json:
        found = {"certificate": certificates.as_json(certificate), "warnings": warned}
        output.json_result("verify", found)
    else:
        certificates.show(certificate)
    return certificates.exit_code(certificate)


def _rows_of_the_fit(table: "Table", rows: object) -> "Table":
    """The rows that the model was fitted on, where a report left some out.

    ``rows``: {"left_out": numbers} or {"kept": numbers}, from 1; None: all.
    """
    if not isinstance(rows, dict):
        return table
    numbers = np.array(rows.get("left_out", rows.get("kept")), dtype=np.int64) - 1
    n = table.report.n_rows
    if len(numbers) and numbers.max() >= n:
        raise TableError(
            f"{table.report.source} has {count(n, 'row')}, and the model was fitted on a table "
            f"with row {numbers.max() + 1:,}: give that table"
        )
    kept = np.delete(np.arange(n), numbers) if "left_out" in rows else numbers
    output.note(f"{count(len(kept), 'row')} of {n:,}: the model was fitted without the others")
    return rows_taken(table, kept)
