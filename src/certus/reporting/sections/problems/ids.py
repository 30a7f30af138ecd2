"""D-ID: columns that name rows instead of describing them.

A column that is different in each row can be learned by heart and tells nothing of new rows.
"""

import numpy as np

from ....tables.columns import ID_NAME, MIN_ROWS_OF_ID
from ...content.data import DataProblem
from .view import DataView
from .wording import INFO, MAX_COLUMNS_NAMED, WARNING, columns_text, quoted, verb

CODE = "D-ID"
MIN_SHARE_DISTINCT = 0.95


def find(view: DataView) -> list[DataProblem]:
    """Return ids that were left out, and used columns that look like ids."""
    found = []
    left_out = [c.name for c in view.unassigned if c.role == "id"]
    if left_out:
        n = len(left_out)
        found.append(DataProblem(
            CODE,
            f"{quoted(left_out)} {verb(n, 'looks like an id', 'look like ids')}",
            INFO, tuple(left_out[:MAX_COLUMNS_NAMED]), (), view.n,
            "All values differ, so they name rows and say nothing about new ones.",
            f"Nothing, or state it with --id {left_out[0]}. If it is a measurement, rename it.",
            f"Models were not given {verb(n, 'it', 'them')}.",
        ))  # fmt: skip
    used = _used_ids(view)
    if used:
        found.append(DataProblem(
            CODE,
            f"{columns_text(len(used))} that models use "
            f"{verb(len(used), 'looks like an id', 'look like ids')}: {quoted(used)}",
            WARNING, tuple(used[:MAX_COLUMNS_NAMED]), (), view.n,
            "The values are whole numbers, nearly all different, that are named like an id or only "
            "rise from row to row. A model can use them to recognise the order in which rows were "
            "collected, which new rows do not share.",
            f"If they name rows, leave them out: --drop {','.join(used[:3])}.",
            "Models used them.",
        ))  # fmt: skip
    return found


def _used_ids(view: DataView) -> list[str]:
    names = []
    for j, column in enumerate(view.number_columns):
        n_present = int(view.n_present[j])
        if view.n_distinct[j] < MIN_SHARE_DISTINCT * n_present or n_present < MIN_ROWS_OF_ID:
            continue
        values = view.numbers[:, j]
        values = values[~np.isnan(values)]
        if not np.all(values % 1 == 0):
            continue
        if ID_NAME.search(column.name) or bool(np.all(np.diff(values) > 0)):
            names.append(column.name)
    return names
