"""``certus predict``: answers of a model file for the rows of a table."""

import argparse
from typing import TYPE_CHECKING

import numpy as np

from ..exceptions import TableError
from . import output, tables
from .exit_codes import OK

if TYPE_CHECKING:
    import pyarrow as pa

    from ..tables import Table


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
    parser.add_argument("--force", action="store_true", help="overwrite --out")
    tables.add_reading_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read the model and the table, predict, write."""
    from ..model_files import read

    if args.out is not None:
        tables.require_new(args.out, args.force)
    file = read(args.model)
    table = tables.read(args.table, args)
    X = matching_rows(file.model, file.table, table)
    answers = answers_of(file.model, X)
    if args.id is not None:
        answers = {args.id: table.data.column(table.column(args.id).name), **answers}
    import pyarrow as pa

    tables.write_table(pa.table(answers), args.out)
    if args.out is not None:
        output.result(f"Written        {args.out}")
    return OK


def matching_rows(model: object, schema: object, table: "Table") -> "pa.Table":
    """Columns of the table that the model was fitted on; mismatches raise or print a note."""
    from ..tables import check_columns
    from ..tables.schema import roles_of

    needed = needed_columns(model)
    known = list(roles_of(schema))
    for line in check_columns(needed, table, ignored=known):
        output.note(line)
    roles = roles_of(schema)
    for name in needed:
        found = table.column(name)
        if roles.get(name) == "number" and found.role in ("category", "text", "date"):
            raise TableError(
                f"column '{name}' holds text (first: '{found.examples[0]}'), and numbers in the "
                "table of the fit"
            )
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


def answers_of(model: object, X: object) -> "dict[str, pa.Array]":
    """Columns of answers: "prediction", and "p_CLASS" where there are probabilities."""
    import pyarrow as pa

    predicted = np.asarray(model.predict(X))  # type: ignore[attr-defined]
    answers = {}
    if predicted.ndim == 2 and predicted.shape[1] > 1:
        for j in range(predicted.shape[1]):
            answers[f"prediction_{j + 1}"] = pa.array(predicted[:, j])
    else:
        answers["prediction"] = pa.array(predicted.ravel().tolist())
    if hasattr(model, "predict_proba") and hasattr(model, "classes_"):
        P = model.predict_proba(X)
        for k, name in enumerate(np.asarray(model.classes_).tolist()):
            answers[f"p_{name}"] = pa.array(P[:, k])
    return answers
