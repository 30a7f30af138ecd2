"""The snippet of the page, executed in the folder of the data, prints the verdict's number."""

import shlex
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import certus
from certus.reporting.sections import reproduce
from certus.reporting.settings import Settings
from tests.report.fixtures import case

FILES = {"table": "rows.csv", "model": "model.certus", "script": "check.py"}


def test_the_snippet_prints_the_number_of_the_verdict(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)).round(3)
    y = np.where(X[:, 0] + rng.logistic(size=60) > 0, "yes", "no")
    pd.DataFrame(X, columns=["a b", "c"]).assign(outcome=y).to_csv(tmp_path / "rows.csv")
    found = certus.report(
        tmp_path / "rows.csv", target="outcome", models="logistic", positive="yes", seed=3
    )
    reproduction = found.content.reproduction
    assert str(tmp_path) not in str(reproduction)
    ran = subprocess.run(
        [sys.executable, "-c", reproduction.snippet], cwd=tmp_path, capture_output=True, text=True,
        check=True, encoding="utf-8",
    )  # fmt: skip
    name, number = ran.stdout.split()
    measure = found.content.verdict.measure
    assert name == measure.name
    assert float(number) == reproduction.value == float(f"{measure.value:.3g}")


def test_the_snippet_has_every_option_that_decides_the_number():
    _prepared, result = case("loans")
    settings = Settings(
        target="outcome", positive="yes", drop=("age",), group="region", models=("logistic", "knn"),
        seed=7, threads=2, show_rows=True, id="no",
    )  # fmt: skip
    text = reproduce.snippet("loans.csv", settings, result)
    compile(text, "snippet", "exec")
    for option in ('target="outcome"', 'positive="yes"', 'drop=["age"]', 'group="region"',
                   'models=["logistic", "knn"]', "seed=7", 'id="no"'):  # fmt: skip
        assert option in text
    assert "threads" not in text
    assert "show_rows" not in text


@pytest.mark.parametrize("name", ["loans.csv", "my loans.csv", "it's.csv"])
def test_files_are_quoted_and_have_no_folder(name):
    prepared, result = case("loans")
    found = reproduce.make(
        prepared, Settings(target="outcome"), result, "", {**FILES, "table": name}
    )
    compile(found.snippet, "snippet", "exec")

    assert shlex.split(found.recheck) == ["certus", "verify", "model.certus", name]
    assert dict(found.versions)["certus"] == certus.__version__


def test_the_snippet_of_a_data_frame_runs_with_the_frame(capsys):
    rng = np.random.default_rng(1)
    df = pd.DataFrame({"a": rng.normal(size=40), "y": ["no", "yes"] * 20})
    found = certus.report(df, target="y", models="logistic").content
    assert "the data frame" not in found.reproduction.recheck
    exec(found.reproduction.snippet, {"df": df})
    name, number = capsys.readouterr().out.split()
    assert (name, float(number)) == (found.verdict.measure.name, found.reproduction.value)


def test_a_stopped_report_promises_no_number():
    prepared, result = case("loans")
    found = reproduce.make(
        prepared, Settings(target="outcome"), replace(result, stopped=True), "", FILES
    )
    assert found.value is None
    assert "stopped" in found.snippet
