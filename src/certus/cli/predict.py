"""``certus predict``: answers of a model file for the rows of a table."""

import argparse
from collections.abc import Generator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ..exceptions import UsageError
from ..text.format import count
from . import output, tables
from .exit_codes import OK
from .files import opening
from .files.model_rows import as_given
from .files.writing import require_table_suffix, table_written
from .refusals import refusals

if TYPE_CHECKING:
    import pyarrow as pa

    from ..model_files import ModelFile
    from ..sources import FileTable
    from ..tables import Table

    Values: TypeAlias = "pa.Array | pa.ChunkedArray"


class RowsToPredict(NamedTuple):
    """Some rows: what the model is given, and the column that is repeated beside the answers."""

    X: "pa.Table"
    id: "pa.ChunkedArray | None"


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
    opening.add_files(parser)
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
    """Read the model and the table, predict and write block by block."""
    if args.out is not None:
        tables.require_new(args.out, args.force)
        require_table_suffix(args.out)
    if opening.is_streamed(args.table, args.stream):
        file, streamed = opening.open_both(args, [args.id])
        _require_predict(file)
        blocks = _blocks_of_files(args, file, streamed)
    else:
        file, table = tables.read_both(args)
        _require_predict(file)
        blocks = _blocks_of_table(args, file, table)
    answers = AnswerColumns(file.model, args.id)
    with (
        output.warnings_noted(),
        refusals(file.model),
        closing(blocks),
        table_written(args.out) as write,
    ):
        for rows in blocks:
            write(answers.of(rows))
    answers.note()
    if args.out is not None:
        output.written(args.out)
    return OK


def _require_predict(file: "ModelFile") -> None:
    if not hasattr(file.model, "predict"):
        raise UsageError(f"{file.summary['model']} predicts nothing for new rows")


def _blocks_of_table(
    args: argparse.Namespace, file: "ModelFile", table: "Table"
) -> Generator[RowsToPredict, None, None]:
    known = [] if args.id is None else [table.column(args.id).name]
    X = matching_rows(file.model, file.table, table, known, args.by_name)
    beside = None if args.id is None else table.data.column(args.id)
    step = rows_at_once(file.model)
    for start in range(0, len(X), step):
        yield RowsToPredict(
            X.slice(start, step), None if beside is None else beside.slice(start, step)
        )


def _blocks_of_files(
    args: argparse.Namespace, file: "ModelFile", table: "FileTable"
) -> Generator[RowsToPredict, None, None]:
    known = [] if args.id is None else [args.id]
    needed = opening.matching_columns(file, table, known, args.by_name)
    columns = [*dict.fromkeys([*needed, *known])]
    with opening.progress_of("predicting") as progress:
        for block in progress.blocks(table, columns, rows_at_once(file.model)):
            X = as_given(block, needed)
            yield RowsToPredict(X, None if args.id is None else block.data.column(args.id))


def rows_at_once(model: Any) -> int:
    """Rows that are predicted at once, by the number of columns that the model reads.

    The same for tables in memory and for files, so that answers have the same bits.
    """
    return opening.rows_at_once(opening.columns_read(model))


def matching_rows(
    model: object, schema: object, table: "Table", known: Sequence[str], by_name: bool
) -> "pa.Table":
    """Columns of the table that the model was fitted on; mismatches raise or print a note.

    ``known``: columns that the command itself uses, besides those of the table of the fit.
    """
    from ..tables import check_columns, roles_of

    needed, roles = opening.needed_columns(model), roles_of(schema)
    for line in check_columns(needed, table, [*roles, *known], by_name):
        output.note(line)
    return table.select(needed)


class AnswerColumns:
    """Columns of answers: "prediction", and "p_CLASS" where there are probabilities.

    A row in which the model abstains (its answer is NaN, or none of the classes) has no prediction.
    """

    def __init__(self, model: Any, id_column: str | None):
        self.model, self.id = model, id_column
        self.n_empty = 0
        self._schema: pa.Schema | None = None

    def of(self, rows: RowsToPredict) -> "pa.Table":
        """AnswerColumns for a block of rows, in the types of the first block."""
        import pyarrow as pa

        answers = pa.table(_answers_of(self.model, rows.X))
        self.n_empty += max(column.null_count for column in answers.columns)
        if self.id is not None:
            if self.id in answers.column_names:
                raise UsageError(f"the id '{self.id}' has the name of an answer: rename it")
            answers = answers.add_column(0, self.id, rows.id)
        if self._schema is None:
            self._schema = answers.schema
        return answers.cast(self._schema)

    def note(self) -> None:
        """Say in how many rows the model abstained."""
        if self.n_empty:
            rows = count(self.n_empty, "row")
            output.note(f"the model abstains in {rows}: an empty prediction")


def _answers_of(model: Any, X: "pa.Table") -> "dict[str, Values]":
    import pyarrow as pa

    predicted = np.asarray(model.predict(X))
    classes = np.asarray(getattr(model, "classes_", [])).tolist() or None
    answers: dict[str, Values] = {}
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
    answers = pa.array(given, mask=np.array(none, dtype=bool))
    if pa.types.is_null(answers.type):  # a block in which every row abstains
        answers = answers.cast(pa.array(classes).type if classes else pa.float64())
    return answers
