"""Several rows of one unit."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from certus.reporting.sections import problems
from tests.report.sections.tables import (
    clean,
    only,
    prepared_of,
    problems_of,
    rng,
    settings_for,
)

SEEDS = (0, 1, 2)


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


def test_a_person_with_several_rows_needs_no_other_sign():
    frame = clean(n=400)
    frame["subject"] = rng().integers(0, 100, 400)
    problem = only(problems_of(frame, "D-GROUP"))
    assert (problem.columns, problem.severity) == (("subject",), "warning")
    assert "target" not in problem.reason.split(".")[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_numbers_that_name_units_without_saying_so(seed):
    frame = patients(seed, within=1.0)
    frame["x"] = frame.pop("patient").str[1:].astype(int)
    assert only(problems_of(frame, "D-GROUP")).columns == ("x",)


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_a_measurement_in_whole_numbers_is_no_unit(task):
    frame = clean(n=400, task=task)
    x = rng().integers(0, 80, 400)
    frame["x"] = x
    y = x + rng().normal(0, 4, 400)
    frame["sick"] = y.round(2) if task == "numbers" else np.where(y > 40, "ill", "well")
    assert not problems_of(frame, "D-GROUP")


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
