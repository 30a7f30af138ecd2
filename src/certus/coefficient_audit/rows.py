"""The rows of a table of coefficients: its terms as columns, targets as numbers, rows complete."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..certificate.offsets import offsets as offsets_of
from ..data.frames import labels_from_frame, library_of, require_same_order
from ..data.validation import as_numbers, weights
from ..exceptions import TableError
from ..text.format import count, listed
from ..text.suggestions import unknown
from .judge import Printed
from .objective import DesignMatrix
from .presets import Loss
from .table.columns import DataColumns, data_columns
from .table.read_table import CoefficientTable, is_intercept
from .table.terms import TermColumn, TermReader

MAX_ROWS_NAMED = 3
REFUSALS_OF_CLASSES = (
    "y has {k} classes: tables of more than two classes are not audited. Give one class against "
    "another, or a y of two classes"
)


@dataclass(frozen=True, eq=False)
class AuditedRows:
    """A design with the terms that it was built of."""

    design: DesignMatrix
    printed: Printed
    terms: tuple[TermColumn, ...]  # without the intercept
    order: tuple[int, ...]  # rows of the table: intercept first, then the terms
    classes: tuple[Any, Any] | None  # the second is the positive one
    losses: tuple[Loss, ...]  # that y allows, the likeliest first
    n_omitted: int
    full_digits: bool  # the table was not rounded for people


def audited_rows(
    table: CoefficientTable, X: Any, y: Any, sample_weight: Any, positive_class: Any, offset: Any,
    na: str, may_be_classes: bool = True,
) -> tuple[AuditedRows, DataColumns, np.ndarray]:  # fmt: skip
    """Return the design of a table, its data and the rows that are complete.

    ``may_be_classes``: whether two numbers of y may be classes. Raises ``TableError`` with the row,
    the column and the remedy.
    """
    require_same_order(X, y, sample_weight)
    target = y if isinstance(y, str) else None
    data = data_columns(X, table.terms)
    y, s = _column_or_values(data, y, "y"), _column_or_values(data, sample_weight, "sample_weight")
    names = [name for name in data.names if name != target]
    data.values = {name: data.values[name] for name in names}
    reader = TermReader(data)
    at = [j for j, term in enumerate(table.terms) if is_intercept(term) and term not in data.names]
    if len(at) > 1:
        raise TableError("the table has two intercepts: " + ", ".join(table.terms[j] for j in at))
    others = [j for j in range(len(table.terms)) if j not in at]
    terms = tuple(reader.read(table.terms[j], table.levels[j]) for j in others)
    _require_different(terms)
    n = data.n
    labels = np.asarray(labels_from_frame(y) if library_of(y) is not None else y)
    if labels.shape != (n,):
        raise TableError(f"y has shape {labels.shape}, and X has {count(n, 'row')}")
    s = weights(s, n) if s is not None else None
    o = offsets_of(offset, None, n)
    incomplete = _incomplete(terms, data, labels)
    keep = np.ones(n, dtype=bool)
    for name, missing in incomplete.items():
        if missing.any() and na != "omit":
            rows = np.flatnonzero(missing)
            shown = listed([str(i) for i in rows[:MAX_ROWS_NAMED].tolist()])
            raise TableError(
                f"{name} is missing in {count(len(rows), 'row')} (row {shown}"
                f"{', …' if len(rows) > MAX_ROWS_NAMED else ''}): R and patsy drop such rows; "
                'na="omit" does the same'
            )
        keep &= ~missing
    if not keep.any():
        raise TableError("no row is complete")
    numbers, classes, losses = _target(labels[keep], positive_class, may_be_classes)
    values = [term.values[keep] for term in terms]
    design = DesignMatrix(
        tuple(term.name for term in terms),
        np.column_stack(values) if values else np.empty((int(keep.sum()), 0)),
        numbers, None if s is None else s[keep], None if o is None else o[keep], bool(at),
    )  # fmt: skip
    order = (*at, *others)
    estimates = table.estimates
    printed = Printed(estimates.values[list(order)], estimates.half_units[list(order)])
    n_omitted = int(n - keep.sum())
    found = AuditedRows(
        design, printed, terms, order, classes, losses, n_omitted, estimates.full
    )  # fmt: skip
    return found, data, keep


def _column_or_values(data: DataColumns, given: Any, what: str) -> Any:
    """Return a column of the data where a name was given."""
    if not isinstance(given, str):
        return given
    if given not in data.values:
        raise TableError(unknown(f"column for {what}", given, data.names, "the data"))
    return data.values[given]


def _require_different(terms: tuple[TermColumn, ...]) -> None:
    """Refuse two terms that are one column."""
    seen: dict[tuple[str, tuple[str, str] | None], str] = {}
    for term in terms:
        if len(term.columns) != 1 or "(" in term.name or "^" in term.name:
            continue
        key = term.columns[0], term.level
        if key in seen:
            raise TableError(f"the terms '{seen[key]}' and '{term.name}' are the same column")
        seen[key] = term.name


def _incomplete(
    terms: tuple[TermColumn, ...], data: DataColumns, labels: np.ndarray
) -> dict[str, np.ndarray]:
    used = dict.fromkeys(name for term in terms for name in term.columns)
    found = {f"column '{name}'": data.missing(name) for name in used}
    if labels.dtype.kind == "O":
        found["y"] = np.array([v is None or v != v for v in labels])
    elif labels.dtype.kind == "f":
        found["y"] = np.isnan(labels)
    return found


# --- the target -----------------------------------------------------------------------------------


def _target(
    y: np.ndarray, positive_class: Any, may_be_classes: bool
) -> tuple[np.ndarray, tuple[Any, Any] | None, tuple[Loss, ...]]:
    """Return y as numbers (two classes: 0 and 1), the classes, and the losses that fit it."""
    if y.dtype.kind == "O" and all(isinstance(v, bool | np.bool_) for v in y):
        y = y.astype(bool)
    try:
        numbers = y.astype(float) if y.dtype.kind in "fiub" else None
    except (TypeError, ValueError):
        numbers = None
    if numbers is None and all(isinstance(v, int | float) for v in y):
        numbers = as_numbers(y, "y")
    distinct = _distinct(y)
    two = len(distinct) == 2 and may_be_classes
    if positive_class is not None or numbers is None or two:
        classes = _classes(distinct, positive_class)
    else:
        classes = None
    if numbers is None:
        assert classes is not None
        return np.array([v == classes[1] for v in y], dtype=float), classes, ("logistic",)
    if not np.isfinite(numbers).all():
        raise TableError(f"y is not finite in row {np.flatnonzero(~np.isfinite(numbers))[0]}")
    if classes is not None:
        ones = (numbers == float(classes[1])).astype(float)
        if set(map(float, distinct)) == {0.0, 1.0} and positive_class in (None, 1, True):
            return ones, classes, ("logistic", "gaussian", "poisson")
        return ones, classes, ("logistic",)
    losses: list[Loss] = ["gaussian"]
    if (numbers >= 0).all() and (numbers % 1 == 0).all():
        losses.insert(0, "poisson")
    elif (numbers >= 0).all():
        losses.append("poisson")
    if (numbers > 0).all():
        losses.append("gamma")
    return numbers, None, tuple(losses)


def _distinct(y: np.ndarray) -> list[Any]:
    values = y.tolist()
    distinct = list(dict.fromkeys(values))
    try:
        return sorted(distinct)
    except TypeError:
        return sorted(distinct, key=str)


def _classes(distinct: list[Any], positive_class: Any) -> tuple[Any, Any]:
    if len(distinct) != 2:
        if len(distinct) < 2:
            raise TableError("y has one value only: there is nothing to fit")
        raise TableError(REFUSALS_OF_CLASSES.format(k=len(distinct)))
    if positive_class is None:
        return distinct[0], distinct[1]
    same = [v for v in distinct if v == positive_class or str(v) == str(positive_class)]
    if not same:
        raise TableError(unknown("class", str(positive_class), distinct, "y"))
    return next(v for v in distinct if v != same[0]), same[0]
