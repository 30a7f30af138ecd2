"""The question of a report: what is predicted, from what, and how the table was read."""

from collections import Counter

from ..text.format import count
from .content.answer import ClassCount, Question
from .content.values import Note
from .prepared import Prepared
from .settings import Settings

MAX_NOTES = 12


def title_of(prepared: Prepared, settings: Settings) -> str:
    """The title of the page."""
    if settings.target is None:
        return f"Groups in {prepared.table.report.source}"
    return f"Can ‘{settings.target}’ be predicted?"


def question_of(prepared: Prepared, settings: Settings) -> Question:
    """What is asked of which rows; no sentence holds a value of a cell."""
    positive = None if prepared.positive is None else prepared.classes[prepared.positive]
    notes = [*prepared.notes, *(f"left out: {text}" for text in prepared.dropped)]
    more = len(notes) - MAX_NOTES
    if more > 0:
        notes = [*notes[:MAX_NOTES], f"and {count(more, 'more remark')} beside Table 1"]
    return Question(
        source=prepared.table.report.source, target=settings.target or "",
        task=prepared.task, n_rows=prepared.n, n_columns=len(prepared.columns),
        classes=_counted(prepared), positive=positive, positive_reason=prepared.positive_reason,
        reading=_reading(prepared, settings), notes=tuple(map(Note, notes)),
    )  # fmt: skip


def _counted(prepared: Prepared) -> tuple[ClassCount, ...]:
    """Classes with their rows: in the order of the model, of two the rarer first."""
    if not prepared.classes:
        return ()
    rows = Counter(prepared.codes().tolist())
    counts = [ClassCount(name, rows[k]) for k, name in enumerate(prepared.classes)]
    if prepared.task == "two classes":
        counts.sort(key=lambda c: c.n)
    return tuple(counts)


def _reading(prepared: Prepared, settings: Settings) -> tuple[str, ...]:
    """How the table was read; notes that quote cells only with ``show_rows``."""
    report = prepared.table.report
    if settings.show_rows:
        return tuple(report.lines())
    n_notes = len(report.notes)
    lines = report._replace(notes=()).lines()
    if n_notes:
        lines.append(f"{count(n_notes, 'remark')} on single columns, printed by the command")
    return tuple(lines)
