"""What the target holds: two classes, classes, ordered classes or numbers.

Text and truth values are classes. Whole numbers are classes, with an order, if there are few
different ones; all other numbers are numbers. ``--task`` overrules this, and ``--order`` gives
classes an order.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..exceptions import TableError, UsageError
from ..tables.targets import MAX_CLASSES, are_whole, target_of, tasks_of
from ..text.format import count, listed
from ..text.suggestions import unknown
from .settings import TASKS, Settings

if TYPE_CHECKING:
    from ..tables import Column, Table

MAX_CODES = 10  # different whole numbers that are taken as classes without being told so
MIN_ROWS_OF_CODE = 3  # on average; in shorter columns most numbers repeat by chance
MIN_ROWS_OF_CLASS = 5
RARER = "the rarer class"


@dataclass(frozen=True, eq=False)
class TargetValues:
    """The target of the rows that have one of the classes, or a number."""

    y: np.ndarray
    task: str
    kept: np.ndarray  # indices of the rows
    classes: tuple[str, ...] = ()
    labels: tuple[object, ...] = ()
    positive: int | None = None
    positive_reason: str = ""
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())


def answers_of(table: "Table", settings: Settings) -> TargetValues:
    """The answers of a table without missing ones, and what they are taken as.

    Raises ``TableError`` for a column that cannot be predicted, ``UsageError`` for options that do
    not fit it.
    """
    name = settings.target
    if name is None:
        raise UsageError("no target: name the column that shall be predicted")
    if settings.task not in TASKS:
        raise UsageError(unknown("task", settings.task, TASKS))
    column = table.column(name)
    _require_options_that_agree(settings)
    possible = tasks_of(column, table)
    if settings.task == "numbers" or (settings.task == "auto" and _are_numbers(table, column)):
        if settings.positive is not None or settings.order:
            option = "--order" if settings.order else "--positive"
            if settings.task == "numbers" or "classes" not in possible:
                raise UsageError(f"{option} is for classes, and '{name}' is taken as numbers")
        else:
            return _numbers(table, name, settings, "classes" in possible)
    return _classes(table, name, settings)


def _require_options_that_agree(settings: Settings) -> None:
    if settings.order and settings.task not in ("auto", "ordered"):
        raise UsageError(f"--order is for ordered classes, and --task is {settings.task}")
    if settings.positive is not None and settings.task not in ("auto", "two-classes"):
        raise UsageError(f"--positive is for two classes, and --task is {settings.task}")


def _are_numbers(table: "Table", column: "Column") -> bool:
    """Is a column of numbers taken as such, rather than as codes of classes?"""
    if tasks_of(column, table) == ("classes",):
        return False
    if not are_whole(table.data.column(column.name)):
        return True
    few = column.n_distinct <= MAX_CODES
    return not (few and table.report.n_rows >= MIN_ROWS_OF_CODE * column.n_distinct)


def _numbers(table: "Table", name: str, settings: Settings, could_be_classes: bool) -> TargetValues:
    y = target_of(table, name, "numbers")
    if y.dtype.kind not in "iuf":
        raise UsageError(f"--task numbers: the target '{name}' holds text. Leave --task out")
    note = f"'{name}' is taken as numbers"
    if could_be_classes and settings.task == "auto":
        note += " (--task classes or --task ordered changes this)"
    return TargetValues(y.astype(float), "numbers", np.arange(len(y)), notes=(note,))


def _classes(table: "Table", name: str, settings: Settings) -> TargetValues:
    y = target_of(table, name, "classes")
    counts = Counter(y.tolist())
    frequent = [label for label, n in counts.items() if n >= MIN_ROWS_OF_CLASS]
    dropped: tuple[str, ...] = ()
    kept = np.arange(len(y))
    if len(counts) > 2 and len(frequent) < len(counts):
        _require_several(name, counts, frequent)
        kept = np.flatnonzero(np.isin(y, frequent))
        n_classes, n_rows = len(counts) - len(frequent), len(y) - len(kept)
        what = "a class" if n_classes == 1 else f"{n_classes:,} classes"
        dropped = (
            f"{count(n_rows, 'row')} of {what} with fewer than {MIN_ROWS_OF_CLASS} rows: too few "
            "to learn from",
        )
        y = y[kept]
    labels = sorted(frequent if dropped else counts, key=_sorted_as)
    if len(labels) > MAX_CLASSES:
        raise TableError(
            f"the target '{name}' holds {len(labels)} classes, and a report compares at most "
            f"{MAX_CLASSES}: merge some, or, if they are numbers, give --task numbers"
        )
    rare = [label for label in labels if counts[label] < MIN_ROWS_OF_CLASS]
    if rare:
        raise TableError(
            f"the target '{name}': only {count(counts[rare[0]], 'row')} of class "
            f"'{as_text(rare[0])}'. A report needs at least {MIN_ROWS_OF_CLASS} rows of each class"
        )
    ordered = _is_ordered(y, settings, len(labels))
    if settings.order:
        labels = _in_order(name, labels, settings.order)
    classes = tuple(map(as_text, labels))
    positive, reason = _positive(name, labels, counts, settings)
    task = "two classes" if len(labels) == 2 else "ordered classes" if ordered else "classes"
    if settings.task == "two-classes" and len(labels) != 2:
        raise UsageError(f"--task two-classes: '{name}' has {len(labels)} classes: "
                         f"{listed(classes, MAX_CLASSES)}")  # fmt: skip
    return TargetValues(y, task, kept, classes, tuple(labels), positive, reason, dropped,
                   _notes(name, task, y, settings))  # fmt: skip


def _require_several(name: str, counts: "Counter[object]", frequent: Sequence[object]) -> None:
    if len(frequent) < 2:
        raise TableError(
            f"the target '{name}' holds {len(counts):,} different values in "
            f"{sum(counts.values()):,} rows, and fewer than two of them in {MIN_ROWS_OF_CLASS} "
            "rows: choose another target, or merge its classes"
        )


def _is_ordered(y: np.ndarray, settings: Settings, n_classes: int) -> bool:
    if settings.task == "auto":
        return n_classes > 2 and (y.dtype.kind in "iuf" or bool(settings.order))
    return settings.task == "ordered" and n_classes > 2


def _in_order(name: str, labels: Sequence[object], order: Sequence[str]) -> list[object]:
    by_text = {as_text(label): label for label in labels}
    for text in order:
        if text not in by_text:
            raise UsageError(unknown(f"class of '{name}'", text, by_text))
    left = [text for text in by_text if text not in order]
    if left or len(set(order)) < len(order):
        what = f"leaves out {listed(left)}" if left else "names a class twice"
        raise UsageError(f"--order {what}: name each class once, from low to high")
    return [by_text[text] for text in order]


def _positive(
    name: str, labels: Sequence[object], counts: "Counter[object]", settings: Settings
) -> tuple[int | None, str]:
    """The index of the positive class of two, and why it is that one."""
    if settings.positive is None:
        if len(labels) != 2:
            return None, ""
        first, second = (counts[label] for label in labels)
        return int(second <= first), RARER if first != second else "the second of two as frequent"
    texts = [as_text(label) for label in labels]
    if settings.positive not in texts:
        raise UsageError(unknown(f"class of '{name}'", settings.positive, texts))
    if len(labels) != 2:
        raise UsageError(f"--positive is for two classes, and '{name}' has {len(labels)}: "
                         f"{listed(texts, MAX_CLASSES)}")  # fmt: skip
    return texts.index(settings.positive), "--positive"


def _notes(name: str, task: str, y: np.ndarray, settings: Settings) -> tuple[str, ...]:
    if settings.task != "auto" or settings.order or y.dtype.kind not in "iuf":
        if task == "ordered classes" and not settings.order and y.dtype.kind not in "iuf":
            return (f"the classes of '{name}' are ordered alphabetically (--order gives another)",)
        return ()
    if task == "two classes":
        return (f"the two numbers of '{name}' are taken as classes",)
    return (
        f"'{name}' holds few different whole numbers, taken as ordered classes (--task numbers or "
        "--task classes changes this)",
    )


def _sorted_as(label: object) -> tuple[bool, object]:
    return isinstance(label, str), label


def as_text(label: object) -> str:
    """A class as text: 3 of the number 3.0, True of a truth value."""
    if isinstance(label, float):
        return f"{label:g}" if label % 1 else str(int(label))
    return str(label)
