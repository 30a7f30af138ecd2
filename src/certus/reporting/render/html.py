"""A report as one self-contained page: no network, no inline styles, a script that is hashed.

Content-Security-Policy: default-src 'none'; style-src 'sha256-…'; script-src 'sha256-…'
"""

import json
import re
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from ..content.answer import CertificateBox
from ..content.document import ReportContent
from ..content.values import ReportTable
from . import tables, thresholds, what_if
from .charts.forests import MAX_EFFECTS
from .mathml import formula
from .numbers import (
    cell,
    digits3,
    integer,
    interval_text,
    p_value,
    percent,
    sentence,
    share,
    value_beside,
)
from .outline import outline, problem_counts
from .pictures import pictures

if TYPE_CHECKING:
    from jinja2 import Environment, Template
    from markupsafe import Markup

FOLDER = Path(__file__).parent
PARTIAL = ("nearly optimal", "local optimum", "degenerate")
NUMERIC = re.compile(
    r"[–]|[<>~ ]*[+−-]?\d[\d,.]*(e−?\d+)?( ?%)?((–| to )[+−-]?\d[\d,.]*(e−?\d+)?( ?%)?)?"
)
OPTION = re.compile(r"(?<![\w-])(--[a-z]+(?:-[a-z]+)*)")
SHORT_CELL = 24  # characters of a cell that is not broken into lines
MAX_TABLE_ROWS = 60  # of any table on the page; the JSON has all


def render(content: ReportContent) -> str:
    """Return the page as HTML."""
    style, script = asset("style.css"), asset("page.js")
    return _template().render(
        content=content,
        shows_rows=bool(content.cases and any(case.cells for case in content.cases.cases)),
        sections=outline(content),
        pictures=pictures(content),
        problem_counts=problem_counts(content),
        anchors=_anchors(content),
        explanations=defaultdict(lambda: None, content.explanations),
        what_if_answers=what_if.answers(content.what_if) if content.what_if else (),
        now=_now(content),
        data=script_json(page_data(content)),
        style=style,
        script=script,
        policy=policy(style, script),
    )


def asset(name: str) -> str:
    """Text of a file beside the templates."""
    return (FOLDER / "templates" / name).read_text(encoding="utf-8")


def policy(style: str, script: str) -> str:
    """The content security policy that lets through this style sheet and this script alone."""
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def script_json(value: object) -> str:
    """JSON that is safe inside a script element: no "<", ">" or "&", no line separators.

    >>> script_json("</script><!--")
    '"\\\\u003c/script\\\\u003e\\\\u003c!--"'
    """
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def page_data(content: ReportContent) -> dict[str, object]:
    """What the sliders compute with: counts by threshold and coefficients, no rows."""
    data: dict[str, object] = {}
    counts = content.measures.counts if content.measures else None
    if counts is not None:
        data["counts"] = {
            "t": counts.thresholds,
            "tp": counts.true_positives,
            "fp": counts.false_positives,
            "p": counts.n_positive,
            "n": counts.n_negative,
            "costs": [counts.cost_false_positive, counts.cost_false_negative],
        }
    found = content.what_if
    if found is not None:
        data["whatIf"] = {
            "link": found.link,
            "outputs": found.outputs,
            "intercepts": found.intercepts,
            "cuts": found.cuts,
            "sliders": [{"labels": s.labels, "scores": s.scores} for s in found.sliders],
            "design": found.design,
            "root": found.root,
            "width": found.width,
        }
    return data


def _now(content: ReportContent) -> thresholds.AtThreshold | None:
    counts = content.measures.counts if content.measures else None
    return None if counts is None else thresholds.at(counts, counts.selected)


def shown(grid: ReportTable) -> ReportTable:
    """The first rows of a long table."""
    if len(grid.rows) <= MAX_TABLE_ROWS:
        return grid
    more = len(grid.rows) - MAX_TABLE_ROWS
    note = f"{integer(more)} more rows are in report.json."
    return ReportTable(grid.title, grid.columns, grid.rows[:MAX_TABLE_ROWS], (*grid.notes, note))


def right_aligned(grid: ReportTable) -> list[bool]:
    """Whether the cells of each column are numbers, also where they are written out."""
    return [
        all(NUMERIC.fullmatch(cell(row[j], column.kind)) is not None for row in grid.rows)
        for j, column in enumerate(grid.columns)
    ]


def icon(box: CertificateBox) -> str:
    """The mark beside the word: ✔ holds, ◐ holds in part, ✖ does not."""
    return "✔" if box.certified else "◐" if box.status in PARTIAL else "✖"


def statuses(boxes: Sequence[CertificateBox]) -> str:
    """How many boxes have each status: "3 optimal, 2 exact"."""
    counted = Counter(box.status for box in boxes)
    return ", ".join(f"{n} {status}" for status, n in counted.items())


def flagged(text: str) -> "Markup":
    """Text, escaped, with options of the command as code, so that no line breaks inside."""
    from markupsafe import Markup, escape

    return Markup(OPTION.sub(r"<code class='flag'>\1</code>", str(escape(text))))


def fractions(now: thresholds.AtThreshold) -> list[tuple[str, str, float | None, int, int]]:
    """Measures that are shares of counted rows, with both counts."""
    return [
        ("Sensitivity", "sensitivity", now.sensitivity, now.tp, now.tp + now.fn),
        ("Specificity", "specificity", now.specificity, now.tn, now.tn + now.fp),
        ("Precision", "precision", now.precision, now.tp, now.tp + now.fp),
        ("Predicted positive", "flagged", (now.tp + now.fp) / now.n, now.tp + now.fp, now.n),
    ]


def _anchors(content: ReportContent) -> dict[str, str]:
    """Sections, and parts of sections, that this page has, with the id that a link needs."""
    found = {s.id: "how" if s.id == "verdict" else s.id for s in outline(content) if s.present}
    parts = {
        "comparison": content.comparison, "headroom": content.headroom, "what-if": content.what_if,
    }  # fmt: skip
    return found | {name: name for name, part in parts.items() if part is not None}


@cache
def _template() -> "Template":
    environment = _environment()
    return environment.get_template("page.html.j2")


def _environment() -> "Environment":
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise ImportError('the page needs jinja2: pip install "certus[report]"') from error
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        cell=cell, digits3=digits3, integer=integer, interval=interval_text, p=p_value,
        percent=percent, share=share, shown=shown,
        formula=lambda markup, text="": Markup(formula(markup, text)),
        plain=lambda x: f"{x:.6g}", markup=Markup,
        right_aligned=right_aligned, icon=icon, statuses=statuses, flagged=flagged,
        sentence=sentence, fractions=fractions,
    )  # fmt: skip
    environment.globals.update(
        tables=tables,
        thresholds=thresholds,
        value_beside=value_beside,
        MAX_EFFECTS=MAX_EFFECTS,
        SHORT_CELL=SHORT_CELL,
    )
    return environment
