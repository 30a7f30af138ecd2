"""Columns that give the target away."""

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


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_a_leak_among_many_columns_is_found_too(task):
    frame = clean(n=120, task=task)
    wide = pd.DataFrame(rng().normal(size=(120, 600)).round(4)).add_prefix("g")
    leak = np.where(frame["sick"] == "ill", 9.0, 1.0) if task == "classes" else frame["sick"]
    wide["late"] = (leak + 0.01 * wide["g0"]).round(5)
    assert only(problems_of(pd.concat([wide, frame], axis=1), "D-LEAK")).columns == ("late",)
