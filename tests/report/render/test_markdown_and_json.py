"""Markdown and JSON say the same as the page."""

import json
import math
import re
from dataclasses import replace

import jsonschema
import pytest

from certus.reporting.content.values import MeasureEstimate
from certus.reporting.render import as_json, markdown, tables
from certus.reporting.render.outline import outline
from tests.report.content_fixture import content
from tests.report.render import schema
from tests.report.render.cases import CONTENTS, HOSTILE, TASKS
from tests.report.render.reading import PYTHON_TRACES

EVERY = pytest.mark.parametrize("name", CONTENTS)


def test_the_schema_is_that_of_the_dataclasses():
    assert schema.PATH.read_text(encoding="utf-8") == schema.text()
    jsonschema.Draft202012Validator.check_schema(schema.schema())


@pytest.mark.parametrize("name", sorted(set(CONTENTS) - {"wide"}))  # seconds to validate
def test_the_json_follows_its_schema_and_is_the_same_again(name):
    text = as_json.render(CONTENTS[name]())
    assert text == as_json.render(CONTENTS[name]())
    jsonschema.Draft202012Validator(schema.schema()).validate(json.loads(text))


def test_numbers_that_json_lacks_are_null_or_words():
    base = content()
    odd = tuple(MeasureEstimate("m", v, 1) for v in (math.nan, math.inf, -math.inf))
    changed = replace(base, verdict=replace(base.verdict, others=odd))
    found = json.loads(as_json.render(changed))["verdict"]["others"]
    assert [e["value"] for e in found] == [None, "infinite", "−infinite"]


def test_a_value_that_is_not_plain_is_refused():
    base = content()
    with pytest.raises(TypeError, match="not set"):
        as_json.render(replace(base, title={1}))


@EVERY
def test_markdown_has_every_section_in_order(name):
    made = CONTENTS[name]()
    text = markdown.render(made)
    heads = re.findall(r"^## (\d+) (.*)$", text, re.M)
    assert heads == [(str(s.number), s.title) for s in outline(made) if s.present]
    assert not re.search(PYTHON_TRACES, text)


@pytest.mark.parametrize("name", TASKS)
def test_markdown_holds_no_markup_of_html(name):
    text = re.sub(r"```.*?```|`[^`]*`", "", markdown.render(CONTENTS[name]()), flags=re.S)
    assert not re.search(r"(?<!\\)<\w", text)


def test_hostile_text_is_shown_and_not_obeyed():
    text = markdown.render(CONTENTS["script"]())
    plain = re.sub(r"(`{3,})python.*?\1", "", text, flags=re.S)  # code shows what it is given
    plain = re.sub(r"(?<!\\)(`+) ?.*?(?<!`)\1(?!`)", "", plain)
    assert not re.search(r"(?<!\\)<script", plain)
    assert not re.search(r"(?<!\\)\[d\](?=\()", plain)
    for line in plain.splitlines():
        if line.startswith("|"):
            cells = len(re.findall(r"(?<!\\)\|", line))
            assert cells >= 2
    assert HOSTILE not in plain


def test_tables_have_as_many_cells_in_each_row():
    for name in CONTENTS:
        blocks = re.findall(r"(?:^\|.*\|$\n?)+", markdown.render(CONTENTS[name]()), re.M)
        assert blocks
        for block in blocks:
            counts = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
            assert len(counts) == 1, block


def test_long_tables_are_cut_and_say_so():
    text = markdown.render(CONTENTS["wide"]())
    assert len(text) < 200_000
    assert "19,980 more are in report.json" in text
    assert "19,940 more rows are in report.json" in text


def test_rows_of_a_problem_are_listed_or_counted():
    problem = content().problems.problems[0]
    assert tables.problem_rows(problem).endswith("21, 22 and 220 more")
    assert tables.problem_rows(replace(problem, rows=(), n_rows=0)) == ""
