"""Contents of which pages are made: by task, with hostile names, with 20,000 columns."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from certus.reporting.content.document import ReportContent
from certus.reporting.content.model import Effect, SelectedColumn
from certus.reporting.content.values import Interval
from tests.report.content_fixture import content

TASKS = ("two classes", "classes", "numbers", "structure")
HOSTILE = "<script>alert('&\"')</script><!-- x | `a` *b* _c_ [d](e) \u2028 x"


def renamed(value: Any, change: Callable[[str], str]) -> Any:
    """The content with every text changed, markup of formulas aside."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, tuple):
        return tuple(renamed(item, change) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        kept = {
            "mathml", "formula", "kind", "section", "link", "severity", "level", "task", "code",
        }  # fmt: skip
        return replace(
            value,
            **{
                f.name: renamed(getattr(value, f.name), change)
                for f in fields(value)
                if f.name not in kept
            },
        )
    return value


def hostile() -> ReportContent:
    """Every text of the data begins with a script."""
    base = content("two classes")
    changed = renamed(replace(base, explanations=()), lambda text: f"{HOSTILE} {text}")
    return replace(changed, explanations=base.explanations)


def wide() -> ReportContent:
    """20,000 columns, in every table that lists columns."""
    base = content("two classes")
    names = [f"gene {k}" for k in range(20_000)]
    effects = tuple(
        Effect(n, None, None, "per 1", 0.1, Interval(0.0, 0.2), None, None, None) for n in names
    )
    assert base.uses is not None
    assert base.table_one is not None
    table = base.table_one.table
    rows = tuple((n, "1 (0–2)", "2 (1–3)", 0, 0.5) for n in names)
    problem = replace(base.problems.problems[0], columns=tuple(names))
    return replace(
        base,
        question=replace(base.question, n_columns=20_000),
        uses=replace(
            base.uses,
            effects=effects,
            selected=tuple(SelectedColumn(n, 1.0, 0.5, 100) for n in names),
        ),
        table_one=replace(
            base.table_one,
            table=replace(table, rows=rows),
            missing=tuple(f"‘{n}’: the median" for n in names),
            dropped=tuple(f"‘{n}’: constant" for n in names),
        ),
        problems=replace(base.problems, problems=(problem,)),
    )


CONTENTS: dict[str, Callable[[], ReportContent]] = {
    **{task: (lambda task=task: content(task)) for task in TASKS},  # type: ignore[misc]
    "script": hostile,
    "wide": wide,
}
