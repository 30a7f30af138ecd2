"""D-TEXT: text that no model uses, categories that differ by spelling, numbers mixed with text."""

import numpy as np

from ....tables.conversion import matches, n_true, rows_of
from ....tables.formats import CURRENCY, PERCENT, styles_for
from ....text.format import count
from ...arrays import MIN_ROWS_NAMED
from ...content.data import DataProblem
from .view import MAX_ROWS_SHOWN, DataView
from .wording import INFO, MAX_COLUMNS_NAMED, WARNING, columns_text, quoted, verb

CODE = "D-TEXT"
MIN_SHARE_OF_QUANTITIES = 0.5


def find(view: DataView) -> list[DataProblem]:
    """Return free text, categories that are spelt alike and numbers that are read as text."""
    return [*_free_text(view), *_spelt_alike(view), *_numbers_as_text(view)]


def _free_text(view: DataView) -> list[DataProblem]:
    mixed = {c.name for c in view.prepared.table.columns if c.is_mixed}
    names = [c.name for c in view.unassigned
             if c.role in ("text", "nested") and c.name not in mixed]  # fmt: skip
    if not names:
        return []
    n = len(names)
    return [DataProblem(
        CODE, f"{quoted(names)} {verb(n, 'holds', 'hold')} text that no model uses", INFO,
        tuple(names[:MAX_COLUMNS_NAMED]), (), view.n,
        "There are too many different texts to use each as a category.",
        "If the text matters, make columns of what it says (a length, a keyword, a code), or group "
        "it into fewer categories.",
        f"Models were not given {verb(n, 'it', 'them')}.",
    )]  # fmt: skip


def _spelt_alike(view: DataView) -> list[DataProblem]:
    found = []
    for name, column in view.categories.items():
        by_spelling: dict[str, list[int]] = {}
        for code, level in enumerate(column.levels):
            by_spelling.setdefault(" ".join(level.casefold().split()), []).append(code)
        alike = [codes for codes in by_spelling.values() if len(codes) > 1]
        if not alike:
            continue
        counts = column.counts
        rarer = np.concatenate([sorted(codes, key=lambda c: -counts[c])[1:] for codes in alike])
        rows = np.flatnonzero(np.isin(column.codes, rarer))
        shown = [
            " and ".join(f"'{column.levels[c]}'" for c in codes)
            for codes in alike
            if all(counts[c] >= MIN_ROWS_NAMED for c in codes)
        ]
        example = f", such as {shown[0]}" if shown else ""
        n = len(rarer)
        found.append(DataProblem(
            CODE,
            f"'{name}' has {columns_text(n, 'category').replace('categorys', 'categories')} that "
            f"{verb(n, 'differs', 'differ')} from another by case or spaces only",
            WARNING, (name,), view.rows_in_file(rows), len(rows),
            f"To a model they are different categories{example}, so what it learns is divided "
            "between them.",
            "Write them in one way.", "They were kept apart.",
        ))  # fmt: skip
    return found


def _numbers_as_text(view: DataView) -> list[DataProblem]:
    found = []
    used = {c.name for c in view.prepared.columns}
    for column in view.prepared.table.columns:
        if column.name in view.assigned_columns or column.role not in ("text", "category"):
            continue
        if column.is_mixed:
            rows = _rows_without_number(view, column.name)
            what = f"mostly numbers, but text in {count(len(rows), 'row')}"
        else:
            rows, what = [], _quantities(view, column.name)
        if not what:
            continue
        found.append(DataProblem(
            CODE, f"'{column.name}' holds {what}", WARNING, (column.name,),
            tuple(rows[:MAX_ROWS_SHOWN]), len(rows) or view.n,
            "The column is read as text, so a model cannot know which value is larger.",
            "Write plain numbers, and leave cells empty where there is none.",
            "It was used as categories." if column.name in used
            else "Models were not given it: it has too many different texts.",
        ))  # fmt: skip
    return found


def _rows_without_number(view: DataView, name: str) -> list[int]:
    """Rows of the file whose cell is neither a number nor missing."""
    import pyarrow.compute as pc

    cells = view.prepared.table.data.column(name)
    dialect = view.prepared.table.report.dialect
    styles = styles_for(dialect.decimal if dialect is not None else ".")
    is_number = matches(cells, "|".join(f"({s.pattern})" for s in styles[:2]))
    return rows_of(pc.invert(is_number), len(cells))


def _quantities(view: DataView, name: str) -> str:
    cells = view.prepared.table.data.column(name)
    n_cells = len(cells) - cells.null_count
    for pattern, what in ((PERCENT, "percentages"), (CURRENCY, "amounts of money")):
        if n_cells and n_true(matches(cells, pattern)) > MIN_SHARE_OF_QUANTITIES * n_cells:
            return f"{what} as text"
    return ""
