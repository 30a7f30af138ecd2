"""Section 9: the columns by outcome, and what was missing or left out.

numbers       mean (standard deviation), or median (quartiles) where the skewness is above 1
categories    rows (share); levels of fewer than 5 rows are merged
difference    (m₁ − m₀)/√((v₁ + v₀)/2); for a category with p = share of rows as mean and
              p(1 − p) as variance. Several classes: the largest of any two; numbers: the
              highest third of the target against the lowest
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...text.format import count, listed
from ..arrays import MIN_ROWS_NAMED, CategoryCodes, codes_of, merge_rare_levels, numbers_of
from ..content.data import TableOne
from ..content.phrases import digits3, share
from ..content.values import Column as Head
from ..content.values import Grid

if TYPE_CHECKING:
    from ..prepared import Prepared
    from ..settings import Settings

MAX_COLUMNS_SHOWN = 40
MAX_GROUPS = 6  # classes with a column of their own; the rarest others share one
MAX_SKEWNESS = 1.0
MIN_EVENTS_PER_PARAMETER = 10.0
THIRDS = ("lowest third", "middle third", "highest third")
Cell = str | float | int | None


def make(prepared: "Prepared", settings: "Settings") -> TableOne:
    """Return the table of columns by outcome, and the sentences around it."""
    groups = _outcomes(prepared)
    rows: list[tuple[Cell, ...]] = []
    n_shown = 0
    for i, column in enumerate(prepared.columns):
        values = prepared.X.column(column.name)
        if column.role == "number":
            rows.append(_number_row(column.name, numbers_of(values), groups))
        else:
            rows += _category_rows(column.name, merge_rare_levels(codes_of(values)), groups)
        if i < MAX_COLUMNS_SHOWN:
            n_shown = len(rows)
    p = len(prepared.columns)
    notes = [
        "Numbers are mean (standard deviation), or median (quartiles) where values are skewed; "
        "categories are rows (share). A difference of 0.1 is small, of 0.8 large.",
    ]
    if prepared.weights is not None:
        notes.append("Rows are counted once each, whatever their weight.")
    if p > MAX_COLUMNS_SHOWN:
        notes.append(
            f"The page shows the first {MAX_COLUMNS_SHOWN} of {p:,} columns, report.json all."
        )
    heads = [Head("", "text"), Head(f"All (n = {prepared.n:,})", "text")]
    heads += [
        Head(f"{name} (n = {n:,})", "text")
        for name, n in zip(groups.names, groups.sizes, strict=True)
    ]
    heads += [Head("Difference"), Head("Missing", "count")]
    of = "outcome" if prepared.task != "numbers" else f"thirds of '{settings.target}'"
    events = _events_per_parameter(prepared)
    table = Grid(
        f"Columns by {of}", tuple(heads), tuple(rows), tuple(notes),
        n_shown=n_shown if n_shown < len(rows) else None,
    )  # fmt: skip
    return TableOne(
        _text(prepared, events), table, events, _missing_sentences(prepared), prepared.dropped
    )


@dataclass(frozen=True, eq=False)
class OutcomeGroups:
    """Rows by class, or by thirds of a target of numbers."""

    names: tuple[str, ...]
    codes: np.ndarray
    is_ordered: bool  # the difference is that of the last and the first group

    @property
    def sizes(self) -> np.ndarray:
        """Rows of each group."""
        return np.bincount(self.codes, minlength=len(self.names))


def _outcomes(prepared: "Prepared") -> OutcomeGroups:
    if prepared.task == "numbers":
        edges = np.quantile(prepared.y, [1 / 3, 2 / 3])
        codes = np.searchsorted(edges, prepared.y, side="left")
        present = np.unique(codes)
        names = tuple(THIRDS[k] for k in present)
        return OutcomeGroups(names, np.searchsorted(present, codes), True)
    codes, names = prepared.codes(), prepared.classes
    if len(names) > MAX_GROUPS:
        counts = np.bincount(codes, minlength=len(names))
        kept = np.sort(np.argsort(-counts, kind="stable")[: MAX_GROUPS - 1])
        place = np.full(len(names), len(kept))
        place[kept] = np.arange(len(kept))
        return OutcomeGroups((*(names[k] for k in kept), "other classes"), place[codes], False)
    return OutcomeGroups(names, codes, False)


# --- numbers --------------------------------------------------------------------------------------


def _number_row(name: str, x: np.ndarray, groups: OutcomeGroups) -> tuple[Cell, ...]:
    present = ~np.isnan(x)
    symmetric = _skewness(x[present]) <= MAX_SKEWNESS
    parts = [x[present & (groups.codes == k)] for k in range(len(groups.names))]
    kind = "mean (SD)" if symmetric else "median (quartiles)"
    cells = [_summary(part, symmetric) for part in (x[present], *parts)]
    moments = [(float(v.mean()), float(v.var(ddof=1))) for v in parts if len(v) >= MIN_ROWS_NAMED]
    pairs = (moments[:1] + moments[-1:]) if groups.is_ordered else moments
    difference = _largest_difference([m for m, _ in pairs], [v for _, v in pairs])
    return (f"{name}, {kind}", *cells, difference, int(np.count_nonzero(~present)))


def _summary(x: np.ndarray, symmetric: bool) -> str | None:
    """Three digits of the centre and the spread; None of fewer than 5 rows, which it would show."""
    if len(x) < MIN_ROWS_NAMED:
        return None
    if symmetric:
        return f"{digits3(float(x.mean()))} ({digits3(float(x.std(ddof=1)))})"
    low, middle, high = (digits3(float(q)) for q in np.quantile(x, [0.25, 0.5, 0.75]))
    between = "–" if not low.startswith("−") and not high.startswith("−") else " to "
    return f"{middle} ({low}{between}{high})"


def _skewness(x: np.ndarray) -> float:
    if len(x) < 3:
        return 0.0
    z = x - x.mean()
    variance = float(np.mean(z**2))
    return abs(float(np.mean(z**3))) / variance**1.5 if variance > 0 else 0.0


def _largest_difference(means: list[float], variances: list[float]) -> float | None:
    """Difference of two groups with its sign; of more, the largest of any two without a sign."""
    found = []
    for a in range(len(means)):
        for b in range(a + 1, len(means)):
            spread = np.sqrt((variances[a] + variances[b]) / 2)
            if spread > 0:
                found.append(float((means[b] - means[a]) / spread))
    if not found:
        return None
    return found[0] if len(found) == 1 else max(abs(d) for d in found)


# --- categories -----------------------------------------------------------------------------------


def _category_rows(
    name: str, column: CategoryCodes, groups: OutcomeGroups
) -> list[tuple[Cell, ...]]:
    known = column.codes >= 0
    table = np.zeros((len(column.levels), len(groups.names)), dtype=int)
    np.add.at(table, (column.codes[known], groups.codes[known]), 1)
    totals = table.sum(axis=0)
    large = np.flatnonzero(totals >= MIN_ROWS_NAMED)
    if groups.is_ordered and len(large) > 1:
        large = large[[0, -1]]
    shares = table[:, large] / np.maximum(totals[large], 1)
    n_missing = int(np.count_nonzero(~known))
    differences = [_largest_difference(list(p), list(p * (1 - p))) for p in shares]
    sizes = [abs(d) for d in differences if d is not None]
    head: tuple[Cell, ...] = (
        f"{name}, rows (share)", None, *(None for _ in groups.names), max(sizes, default=None),
        n_missing,
    )  # fmt: skip
    rows = [head]
    n = max(int(totals.sum()), 1)
    for level, counts, difference in zip(column.levels, table, differences, strict=True):
        cells = [_count_and_share(int(counts.sum()), n)]
        cells += [_count_and_share(int(c), int(t)) for c, t in zip(counts, totals, strict=True)]
        rows.append((f"  {level}", *cells, difference, None))
    return rows


def _count_and_share(n: int, of: int) -> str:
    return f"{n:,} ({share(n / of)})" if of else "0"


# --- sentences ------------------------------------------------------------------------------------


def n_parameters(prepared: "Prepared") -> int:
    """Coefficients that a linear model has: one a number, one less than the levels a category."""
    n = 0
    for column in prepared.columns:
        if column.role == "number":
            n += 1
        else:
            codes = codes_of(prepared.X.column(column.name))
            n += max(len(codes.levels) + bool((codes.codes < 0).any()) - 1, 1)
    return n


def _events_per_parameter(prepared: "Prepared") -> float | None:
    parameters = n_parameters(prepared)
    if not parameters:
        return None
    if prepared.task == "numbers":
        return prepared.n / parameters
    counts = np.bincount(prepared.codes(), minlength=len(prepared.classes))
    return float(counts.min()) / parameters


def _text(prepared: "Prepared", events: float | None) -> str:
    if prepared.task == "numbers":
        text = f"{count(prepared.n, 'row')} by thirds of the target."
        what, per = "rows", "row"
    else:
        counts = np.bincount(prepared.codes(), minlength=len(prepared.classes))
        sizes = listed([f"{n:,} '{c}'" for c, n in zip(prepared.classes, counts, strict=True)], 6)
        text = f"{count(prepared.n, 'row')}: {sizes}."
        what, per = "rows of the rarest class", "event"
    if events is None:
        return text
    p = n_parameters(prepared)
    text += f" {digits3(events)} {what} per coefficient of a linear model ({p:,})"
    if events < MIN_EVENTS_PER_PARAMETER:
        return (
            f"{text}: fewer than the {MIN_EVENTS_PER_PARAMETER:.0f} that are a common rule of "
            "thumb. A model without a penalty would follow the noise; penalties, fewer columns or "
            f"more {per}s help."
        )
    return f"{text}; fewer than {MIN_EVENTS_PER_PARAMETER:.0f} would call for caution."


def _missing_sentences(prepared: "Prepared") -> tuple[str, ...]:
    numbers, categories = [], []
    for column in prepared.columns:
        values = prepared.X.column(column.name)
        if column.role == "number":
            if np.isnan(numbers_of(values)).any():
                numbers.append(column.name)
        elif values.null_count:
            categories.append(column.name)
    if not numbers and not categories:
        return ("No value of the used columns is missing.",)
    found = []
    if numbers:
        found.append(
            f"{count(len(numbers), 'column')} of numbers {'has' if len(numbers) == 1 else 'have'} "
            f"missing values ({listed(numbers)}): they were filled with the median of the training "
            "rows, inside each fold, so no held-out row has a part in it."
        )
    if categories:
        found.append(
            f"{count(len(categories), 'column')} of categories "
            f"{'has' if len(categories) == 1 else 'have'} missing values ({listed(categories)}): "
            "missing is a category of its own."
        )
    return tuple(found)
