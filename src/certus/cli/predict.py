"""``certus predict``: answers of a model file for the rows of a table."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..exceptions import TableError, UsageError
from ..text.format import count
from . import output, tables
from .exit_codes import OK
from .refusals import refusals

ROWS_AT_ONCE = 1 << 18  # that are predicted: more would only take more memory

if TYPE_CHECKING:
    import pyarrow as pa

    from ..tables import Table

    Answers: TypeAlias = dict[str, "pa.Array | pa.ChunkedArray"]


def register(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command and its options."""
    parser = commands.add_parser(
        "predict",
        help="answers of a model file for the rows of a table",
        description="Predict every row of a table, in its order: a column 'prediction' and, where "
        "the model has probabilities, a column 'p_CLASS' for each class.",
        allow_abbrev=False,
    )
    parser.add_argument("model", help="a model file")
    parser.add_argument("table", help="CSV, TSV, Parquet, Feather or .npy file; - for stdin")
    parser.add_argument("--out", help="a CSV or Parquet file, by its suffix (default: stdout)")
    parser.add_argument("--id", help="a column of the table that is repeated beside the answers")
    parser.add_argument(
        "--by-name", action="store_true",
        help="take columns by name: ignore their order, and columns that the model does not know",
    )  # fmt: skip
    parser.add_argument("--force", action="store_true", help="overwrite --out")
    tables.add_reading_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read the model and the table, predict, write."""
    if args.out is not None:
        tables.require_new(args.out, args.force)
        tables.require_table_suffix(args.out)
    file, table = tables.read_both(args)
    if not hasattr(file.model, "predict"):
        raise UsageError(f"{file.summary['model']} predicts nothing for new rows")
    known = [] if args.id is None else [table.column(args.id).name]
    X = matching_rows(file.model, file.table, table, known, args.by_name)
    with output.warnings_noted(), refusals(file.model):
        answers = answers_of(file.model, X)
    if args.id is not None:
        answers = _with_id(answers, args.id, table)
    tables.write_table(answers, args.out)
    if args.out is not None:
        output.written(args.out)
    return OK


def _with_id(answers: "pa.Table", name: str, table: "Table") -> "pa.Table":
    if name in answers.column_names:
        raise UsageError(f"the id '{name}' has the name of an answer: rename it")
    return answers.add_column(0, name, table.data.column(name))


def matching_rows(
    model: object, schema: object, table: "Table", known: Sequence[str], by_name: bool
) -> "pa.Table":
    """Columns of the table that the model was fitted on; mismatches raise or print a note.

    ``known``: columns that the command itself uses, besides those of the table of the fit.
    """
    from ..tables import check_columns, roles_of

    needed, roles = needed_columns(model), roles_of(schema)
    for line in check_columns(needed, table, [*roles, *known], by_name):
        output.note(line)
    return table.select(needed)


def needed_columns(model: object) -> list[str]:
    """Names of the columns that the model reads."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise TableError(
            "the model was fitted on an array without names of columns: predict in Python, or fit "
            "it on a table"
        )
    return [str(name) for name in names]


def answers_of(model: object, X: "pa.Table") -> "pa.Table":
    """Columns of answers: "prediction", and "p_CLASS" where there are probabilities.

    A row in which the model abstains (its answer is NaN, or none of the classes) has no prediction.
    """
    import pyarrow as pa

    starts = range(0, max(len(X), 1), ROWS_AT_ONCE)
    answers = pa.concat_tables(
        [pa.table(_answers_of(model, X.slice(start, ROWS_AT_ONCE))) for start in starts],
        promote_options="permissive",  # a block in which every row abstains has no type
    )
    n_empty = max(column.null_count for column in answers.columns)
    if n_empty:
        output.note(f"the model abstains in {count(n_empty, 'row')}: an empty prediction")
    return answers


def _answers_of(model: object, X: "pa.Table") -> "Answers":
    import pyarrow as pa

    predicted = np.asarray(model.predict(X))  # type: ignore[attr-defined]
    classes = np.asarray(getattr(model, "classes_", [])).tolist() or None
    answers: Answers = {}
    if predicted.ndim == 2 and predicted.shape[1] > 1:
        for j in range(predicted.shape[1]):
            answers[f"prediction_{j + 1}"] = _answers(predicted[:, j], None)
    else:
        answers["prediction"] = _answers(predicted.ravel(), classes)
    if classes is not None and hasattr(model, "predict_proba"):
        P = model.predict_proba(X)
        for k, name in enumerate(classes):
            answers[f"p_{name}"] = pa.array(P[:, k])
    return answers


def _answers(values: np.ndarray, classes: list[object] | None) -> "pa.Array":
    import pyarrow as pa

    known = None if classes is None else set(classes)
    given = values.tolist()
    none = [v != v or (known is not None and v not in known) for v in given]
    return pa.array(given, mask=np.array(none, dtype=bool))
