"""Sections of the model for weights, groups, times, gaps in the answers and few rows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from certus.linear_model import LogisticRegression, Ridge
from certus.reporting.procedure.result import OuterPredictions
from certus.reporting.sections import (
    calibration,
    cases,
    ceiling,
    certificates,
    headroom,
    measures,
    reproduce,
    uses,
    verdict,
    what_if,
)
from certus.reporting.settings import Settings
from tests.report.fixtures import TARGET, case, prepared_from, result_from
from tests.report.sections.test_explanations import plain
from tests.report.sections.test_verdict import CLEAN

SETTINGS = Settings(target=TARGET)


def all_sections(prepared, result):
    given = (prepared, SETTINGS, result)
    found = {m.__name__.rpartition(".")[2]: m.make(*given) for m in (
        certificates, headroom, measures, calibration, uses, ceiling)}  # fmt: skip
    found["verdict"] = verdict.make(*given, CLEAN)
    found["what_if"], found["cases"] = what_if.make(*given)[0], cases.make(*given)[0]
    found["reproduce"] = reproduce.make(*given, "", {"table": "rows.csv"})
    for section in found.values():
        plain(section)
    return found


@pytest.mark.parametrize("name", ["loans", "ridge", "softmax"])
def test_weights_groups_and_rows_without_an_answer(name):
    prepared, result = case(name)
    rng = np.random.default_rng(0)
    n = prepared.n
    known = rng.random(n) < 0.8

    def part(outer):
        shape = (n, *([1] * (outer.output.ndim - 1)))
        output = np.where(known.reshape(shape), outer.output, np.nan)
        return OuterPredictions(output, np.where(known, outer.fold, -1))

    odd = replace(prepared, weights=rng.uniform(0.5, 2, n), groups=rng.integers(0, 60, n))
    found = all_sections(
        odd, replace(result, outer=part(result.outer), reference=part(result.reference))
    )
    rows = {c.row for c in found["cases"].cases}
    assert all(known[row - 1] for row in rows)
    if name == "loans":
        counts = found["measures"].counts
        assert counts.n_positive + counts.n_negative == known.sum()


def test_intervals_are_wider_where_rows_come_in_groups():
    prepared, result = case("loans")
    alone = measures.make(prepared, SETTINGS, result).areas
    copies = replace(prepared, groups=np.arange(prepared.n) // 10)
    grouped = measures.make(copies, SETTINGS, result).areas
    assert [e.value for e in alone] == [e.value for e in grouped]
    assert alone[1].interval != grouped[1].interval


def test_a_few_rows_with_a_constant_column_and_one_level():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({
        "a": rng.normal(size=24).round(2), "b": [1.5] * 23 + [np.nan], "c": ["x"] * 12 + ["y"] * 12,
        TARGET: ["no", "yes"] * 12,
    })  # fmt: skip
    prepared = prepared_from(frame)
    found = all_sections(prepared, result_from(prepared, LogisticRegression(), "logistic", "L"))
    assert found["verdict"].kind in ("no evidence", "too few rows", "yes")


def test_few_numbers():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(size=20), TARGET: rng.normal(size=20)})
    prepared = prepared_from(frame, task="numbers")
    found = all_sections(prepared, result_from(prepared, Ridge(), "ridge", "Ridge regression"))
    assert len(found["calibration"].bins) <= 4


def test_a_column_without_a_value_in_any_row_has_no_effect_and_no_slider():
    prepared, result = case("loans")
    frame = prepared.table.data.to_pandas()
    frame["hollow"] = np.where(np.arange(len(frame)) < 2, 3.0, np.nan)  # two values alone
    prepared = prepared_from(frame)
    result = result_from(prepared, LogisticRegression(), "logistic", "Logistic regression")
    found = all_sections(prepared, result)
    assert "hollow" not in {s.column for s in found["what_if"].sliders}


def test_markup_in_names_stays_text():
    rng = np.random.default_rng(2)
    name = "<script>alert(1)</script>"
    frame = pd.DataFrame({name: rng.normal(size=80), "b": ["<b>", "&"] * 40,
                          TARGET: np.where(rng.random(80) < 0.5, "<i>", "'")})  # fmt: skip
    prepared = prepared_from(frame)
    result = result_from(prepared, LogisticRegression(), "logistic", "Logistic regression")
    found = all_sections(prepared, result)
    assert name in {e.column for e in found["uses"].effects}
    compile(found["reproduce"].snippet, "snippet", "exec")
