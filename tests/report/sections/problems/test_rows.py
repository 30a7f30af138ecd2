"""Repeated rows, odd targets, and rows of other times and files."""

import numpy as np
import pandas as pd
import pytest

from certus.reporting.prepare import prepare_test
from certus.reporting.sections import problems
from tests.report.sections.tables import (
    clean,
    only,
    prepared_of,
    problems_of,
    rng,
    settings_for,
    table_of,
)

SEEDS = (0, 1, 2)


def test_repeated_rows():
    frame = pd.concat([clean(), clean()[:20]], ignore_index=True)
    problem = only(problems_of(frame, "D-DUP"))
    assert problem.title == "20 rows repeat others"
    assert problem.rows == tuple(range(201, 221))
    assert problem.severity == "warning"


def test_equal_rows_with_other_targets_are_said_apart():
    frame = clean()
    again = frame[:8].copy()
    again["sick"] = np.where(again["sick"] == "ill", "well", "ill")
    problem = only(problems_of(pd.concat([frame, again], ignore_index=True), "D-DUP"))
    assert "not in the target" in problem.title
    assert problem.n_rows == 16
    assert problem.rows[:8] == tuple(range(1, 9))


def test_rows_that_coincide_because_columns_take_few_values_are_no_warning():
    few = clean(n=500)[["ward", "smoker", "sick"]]
    assert {p.severity for p in problems_of(few, "D-DUP") if "repeat" in p.title} == {"info"}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_label_that_all_neighbours_contradict(seed):
    r = rng(seed)
    frame = pd.DataFrame(r.normal(size=(300, 3)).round(3), columns=["a", "b", "c"])
    frame.loc[:149, ["a", "b"]] += 4
    frame["sick"] = np.repeat(["ill", "well"], 150)
    assert not problems_of(frame, "D-LABEL")
    frame.loc[[20, 220], "sick"] = ["well", "ill"]
    assert only(problems_of(frame, "D-LABEL")).rows == (21, 221)


def test_a_number_that_all_neighbours_contradict():
    r = rng()
    frame = pd.DataFrame(r.uniform(size=(400, 2)).round(4), columns=["a", "b"])
    frame["sick"] = (10 * frame["a"] + 5 * frame["b"] + 0.1 * r.normal(size=400)).round(3)
    assert not problems_of(frame, "D-LABEL")
    frame.loc[30, "sick"] += 50
    assert only(problems_of(frame, "D-LABEL")).rows == (31,)


def test_columns_that_change_over_time():
    frame = clean(n=400)
    frame["day"] = np.arange(400)
    frame.loc[200:, "dose"] += 5
    problem = only(problems_of(frame, "D-SHIFT", time="day"))
    assert problem.columns == ("dose",)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_that_do_not_change_over_time(seed):
    frame = clean(seed, n=400)
    frame["day"] = np.arange(400)
    assert not problems_of(frame, "D-SHIFT", time="day")


def found_with_test(frame, test, code):
    settings = settings_for()
    prepared = prepared_of(frame, settings)
    other = prepare_test(table_of(test), prepared, settings)
    return [p for p in problems.find(prepared, settings, other).problems if p.code == code]


def test_test_rows_of_the_same_source_are_alike():
    frame = clean(n=600)
    assert not found_with_test(frame[:400], frame[400:], "D-SHIFT")


def test_test_rows_that_were_measured_in_other_units():
    frame, test = clean(n=400), clean(1, n=200)
    test["pressure"] = (test["pressure"] * 0.133).round(2)
    assert only(found_with_test(frame, test, "D-SHIFT")).columns == ("pressure",)


def test_test_rows_with_new_categories_and_other_classes():
    frame, test = clean(n=400), clean(1, n=200)
    test.loc[[3, 33], "ward"] = "attic"
    new = only(found_with_test(frame, test, "D-SHIFT"))
    assert (new.rows, new.columns) == ((4, 34), ("ward",))
    ill = test[test["sick"] == "ill"]
    target = only(found_with_test(frame, pd.concat([ill] * 3)[:100], "D-SHIFT"))
    assert "The target is distributed differently" in target.title


def test_test_rows_that_were_trained_on():
    frame, test = clean(n=400), clean(1, n=200)
    test.iloc[:25] = frame.iloc[:25]
    problem = only(found_with_test(frame, test, "D-DUP"))
    assert problem.severity == "severe"
    assert problem.rows == tuple(range(1, 21))
