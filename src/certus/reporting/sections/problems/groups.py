"""D-GROUP: several rows of one unit (a patient, a house, a day) without --group.

If rows of a unit are in several folds, a model recognises the unit, and its score is too good.
Three signs are looked for:

    a column that names units: few rows each, and the target is nearly the same within a unit
    columns that are constant within units: rows that share the exact value of one share the others
    near copies: the nearest row is far nearer than the spacing of rows explains, and has the same
    target, which rows a little farther away have not
"""

from ....text.format import count
from ...content.data import DataProblem
from .group_signs import GroupSign, near_copies, shared_values, unit_column
from .view import DataView
from .wording import MAX_COLUMNS_NAMED, SEVERE, WARNING

CODE = "D-GROUP"
MIN_ROWS = 30


def find(view: DataView) -> list[DataProblem] | None:
    """Return the signs of repeated measurements; None if --group was given."""
    if not view.has_target or view.prepared.groups is not None or view.n < MIN_ROWS:
        return None
    for look in (unit_column, shared_values, near_copies):
        sign = look(view)
        if sign is not None:
            return [_problem(view, sign)]
    return []


def _problem(view: DataView, sign: GroupSign) -> DataProblem:
    flag = (
        f"--group {sign.columns[0]}" if sign.names_units else "--group with a column that names it"
    )
    return DataProblem(
        CODE, sign.title, SEVERE if sign.is_strong else WARNING, sign.columns[:MAX_COLUMNS_NAMED],
        view.rows_in_file(sign.rows), len(sign.rows),
        f"{sign.reason} If they belong to the same unit (a patient, a machine, a day), a model "
        "recognises the unit instead of learning what new units are like, and its score is too "
        "good.",
        f"If so, give {flag}: then all rows of a unit stay in one fold.",
        f"{count(len(sign.rows), 'row')} may be in other folds than rows of the same unit.",
    )  # fmt: skip
