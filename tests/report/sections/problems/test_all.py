"""All checks together: a clean table, the order of problems, and what no page may hold."""

import pandas as pd
import pytest

from certus.reporting.procedure.progress import Silent
from certus.reporting.sections import problems, structure, table_one
from tests.report.sections.tables import (
    clean,
    only,
    prepared_of,
    problems_of,
    rng,
    settings_for,
)

SEEDS = (0, 1, 2)


@pytest.mark.parametrize("task", ["classes", "numbers"])
@pytest.mark.parametrize("n", [60, 200, 1000])
@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_found_in_a_clean_table(seed, n, task):
    settings = settings_for()
    found = problems.find(prepared_of(clean(seed, n, task), settings), settings)
    assert [p.title for p in found.problems] == []
    assert set(found.checked) >= {"D-ID", "D-DUP", "D-LEAK", "D-GROUP", "D-MISS", "D-SCALE"}


def test_codes_that_do_not_apply_are_neither_found_nor_checked():
    settings = settings_for()
    found = problems.find(prepared_of(clean(), settings), settings)
    assert "D-SHIFT" not in found.checked, "there is neither --test nor --time"


def test_severe_problems_come_first():
    frame = clean()
    frame["copy"] = frame["sick"] == "ill"
    frame["note"] = [f"text number {i}" for i in range(len(frame))]
    settings = settings_for()
    found = problems.find(prepared_of(frame, settings), settings)
    assert [p.severity for p in found.problems] == ["severe", "info"]
    assert found.text == "1 severe problem and 1 remark."


def test_row_numbers_are_those_of_the_file():
    frame = pd.concat([clean(), clean()[:3]], ignore_index=True)
    frame.loc[[0, 50, 150], "sick"] = None
    assert only(problems_of(frame, "D-DUP")).rows == (202, 203)


def test_no_cell_is_in_any_section():
    """Canaries: cells of fewer than 5 rows, numbers whose digits cannot be there by chance."""
    frame = clean(n=300)
    frame["note"] = [f"canary {i} sang" for i in range(300)]
    frame["canary_id"] = [f"ID-canary-{i}" for i in range(300)]
    frame["born"] = [f"19{40 + i % 50}-03-{1 + i % 28:02d}" for i in range(300)]
    frame.loc[:2, "ward"] = ["canary", "Canary", "canarY"]
    frame["mixed"] = frame["age"].astype(str)
    frame.loc[7, "mixed"] = "canary"
    frame["income"] = rng().lognormal(10, 1, 300).round(2) + 0.00001234
    frame.loc[9, "income"] = 777123456.789
    frame["half_dates"] = frame["born"]
    frame.loc[100:200, "half_dates"] = "canary day"
    frame["code"] = 0
    frame.loc[5, "code"] = 424242
    again = frame[20:40].copy()
    frame = pd.concat([frame, again], ignore_index=True)
    settings = settings_for(by=("ward", "income"))
    prepared = prepared_of(frame, settings)
    shape, parts = structure.make(prepared, settings, Silent())
    made = (problems.find(prepared, settings), table_one.make(prepared, settings), shape, parts)
    text = str(made).replace("canary_id", "").replace("'mixed'", "")
    assert len(made[0].problems) >= 8
    assert "canar" not in text.casefold()
    for digits in ("777123456", "777,123,456", "424242", "424,242", "00001234", "19401"):
        assert digits not in text
    assert not [v for v in frame["income"] if f"{v:.2f}" in text]
