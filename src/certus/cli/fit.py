"""``certus fit``: a model from a table, with its certificate, into a file."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from ..exceptions import UsageError
from ..tables.targets import target_of, tasks_of, weights_of
from . import certificates, output, tables
from .files import opening
from .files.fitting import RowsOfFiles
from .models import Task, made, model_class, needs_target, require_options
from .refusals import refusals

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator
    from sklearn.pipeline import Pipeline

    from ..model_files.values import Json
    from ..tables import Column


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
    opening.add_files(parser)
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

    if args.out is not None:
        tables.require_new(args.out, args.force, tables.is_model_file(args.out))
    in_blocks = opening.is_streamed(args.table, args.stream)
    source: RowsOfFiles | RowsOfTable = RowsOfFiles(args) if in_blocks else RowsOfTable(args)
    if args.target is None and args.model is None:
        require_options(args.flags)
        raise UsageError(tables.which_target("fit", args.table[0], source.table))
    tasks: tuple[Task, ...] = ("none",)
    if args.target is not None:
        tasks = source.tasks(args.target)
        if source.table.column(args.target).role == "id":
            output.note(f"the target '{args.target}' looks like an id: is it what you mean?")
    cls, task = model_class(args.model, tasks)
    model = made(cls, args.flags, args.params)
    if args.target is None and needs_target(model):
        raise UsageError(tables.which_target("fit", args.table[0], source.table))
    if not source.reads(model) and not opening.must_be_streamed(args.table, args.stream):
        output.note(f"{cls.__name__} needs all rows in memory: the file is read as a whole")
        source = RowsOfTable(args)
    if args.weights is not None:
        _require_weighted(model)
    excluded = [name for name in (args.target, args.weights) if name is not None]
    columns = tables.used_columns(
        source.table, excluded, tables.names_in(args.columns), tables.names_in(args.drop) or []
    )
    used = [c.name for c in columns]
    with output.warnings_noted() as warned, refusals(model):
        pipeline = source.fit(model, columns, args.target, task, args.weights)
    schema = {
        **source.table.schema(used), "target": args.target, "weights": args.weights, "task": task,
        "reading": tables.reading_options(args),
    }  # fmt: skip
    if args.out is not None:
        write(pipeline, args.out, cast("Json", schema))
    certificate = pipeline[-1].certificate_
    if args.json:
        output.json_result("fit", {
            "model": cls.__name__, "target": args.target, "task": task, "columns": used,
            "rows": source.table.report.n_rows, "warnings": warned,
            "certificate": certificate.to_dict(), "file": args.out,
        })  # fmt: skip
    else:
        certificates.show(certificate)
        if args.out is not None:
            output.written(args.out)
    if args.out is None:
        output.note("the model was not written: give --out FILE to keep it")
    return certificates.exit_code(certificate)


class RowsOfTable:
    """The table of ``certus fit``, in memory."""

    def __init__(self, args: argparse.Namespace):
        self.table = tables.read(args.table[0], args)

    def tasks(self, name: str) -> tuple[Task, ...]:
        """What a target may hold; the likelier first."""
        return tasks_of(self.table.column(name), self.table)

    def reads(self, model: "BaseEstimator") -> bool:
        """Whether the model reads rows in memory, as every model does."""
        return True

    def fit(
        self,
        model: "BaseEstimator",
        columns: "Sequence[Column]",
        target: str | None,
        task: Task,
        weights: str | None,
    ) -> "Pipeline":
        """Return the fitted pipeline from columns to the model."""
        from ..tables import fit_to_table, pipeline_for

        y = None if target is None else target_of(self.table, target, task)
        s = None if weights is None else weights_of(self.table, weights)
        pipeline = pipeline_for(columns, model, self.table.report.n_rows)
        fit_to_table(pipeline, columns, self.table.select([c.name for c in columns]), y, s)
        return pipeline


def _require_weighted(model: object) -> None:
    from sklearn.utils.validation import has_fit_parameter

    if not has_fit_parameter(model, "sample_weight"):
        raise UsageError(f"{type(model).__name__} takes no weights")
