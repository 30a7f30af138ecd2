"""``certus verify --stale``: is a model file out of date, by a table of new rows?"""

import argparse
import sys
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...exceptions import UsageError
from ...tables.targets import target_of, weights_of
from .. import output, tables
from ..exit_codes import CLAIM_FAILS, DATA_REFUSED, OK
from ..files import opening
from ..models import target_and_weights
from ..predict import matching_rows
from ..progress_line import ProgressLine
from ..refusals import refusals

if TYPE_CHECKING:
    from ...drift import StalenessResult
    from ...model_files import ModelFile
    from ...tables import Table


def run(args: argparse.Namespace) -> int:
    """Read, compare with a refit, print."""
    if args.stream or opening.must_be_streamed(args.table, args.stream):
        raise UsageError("--stale reads one table, in memory")
    file, table = tables.read_both(args)
    target, weights = target_and_weights(args, file)
    if target is None:
        raise UsageError("--stale needs a model that predicts a target")
    with output.warnings_noted() as warned:
        result = _compared(args, file, table, target, weights)
    if args.json:
        output.json_result("stale", {"staleness": result.to_dict(), "warnings": warned})
    else:
        output.explained(result.explain())
    return exit_code(result)


def exit_code(result: "StalenessResult") -> int:
    """0 without a sign of drift, 1 where the model is stale, 3 where the rows cannot say."""
    if result.stale:
        return CLAIM_FAILS
    return OK if result.all_rows.gain is not None else DATA_REFUSED


def _compared(
    args: argparse.Namespace, file: "ModelFile", table: "Table", target: str, weights: str | None
) -> "StalenessResult":
    from ... import staleness
    from ...tables import inner_problem

    schema = file.table if isinstance(file.table, dict) else {}
    periods = None if args.by is None else table.column(args.by).name
    known = [name for name in (target, weights, periods) if name is not None]
    X = matching_rows(file.model, file.table, table, known, by_name=True)
    y = target_of(table, target, schema.get("task"))
    s = None if weights is None else weights_of(table, weights)
    with refusals(file.model), closing(ProgressLine(sys.stderr)) as line:
        model, rows = inner_problem(file.model, X)
        return staleness(
            model, rows, y, s, by=None if periods is None else _values(table, periods),
            n_old=args.n_old, on_step=partial(line.step, "refits of resampled rows"),
        )  # fmt: skip


def _values(table: "Table", column: str) -> Any:
    """The values of a column as objects, so that dates are dates."""
    values = np.empty(table.report.n_rows, dtype=object)
    values[:] = table.data.column(column).to_pylist()
    return values
