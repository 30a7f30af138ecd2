"""Texts for classes that are separated, and counts that fall, so that no optimum is finite."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...text.format import count, listed, name_of, number, printable
from ..facts import ClassFacts, Combination, Falling, Ordering, SeparatingColumn, Separation
from ..findings import facts_of
from .wording import Lines

if TYPE_CHECKING:
    from ..certificate import Certificate


class _SeparationText(NamedTuple):
    separates: str  # which columns separate which classes
    grows: str  # which coefficients grow
    remedy: str
    ratios: str = "odds ratios"


def separates(c: "Certificate") -> str:
    """Return what separates the classes, on one line."""
    text = _text_of(c).separates
    return text[0].lower() + text[1:]


def no_finite_optimum(c: "Certificate") -> Lines:
    text, grow, remedy, ratios = _text_of(c)
    return [
        ("Objective", f"{number(c.objective, 7)}; larger coefficients always have a lower one"),
        ("What is wrong", f"{text}, so {grow}"),
        ("What to do", f"do not read the coefficients, {ratios} or p-values; {remedy}"),
    ]


def separation_warning(c: "Certificate") -> str:
    return _warning(_text_of(c))


def explain_separation(
    names: Sequence[str] | None, classes: np.ndarray, separation: Separation
) -> str:
    """Message of SeparationWarning: what separates the classes."""
    return _warning(_text(names, classes, separation))


def _warning(text: _SeparationText) -> str:
    return printable(
        f"no finite optimum. {text.separates}, so {text.grows}. Do not read the coefficients, "
        f"{text.ratios} or p-values. {text.remedy[0].upper()}{text.remedy[1:]}."
    )


def _text_of(c: "Certificate") -> _SeparationText:
    separation = facts_of(c, ClassFacts).separation
    assert separation is not None
    if isinstance(separation, Falling):
        return _SeparationText(*_falling(c.feature_names, separation), ratios="rate ratios")
    assert c.labels is not None
    return _text(c.feature_names, c.labels.classes, separation)


def _text(
    names: Sequence[str] | None, classes: np.ndarray, separation: Separation
) -> _SeparationText:
    if isinstance(separation, Ordering):
        return _in_order(names, separation)
    labels = [repr(label) for label in np.asarray(classes).tolist()]
    firth = "FirthLogisticRegression, " if len(labels) == 2 else ""
    if isinstance(separation, SeparatingColumn):
        return _SeparationText(
            _by_one_column(names, labels, separation),
            "its coefficient grows without limit",
            f"use {firth}a finite C, or drop {name_of(separation.column, names)}",
        )
    assert isinstance(separation, Combination)
    return _SeparationText(
        _by_columns(names, labels, separation),
        "its coefficients grow without limit",
        f"use {firth}a finite C, or fewer columns",
    )


def _by_columns(names: Sequence[str] | None, labels: list[str], separation: Combination) -> str:
    columns = [name_of(j, names) for j in separation.columns]
    what = f"A combination of {listed(columns)}" if columns else "A combination of columns"
    if len(columns) == 1:
        what = columns[0][0].upper() + columns[0][1:]
    if separation.classes is None:
        return f"{what} separates the classes"
    rows = separation.rows or (None, None)
    a, b = (_counted(labels[k], m) for k, m in zip(separation.classes, rows, strict=True))
    return f"{what} separates {a} from {b}"


def _in_order(names: Sequence[str] | None, separation: Ordering) -> _SeparationText:
    """Text for ordered classes."""
    columns = [name_of(j, names) for j in separation.columns]
    if len(columns) == 1:
        side, name = "above" if separation.rises else "below", columns[0]
        text = f"No row of a class has {name} {side} that of a row of the next class"
        return _SeparationText(
            text, "its coefficient grows without limit", f"use alpha > 0, or drop {name}"
        )
    text = f"A combination of {listed(columns)} puts all rows in the order of their classes"
    return _SeparationText(
        text, "its coefficients grow without limit", "use alpha > 0, or fewer columns"
    )


def _counted(label: str, rows: int | None) -> str:
    return label if rows is None else f"{label} ({count(rows, 'row')})"


def _by_one_column(
    names: Sequence[str] | None, labels: list[str], separation: SeparatingColumn
) -> str:
    j, threshold = separation.column, number(separation.threshold, 15)
    name = str(names[j]) if names is not None else f"column {j}"
    side_class = _counted(labels[separation.class_index], separation.rows)
    text = f"Every row with {name} {separation.side} {threshold} is {side_class}"
    other = separation.other
    if other is not None:
        text += f" and every other row is {_counted(labels[other], separation.other_rows)}"
    return text


def _falling(names: Sequence[str] | None, falling: Falling) -> tuple[str, str, str]:
    """What makes the optimum infinite, what follows for the coefficients, and the remedy."""
    zeros = count(falling.rows, "row")
    if not falling.columns:
        return (
            f"Every count is 0 ({zeros})",
            "the intercept falls without limit",
            "there is nothing to fit: give rows with counts above 0",
        )
    if len(falling.columns) > 1:
        columns = listed([name_of(j, names) for j in falling.columns])
        return (
            f"A combination of {columns} is the same in every row with a count above 0, and beyond "
            f"that in {zeros} with count 0",
            "their coefficients grow without limit",
            "use alpha > 0, or combine categories",
        )
    (j,) = falling.columns
    moves = "falls" if falling.side == ">" else "grows"
    where = f"{falling.side} {number(falling.threshold or 0.0, 15)}"
    if falling.level is not None:
        where = f"= {number(falling.level, 15)}"
    return (
        f"Every row with {name_of(j, names)} {where} has count 0 ({zeros})",
        f"its coefficient {moves} without limit",
        f"use alpha > 0, drop {name_of(j, names)}, or combine categories",
    )
