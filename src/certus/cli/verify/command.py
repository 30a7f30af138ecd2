"""``certus verify``: recompute the claim of a model file from the table it was fitted on."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...exceptions import TableError, UsageError
from ...tables.targets import rows_taken, target_of, weights_of
from ...text.format import count
from .. import certificates, output, tables
from ..files import opening
from ..files.model_rows import ColumnRoles, RowsLeftOut, require_reads_rows, rows_of_model
from ..models import target_and_weights
from ..predict import matching_rows
from ..refusals import refusals
from . import stale

if TYPE_CHECKING:
    from ...certificate import Certificate
    from ...model_files import ModelFile
    from ...sources import FileTable
    from ...tables import Table


def register(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "verify",
        help="recompute the claim of a model file from its table",
        description="Recompute what a model file claims from the table that it was fitted on.",
        epilog="exit codes: 0 the claim holds, 1 it does not, 3 data refused, 4 model refused. "
        "With --stale: 0 no sign of drift, 1 the model is stale, 3 too few rows or data refused",
        allow_abbrev=False,
    )
    parser.add_argument("model", help="a model file")
    opening.add_files(parser, "the table of the fit; - for stdin")
    parser.add_argument("--target", help="the target, if it has another name in this table")
    parser.add_argument("--weights", help="the column of weights, if it has another name")
    parser.add_argument("--by", help="what recomputes it: proof or page; with --stale a column")
    parser.add_argument(
        "--stale",
        action="store_true",
        help="the table has new rows: compare the model with a refit, also by the periods of --by",
    )
    parser.add_argument(
        "--n-old", type=int, metavar="N", help="with --stale: rows of the fit, if not in the file"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    tables.add_reading_options(parser)
    parser.set_defaults(run=run, decisions="auto")


def run(args: argparse.Namespace) -> int:
    """Read, recompute, print."""
    if args.stale:
        return stale.run(args)
    _require_by(args)
    certificate, warned = certificate_of(args)
    if args.json:
        output.json_result("verify", {
            "certificate": certificate.to_dict(), "warnings": warned,
        })  # fmt: skip
    else:
        certificates.show(certificate)
    return certificates.exit_code(certificate)


def _require_by(args: argparse.Namespace) -> None:
    """Set what recomputes the claim; refuse anything else."""
    if args.n_old is not None:
        raise UsageError("--n-old goes with --stale")
    args.by = args.by or "proof"
    if args.by not in ("proof", "page"):
        raise UsageError(f"--by {args.by}: proof or page, or with --stale a column of periods")


def certificate_of(args: argparse.Namespace) -> "tuple[Certificate, list[str]]":
    """The certificate of a model file on the table of its fit, and the warnings on the way."""
    found = _of_files(args) if opening.is_streamed(args.table, args.stream) else None
    return found or _of_table(args)


def _of_table(args: argparse.Namespace) -> "tuple[Certificate, list[str]]":
    file, table = tables.read_both(args)
    schema = file.table if isinstance(file.table, dict) else {}
    return _of_rows(args, file, _rows_of_the_fit(table, schema.get("rows")))


def _of_rows(
    args: argparse.Namespace, file: "ModelFile", table: "Table"
) -> "tuple[Certificate, list[str]]":
    """The certificate of a model on the rows of its fit, in memory."""
    from ... import verify
    from ...tables import inner_problem

    schema = file.table if isinstance(file.table, dict) else {}
    target, weights = target_and_weights(args, file)
    known = [name for name in (target, weights) if name is not None]
    X = matching_rows(file.model, file.table, table, known, by_name=True)
    y = None if target is None else target_of(table, target, schema.get("task"))
    s = None if weights is None else weights_of(table, weights)
    with output.warnings_noted() as warned, refusals(file.model):
        model, rows = inner_problem(file.model, X)
        found = verify(model, rows, y, sample_weight=s, by=args.by, decisions=args.decisions)
    return found, warned


def _of_files(args: argparse.Namespace) -> "tuple[Certificate, list[str]] | None":
    """The certificate of a model on files read block by block; None where it cannot read them so.

    Of several files, or with --stream, such a model is refused. A model that was fitted on a sample
    of the rows is verified on these, in memory.
    """
    from ... import verify

    must_be = opening.must_be_streamed(args.table, args.stream)
    file, table = opening.open_both(args)
    schema = file.table if isinstance(file.table, dict) else {}
    target, weights = target_and_weights(args, file)
    known = [name for name in (target, weights) if name is not None]
    needed = opening.matching_columns(file, table, known, by_name=True)
    rows = cast("dict[str, list[int]] | None", schema.get("rows"))
    if rows is not None and "kept" in rows:
        return _of_rows(args, file, _rows_kept(table, [*needed, *known], rows["kept"]))
    if args.by == "page" and must_be:
        raise UsageError("--by page works on whole arrays, and these files are read block by block")
    model, steps = opening.last_and_steps(file)
    if not must_be and (args.by == "page" or not getattr(model, "_reads_rows", False)):
        output.note(f"{type(model).__name__} is verified on all rows in memory")
        return None
    require_reads_rows(model)
    left_out = None if rows is None else RowsLeftOut(rows["left_out"])
    with (
        output.warnings_noted() as warned,
        refusals(model),
        opening.progress_of("reading") as progress,
    ):
        columns = ColumnRoles(needed, target, weights)
        at_once = opening.rows_at_once(opening.columns_read(file.model))
        with rows_of_model(table, steps, columns, progress, at_once, left_out) as found:
            if left_out is not None:
                left_out.note(table)
            return verify(model, found), warned


def _rows_kept(table: "FileTable", columns: "Sequence[str]", kept: "Sequence[int]") -> "Table":
    """The rows of a sample, of which a report made the model."""
    from ...sources.samples import rows_by_number

    numbers = np.asarray(kept, dtype=np.int64)
    found = rows_by_number(table, [*dict.fromkeys(columns)], numbers)
    output.note(f"{count(len(kept), 'row')} of {table.n_rows:,}: the model was fitted on these")
    return found


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
