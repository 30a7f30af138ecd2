"""Each fault that is planted in a clean table is found, and nothing else is said of it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from certus.reporting.content.data import Problem
from certus.reporting.prepare import prepare_test
from certus.reporting.procedure.progress import Silent
from certus.reporting.sections import problems, structure, table_one
from tests.report.sections.tables import (
    clean,
    prepared_of,
    problems_of,
    settings_for,
    table_of,
)

SEEDS = (0, 1, 2)


def only(found: list[Problem]) -> Problem:
    assert len(found) == 1, [p.title for p in found]
    return found[0]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(1000 + seed)


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


# --- D-ID, D-DATE, D-TEXT, D-CONST ----------------------------------------------------------------


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


# --- D-DUP ----------------------------------------------------------------------------------------


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


# --- D-LEAK ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_a_copy_of_the_classes_is_severe(seed):
    frame = clean(seed)
    frame["outcome_code"] = np.where(frame["sick"] == "ill", 2, 1)
    problem = only(problems_of(frame, "D-LEAK"))
    assert problem.columns == ("outcome_code",)
    assert problem.severity == "severe"
    assert "completely" in problem.title


@pytest.mark.parametrize("seed", SEEDS)
def test_a_column_that_is_a_consequence_of_the_target(seed):
    frame = clean(seed)
    r = rng(seed)
    days = np.where(frame["sick"] == "ill", r.gamma(30, 1, len(frame)), r.gamma(3, 1, len(frame)))
    frame["days_in_hospital"] = days.round(1)
    problem = only(problems_of(frame, "D-LEAK"))
    assert problem.columns == ("days_in_hospital",)
    assert "almost perfectly" in problem.title


def test_a_leak_that_no_order_shows():
    frame = clean(n=1000)
    code = rng().integers(0, 10, len(frame))
    code += (code % 2 == 0) != (frame["sick"] == "ill")  # even: ill
    frame["ticket"] = code
    assert only(problems_of(frame, "D-LEAK")).columns == ("ticket",)


def test_a_category_that_gives_the_target_away():
    frame = clean()
    r = rng()
    frame["discharge"] = np.where(
        frame["sick"] == "ill", r.choice(["ward", "died"], 200), r.choice(["home", "never in"], 200)
    )
    assert only(problems_of(frame, "D-LEAK")).columns == ("discharge",)


@pytest.mark.parametrize("change", [lambda y: 2.54 * y + 3, np.exp])
def test_a_map_of_a_number(change):
    frame = clean(task="numbers")
    frame["converted"] = change(frame["sick"])
    problem = only(problems_of(frame, "D-LEAK"))
    assert problem.columns == ("converted",)
    assert problem.severity == "severe"


def test_a_target_that_is_a_sum_of_columns():
    frame = clean(task="numbers")
    frame["sick"] = frame["age"] - 2 * frame["dose"]
    problem = only(problems_of(frame, "D-LEAK"))
    assert set(problem.columns) == {"age", "dose"}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_of_many_noise_columns_is_no_leak(seed):
    frame = clean(seed, n=40)
    noise = rng(seed).normal(size=(40, 500)).round(4)
    wide = pd.concat([frame, pd.DataFrame(noise).add_prefix("g")], axis=1)
    assert not problems_of(wide, "D-LEAK")


# --- D-GROUP --------------------------------------------------------------------------------------


def patients(seed: int, within: float = 0.1, per: int = 5, named: bool = True) -> pd.DataFrame:
    """Visits of patients whose class says nothing about the columns but belongs to the patient."""
    r = rng(seed)
    who = np.repeat(np.arange(60), per)
    X = r.normal(size=(60, 4))[who] + within * r.normal(size=(60 * per, 4))
    frame = pd.DataFrame(X.round(4), columns=["a", "b", "c", "d"])
    if named:
        frame["patient"] = [f"P{i:03d}" for i in who]
    frame["sick"] = r.choice(["ill", "well"], 60)[who]
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_column_that_names_units(seed):
    problem = only(problems_of(patients(seed, within=1.0), "D-GROUP"))
    assert problem.columns == ("patient",)
    assert problem.severity == "severe"
    assert "--group patient" in problem.fix


def test_groups_that_were_stated_are_not_looked_for():
    settings = settings_for(group="patient")
    prepared = prepared_of(patients(0), settings_for(drop=("patient",)))
    prepared = replace(prepared, groups=np.repeat(np.arange(60), 5))
    found = problems.find(prepared, settings)
    assert "D-GROUP" not in {*found.checked, *(p.code for p in found.problems)}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("per", [2, 5])
def test_near_copies_without_a_name(seed, per):
    problem = only(problems_of(patients(seed, 0.1, per, named=False), "D-GROUP"))
    assert "near copy" in problem.title


@pytest.mark.parametrize("seed", SEEDS)
def test_values_that_rows_of_a_unit_share(seed):
    r = rng(seed)
    frame = patients(seed, within=1.0)
    codes = frame.pop("patient").astype("category").cat.codes
    for name in ("birth_weight", "height", "iron"):
        frame[name] = r.normal(100, 15, 60).round(1)[codes]
    problem = only(problems_of(frame, "D-GROUP"))
    assert problem.columns == ("birth_weight", "height", "iron")


@pytest.mark.parametrize("seed", SEEDS)
def test_an_ordinary_category_is_no_unit(seed):
    frame = clean(seed, n=400)
    frame["town"] = rng(seed).choice([f"town {i}" for i in range(60)], len(frame))
    assert not problems_of(frame, "D-GROUP")


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_that_are_rounded_are_no_near_copies(seed):
    r = rng(seed)
    frame = pd.DataFrame(r.normal(size=(500, 3)).round(1), columns=["a", "b", "c"])
    frame["sick"] = np.where(frame["a"] + 0.3 * r.normal(size=500) > 0, "ill", "well")
    assert not problems_of(frame, "D-GROUP")


# --- D-MISS, D-ALIAS, D-RARE, D-SCALE -------------------------------------------------------------


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


# --- D-LABEL, D-SHIFT -----------------------------------------------------------------------------


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


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_a_leak_among_many_columns_is_found_too(task):
    frame = clean(n=120, task=task)
    wide = pd.DataFrame(rng().normal(size=(120, 600)).round(4)).add_prefix("g")
    leak = np.where(frame["sick"] == "ill", 9.0, 1.0) if task == "classes" else frame["sick"]
    wide["late"] = (leak + 0.01 * wide["g0"]).round(5)
    assert only(problems_of(pd.concat([wide, frame], axis=1), "D-LEAK")).columns == ("late",)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_target_that_changes_from_place_to_place_is_no_unit(seed):
    X = rng(seed).uniform(size=(400, 2)).round(4)
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame["sick"] = np.where((4 * X).astype(int).sum(axis=1) % 2, "ill", "well")
    assert not problems_of(frame, "D-GROUP")


def test_near_copies_in_a_large_table_are_found_in_a_sample():
    r = rng()
    who = np.repeat(np.arange(1500), 2)
    X = r.normal(size=(1500, 4))[who] + 0.02 * r.normal(size=(3000, 4))
    frame = pd.DataFrame(X.round(4), columns=list("abcd"))
    frame["sick"] = r.choice(["ill", "well"], 1500)[who]
    assert "of a sample of 2,000 rows" in only(problems_of(frame, "D-GROUP")).title


# --- test rows ------------------------------------------------------------------------------------


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


# --- what no page may hold ------------------------------------------------------------------------


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
