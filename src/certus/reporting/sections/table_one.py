"""Section 9: the columns by outcome, and what was missing or left out.

numbers       mean (standard deviation), or median (quartiles) where the skewness is above 1
categories    rows (share); levels of fewer than 5 rows are merged
difference    (m₁ − m₀)/√((v₁ + v₀)/2); for a category with p = share of rows as mean and
              p(1 − p) as variance. Two classes: the positive one less the other; several: the
              largest of any two; numbers: the highest third of the target less the lowest
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...text.format import count, listed
from ..arrays import MIN_ROWS_NAMED, CategoryCodes, codes_of, merge_rare_levels, numbers_of
from ..content.data import TableOne
from ..content.phrases import digits3, share
from ..content.values import ReportTable
from ..content.values import TableColumn as Head

if TYPE_CHECKING:
    from ..prepared import Prepared
    from ..settings import Settings

MAX_GROUPS = 6  # classes with a column of their own; the rarest others share one
MAX_SKEWNESS = 1.0
MIN_EVENTS_PER_PARAMETER = 10.0
THIRDS = ("lowest third", "middle third", "highest third")
Cell = str | float | int | None
NAN = float("nan")


def make(prepared: "Prepared", settings: "Settings") -> TableOne:
    """Return the table of columns by outcome, and the sentences around it."""
    groups = _outcomes(prepared)
    rows: list[tuple[Cell, ...]] = []
    for column in prepared.columns:
        values = prepared.X.column(column.name)
        if column.role == "number":
            rows.append(_number_row(column.name, numbers_of(values), groups))
        else:
            rows += _category_rows(column.name, merge_rare_levels(codes_of(values)), groups)
    notes = [
        "Numbers are mean (standard deviation), or median (quartiles) where values are skewed; "
        "categories are rows (share)."
    ]
    if groups.names:
        notes.append(_meaning_of_difference(groups))
    if prepared.weights is not None:
        notes.append("Rows are counted once each, whatever their weight.")
    heads = [Head("", "text"), Head(f"All (n = {prepared.n:,})", "text")]
    heads += [
        Head(f"{name} (n = {n:,})", "text")
        for name, n in zip(groups.names, groups.sizes, strict=True)
    ]
    if groups.names:
        heads.append(Head("Difference"))
    else:
        rows = [(*row[:-2], row[-1]) for row in rows]
    heads.append(Head("Missing", "count"))
    events = _events_per_parameter(prepared)
    table = ReportTable(_title(prepared, settings), tuple(heads), tuple(rows), tuple(notes))
    return TableOne(
        _text(prepared, events), table, events, _missing_sentences(prepared), prepared.dropped
    )


def _title(prepared: "Prepared", settings: "Settings") -> str:
    if prepared.task == "structure":
        return "Columns"
    thirds = "thirds of " if prepared.task == "numbers" else ""
    return f"Columns by {thirds}'{settings.target}'"


def _meaning_of_difference(groups: "OutcomeGroups") -> str:
    small = "0.1 is small, 0.8 large"
    if groups.compared is None:
        return f"Difference: the largest of any two classes, in standard deviations; {small}."
    a, b = (groups.names[k] for k in groups.compared)
    return f"Difference: '{a}' less '{b}', in standard deviations; {small}."


@dataclass(frozen=True, eq=False)
class OutcomeGroups:
    """Rows by class, or by thirds of a target of numbers."""

    names: tuple[str, ...]
    codes: np.ndarray
    compared: tuple[int, int] | None  # the difference is the first less the second; None: any two

    @property
    def sizes(self) -> np.ndarray:
        """Rows of each group."""
        return np.array([np.count_nonzero(self.codes == k) for k in range(len(self.names))])


def _outcomes(prepared: "Prepared") -> OutcomeGroups:
    if prepared.task == "structure":
        return OutcomeGroups((), np.full(prepared.n, -1), None)
    if prepared.task == "numbers":
        edges = np.quantile(prepared.y, [1 / 3, 2 / 3])
        codes = np.searchsorted(edges, prepared.y, side="left")
        present = np.unique(codes)
        names = tuple(THIRDS[k] for k in present)
        compared = (len(names) - 1, 0) if len(names) > 1 else None
        return OutcomeGroups(names, np.searchsorted(present, codes), compared)
    codes, names = prepared.codes(), prepared.classes
    if len(names) > MAX_GROUPS:
        counts = np.bincount(codes, minlength=len(names))
        kept = np.sort(np.argsort(-counts, kind="stable")[: MAX_GROUPS - 1])
        place = np.full(len(names), len(kept))
        place[kept] = np.arange(len(kept))
        return OutcomeGroups((*(names[k] for k in kept), "other classes"), place[codes], None)
    if prepared.positive is None:
        return OutcomeGroups(names, codes, None)
    return OutcomeGroups(names, codes, (prepared.positive, 1 - prepared.positive))


# --- numbers --------------------------------------------------------------------------------------


def _number_row(name: str, x: np.ndarray, groups: OutcomeGroups) -> tuple[Cell, ...]:
    present = ~np.isnan(x)
    symmetric = _skewness(x[present]) <= MAX_SKEWNESS
    parts = [x[present & (groups.codes == k)] for k in range(len(groups.names))]
    kind = "mean (SD)" if symmetric else "median (quartiles)"
    cells = [_summary(part, symmetric) for part in (x[present], *parts)]
    large = [len(part) >= MIN_ROWS_NAMED for part in parts]
    means = [float(v.mean()) if ok else NAN for v, ok in zip(parts, large, strict=True)]
    variances = [float(v.var(ddof=1)) if ok else NAN for v, ok in zip(parts, large, strict=True)]
    difference = _difference(means, variances, groups)
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


def _difference(means: list[float], variances: list[float], groups: OutcomeGroups) -> float | None:
    """The standardised difference that ``groups`` names; None where it is not known."""
    m, v = np.array(means), np.array(variances)
    with np.errstate(invalid="ignore", divide="ignore"):
        differences = (m[:, None] - m) / np.sqrt((v[:, None] + v) / 2)
    if groups.compared is not None:
        difference = float(differences[groups.compared])
        return difference if np.isfinite(difference) else None
    known = np.abs(differences[np.isfinite(differences)])
    return float(known.max()) if (known > 0).any() else None


# --- categories -----------------------------------------------------------------------------------


def _category_rows(
    name: str, column: CategoryCodes, groups: OutcomeGroups
) -> list[tuple[Cell, ...]]:
    known = column.codes >= 0
    table = np.array([
        np.bincount(column.codes[known & (groups.codes == k)], minlength=len(column.levels))
        for k in range(len(groups.names))
    ]).reshape(len(groups.names), len(column.levels)).T  # fmt: skip
    totals = table.sum(axis=0)
    shares = np.where(totals >= MIN_ROWS_NAMED, table / np.maximum(totals, 1), NAN)
    n_missing = int(np.count_nonzero(~known))
    differences = [_difference(list(p), list(p * (1 - p)), groups) for p in shares]
    sizes = [abs(d) for d in differences if d is not None]
    head: tuple[Cell, ...] = (
        f"{name}, rows (share)", None, *(None for _ in groups.names), max(sizes, default=None),
        n_missing,
    )  # fmt: skip
    rows = [head]
    n = int(np.count_nonzero(known))
    every = zip(column.levels, column.counts, table, differences, strict=True)
    for level, total, counts, difference in every:
        cells = [_count_and_share(int(total), n)]
        cells += [_count_and_share(int(c), int(t)) for c, t in zip(counts, totals, strict=True)]
        rows.append((f"{name}: {level}", *cells, difference, None))
    return rows


def _count_and_share(n: int, of: int) -> str:
    return f"{n:,} ({share(n / of)})" if of else "0"


# --- sentences ------------------------------------------------------------------------------------


def n_parameters(prepared: "Prepared") -> int:
    """Coefficients that a linear model has: one a number, one less than the levels a category.

    Missing is a level, and so are all categories of fewer than 5 rows together.
    """
    n = 0
    for column in prepared.columns:
        if column.role == "number":
            n += 1
        else:
            codes = merge_rare_levels(codes_of(prepared.X.column(column.name)))
            n += max(len(codes.levels) + bool((codes.codes < 0).any()) - 1, 1)
    return n


def _events_per_parameter(prepared: "Prepared") -> float | None:
    parameters = n_parameters(prepared)
    if not parameters or prepared.task == "structure":
        return None
    if prepared.task == "numbers":
        return prepared.n / parameters
    counts = np.bincount(prepared.codes(), minlength=len(prepared.classes))
    return float(counts.min()) / parameters


def _text(prepared: "Prepared", events: float | None) -> str:
    if prepared.task == "structure":
        return f"{count(prepared.n, 'row')}."
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
            f"missing values ({listed(numbers)}): they were filled with the median of "
            + (
                "all rows."
                if prepared.task == "structure"
                else "the training rows, inside each fold, so no held-out row has a part in it."
            )
        )
    if categories:
        found.append(
            f"{count(len(categories), 'column')} of categories "
            f"{'has' if len(categories) == 1 else 'have'} missing values ({listed(categories)}): "
            "missing is a category of its own."
        )
    return tuple(found)
