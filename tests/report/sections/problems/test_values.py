"""Missing values, copies of columns, rare classes and categories, odd numbers."""

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


def test_missing_values_are_counted():
    frame = clean()
    frame.loc[rng().random(200) < 0.3, "dose"] = np.nan
    problem = only(problems_of(frame, "D-MISS"))
    assert problem.columns == ("dose",)
    assert problem.severity == "warning"
    assert problem.n_rows == frame["dose"].isna().sum()


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_missingness_that_depends_on_the_target(task):
    frame = clean(n=400, task=task)
    is_high = frame["sick"] == "ill" if task == "classes" else frame["sick"] > 0
    frame.loc[is_high & (rng().random(400) < 0.6), "dose"] = np.nan
    _, dependent = problems_of(frame, "D-MISS")
    assert dependent.title == "Whether 'dose' is missing depends on the target"


def test_rows_that_are_mostly_empty():
    frame = clean()
    frame.loc[[5, 55], ["age", "pressure", "dose", "visits"]] = np.nan
    assert ((6, 56), 2) in [(p.rows, p.n_rows) for p in problems_of(frame, "D-MISS")]


def test_sums_and_copies_of_columns():
    frame = clean()
    frame["total"] = (frame["age"] + frame["pressure"]).round(1)
    frame["dose_mg"] = frame["dose"] * 1000
    frame["station"] = frame["ward"].map({"north": "A", "south": "B", "west": "C"})
    problem = only(problems_of(frame, "D-ALIAS"))
    assert set(problem.columns) == {"total", "dose_mg", "station"}
    assert "'total' = 'age' + 'pressure'" in problem.title
    assert "'dose_mg' = 1,000 × 'dose'" in problem.title
    assert "'station' has the categories of 'ward'" in problem.title


def test_copies_among_more_columns_than_rows():
    frame = clean(n=60)
    wide = pd.DataFrame(rng().normal(size=(60, 300)).round(4)).add_prefix("g")
    wide["g7_again"] = -2 * wide["g7"]
    found = problems_of(pd.concat([frame, wide], axis=1), "D-ALIAS")
    assert only(found).columns == ("g7_again",)


def test_columns_that_nearly_are_copies():
    frame = clean()
    frame["age_again"] = frame["age"] + rng().normal(0, 0.5, 200).round(1)
    assert only(problems_of(frame, "D-ALIAS")).severity == "info"


@pytest.mark.parametrize(("n_ill", "severity"), [(6, "severe"), (20, "warning")])
def test_rare_classes(n_ill, severity):
    frame = clean(n=400)
    frame["sick"] = "well"
    rows = np.sort(rng().choice(400, n_ill, replace=False))
    frame.loc[rows, "sick"] = "ill"
    problem = only(problems_of(frame, "D-RARE"))
    assert problem.severity == severity
    assert (problem.n_rows, problem.rows) == (n_ill, ()), "row numbers would tell who is ill"


def test_rare_categories_are_not_named():
    frame = clean()
    frame.loc[[8, 18], "ward"] = "attic"
    problem = only(problems_of(frame, "D-RARE"))
    assert (problem.columns, problem.rows) == (("ward",), (9, 19))
    assert "attic" not in str(problem)


@pytest.mark.parametrize(
    ("column", "value"), [("age", 999), ("pressure", -1), ("age", -99), ("pressure", 0)]
)
def test_sentinels(column, value):
    frame = clean()
    rows = np.sort(rng().choice(200, 9, replace=False))
    frame.loc[rows, column] = value
    problem = only(problems_of(frame, "D-SCALE"))
    assert problem.columns == (column,)
    assert problem.rows == tuple(rows + 1)


@pytest.mark.parametrize(
    "values",
    [
        lambda r, n: r.poisson(0.7, n),  # zeros of counts
        lambda r, n: r.normal(0, 3, n).round(0),  # −1 and −9 among others
        lambda r, n: r.pareto(1.0, n).round(3),  # a long tail
        lambda r, n: r.choice([0, 1, 2, 5, 10, 20], n),
        lambda r, n: r.lognormal(3, 2, n).round(2),
        lambda r, n: np.where(r.random(n) < 0.4, 0, r.exponential(50, n)).round(2),  # rain
    ],
)
@pytest.mark.parametrize("seed", SEEDS)
def test_ordinary_zeros_and_tails_are_no_sentinels(seed, values):
    frame = clean(seed, n=500)
    frame["x"] = values(rng(seed), 500)
    assert not problems_of(frame, "D-SCALE")


def test_one_far_value():
    frame = clean()
    frame.loc[77, "pressure"] = 12340.0
    problem = only(problems_of(frame, "D-SCALE"))
    assert problem.rows == (78,)
    assert "12" not in problem.title + problem.reason, "the value is a raw cell"


def test_a_constant_is_part_of_the_equation():
    frame = clean()
    frame["age_months"] = (12 * frame["age"] - 600).round(3)
    assert "= 12 × 'age' − 600" in only(problems_of(frame, "D-ALIAS")).title


def test_extreme_scales():
    frame = clean()
    frame["income"] = rng().normal(3e9, 1e9, 200).round(0)
    frame["share"] = rng().normal(3e-6, 1e-6, 200).round(9)
    assert only(problems_of(frame, "D-SCALE")).columns == ("income", "share")
