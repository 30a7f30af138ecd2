"""The verdict's measure within groups, on rows that the models had not seen."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from certus.linear_model import LogisticRegression, Ridge
from certus.reporting.sections import subgroups
from certus.reporting.settings import Settings
from tests.report.fixtures import TARGET, prepared_from, result_from


def two_wards(n=400, difference=False, seed=0):
    """Rows of two wards; with a difference the columns say nothing in the south."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 2)).round(3), columns=["a", "b"])
    frame["ward"] = rng.choice(["north", "south"], n)
    signal = 2 * frame["a"] * ((frame["ward"] == "north") | (not difference))
    frame[TARGET] = np.where(signal + rng.logistic(size=n) > 0, "yes", "no")
    return frame


def made(frame, task="two classes", by=("ward",), **options):
    prepared = prepared_from(frame, task=task)
    model = Ridge() if task == "numbers" else LogisticRegression()
    result = result_from(prepared, model, "model", "Model")
    settings = Settings(target=TARGET, by=by, **options)
    return prepared, result, subgroups.make(prepared, settings, result)


def test_the_measure_of_a_group_is_that_of_its_rows():
    frame = two_wards()
    prepared, result, (found,) = made(frame)
    north = next(g for g in found.groups if g.name == "north")
    inside = (frame["ward"] == "north").to_numpy()
    assert north.estimate.n == inside.sum()
    positive = prepared.labels[prepared.positive]
    areas = [
        roc_auc_score(prepared.y[rows] == positive, result.outer.output[rows])
        for rows in (np.flatnonzero(inside & (result.outer.fold == f)) for f in range(5))
    ]
    assert north.estimate.value == pytest.approx(np.mean(areas), abs=0.01)
    assert north.estimate.interval.low < north.estimate.value < north.estimate.interval.high


@pytest.mark.parametrize("seed", [0, 1])
def test_groups_that_differ_are_said_to_differ(seed):
    assert "more than chance explains" in made(two_wards(difference=True, seed=seed))[2][0].text
    same = made(two_wards(seed=seed))[2][0].text
    assert "no more than chance explains" in same


def test_small_groups_get_a_note_instead_of_an_estimate():
    frame = two_wards()
    frame.loc[:11, "ward"] = "attic"
    frame.loc[12:14, "ward"] = "cellar"
    groups = {g.name: g for g in made(frame)[2][0].groups}
    assert groups["attic"].note == "fewer than 20 rows: no estimate"
    assert groups["attic"].estimate.interval is None
    assert "cellar" not in groups, "fewer than 5 rows are not named"
    assert groups["other values"].estimate.n == 3


def test_a_group_of_one_class_has_no_estimate():
    frame = two_wards()
    frame.loc[frame["ward"] == "south", TARGET] = "no"
    groups = {g.name: g for g in made(frame)[2][0].groups}
    assert groups["south"].note == "all rows have the same class: no estimate"


def test_numbers_are_cut_into_quarters():
    groups = made(two_wards(), by=("a",))[2][0].groups
    assert [g.estimate.n for g in groups] == [100, 100, 100, 100]
    assert groups[0].name.startswith("up to −0.")


def test_a_column_of_few_numbers_is_shown_by_its_values():
    frame = two_wards()
    frame["grade"] = np.arange(len(frame)) % 3 + 8
    assert [g.name for g in made(frame, by=("grade",))[2][0].groups] == ["8", "9", "10"]


def test_missing_values_are_a_group():
    frame = two_wards()
    frame.loc[:39, "ward"] = None
    assert made(frame)[2][0].groups[-1].name == "missing"


def test_several_classes_and_numbers():
    frame = two_wards()
    frame[TARGET] = np.digitize(frame["a"], [-0.5, 0.5]).astype(str)
    assert all(g.estimate.name == "AUC" for g in made(frame, "classes")[2][0].groups)
    frame[TARGET] = (frame["a"] + 0.1 * frame["b"] ** 2).round(3)
    groups = made(frame, "numbers")[2][0].groups
    assert all(g.estimate.name == "R²" and g.estimate.value > 0.9 for g in groups)


def test_periods_of_time():
    prepared, result, _ = made(two_wards())
    prepared = replace(prepared, times=np.arange(prepared.n, dtype=float))
    found = subgroups.make(prepared, Settings(target=TARGET, time="day"), result)
    assert [f.kind for f in found] == ["time"]
    assert [g.estimate.n for g in found[0].groups] == [80] * 5
    assert found[0].groups[0].name == "period 1 of 5, the earliest"


def test_nothing_was_requested():
    assert made(two_wards(), by=())[2] == ()
