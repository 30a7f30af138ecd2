"""The tables of a page as data frames."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

from ..exceptions import UsageError
from ..text.suggestions import unknown
from .content.document import ReportContent
from .content.values import Interval, MeasureEstimate, ReportTable, TableColumn


def frame(content: ReportContent, name: str, known: Sequence[str]) -> Any:
    """A table by its name, as a pandas frame, or as an Arrow table without pandas."""
    if name not in known:
        raise UsageError(unknown("table", name, known))
    grid = TABLES[name](content)
    columns = {column.name: [row[j] for row in grid.rows] for j, column in enumerate(grid.columns)}
    try:
        import pandas as pd
    except ImportError:
        import pyarrow as pa

        return pa.table(columns)
    return pd.DataFrame(columns)


def _records(items: Sequence[object], title: str = "") -> ReportTable:
    """Dataclasses as a table: a column for each field; intervals and estimates as several."""
    if not items:
        return ReportTable(title, (), ())
    rows = [_cells(item) for item in items]
    names = list(dict.fromkeys(name for row in rows for name in row))
    return ReportTable(
        title,
        tuple(map(TableColumn, names)),
        tuple(tuple(row.get(name) for name in names) for row in rows),
    )


def _cells(item: object) -> dict[str, Any]:
    cells: dict[str, Any] = {}
    for one in fields(item):  # type: ignore[arg-type]
        value = getattr(item, one.name)
        if isinstance(value, MeasureEstimate):
            cells.update(_cells(value))
        elif isinstance(value, Interval) or one.name.endswith("interval"):
            prefix = one.name.removesuffix("interval")
            cells[f"{prefix}low"] = None if value is None else value.low
            cells[f"{prefix}high"] = None if value is None else value.high
        elif isinstance(value, tuple):
            cells[one.name] = ", ".join(map(str, value))
        else:
            cells[one.name] = value
    return cells


def _grid(grid: ReportTable | None) -> ReportTable:
    return grid or ReportTable("", (), ())


def _thresholds(content: ReportContent) -> ReportTable:
    counts = content.measures.counts if content.measures else None
    if counts is None:
        return ReportTable("", (), ())
    columns = ("threshold", "true positives", "false positives")
    rows = zip(counts.thresholds, counts.true_positives, counts.false_positives, strict=True)
    return ReportTable("", tuple(map(TableColumn, columns)), tuple(rows))


def _subgroups(content: ReportContent) -> ReportTable:
    rows = [
        {"by": one.column, "group": group.name, **_cells(group.estimate), "note": group.note}
        for one in content.subgroups for group in one.groups
    ]  # fmt: skip
    names = list(rows[0]) if rows else []
    return ReportTable(
        "", tuple(map(TableColumn, names)), tuple(tuple(row[n] for n in names) for row in rows)
    )


TABLES: dict[str, Callable[[ReportContent], ReportTable]] = {
    "models": lambda c: _records(c.comparison.candidates if c.comparison else ()),
    "measures": lambda c: _records(
        (*c.measures.estimates, *c.measures.areas) if c.measures else ()
    ),
    "thresholds": _thresholds,
    "confusion": lambda c: _grid(c.measures.confusion if c.measures else None),
    "deciles": lambda c: _grid(c.measures.deciles if c.measures else None),
    "residuals": lambda c: _grid(c.measures.residuals if c.measures else None),
    "calibration": lambda c: _records(c.calibration.bins if c.calibration else ()),
    "effects": lambda c: _records(c.uses.effects if c.uses else ()),
    "selected": lambda c: _records(c.uses.selected if c.uses else ()),
    "ceiling": lambda c: _grid(c.ceiling.table if c.ceiling else None),
    "evidence": lambda c: _grid(c.structure.evidence if c.structure else None),
    "profiles": lambda c: _grid(c.structure.profiles if c.structure else None),
    "cases": lambda c: _grid(c.cases.table if c.cases else None),
    "table-one": lambda c: _grid(c.table_one.table if c.table_one else None),
    "problems": lambda c: _records(c.problems.problems),
    "subgroups": _subgroups,
    "unchecked": lambda c: _records(c.unchecked),
    "crosswalk": lambda c: _records(c.crosswalk),
    "changes": lambda c: _records(c.against.changes if c.against else ()),
}  # by the name that ``Report.table`` is given
