"""``certus fit``: a model from a table, with its certificate, into a file."""

import argparse
from typing import TYPE_CHECKING, cast

from ..exceptions import UsageError
from ..tables.targets import target_of, tasks_of, weights_of
from . import certificates, output, tables
from .models import Task, made, model_class, needs_target, require_options
from .refusals import refusals

if TYPE_CHECKING:
    import numpy as np

    from ..model_files.values import Json
    from ..tables import Table


def register(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "fit",
        help="fit a model to a table, print its certificate, write a model file",
        description="Fit a model to a table. Parameters of the model are given as --name value, "
        "for example --C 0.5, or together by --params '{\"C\": 0.5}'.",
        epilog="exit codes: 0 certified, 1 written but not certified, 2 usage, 3 data refused",
        allow_abbrev=False,
    )
    parser.add_argument("table", help="CSV, TSV, Parquet, Feather or .npy file; - for stdin")
    parser.add_argument("--target", help="the column to predict (not for clusters and mixtures)")
    parser.add_argument("--model", help="logistic, linear, ridge, lasso, knn, kmeans … or a class")
    parser.add_argument("--out", help="the model file to write, by convention NAME.certus")
    parser.add_argument("--weights", help="a column of weights of the rows")
    parser.add_argument("--columns", help="use these columns alone, separated by commas")
    parser.add_argument("--drop", help="do not use these columns, separated by commas")
    parser.add_argument("--params", help="parameters of the model as a JSON object")
    parser.add_argument("--force", action="store_true", help="overwrite --out")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    tables.add_reading_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Fit, print, write."""
    from ..model_files import write
    from ..tables import fit_to_table, pipeline_for

    if args.out is not None:
        tables.require_new(args.out, args.force, tables.is_model_file(args.out))
    table = tables.read(args.table, args)
    if args.target is None and args.model is None:
        require_options(args.flags)
        raise UsageError(tables.which_target("fit", args.table, table))
    tasks: tuple[Task, ...] = ("none",)
    if args.target is not None:
        tasks = tasks_of(table.column(args.target), table)
        if table.column(args.target).role == "id":
            output.note(f"the target '{args.target}' looks like an id: is it what you mean?")
    cls, task = model_class(args.model, tasks)
    model = made(cls, args.flags, args.params)
    if args.target is None and needs_target(model):
        raise UsageError(tables.which_target("fit", args.table, table))
    excluded = [name for name in (args.target, args.weights) if name is not None]
    columns = tables.used_columns(
        table, excluded, tables.names_in(args.columns), tables.names_in(args.drop) or []
    )
    used = [c.name for c in columns]
    y = None if args.target is None else target_of(table, args.target, task)
    pipeline = pipeline_for(columns, model, table.report.n_rows)
    with output.warnings_noted() as warned, refusals(model):
        fit_to_table(pipeline, columns, table.select(used), y, _weights(model, table, args.weights))
    schema = {
        **table.schema(used), "target": args.target, "weights": args.weights, "task": task,
        "reading": tables.reading_options(args),
    }  # fmt: skip
    if args.out is not None:
        write(pipeline, args.out, cast("Json", schema))
    certificate = pipeline[-1].certificate_
    if args.json:
        output.json_result("fit", {
            "model": cls.__name__, "target": args.target, "task": task, "columns": used,
            "rows": table.report.n_rows, "warnings": warned,
            "certificate": certificates.as_json(certificate), "file": args.out,
        })  # fmt: skip
    else:
        certificates.show(certificate)
        if args.out is not None:
            output.written(args.out)
    if args.out is None:
        output.note("the model was not written: give --out FILE to keep it")
    return certificates.exit_code(certificate)


def _weights(model: object, table: "Table", name: str | None) -> "np.ndarray | None":
    """The weights of the rows, if there are any."""
    from sklearn.utils.validation import has_fit_parameter

    if name is None:
        return None
    if not has_fit_parameter(model, "sample_weight"):
        raise UsageError(f"{type(model).__name__} takes no weights")
    return weights_of(table, name)
