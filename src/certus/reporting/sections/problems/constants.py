"""D-CONST: columns without information: one value in all rows, or in nearly all of them."""

import numpy as np

from ...content.data import DataProblem
from .view import DataView
from .wording import INFO, MAX_COLUMNS_NAMED, columns_text, quoted, verb

CODE = "D-CONST"
MIN_OTHER_ROWS = 5  # rows with another value than the commonest; fewer teach a model nothing
MIN_ROWS = 50


def find(view: DataView) -> list[DataProblem]:
    """Return constant and empty columns, and columns with fewer than 5 other values."""
    found = []
    for role, what in (("constant", "the same value in every row"), ("empty", "no value")):
        names = [c.name for c in view.unassigned if c.role == role]
        if names:
            n = len(names)
            found.append(DataProblem(
                CODE, f"{quoted(names)} {verb(n, 'has', 'have')} {what}", INFO,
                tuple(names[:MAX_COLUMNS_NAMED]), (), view.n,
                "A column that does not vary cannot help to predict.",
                f"Drop {verb(n, 'it', 'them')}, or find out why {verb(n, 'it is', 'they are')} so.",
                f"Models were not given {verb(n, 'it', 'them')}.",
            ))  # fmt: skip
    nearly = _nearly_constant(view)
    if nearly:
        rows = np.unique(np.concatenate([others for _, others in nearly]))
        names = [name for name, _ in nearly]
        found.append(DataProblem(
            CODE,
            f"{columns_text(len(names))} {verb(len(names), 'has', 'have')} the same value in all "
            f"but a few rows: {quoted(names)}",
            INFO, tuple(names[:MAX_COLUMNS_NAMED]), view.rows_in_file(rows), len(rows),
            f"Fewer than {MIN_OTHER_ROWS} rows differ: whatever a model learns from them is "
            "learned from these rows alone.",
            "Check these rows for errors; drop the column if the value is not of interest.",
            "Models used them.",
        ))  # fmt: skip
    return found


def _nearly_constant(view: DataView) -> list[tuple[str, np.ndarray]]:
    """Columns with the rows that differ from the commonest value; missing values do not count."""
    if view.n < MIN_ROWS:
        return []
    found = []
    middles = view.ordered_numbers[view.n_present // 2, np.arange(len(view.n_present))]
    for j, column in enumerate(view.number_columns):
        if view.n_distinct[j] > MIN_OTHER_ROWS:
            continue
        values = view.numbers[:, j]
        others = np.flatnonzero((values != middles[j]) & ~np.isnan(values))
        if 0 < len(others) < MIN_OTHER_ROWS:
            found.append((column.name, others))
    for name, column_codes in view.categories.items():
        counts = column_codes.counts
        if len(counts) > 1 and counts.sum() - counts.max() < MIN_OTHER_ROWS:
            codes = column_codes.codes
            found.append((name, np.flatnonzero((codes >= 0) & (codes != counts.argmax()))))
    return found
