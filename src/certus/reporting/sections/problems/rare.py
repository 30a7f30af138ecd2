"""D-RARE: classes and categories of few rows."""

import numpy as np

from ....text.format import count, listed
from ...arrays import MIN_ROWS_NAMED
from ...content.data import DataProblem
from .view import DataView
from .wording import INFO, MAX_COLUMNS_NAMED, SEVERE, WARNING, quoted, verb

CODE = "D-RARE"
MAX_ROWS_OF_SEVERE = 10  # of a class: no interval of its measures is narrow enough to be of use
MAX_ROWS_OF_WARNING = 50
MAX_SHARE_OF_WARNING = 0.5  # over the share of a class if all were equally common
MAX_SHARE_OF_INFO = 0.05


def find(view: DataView) -> list[DataProblem]:
    """Return rare classes, and columns with rare categories."""
    return [*_classes(view), *_categories(view)]


def _classes(view: DataView) -> list[DataProblem]:
    if not view.is_classes:
        return []
    counts = np.bincount(view.target_codes, minlength=len(view.prepared.classes))
    order = np.argsort(counts, kind="stable")
    even = view.n / len(counts)
    few = [
        k
        for k in order
        if counts[k] < MAX_ROWS_OF_SEVERE
        or counts[k] < min(MAX_ROWS_OF_WARNING, MAX_SHARE_OF_WARNING * even)
    ]
    rare = few or [k for k in order if counts[k] < MAX_SHARE_OF_INFO * view.n]
    if not rare:
        return []
    severity = INFO
    if few:
        severity = SEVERE if counts[rare[0]] < MAX_ROWS_OF_SEVERE else WARNING
    rows = np.flatnonzero(np.isin(view.target_codes, rare))
    shown = listed([f"'{view.prepared.classes[k]}' ({count(counts[k], 'row')})" for k in rare], 4)
    return [DataProblem(
        CODE, f"Rare {verb(len(rare), 'class', 'classes')}: {shown}",
        severity, (), (), len(rows),  # row numbers would tell who has the class
        "What can be learned, and how precisely it can be measured, is limited by the rarest "
        "class, not by the number of rows. The share of right answers says little: always "
        "answering the commonest class is right for most rows.",
        "Collect more of them if you can; read the measures that look at each class, and choose "
        "the threshold by what errors cost.",
        "Folds keep the share of each class; no row was weighted or repeated.",
    )]  # fmt: skip


def _categories(view: DataView) -> list[DataProblem]:
    by_column = {}
    for name, column in view.categories.items():
        counts = column.counts
        rare = np.flatnonzero(counts < MIN_ROWS_NAMED)
        if len(rare):
            by_column[name] = (len(rare), np.flatnonzero(np.isin(column.codes, rare)))
    if not by_column:
        return []
    rows = np.unique(np.concatenate([rows for _, rows in by_column.values()]))
    names = sorted(by_column, key=lambda name: -by_column[name][0])
    n = sum(number for number, _ in by_column.values())
    categories = "category" if n == 1 else "categories"
    return [DataProblem(
        CODE,
        f"{n:,} {categories} of {quoted(names)} {verb(n, 'occurs', 'occur')} in fewer than "
        f"{MIN_ROWS_NAMED} rows",
        INFO, tuple(names[:MAX_COLUMNS_NAMED]), view.rows_in_file(rows), len(rows),
        "Nothing reliable can be learned of a category from so few rows, and some folds have none "
        "of them to learn from.",
        "Merge rare categories into one, or into a similar one.",
        "Models see all of them in a column as one category; on this page they are 'other levels'.",
    )]  # fmt: skip
