"""Columns by outcome, with what was missing and left out."""

import numpy as np
import pandas as pd
import pytest

from certus.reporting.sections import table_one
from tests.report.sections.tables import clean, prepared_of, settings_for


def table_of(frame, **options):
    settings = settings_for(**options)
    return table_one.make(prepared_of(frame, settings), settings)


def rows_of(made):
    names = [c.name for c in made.table.columns]
    return {row[0]: dict(zip(names, row, strict=True)) for row in made.table.rows}


def test_numbers_by_class_are_those_of_the_rows():
    frame = clean()
    row = rows_of(table_of(frame))["age, mean (SD)"]
    for name, group in [("ill", frame[frame.sick == "ill"]), ("well", frame[frame.sick == "well"])]:
        cell = row[f"{name} (n = {len(group)})"]
        mean, spread = (float(part.strip("()")) for part in cell.split())
        assert mean == pytest.approx(group.age.mean(), abs=0.06)
        assert spread == pytest.approx(group.age.std(), abs=0.06)


def test_the_difference_is_that_of_the_positive_class_in_standard_deviations():
    frame = clean()
    ill, well = (frame.loc[frame.sick == k, "age"] for k in ("ill", "well"))
    expected = (ill.mean() - well.mean()) / np.sqrt((ill.var() + well.var()) / 2)
    found = rows_of(table_of(frame, positive="ill"))["age, mean (SD)"]["Difference"]
    assert found == pytest.approx(expected)
    assert rows_of(table_of(frame, positive="well"))["age, mean (SD)"]["Difference"] == -found


def test_the_difference_of_a_category_uses_shares():
    frame = clean()
    p, q = ((frame.loc[frame.sick == k, "ward"] == "north").mean() for k in ("ill", "well"))
    expected = (p - q) / np.sqrt((p * (1 - p) + q * (1 - q)) / 2)
    found = rows_of(table_of(frame, positive="ill"))["ward: north"]["Difference"]
    assert found == pytest.approx(expected)


def test_skewed_columns_have_quartiles():
    assert "dose, median (quartiles)" in rows_of(table_of(clean()))


def test_numbers_are_described_by_thirds_of_the_target():
    frame = clean(task="numbers")
    heads = [c.name for c in table_of(frame).table.columns]
    assert heads[2:5] == [
        "lowest third (n = 67)", "middle third (n = 66)", "highest third (n = 67)",
    ]  # fmt: skip


def test_categories_of_fewer_than_five_rows_are_merged():
    frame = clean()
    frame.loc[:3, "ward"] = "attic"
    frame.loc[4:6, "ward"] = "cellar"
    rows = rows_of(table_of(frame))
    assert rows["ward: other levels"]["All (n = 200)"].startswith("7 (")
    assert not {"ward: attic", "ward: cellar"} & set(rows)


def test_statistics_of_fewer_than_five_rows_are_not_shown():
    frame = clean(n=300)
    frame["sick"] = pd.Series(["a", "b", "c"] * 100)
    frame.loc[frame.sick == "c", "dose"] = np.nan
    frame.loc[frame.index[frame.sick == "c"][:4], "dose"] = 77777.0
    row = rows_of(table_of(frame))["dose, median (quartiles)"]
    assert row["c (n = 100)"] is None
    assert row["Missing"] == 96


@pytest.mark.parametrize(("n", "is_warned"), [(50, True), (1000, False)])
def test_events_per_parameter(n, is_warned):
    frame = clean(n=n)
    made = table_of(frame)
    events = min((frame.sick == "ill").sum(), (frame.sick == "well").sum())
    assert made.events_per_parameter == events / (4 + 2 + 1)
    assert ("fewer than the 10" in made.text) == is_warned


def test_how_missing_values_are_filled():
    frame = clean()
    assert table_of(frame).missing == ("No value of the used columns is missing.",)
    frame.loc[::7, "dose"] = np.nan
    frame.loc[::9, "ward"] = None
    numbers, categories = table_of(frame).missing
    assert "median of the training rows, inside each fold" in numbers
    assert "a category of its own" in categories


def test_all_columns_are_in_the_table():
    frame = clean(n=60)
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 90)).round(3)).add_prefix("g")
    made = table_of(pd.concat([frame[["ward", "sick"]], wide], axis=1))
    assert len(made.table.rows) == 4 + 90


def test_without_a_target_columns_are_described_all_the_same():
    frame = clean().drop(columns="sick")
    made = table_of(frame, target=None, cluster=True)
    assert [c.name for c in made.table.columns] == ["", "All (n = 200)", "Missing"]
    assert made.events_per_parameter is None
