"""What the content holds as tables, which HTML and Markdown both lay out."""

from collections.abc import Iterable

from ..content.answer import Headroom, ModelComparison
from ..content.data import DataProblem, Subgroups, Unchecked
from ..content.document import Change, CrosswalkItem
from ..content.model import Case, Effect, SelectedColumn
from ..content.values import Interval, MeasureEstimate, ReportTable, TableColumn
from .numbers import integer, interval_text, listed, percent, sentence, value_beside

TEXT = "text"
SEVERITIES = {"severe": "Severe", "warning": "Warning"}  # others are remarks
MIN_EVENTS_PER_PARAMETER = 10  # below, coefficients are unstable (Peduzzi et al. 1996)


def _interval(interval: Interval | None) -> str | None:
    return None if interval is None else interval_text(interval)


def _level(intervals: Iterable[Interval | None]) -> str:
    levels = {interval.level for interval in intervals if interval is not None}
    return f"{percent(levels.pop())} interval" if len(levels) == 1 else "interval"


def estimates(title: str, found: Iterable[MeasureEstimate]) -> ReportTable:
    """Measures with value, interval, n and what guessing gives."""
    found = tuple(found)
    guessing = any(e.baseline is not None for e in found)
    meaning = any(e.text for e in found)
    columns = [
        TableColumn("measure", TEXT), TableColumn("value", TEXT),
        TableColumn(_level(e.interval for e in found), TEXT), TableColumn("n", "count"),
    ]  # fmt: skip
    columns += [TableColumn("guessing")] if guessing else []
    columns += [TableColumn("what it is", TEXT)] if meaning else []
    rows: list[tuple[str | float | int | None, ...]] = []
    for e in found:
        row: list[str | float | int | None] = [
            e.name, value_beside(e.value, e.interval), _interval(e.interval), e.n,
        ]  # fmt: skip
        row += [e.baseline] if guessing else []
        row += [e.text] if meaning else []
        rows.append(tuple(row))
    return ReportTable(title, tuple(columns), tuple(rows))


def candidates(comparison: ModelComparison) -> ReportTable:
    """The compared models."""
    first = comparison.candidates[0].measure if comparison.candidates else "score"
    notes = any(c.note for c in comparison.candidates)
    columns = (
        TableColumn("model", TEXT), TableColumn("parameters", TEXT),
        TableColumn(f"{first}, inner folds"),
        TableColumn("standard error"), TableColumn(f"{first}, outer folds"),
        TableColumn("folds that chose it", "count"), TableColumn("rows", "count"),
        *((TableColumn("note", TEXT),) if notes else ()),
    )  # fmt: skip
    return ReportTable(
        "Models that were compared",
        columns,
        tuple(
            (
                f"{c.name} (chosen)" if c.chosen else c.name, c.parameters, c.score,
                c.standard_error, c.outer_score, c.n_chosen, c.n_rows,
                *((c.note,) if notes else ()),
            )
            for c in comparison.candidates
        ),
    )  # fmt: skip


def headroom(found: Headroom) -> ReportTable:
    """Reference and chosen model."""
    return ReportTable(
        "Chosen model and reference on the same outer folds",
        (TableColumn("model", TEXT), TableColumn(found.measure, TEXT),
         TableColumn(_level((found.chosen.interval, found.reference.interval)), TEXT),
         TableColumn("n", "count")),
        tuple(
            (name, value_beside(e.value, e.interval), _interval(e.interval), e.n)
            for name, e in (("chosen model", found.chosen),
                            ("boosted tree (reference, not certified)", found.reference))
        ),
    )  # fmt: skip


def effects(found: Iterable[Effect]) -> ReportTable:
    """Coefficients with interval, and odds ratios where there are any."""
    found = tuple(found)
    ratios = any(e.ratio is not None for e in found)
    p_values = any(e.p_value is not None for e in found)
    of_class = any(e.of_class for e in found)
    level = _level(e.interval for e in found)
    columns = [TableColumn("class", TEXT)] if of_class else []
    columns += [
        TableColumn("column", TEXT),
        TableColumn("unit", TEXT),
        TableColumn("coefficient", TEXT),
        TableColumn(level, TEXT),
    ]
    columns += (
        [TableColumn("odds ratio", TEXT), TableColumn(f"{level} of the ratio", TEXT)]
        if ratios
        else []
    )
    columns += [TableColumn("p", "p")] if p_values else []
    rows: list[tuple[str | float | int | None, ...]] = []
    for e in found:
        row: list[str | float | int | None] = [e.of_class] if of_class else []
        row += [e.column, e.unit, value_beside(e.estimate, e.interval), _interval(e.interval)]
        if ratios:
            row += [
                None if e.ratio is None else value_beside(e.ratio, e.ratio_interval),
                _interval(e.ratio_interval),
            ]
        row += [e.p_value] if p_values else []
        rows.append(tuple(row))
    return ReportTable("Effects in the table's own units", tuple(columns), tuple(rows))


def selected(found: Iterable[SelectedColumn]) -> ReportTable:
    """Weights with the share of resamples that select the column."""
    found = tuple(found)
    return ReportTable(
        "Columns that the model selects",
        (TableColumn("column", TEXT), TableColumn("weight"), TableColumn("selected in", "share"),
         TableColumn("resamples", "count")),
        tuple((s.column, s.weight, s.frequency, s.n_resamples) for s in found),
    )  # fmt: skip


def subgroups(found: Subgroups) -> ReportTable:
    """The measure of each group."""
    notes = any(g.note for g in found.groups)
    measure = found.groups[0].estimate.name if found.groups else "measure"
    rows = []
    for g in found.groups:
        silent = bool(g.note) and g.estimate.interval is None
        value = None if silent else value_beside(g.estimate.value, g.estimate.interval)
        row = (g.name, value, _interval(g.estimate.interval), g.estimate.n)
        rows.append((*row, g.note) if notes else row)
    return ReportTable(
        f"{measure} by {found.column}",
        (TableColumn(found.column, TEXT), TableColumn(measure, TEXT),
         TableColumn(_level(g.estimate.interval for g in found.groups), TEXT),
         TableColumn("n", "count"),
         *((TableColumn("note", TEXT),) if notes else ())),
        tuple(rows),
    )  # fmt: skip


def reasons(case: Case) -> ReportTable:
    """What each column adds to the score of a case."""
    return ReportTable(
        f"Row {integer(case.row)}: what adds to its score",
        (TableColumn("column", TEXT), TableColumn("adds to the score")),
        case.reasons,
    )


def neighbors(case: Case) -> ReportTable:
    """The neighbours of a case."""
    return ReportTable(
        f"Row {integer(case.row)}: nearest rows",
        (TableColumn("row", "count"), TableColumn("actual", TEXT), TableColumn("distance")),
        tuple((v.row, v.answer, v.distance) for v in case.neighbors),
    )


def cells(case: Case) -> ReportTable:
    """The cells of a case, only with --show-rows."""
    return ReportTable(
        f"Row {integer(case.row)}: its cells",
        (TableColumn("column", TEXT), TableColumn("value", TEXT)),
        case.cells,
    )


def problem_rows(problem: DataProblem) -> str:
    """Row numbers of a problem: "3, 4, 5 and 237 more"."""
    if not problem.rows:
        return "" if not problem.n_rows else integer(problem.n_rows)
    more = problem.n_rows - len(problem.rows)
    numbers = ", ".join(map(integer, problem.rows))
    return f"{numbers} and {integer(more)} more" if more > 0 else numbers


def problem_columns(problem: DataProblem) -> str:
    """Names of the columns of a problem, at most 5."""
    return listed([f"'{name}'" for name in problem.columns])


def unchecked(found: Iterable[Unchecked]) -> ReportTable:
    """Checks that were not made."""
    return ReportTable(
        "Checks that were not made",
        (TableColumn("check", TEXT), TableColumn("why", TEXT)),
        tuple((u.check, sentence(u.why)) for u in found),
    )


def crosswalk(found: Iterable[CrosswalkItem]) -> ReportTable:
    """Items of TRIPOD+AI."""
    return ReportTable(
        "Items of TRIPOD+AI",
        (TableColumn("item", TEXT), TableColumn("topic", TEXT), TableColumn("where", TEXT)),
        tuple((c.item, c.topic, c.answer) for c in found),
    )


def changes(found: Iterable[Change]) -> ReportTable:
    """Differences from an earlier report."""
    return ReportTable(
        "What changed",
        (
            TableColumn("what", TEXT),
            TableColumn("before", TEXT),
            TableColumn("now", TEXT),
            TableColumn("note", TEXT),
        ),
        tuple((c.what, c.before, c.after, c.text) for c in found),
    )
