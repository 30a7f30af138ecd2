"""Every section has an explanation: two sentences, a definition that exists, sound formulas."""

import importlib
import re
from dataclasses import fields, is_dataclass

import pytest

from certus.reporting.content.values import Explanation
from certus.reporting.sections import (
    calibration,
    cases,
    ceiling,
    certificates,
    explanations,
    headroom,
    measures,
    reproduce,
    uses,
    verdict,
    what_if,
)
from certus.reporting.settings import Settings
from tests.report.content_fixture import content
from tests.report.fixtures import CASES, case
from tests.report.sections.test_verdict import CLEAN

SECTIONS = {
    "verdict", "certificates", "measures", "calibration", "uses", "ceiling", "structure", "cases",
    "table-one", "problems", "subgroups", "unchecked", "reproduce", "headroom", "what-if",
    "comparison",
}  # fmt: skip
SETTINGS = Settings(target="outcome")


@pytest.mark.parametrize("task", ["two classes", "classes", "numbers", "structure"])
def test_every_section_is_explained_in_two_sentences(task):
    found = dict(explanations.make(content(task)))
    assert set(found) == SECTIONS
    for explanation in found.values():
        assert isinstance(explanation, Explanation)
        assert len(re.findall(r"[.:?!](?= |$)", explanation.sentences.replace(": ", ", "))) == 2
        importlib.import_module(explanation.definition)
        assert explanation.formula == "" or explanation.formula.startswith("<math>")


def plain(value, path="content"):
    """Complain of anything but plain Python values: NumPy's do not become JSON."""
    if is_dataclass(value):
        for field in fields(value):
            plain(getattr(value, field.name), f"{path}.{field.name}")
    elif type(value) is tuple:
        for item in value:
            plain(item, path)
    else:
        assert value is None or type(value) in (str, bool, int, float), (path, type(value))


@pytest.mark.parametrize("name", CASES)
def test_sections_hold_plain_values_of_python(name):
    prepared, result = case(name)
    given = (prepared, SETTINGS, result)
    plain(verdict.make(*given, CLEAN))
    for module in (certificates, headroom, measures, calibration, uses, ceiling):
        plain(module.make(*given))
    for module in (what_if, cases):
        plain(module.make(*given)[0])
    plain(reproduce.make(*given, "", {"table": "rows.csv"}))


@pytest.mark.parametrize("name", CASES)
def test_sections_are_the_same_every_time(name):
    prepared, result = case(name)
    from certus.reporting.sections.parts import uncertainty

    found = []
    for _ in range(2):
        uncertainty._made.clear()
        given = (prepared, SETTINGS, result)
        found.append([uses.make(*given), what_if.make(*given), measures.make(*given),
                      headroom.make(*given), ceiling.make(*given), cases.make(*given)])  # fmt: skip
    assert found[0] == found[1]
