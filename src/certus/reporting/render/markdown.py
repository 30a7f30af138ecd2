"""A report as Markdown: the page's sections, with tables in place of charts and sliders.

Text that came from the data is escaped, so that it is shown and not obeyed.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from ..content.data import DataProblem, Dendrogram
from ..content.document import ReportContent
from ..content.model import Case, WhatItUses
from ..content.performance import Calibration, Measures
from ..content.values import Explanation, MeasureEstimate, Note, ReportTable
from . import tables, thresholds
from .charts import calibration as calibration_chart
from .charts import trees
from .charts.forests import MAX_EFFECTS
from .numbers import cell, digits3, integer, interval_text, percent, sentence, share, value_beside
from .outline import outline, problem_counts

SPECIAL = re.compile(r"([\\`*_\[\]<>|~#&$])")
LIST_LIKE = re.compile(r"^(\s*)([-+=]|\d+[.)])(?=\s|$)", re.M)
MAX_TABLE_ROWS = 60  # of any table; the JSON has all

Lines = Iterator[str]


def render(content: ReportContent) -> str:
    """Return the text of report.md."""
    parts: list[str] = [*_first(content)]
    explanations = dict(content.explanations)
    for section in outline(content):
        if not section.present:
            continue
        parts.append(f"## {section.number} {section.title}")
        parts += _explanation(explanations.get(section.id))
        parts += WRITERS[section.id](content)
    parts.append(f"---\n\nRecheck this page: {code(content.reproduction.recheck)}")
    return "\n\n".join(part for part in parts if part) + "\n"


def escaped(text: str) -> str:
    """Text in which nothing is markup.

    >>> escaped("a*b <script> | x_1")
    'a\\\\*b \\\\<script\\\\> \\\\| x\\\\_1'
    """
    plain = SPECIAL.sub(r"\\\1", " ".join(text.split()))
    return LIST_LIKE.sub(lambda m: f"{m[1]}{m[2][:-1]}\\{m[2][-1]}", plain)


def code(text: str) -> str:
    """Text as code, with a fence longer than any inside.

    >>> code("a`b")
    '`` a`b ``'
    """
    if "`" not in text:
        return f"`{text}`"
    fence = "`" * (max(map(len, re.findall("`+", text))) + 1)
    return f"{fence} {text} {fence}"


def table(grid: ReportTable) -> str:
    """A table, with its title above and its notes below."""
    rows = grid.rows[:MAX_TABLE_ROWS]
    head = [escaped(column.name) or " " for column in grid.columns]
    marks = ["---" if column.kind == "text" else "---:" for column in grid.columns]
    body = [
        [escaped(cell(v, c.kind)) for v, c in zip(row, grid.columns, strict=True)] for row in rows
    ]
    lines = [f"| {' | '.join(row)} |" for row in (head, marks, *body)]
    notes = [escaped(note) for note in grid.notes]
    if len(grid.rows) > len(rows):
        notes.append(f"{integer(len(grid.rows) - len(rows))} more rows are in report.json.")
    return "\n\n".join([f"**{escaped(grid.title)}**", "\n".join(lines), *notes])


def bullets(lines: Sequence[str]) -> str:
    """A list of at most 20 texts."""
    more = [f"{integer(len(lines) - 20)} more are in report.json."] if len(lines) > 20 else []
    return "\n".join(f"- {escaped(line)}" for line in [*lines[:20], *more])


def _explanation(found: Explanation | None) -> Lines:
    if found is not None:
        where = f" ({code(found.definition)})" if found.definition else ""
        yield f"*{escaped(found.sentences)}*{where}"


def _notes(notes: Sequence[Note]) -> Lines:
    for note in notes:
        word = "Warning" if note.level == "warning" else "Note"
        yield f"> **{word}:** {escaped(note.text)}"


def _first(content: ReportContent) -> Lines:
    verdict = content.verdict
    yield f"# {escaped(content.title)}"
    if content.unfinished:
        yield "> **Unfinished:** the work was stopped; this is what was finished."
    yield f"**{escaped(verdict.headline)}** {escaped(verdict.text)}"
    if verdict.measure is not None:
        m = verdict.measure
        guess = "" if m.baseline is None else f"; guessing: {value_beside(m.baseline, m.interval)}"
        yield f"- Verdict: {_estimate(m)}{guess}\n" + _boxes(content)
    else:
        yield _boxes(content)
    yield from _notes(content.notes)
    q = content.question
    classes = ", ".join(f"{integer(c.n)} '{escaped(c.name)}'" for c in q.classes)
    positive = (
        f" Predicts '{escaped(q.positive)}' ({escaped(q.positive_reason)})." if q.positive else ""
    )
    yield (
        f"{integer(q.n_rows)} rows, {integer(q.n_columns)} columns"
        f"{f'; {classes}' if classes else ''}.{positive}"
    )


def _boxes(content: ReportContent) -> str:
    boxes, problems = content.certificates.boxes, content.problems.problems
    status = f"{escaped(boxes[0].status)} ({escaped(boxes[0].model)})" if boxes else "none"
    counted = problem_counts(content)
    return (
        f"- Certificate, which is about the arithmetic alone: {status}\n"
        f"- Data problems: {len(problems)}{f' ({counted})' if counted else ''}"
    )


def _estimate(m: MeasureEstimate) -> str:
    interval = (
        f", {percent(m.interval.level)} interval {interval_text(m.interval)}" if m.interval else ""
    )
    return f"{escaped(m.name)} {value_beside(m.value, m.interval)}{interval}, n = {integer(m.n)}"


def _verdict(content: ReportContent) -> Lines:
    yield escaped(content.verdict.how)
    if content.verdict.others:
        yield table(tables.estimates("Other measures", content.verdict.others))
    yield from _notes(content.question.notes)
    if content.question.reading:
        yield "How the table was read:"
        yield bullets(content.question.reading)
    if content.comparison is not None:
        yield "### The models that were compared"
        yield escaped(content.comparison.rule)
        yield table(tables.candidates(content.comparison))
        yield f"Guessing: {digits3(content.comparison.baseline)}."
    if content.headroom is not None:
        yield "### Headroom"
        yield escaped(content.headroom.text)
        yield table(tables.headroom(content.headroom))
    if content.against is not None:
        yield f"### Since {escaped(content.against.source)}"
        yield escaped(content.against.text)
        if content.against.changes:
            yield table(tables.changes(content.against.changes))


def _certificates(content: ReportContent) -> Lines:
    yield escaped(content.certificates.text)
    for box in content.certificates.boxes:
        yield f"### {escaped(box.model)}: {escaped(box.status)}"
        yield code(box.formula) if box.formula else ""
        yield "\n".join(f"- {escaped(label)}: {escaped(text)}" for label, text in box.lines)
        lines = f", {integer(box.definition_lines)} lines of code" if box.definition_lines else ""
        yield f"Decided by {code(box.definition)}{lines}." if box.definition else ""


def _measures(content: ReportContent) -> Lines:
    found: Measures | None = content.measures
    if found is None:
        return
    yield escaped(found.text)
    if found.counts is not None:
        now = thresholds.at(found.counts, found.counts.selected)
        yield f"Threshold: {digits3(now.threshold)} ({escaped(found.counts.selected_reason)})."
        yield table(thresholds.table(found.counts))
    if found.estimates:
        yield table(tables.estimates("Measures", found.estimates))
    if found.areas:
        yield table(tables.estimates("Measures over all thresholds", found.areas))
    for grid in (found.confusion, found.deciles, found.residuals):
        if grid is not None:
            yield table(grid)


def _calibration(content: ReportContent) -> Lines:
    found: Calibration | None = content.calibration
    if found is None:
        return
    yield escaped(found.text)
    yield escaped(found.before)
    named = [e for e in (found.slope, found.intercept, found.brier) if e is not None]
    if named:
        yield table(tables.estimates("Calibration", named))
    if found.bins:
        yield table(calibration_chart.table(found, content.question.task == "numbers"))


def _uses(content: ReportContent) -> Lines:
    found: WhatItUses | None = content.uses
    if found is not None:
        yield escaped(found.text)
        if found.effects:
            yield table(tables.effects(found.effects[:MAX_EFFECTS]))
        if found.selected:
            yield table(tables.selected(found.selected[:MAX_EFFECTS]))
        more = max(len(found.effects), len(found.selected)) - MAX_EFFECTS
        yield f"{integer(more)} more are in report.json." if more > 0 else ""
        yield from _notes(found.notes)
    if content.what_if is not None:
        yield "The page has sliders that compute what the model would answer."


def _ceiling(content: ReportContent) -> Lines:
    found = content.ceiling
    if found is not None:
        yield escaped(found.text)
        yield (
            f"- Best possible error rate: {share(found.lower)} to {share(found.upper)}, "
            f"n = {integer(found.n)}\n- Error rate of the procedure: {share(found.error)}"
        )
        if found.table is not None:
            yield table(found.table)


def _structure(content: ReportContent) -> Lines:
    found = content.structure
    if found is not None:
        yield escaped(found.text)
        yield from _notes(found.notes)
        for tree, noun in ((found.rows, "row"), (found.variables, "column")):
            yield _tree(tree, noun) if tree is not None else ""
        for grid in (found.evidence, found.profiles):
            yield table(grid) if grid is not None else ""


def _tree(tree: Dendrogram, noun: str) -> str:
    return table(trees.merges(tree, noun))


def _cases(content: ReportContent) -> Lines:
    found = content.cases
    if found is not None:
        yield escaped(found.text)
        for case in found.cases:
            yield from _case(case, content.question.positive is None)
        if found.table is not None:
            yield table(found.table)


def _case(case: Case, with_probability: bool) -> Lines:
    yield f"### {escaped(case.kind.capitalize())}: row {integer(case.row)}"
    shown = with_probability and case.probability is not None
    chance = f" ({share(case.probability or 0.0)})" if shown else ""
    yield f"Predicted '{escaped(case.predicted)}'{chance}, actual '{escaped(case.actual)}'."
    yield escaped(case.text)
    yield table(tables.reasons(case)) if case.reasons else ""
    yield table(tables.neighbors(case)) if case.neighbors else ""
    yield table(tables.cells(case)) if case.cells else ""


def _table_one(content: ReportContent) -> Lines:
    found = content.table_one
    if found is not None:
        yield escaped(found.text)
        yield table(found.table)
        events = found.events_per_parameter
        if events is not None and digits3(events) not in found.text:
            few = events < tables.MIN_EVENTS_PER_PARAMETER
            warning = ". **Warning:** below 10, coefficients are uncertain" if few else ""
            yield f"Events per parameter: {digits3(events)}{warning}."
        for title, lines in (("Missing values", found.missing), ("Left out", found.dropped)):
            if lines:
                yield f"### {title}"
                yield bullets(lines)


def _problems(content: ReportContent) -> Lines:
    yield escaped(content.problems.text)
    for problem in content.problems.problems:
        yield f"### {escaped(problem.code)}: {escaped(problem.title)}"
        yield "\n".join(_problem(problem))
    if content.problems.checked:
        yield f"Looked for and not found: {escaped(', '.join(content.problems.checked))}."


def _problem(problem: DataProblem) -> Lines:
    lines = (
        ("Severity", tables.SEVERITIES.get(problem.severity, "Remark")),
        ("Columns", tables.problem_columns(problem)), ("Rows", tables.problem_rows(problem)),
        ("Why it matters", problem.reason), ("What to do", problem.fix),
        ("Done here", problem.done),
    )  # fmt: skip
    return (f"- {label}: {escaped(text)}" for label, text in lines if text)


def _subgroups(content: ReportContent) -> Lines:
    for found in content.subgroups:
        yield f"### {'Over time: ' if found.kind == 'time' else 'By '}{escaped(found.column)}"
        yield escaped(found.text)
        yield table(tables.subgroups(found))


def _unchecked(content: ReportContent) -> Lines:
    yield table(tables.unchecked(content.unchecked))


def _reproduce(content: ReportContent) -> Lines:
    found = content.reproduction
    value = "" if found.value is None else f", {digits3(found.value)}"
    yield f"This gives the verdict's number{value}:"
    fence = "`" * max(3, *(len(f) + 1 for f in re.findall("`+", found.snippet)), 3)
    yield f"{fence}python\n{found.snippet.rstrip()}\n{fence}"
    if found.script:
        yield f"{code(found.script)} recomputes the certificate with NumPy alone."
    else:
        yield escaped(f"There is no check.py. {sentence(found.script_reason)}")
    if found.versions:
        yield f"With {', '.join(f'{escaped(name)} {escaped(v)}' for name, v in found.versions)}."
    if content.crosswalk:
        yield "### Crosswalk to TRIPOD+AI"
        yield table(tables.crosswalk(content.crosswalk))


WRITERS: dict[str, Callable[[ReportContent], Lines]] = {
    "verdict": _verdict,
    "certificates": _certificates,
    "measures": _measures,
    "calibration": _calibration,
    "uses": _uses,
    "ceiling": _ceiling,
    "structure": _structure,
    "cases": _cases,
    "table-one": _table_one,
    "problems": _problems,
    "subgroups": _subgroups,
    "unchecked": _unchecked,
    "reproduce": _reproduce,
}
