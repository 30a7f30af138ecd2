"""From a table and settings to the rows that models are given.

    table ─► roles of columns ─► rows with a target ─► task, classes, positive class ─► Prepared

Every decision is noted with the option that changes it, and no note holds a value of a cell.
"""

from typing import TYPE_CHECKING

import numpy as np

from ..exceptions import TableError, UsageError
from ..tables.dates import sortable
from ..tables.targets import rows_taken, weights_of
from ..text.format import count, listed
from .duplicates import codes_of, codes_of_rows
from .prepared import Prepared, PreparedTest
from .settings import Settings
from .task import TargetValues, answers_of, as_text

if TYPE_CHECKING:
    from ..tables import Column, Table

MIN_ROWS = 10
MIN_ROWS_OF_CATEGORY = 5  # others are merged: they would identify someone
LEFT_OUT_BECAUSE = {  # of columns by role; the reasons of a table quote cells
    "id": "all values differ: it looks like an id",
    "constant": "the same value in every row",
    "empty": "no value in any row",
    "date": "a date or time; --time makes folds of it",
    "text": "too many distinct texts to use as categories",
    "nested": "values that are neither numbers nor text",
}
NO_CATEGORY = f"no category has {MIN_ROWS_OF_CATEGORY} rows"
MIN_GROUPS = 4  # of --group, so that folds differ
MAX_LISTED = 10  # names, or numbers of rows, in a sentence


def prepare(table: "Table", settings: Settings) -> Prepared:
    """The rows and columns that models are given, with every decision noted.

    Raises ``TableError`` or ``UsageError`` with the column, the row and the remedy.
    """
    for name in _named(settings):
        table.column(name)
    kept, dropped = _rows_kept(table, settings)
    part = table if len(kept) == table.report.n_rows else rows_taken(table, kept)
    if settings.cluster:
        answers = TargetValues(np.zeros(len(kept)), "structure", np.arange(len(kept)))
    else:
        answers = answers_of(part, settings)
    if len(answers.kept) < part.report.n_rows:
        kept = kept[answers.kept]
        part = rows_taken(table, kept)
    if len(kept) < MIN_ROWS:
        raise TableError(
            f"{table.report.source}: {count(len(kept), 'row')} left, too few for a report: give at "
            f"least {MIN_ROWS}"
        )
    columns, left_out = _columns(table, part, settings)
    X = part.select([c.name for c in columns])
    weights = None if settings.weights is None else weights_of(part, settings.weights)
    if weights is not None and not weights.any():
        raise TableError(f"the weights '{settings.weights}' are all 0: give others, or none")
    groups, group_notes = _groups(part, settings.group)
    times, time_notes = _times(part, settings.time)
    return Prepared(
        table=table, columns=columns, X=X, y=answers.y, task=answers.task, classes=answers.classes,
        labels=answers.labels, positive=answers.positive, positive_reason=answers.positive_reason,
        row_numbers=table.row_numbers[kept], weights=weights, groups=groups, times=times,
        duplicates=codes_of_rows(X), dropped=(*dropped, *answers.dropped, *left_out),
        notes=(*answers.notes, *group_notes, *time_notes),
    )  # fmt: skip


def prepare_test(table: "Table", prepared: Prepared, settings: Settings) -> PreparedTest:
    """The rows of another table, with the columns and the classes of the first.

    Raises ``TableError`` where a column is missing, or a class is not known.
    """
    target, source = settings.target, table.report.source
    if target is None:
        raise UsageError("--test needs a --target: without one, nothing is predicted")
    for name in [target, *(c.name for c in prepared.columns)]:
        table.column(name)
    kept, _ = _rows_kept(table, Settings(target=target))
    part = rows_taken(table, kept)
    y = part.data.column(target).to_numpy()
    if prepared.task == "numbers":
        if y.dtype.kind not in "iuf":
            raise TableError(f"{source}: the target '{target}' must hold numbers, and holds text")
        values = y.astype(float)
    else:
        known = dict(zip(prepared.classes, prepared.labels, strict=True))
        texts = [as_text(value) for value in y.tolist()]
        new = [i for i, text in enumerate(texts) if text not in known]
        if new:
            row = table.row_numbers[kept[new[0]]]
            raise TableError(
                f"{source}: the target '{target}' has a class in row {row:,} that is "
                f"not in {prepared.table.report.source}: correct it, or drop its rows"
            )
        values = np.array([known[text] for text in texts])
    for c in prepared.columns:
        if (part.column(c.name).role == "number") != (c.role == "number") and part.column(
            c.name
        ).is_used:
            raise TableError(
                f"{source}: column '{c.name}' holds {part.column(c.name).role} values, and "
                f"{c.role} values in {prepared.table.report.source}"
            )
    X = part.select([c.name for c in prepared.columns])
    return PreparedTest(X, values, table.row_numbers[kept], source)


def _named(settings: Settings) -> list[str]:
    """Columns that the settings name, after refusing names in two roles."""
    roles = {
        "--target": settings.target, "--id": settings.id, "--weights": settings.weights,
        "--group": settings.group, "--time": settings.time,
    }  # fmt: skip
    given = {option: name for option, name in roles.items() if name is not None}
    if settings.cluster and settings.target is not None:
        raise UsageError("--cluster looks for structure without a target: leave one of them out")
    for option, name in given.items():
        if option in ("--target", "--weights") and [*given.values()].count(name) > 1:
            raise UsageError(f"{option} '{name}' has another role too: give different columns")
    for option in ("--target", "--weights", "--group", "--time"):
        if given.get(option) in settings.drop:
            raise UsageError(f"--drop leaves out '{given[option]}', which is the {option[2:]}")
    return [*given.values(), *settings.drop, *settings.by]


def _rows_kept(table: "Table", settings: Settings) -> tuple[np.ndarray, list[str]]:
    """Indices of the rows with a target and a time, and why the others are left out."""
    import pyarrow.compute as pc

    kept = np.ones(table.report.n_rows, dtype=bool)
    dropped = []
    for what, name in (("target", settings.target), ("time", settings.time)):
        if name is None or not table.column(name).n_missing:
            continue
        missing = pc.is_null(table.data.column(name), nan_is_null=True).to_numpy()
        rows = [f"{row:,}" for row in table.row_numbers[missing & kept]]
        if not rows:
            continue
        dropped.append(
            f"{count(len(rows), 'row')} without a {what} (row {listed(rows, MAX_LISTED)})"
        )
        kept &= ~missing
    if not kept.any():
        raise TableError(
            f"{table.report.source}: no row has a {'target' if settings.target else 'time'}"
        )
    return np.flatnonzero(kept), dropped


def _columns(
    table: "Table", part: "Table", settings: Settings
) -> "tuple[tuple[Column, ...], list[str]]":
    """Columns for the models, and which are left out, and why."""
    roles = {
        settings.id: "the id", settings.weights: "the weights", settings.group: "the group",
        settings.time: "the time",
    }  # fmt: skip
    reasons: dict[str, list[str]] = {}
    used = []
    for whole, c in zip(table.columns, part.columns, strict=True):
        if c.name == settings.target:
            continue
        reason = ""
        if c.name in settings.drop:
            reason = "--drop"
        elif c.name in roles:
            reason = roles[c.name]
        elif not whole.is_used or not c.is_used:
            reason = LEFT_OUT_BECAUSE[(c if whole.is_used else whole).role]
        elif c.role != "number":
            c = _with_levels(c, part)
            reason = "" if c.levels != () else NO_CATEGORY
        if reason:
            reasons.setdefault(reason, []).append(f"'{c.name}'")
        else:
            used.append(c)
    left_out = [f"{listed(names, MAX_LISTED)}: {why}" for why, names in reasons.items()]
    if not used:
        raise TableError(
            f"{table.report.source}: no column is left for a model. Left out: "
            f"{'; '.join(left_out) or 'nothing'}"
        )
    return tuple(used), left_out


def _with_levels(column: "Column", part: "Table") -> "Column":
    """The column with the categories that models tell apart, where some have too few rows."""
    import pyarrow.compute as pc

    values = part.select([column.name]).column(0).drop_null()
    counts = pc.value_counts(values).to_pylist()
    levels = [str(row["values"]) for row in counts if row["counts"] >= MIN_ROWS_OF_CATEGORY]
    return column if len(levels) == len(counts) else column._replace(levels=tuple(sorted(levels)))


def _groups(part: "Table", name: str | None) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Codes of the groups; a row without a group is one of its own."""
    if name is None:
        return None, ()
    codes = codes_of(part.data.column(name))
    alone = codes < 0
    codes[alone] = codes.max(initial=-1) + 1 + np.arange(int(alone.sum()))
    n_groups = len(np.unique(codes))
    if n_groups < MIN_GROUPS:
        raise TableError(
            f"--group '{name}' has {count(n_groups, 'group')}: at least {MIN_GROUPS} are needed, "
            "so that some can be held out"
        )
    if not alone.any():
        return codes, ()
    return codes, (f"{count(int(alone.sum()), 'row')} without a '{name}': each a group of its own",)


def _times(part: "Table", name: str | None) -> tuple[np.ndarray | None, tuple[str, ...]]:
    if name is None:
        return None, ()
    times, note = sortable(name, part.data.column(name))
    if not np.isfinite(times).all():
        raise TableError(f"--time '{name}' holds infinite values: correct them, or drop the rows")
    if times.min() == times.max():
        raise TableError(f"--time '{name}' is the same in every row: leave --time out")
    return times, (note,) if note else ()
