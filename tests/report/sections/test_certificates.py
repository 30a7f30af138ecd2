"""Boxes repeat what the certificates say, and the text says what that means."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from certus.reporting.sections import certificates
from certus.reporting.sections.parts.mathml import from_text
from certus.reporting.settings import Settings
from tests.report.fixtures import CASES, case

SETTINGS = Settings(target="outcome")


@pytest.mark.parametrize("name", CASES)
def test_a_box_has_all_lines_of_the_certificate_and_the_page_to_read(name):
    prepared, result = case(name)
    found = certificates.make(prepared, SETTINGS, result)
    (box,) = found.boxes
    explained = certificates.rounded(result.certificate.explain(), whole=True)
    for label, text in box.lines:
        assert f"{label:<14} {certificates.rounded(text, whole=True)}" in explained
    for text in (box.line, box.formula, *(text for _, text in box.lines)):
        for number in re.findall(r"\d[\d,]*\.\d+", text):
            assert len(number.replace(",", "").replace(".", "").strip("0")) <= 3
    assert box.certified
    assert box.status == result.certificate.status
    line = certificates.rounded(repr(result.certificate))
    assert line == f"Certificate({box.line})"
    assert box.definition.startswith("certus.definitions.")
    assert 10 < box.definition_lines <= 80
    assert "about the arithmetic" in found.text


def test_other_candidates_have_boxes_and_failures_are_counted():
    prepared, result = case("logistic")
    bad = replace(case("ridge")[1].certificate, certified=False, status="not optimal")
    result = replace(result, other_certificates=(("Ridge regression", bad),))
    found = certificates.make(prepared, SETTINGS, result)
    assert [box.model for box in found.boxes] == [
        "Logistic regression (the chosen model)", "Ridge regression",
    ]  # fmt: skip
    assert "1 other model could not be certified" in found.text
    failed = replace(result, certificate=bad, other_certificates=())
    assert "not certified (not optimal)" in certificates.make(prepared, SETTINGS, failed).text


class Balanced(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.letters = [], ""

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.letters += data


@pytest.mark.parametrize("name", CASES)
def test_formulas_become_well_formed_mathml_with_every_sign(name):
    formula = certificates.rounded(case(name)[1].certificate.formula)
    markup = from_text(formula)
    if not markup:
        assert "nearest rows" in formula
        return
    parser = Balanced()
    parser.feed(markup)
    assert parser.open == []
    plain = str.maketrans("ᵢⱼₖₗ₁₂ᵀ²", "ijkl12T2")
    wanted = formula.replace(" ", "").translate(plain)
    assert sorted(parser.letters) == sorted(wanted)
