"""Columns that say nothing, or not as they are: ids, dates, text, constants."""

import numpy as np
import pandas as pd
import pytest

from tests.report.sections.tables import (
    clean,
    only,
    problems_of,
    rng,
)

SEEDS = (0, 1, 2)


def test_an_id_that_was_left_out_is_named():
    frame = clean()
    frame["patient_id"] = rng().permutation(len(frame)) + 5000
    problem = only(problems_of(frame, "D-ID"))
    assert problem.columns == ("patient_id",)
    assert problem.severity == "info"
    assert not problems_of(frame, "D-ID", id="patient_id"), "it was stated to be the id"


def test_a_number_that_rises_from_row_to_row_is_an_id():
    frame = clean()
    frame["serial"] = np.cumsum(rng().integers(1, 9, len(frame)))
    problem = only(problems_of(frame, "D-ID"))
    assert problem.columns == ("serial",)
    assert problem.severity == "warning", "models use it"


def test_dates_that_no_model_uses():
    frame = clean()
    frame["seen"] = pd.date_range("2020-01-03", periods=len(frame)).strftime("%Y-%m-%d")
    assert only(problems_of(frame, "D-DATE")).columns == ("seen",)
    assert not problems_of(frame, "D-DATE", time="seen")


def test_dates_among_other_text():
    frame = clean()
    frame["seen"] = pd.date_range("2020-01-03", periods=len(frame)).strftime("%Y-%m-%d")
    frame.loc[3:9, "seen"] = "last summer"
    problem = only(problems_of(frame, "D-DATE"))
    assert "other text" in problem.title
    assert problem.n_rows == 7
    assert problem.rows == (4, 5, 6, 7, 8, 9, 10)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("seen", lambda days: days.strftime("%Y%m%d").astype(int)),
        ("created_at", lambda days: (days - pd.Timestamp("1970-01-01")).days * 86400 + 17),
    ],
)
def test_dates_written_as_numbers(name, values):
    frame = clean()
    days = pd.to_datetime("2020-01-03") + pd.to_timedelta(rng().integers(0, 900, len(frame)), "D")
    frame[name] = values(pd.DatetimeIndex(days))
    assert only(problems_of(frame, "D-DATE")).columns == (name,)


def test_free_text_is_named():
    frame = clean()
    frame["note"] = [f"came in on day {i} with pain" for i in range(len(frame))]
    assert only(problems_of(frame, "D-TEXT")).columns == ("note",)


def test_categories_that_differ_by_case_or_spaces():
    frame = clean()
    frame.loc[10:11, "ward"] = "North"
    frame.loc[20, "ward"] = "south  "  # spaces at the ends are cut off when the file is read
    problem = only(problems_of(frame, "D-TEXT"))
    assert problem.columns == ("ward",)
    assert problem.rows == (11, 12)
    assert "North" not in str(problem), "fewer than 5 rows have it"


def test_numbers_mixed_with_text():
    frame = clean()
    frame["weight"] = rng().normal(70, 9, len(frame)).round(0).astype(int).astype(str)
    frame.loc[[4, 44], "weight"] = "unknown"
    problem = only(problems_of(frame, "D-TEXT"))
    assert "mostly numbers" in problem.title
    assert problem.rows == (5, 45)
    assert "unknown" not in str(problem)


def test_constant_columns_and_columns_that_nearly_are():
    frame = clean()
    frame["country"] = "NO"
    frame["rare_sign"] = 0
    frame.loc[[7, 70], "rare_sign"] = 1
    constant, nearly = problems_of(frame, "D-CONST")
    assert constant.columns == ("country",)
    assert nearly.columns == ("rare_sign",)
    assert nearly.rows == (8, 71)
