"""Words for classes that are separated, so that there is no finite optimum."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...text.format import count, listed, name_of, number, printable
from ..facts import ClassFacts, Combination, OneColumn, Ordering, Separation
from ..findings import facts_of
from .wording import Lines

if TYPE_CHECKING:
    from ..certificate import Certificate


class _Told(NamedTuple):
    separates: str  # what separates whom
    grows: str
    remedy: str


def separates(c: "Certificate") -> str:
    """The finding of ``explain_separation`` alone, for one line."""
    told = _told_of(c).separates
    return told[0].lower() + told[1:]


def no_finite_optimum(c: "Certificate") -> Lines:
    told, grow, remedy = _told_of(c)
    return [
        ("Objective", f"{number(c.objective, 7)}; larger coefficients always have a lower one"),
        ("What is wrong", f"{told}, so {grow}"),
        ("What to do", f"do not read the coefficients, odds ratios or p-values; {remedy}"),
    ]


def separation_warning(c: "Certificate") -> str:
    return _warning(_told_of(c))


def explain_separation(
    names: Sequence[str] | None, classes: np.ndarray, separation: Separation
) -> str:
    """SeparationWarning: what separates the classes."""
    return _warning(_told(names, classes, separation))


def _warning(told: _Told) -> str:
    return printable(
        f"no finite optimum. {told.separates}, so {told.grows}. Do not read the coefficients, odds "
        f"ratios or p-values. {told.remedy[0].upper()}{told.remedy[1:]}."
    )


def _told_of(c: "Certificate") -> _Told:
    separation = facts_of(c, ClassFacts).separation
    assert c.labels is not None
    assert separation is not None
    return _told(c.feature_names, c.labels.classes, separation)


def _told(names: Sequence[str] | None, classes: np.ndarray, separation: Separation) -> _Told:
    if isinstance(separation, Ordering):
        return _in_order(names, separation)
    labels = [repr(label) for label in np.asarray(classes).tolist()]
    firth = "FirthLogisticRegression, " if len(labels) == 2 else ""
    if isinstance(separation, OneColumn):
        return _Told(
            _by_one_column(names, labels, separation),
            "its coefficient grows without limit",
            f"use {firth}a finite C, or drop {name_of(separation.column, names)}",
        )
    return _Told(
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


def _in_order(names: Sequence[str] | None, separation: Ordering) -> _Told:
    """What separates ordered classes; what grows; what to use."""
    columns = [name_of(j, names) for j in separation.columns]
    if len(columns) == 1:
        side, name = "above" if separation.rises else "below", columns[0]
        told = f"No row of a class has {name} {side} that of a row of the next class"
        return _Told(told, "its coefficient grows without limit", f"use alpha > 0, or drop {name}")
    told = f"A combination of {listed(columns)} puts all rows in the order of their classes"
    return _Told(told, "its coefficients grow without limit", "use alpha > 0, or fewer columns")


def _counted(label: str, rows: int | None) -> str:
    return label if rows is None else f"{label} ({count(rows, 'row')})"


def _by_one_column(names: Sequence[str] | None, labels: list[str], separation: OneColumn) -> str:
    j, threshold = separation.column, number(separation.threshold, 15)
    name = str(names[j]) if names is not None else f"column {j}"
    here = _counted(labels[separation.class_index], separation.rows)
    told = f"Every row with {name} {separation.side} {threshold} is {here}"
    other = separation.other
    if other is not None:
        told += f" and every other row is {_counted(labels[other], separation.other_rows)}"
    return told
