r"""D-DATE: dates that no model uses, dates among other text, and dates written as numbers.

20240131              year, month and day in eight digits
1706659200            seconds since 1970, in a column that is named like a time
"""

import re

import numpy as np

from ....tables.conversion import matches, n_true, rows_of
from ....tables.formats import DATE
from ....text.format import count
from ...content.data import DataProblem
from .view import MAX_ROWS_SHOWN, DataView
from .wording import INFO, MAX_COLUMNS_NAMED, WARNING, quoted, verb

CODE = "D-DATE"
MIN_SHARE_OF_DATES = 0.5
MAX_ROWS_TRIED = 1_000  # in which dates are looked for first
TIME_NAME = re.compile(r"(?i)date|time|stamp|(^|_)(at|on|ts|dt)$")
UNIX_SECONDS = (1e8, 4e9)  # 1973 to 2096
NUMBERS_FROM_DATES = (
    "Make numbers of it (days since a day, month, weekday, age). If rows come in the order of this "
    "date, give --time, so that folds follow time."
)


def find(view: DataView) -> list[DataProblem]:
    """Return dates that were left out, and columns in which dates are hidden."""
    found = []
    dates = [c.name for c in view.unassigned if c.role == "date"]
    if dates:
        n = len(dates)
        found.append(DataProblem(
            CODE, f"{quoted(dates)} {verb(n, 'is a date', 'are dates')} that no model uses", INFO,
            tuple(dates[:MAX_COLUMNS_NAMED]), (), view.n,
            "What changes with time (seasons, prices, ageing) is lost, and rows of one day may be "
            "in several folds.",
            NUMBERS_FROM_DATES, f"Models were not given {verb(n, 'it', 'them')}.",
        ))  # fmt: skip
    for name, others in _mixed_dates(view):
        found.append(DataProblem(
            CODE, f"'{name}' holds dates among other text", WARNING, (name,),
            tuple(others[:MAX_ROWS_SHOWN]), len(others),
            f"{count(len(others), 'cell')} {verb(len(others), 'is no date', 'are no dates')}, or "
            "written in another way, so the column is read as text.",
            f"Write all dates as 2024-01-31 and leave the other cells empty. {NUMBERS_FROM_DATES}",
            "It was treated as text.",
        ))  # fmt: skip
    found += [
        DataProblem(
            CODE, f"'{name}' looks like dates written as numbers", WARNING, (name,), (), view.n,
            "As numbers they are not evenly spaced, or far larger than any other column, and a "
            "model extrapolates them for every row that is collected later.",
            f"{NUMBERS_FROM_DATES} Or leave it out: --drop {name}.",
            "Models used it as a number.",
        )
        for name in _dates_as_numbers(view)
    ]  # fmt: skip
    return found


def _mixed_dates(view: DataView) -> list[tuple[str, list[int]]]:
    """Columns of which most cells are dates, with the rows of the file where they are none."""
    import pyarrow.compute as pc

    found = []
    for column in view.prepared.table.columns:
        if column.role not in ("text", "category") or column.name in view.assigned_columns:
            continue
        cells = view.prepared.table.data.column(column.name)
        n_cells = len(cells) - cells.null_count
        if n_true(matches(cells[:MAX_ROWS_TRIED], DATE)) < MIN_SHARE_OF_DATES * min(
            n_cells, MAX_ROWS_TRIED
        ):
            continue
        is_date = matches(cells, DATE)
        if n_true(is_date) >= MIN_SHARE_OF_DATES * n_cells:
            found.append((column.name, rows_of(pc.invert(is_date), n_cells)))
    return found


def _dates_as_numbers(view: DataView) -> list[str]:
    names = []
    for j, column in enumerate(view.number_columns):
        n = int(view.n_present[j])
        if n < 2 or view.n_distinct[j] < 2:
            continue
        low, high = view.ordered_numbers[0, j], view.ordered_numbers[n - 1, j]
        is_eight_digits = low >= 19000101 and high <= 20991231
        is_seconds = UNIX_SECONDS[0] <= low and high <= UNIX_SECONDS[1]
        if not (is_eight_digits or (is_seconds and TIME_NAME.search(column.name))):
            continue
        values = view.ordered_numbers[:n, j]
        if not np.all(values % 1 == 0):
            continue
        month, day = values // 100 % 100, values % 100
        are_days = bool(np.all((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)))
        if not is_eight_digits or are_days:
            names.append(column.name)
    return names
