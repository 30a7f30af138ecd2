"""``certus audit model.onnx TABLE``: the coefficients that an ONNX file holds, as a printed table.

ONNX keeps what a model predicts with, not what it minimised, so the objectives are tried as for
``--coef``, on the columns as the file scales them.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...exceptions import TableError, UsageError
from ...tables.schema import check_names
from ...tables.targets import target_of, weights_of
from ...text.format import count
from .. import output, tables
from ..refusals import refusals
from . import coefficients

if TYPE_CHECKING:
    from ...audited_files import OnnxCoefficients
    from ...tables import Table


def run(args: argparse.Namespace, path: Path, logged: Sequence[str] | None) -> int:
    """Audit the coefficients of a file, print. ``logged``: names of columns beside the file."""
    from ... import audit_coefficients
    from ...audited_files import read_onnx

    if len(args.table) > 1:
        raise UsageError("one table is audited: put the files together")
    if args.target is None:
        raise UsageError("say which column the model predicts: give --target")
    model = read_onnx(path)
    table = tables.read(args.table[0], args)
    names = _inputs(args, model, table, logged)
    X = _columns(model, table, names)
    y = target_of(table, args.target, "classes" if model.is_classifier else None)
    weights = None if args.weights is None else weights_of(table, args.weights)
    with output.warnings_noted() as warned, refusals(None):
        audit = audit_coefficients(
            model.estimates([*X]), X, y, objective=args.objective,
            penalty=coefficients.penalty_of(args.penalty), sample_weight=weights,
            positive_class=args.positive or _positive(model, y), na=args.na,
        )  # fmt: skip
    facts = {
        "model file": Path(args.model).name,
        "kind of file": f"ONNX, {model.digits} digits",
        "table": "standard input" if args.table[0] == "-" else Path(args.table[0]).name,
        "target": args.target,
        "weights": args.weights or "none",
        "objective": args.objective or "any that fits",
    }
    return coefficients.finished(args, audit, warned, facts)


def _inputs(
    args: argparse.Namespace, model: "OnnxCoefficients", table: "Table",
    logged: Sequence[str] | None,
) -> list[str]:  # fmt: skip
    """Return the columns of the table that the file's inputs are."""
    others = [name for name in (args.target, args.weights) if name is not None]
    named = tables.names_in(args.columns) or logged or model.names
    if named is None:
        named = [c.name for c in table.columns if c.name not in others]
        output.note("the file has no names of columns: they are taken in the order of the table")
    elif not args.columns:
        there = [c.name for c in table.columns]
        for line in check_names([*named], there, table.report.source, others, by_name=True):
            output.note(line)
    if len(named) != model.n_inputs:
        raise UsageError(
            f"the model reads {count(model.n_inputs, 'column')}, and these are {len(named)}: name "
            "them by --columns, in the order of the fit"
        )
    return [*named]


def _columns(
    model: "OnnxCoefficients", table: "Table", names: Sequence[str]
) -> dict[str, np.ndarray]:
    """Return the columns as the file scales them, by their names."""
    found: dict[str, np.ndarray] = {}
    at, a, c = model.columns.at, model.columns.a, model.columns.c
    for j, i in enumerate(at):
        name = names[i]
        if table.column(name).role not in ("number", "constant"):
            raise TableError(f"column '{name}' holds no numbers, which the model multiplies")
        values = table.data.column(name).to_numpy().astype(float)
        # a column that is used twice has two coefficients
        found[name if name not in found else f"{name} ({j})"] = a[j] * values + c[j]
    return found


def _positive(model: "OnnxCoefficients", y: np.ndarray) -> Any:
    """Return the class of the second label, written as the target is."""
    label = model.positive_class
    return str(label) if y.dtype.kind in "OU" and label is not None else label
