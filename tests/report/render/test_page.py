"""The page as text: whole, self-contained, escaped, and with no number of its own."""

import json
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from itertools import pairwise

import pytest

from certus.reporting.content.phrases import (
    decimals3,
    digits3,
    number_as,
    p_value,
    percent,
    share,
    signed,
)
from certus.reporting.render import as_json, html, thresholds
from certus.reporting.render.numbers import integer
from tests.report.render.cases import CONTENTS, HOSTILE, TASKS
from tests.report.render.reading import PYTHON_TRACES, Element, read

MAX_BYTES = 2_000_000
MAX_CHART_BYTES = 40_000
MAX_SCRIPT_BYTES = 10_000


@cache
def page(name: str) -> str:
    return html.render(CONTENTS[name]())


@cache
def tree(name: str) -> Element:
    return read(page(name))


EVERY = pytest.mark.parametrize("name", CONTENTS)


@EVERY
def test_elements_are_balanced_and_ids_unique(name):
    ids = [e.attributes["id"] for e in tree(name).all() if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    for element in tree(name).all():
        for attribute in ("aria-labelledby", "for"):
            for target in element.attributes.get(attribute, "").split():
                assert target in ids
        link = element.attributes.get("href", "")
        if link.startswith("#"):
            assert link[1:] in ids


@EVERY
def test_nothing_is_loaded_and_nothing_is_outside(name):
    allowed = {"check.py"}
    for element in tree(name).all():
        assert element.tag not in ("link", "iframe", "object", "embed", "img", "base", "form")
        assert "src" not in element.attributes
        assert "style" not in element.attributes, "blocked by the policy"
        assert not [a for a in element.attributes if a.startswith("on")]
        link = element.attributes.get("href", "#")
        assert link.startswith("#") or link in allowed or name == "script"
        assert "://" not in link
    text = re.sub(r'xmlns="[^"]*"', "", page(name))
    assert not re.search(r"(https?:)?//\w+\.\w", text)
    assert "url(" not in text
    assert "@import" not in text


@EVERY
def test_the_policy_allows_this_style_and_this_script_alone(name):
    root = tree(name)
    metas = [e for e in root.all("meta") if "http-equiv" in e.attributes]
    policy = metas[0].attributes["content"]
    hashes = re.findall(r"'sha256-([^']+)'", policy)
    style = root.all("style")[0].children[0]
    scripts = [e for e in root.all("script") if e.attributes.get("type") != "application/json"]
    assert len(scripts) == len(root.all("style")) == 1
    contents = [style, scripts[0].children[0]]
    assert hashes == [b64encode(sha256(str(c).encode()).digest()).decode() for c in contents]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    script = str(contents[1])
    assert len(script.encode()) <= MAX_SCRIPT_BYTES
    assert not re.search(r"\beval\b|Function\(|innerHTML|document\.write|fetch\(|XMLHttp", script)


@EVERY
def test_the_page_is_small(name):
    assert len(page(name).encode()) <= MAX_BYTES
    charts = re.findall(r"<svg.*?</svg>", page(name), re.S)
    assert charts
    assert max(len(chart.encode()) for chart in charts) <= MAX_CHART_BYTES


@EVERY
def test_headings_are_in_order_and_tables_have_captions(name):
    root = tree(name)
    levels = [int(e.tag[1]) for e in root.all() if re.fullmatch(r"h[1-6]", e.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    assert root.all("html")[0].attributes["lang"] == "en"
    for table in root.all("table"):
        assert table.all("caption")[0].text().strip()
        assert all("scope" in cell.attributes for cell in table.all("th"))
    for section in root.all("section"):
        assert len(section.text().split()) > 5, "a section is empty"


@EVERY
def test_no_trace_of_python_is_shown(name):
    text = tree(name).text(("script", "style"))
    assert not re.search(PYTHON_TRACES, text)
    assert not re.search(r"\bTrue\b|\bFalse\b", text)


@EVERY
def test_the_same_content_gives_the_same_bytes(name):
    assert html.render(CONTENTS[name]()) == page(name)


def test_a_script_as_a_column_name_is_text_everywhere():
    root = tree("script")
    scripts = root.all("script")
    assert len(scripts) == 2
    assert "alert" not in str(scripts[1].children)
    assert not page("script").count("<script>alert")
    assert not re.findall(r"<!--", page("script"))
    data = str(scripts[0].children[0])
    assert "<" not in data
    assert "\u2028" not in data
    assert HOSTILE in json.loads(data)["whatIf"]["sliders"][0]["labels"][0]
    assert page("script").count(html_escaped(HOSTILE)) > 50


def html_escaped(text: str) -> str:
    from markupsafe import escape

    return str(escape(text))


# --- every number of the page is in report.json -----------------------------------------------

NUMBER = re.compile(r"(?:[<>] )?[+−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e−?\d+)?(?: %)?")
SKIPPED = ("script", "style", "tick", "number", "math", "no-numbers")


def written(x: float) -> set[str]:
    """Every way in which the formatter may write a number."""
    found = {digits3(x), signed(x), share(x), percent(x), integer(x)}
    if 0 <= x <= 1:
        found.add(p_value(x))
    found |= {number_as(x, k) for k in range(decimals3(x) - 3, decimals3(x) + 1)}
    return found


def numbers_of(value: object) -> set[str]:
    if isinstance(value, dict):
        return set().union(*map(numbers_of, value.values()), set())
    if isinstance(value, list):
        return set().union(*map(numbers_of, value), {str(len(value))})
    if isinstance(value, str):
        return set(NUMBER.findall(value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return written(value)
    return set()


@pytest.mark.parametrize("name", TASKS)
def test_every_number_of_the_page_is_in_the_json(name):
    content = CONTENTS[name]()
    known = numbers_of(json.loads(as_json.render(content)))
    counts = content.measures.counts if content.measures else None
    for m in thresholds.all_of(counts) if counts else ():  # derived from counts, by formulas
        derived = (
            m.fn, m.tn, m.tp + m.fp, m.tp + m.fn, m.tn + m.fp, m.n, m.sensitivity, m.specificity,
            m.precision, m.f_measure, m.g_mean, m.net_benefit, m.cost(1, 1), (m.tp + m.fp) / m.n,
        )  # fmt: skip
        known |= set().union(*(written(v) for v in derived if v is not None))
    for candidate in content.comparison.candidates if content.comparison else ():
        if candidate.score is not None and candidate.standard_error is not None:
            error = candidate.standard_error
            known |= written(candidate.score - error) | written(candidate.score + error)
    problems = content.problems.problems
    known |= {integer(p.n_rows - len(p.rows)) for p in problems}
    known |= {str(len(problems)), "0", "1"} | {str(k) for k in range(len(problems))}
    for part in html.what_if.answers(content.what_if) if content.what_if else ():
        for value in (
            part.value,
            *((part.interval.low, part.interval.high) if part.interval else ()),
        ):
            known |= written(value)
    text = tree(name).text(SKIPPED)
    shown = set(NUMBER.findall(text))
    assert len(shown) > 15
    assert not sorted(n for n in shown if n not in known and n.strip("+−<> %") not in known)


def test_at_most_three_significant_digits_are_shown():
    for number in NUMBER.findall(tree("numbers").text((*SKIPPED, "pre", "code", "certificate"))):
        digits = re.sub(r"[^\d.]", "", number.split("e")[0])
        if "." in digits:
            assert len(digits.replace(".", "").lstrip("0")) <= 3 or "1.0.0" in digits, number
