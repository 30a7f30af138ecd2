"""What was not checked, and which item of TRIPOD+AI is answered where."""

import re
from dataclasses import replace

import pytest

from certus.reporting.content.data import Unchecked
from certus.reporting.sections import crosswalk, problems, unchecked
from tests.report.content_fixture import content
from tests.report.sections.tables import clean, prepared_of, settings_for

PREPARED = prepared_of(clean())


def checks(**options) -> str:
    settings = settings_for(**options)
    found = problems.find(PREPARED, settings)
    return str(unchecked.collect(PREPARED, settings, (), problems=found))


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ({"group": "ward"}, "Several rows of one unit"),
        ({"time": "visits"}, "Change over time"),
        ({"by": ("ward",)}, "No --by was given"),
        ({"weights": "dose"}, "Sampling weights"),
        ({"cost_false_negative": 5.0}, "What errors cost"),
    ],
)
def test_an_option_answers_its_question(option, words):
    assert words in checks()
    assert words not in checks(**option)


def test_what_no_file_can_show_is_always_said():
    for words in ("Cause and effect", "Errors of measurement", "Drift", "represent"):
        assert words in checks()


def test_codes_that_did_not_apply_are_said():
    assert "D-SHIFT" in checks()
    assert "D-LEAK" not in checks().replace("Only D-LEAK's suspicion", "")


def test_parts_of_other_sections_are_kept():
    part = Unchecked("What-if sliders", "The model has no coefficients.")
    assert part in unchecked.collect(PREPARED, settings_for(), (part,))


def test_each_check_is_said_once():
    found = unchecked.collect(PREPARED, settings_for())
    assert len({u.check for u in found}) == len(found)


# --- the crosswalk --------------------------------------------------------------------------------


def test_all_items_of_the_statement_are_there_once_and_in_order():
    numbers = [item.item for item in crosswalk.ITEMS]
    assert len(set(numbers)) == len(numbers) == 52
    main = [int(re.match(r"\d+", n).group()) for n in numbers]
    assert sorted(set(main)) == list(range(1, 28))
    assert numbers == sorted(numbers, key=lambda n: (int(re.match(r"\d+", n).group()), n))


@pytest.mark.parametrize("task", ["two classes", "classes", "numbers", "structure"])
def test_an_item_is_answered_by_a_section_of_the_page_or_by_the_author(task):
    page = content(task)
    for item in crosswalk.items(page):
        if item.section is None:
            assert item.answer.startswith("You must write this.")
        else:
            assert item.answer.startswith("Section ")
            assert crosswalk.SECTION_TESTS[item.section](page)


def test_a_section_that_is_left_out_answers_nothing():
    page = replace(content("two classes"), subgroups=(), calibration=None)
    answers = {item.item: item for item in crosswalk.items(page)}
    assert answers["12d"].section is None
    assert "--by or --time" in answers["12d"].answer
    assert answers["24"].section is None
