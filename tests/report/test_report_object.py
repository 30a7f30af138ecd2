"""``certus.report``: the same report from a path, a frame or a table, as an object."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import certus
from certus.exceptions import TableError, UsageError
from certus.reporting.report import Report
from tests.report.command import patients, write_table


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame(patients())


@pytest.fixture(scope="module")
def found(frame):
    return certus.report(frame, target="ill", models="logistic")


def test_the_function_and_the_folder_of_its_code_have_different_names():
    import certus.reporting.report as module

    assert certus.report is module.report


def test_a_report_has_a_verdict_a_model_and_a_page(found, frame):
    assert isinstance(found, Report)
    assert "AUC" in found.verdict
    assert found.verdict in repr(found)
    assert found.model[-1].certificate_.certified
    assert len(found.model.predict(pa.Table.from_pandas(frame))) == len(frame)
    assert found.to_html().startswith("<!doctype html>") or "<html" in found.to_html()[:200]
    assert found.to_markdown().startswith("# ")
    assert found.to_dict() == json.loads(found.to_json())


def test_a_notebook_shows_the_page_in_a_frame_of_its_own(found):
    shown = found._repr_html_()
    assert shown.startswith("<iframe ")
    assert shown.endswith("</iframe>")
    assert "<style" not in shown, "it would style the notebook"
    assert shown.count("srcdoc=") == 1


def test_tables_of_the_page_are_frames(found):
    assert {"models", "measures", "thresholds", "table-one", "effects"} <= set(found.tables)
    models = found.table("models")
    assert isinstance(models, pd.DataFrame)
    assert models["name"].tolist() == ["Baseline", "Logistic regression"]
    for name in found.tables:
        assert len(found.table(name)) > 0
    with pytest.raises(UsageError, match="Did you mean 'models'"):
        found.table("model")


def test_without_pandas_tables_are_arrow_tables(found, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(found.table("models"), pa.Table)


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["polars", "arrow", "path"])
def test_a_report_does_not_depend_on_what_held_the_table(found, frame, tmp_path, kind):
    data = {
        "polars": lambda: pl.DataFrame(patients()),
        "arrow": lambda: pa.table(patients()),
        "path": lambda: write_table(tmp_path / "patients.csv", patients()),
    }[kind]()
    again = certus.report(data, target="ill", models="logistic")
    assert again.verdict == found.verdict
    assert again.content.measures == found.content.measures
    assert again.content.uses == found.content.uses


def test_save_writes_what_the_command_writes(found, tmp_path):
    folder = found.save(tmp_path / "out")
    assert {p.name for p in folder.iterdir()} == {
        "report.html", "report.md", "report.json", "model.certus", "check.py", "run.json",
    }  # fmt: skip
    assert (folder / "report.json").read_text("utf-8") == found.to_json()
    before = (folder / "model.certus").read_bytes()
    found.save(folder)
    assert (folder / "model.certus").read_bytes() == before
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a").write_text("")
    with pytest.raises(UsageError, match="holds no report"):
        found.save(tmp_path / "other")


def test_an_ordered_type_gives_the_classes_their_order(frame):
    levels = pd.Categorical(
        np.where(frame["age"] < 40, "low", np.where(frame["age"] < 60, "mid", "top")),
        categories=["top", "mid", "low"], ordered=True,
    )  # fmt: skip
    data = frame.drop(columns="ill").assign(level=levels)
    found = certus.report(data, target="level", models="ordinal", drop="age")
    assert found.content.question.task == "ordered classes"
    assert [c.name for c in found.content.question.classes] == ["top", "mid", "low"]


@pytest.mark.parametrize(
    ("data", "options", "error", "message"),
    [
        (3, {"target": "y"}, TableError, "a int is no table"),
        ("nothing.csv", {"target": "y"}, TableError, "there is no file"),
        (pd.DataFrame({"a": [1, "x"] * 10, "y": [1, 2] * 10}), {"target": "y"}, TableError,
         "values of one type"),
        (pd.DataFrame({"a": []}), {"target": "a"}, TableError, "has no rows"),
        (pd.DataFrame({"a": [1.0] * 20}), {}, UsageError, "no target"),
        (pd.DataFrame({"a": [1.0, 2.0] * 10, "y": [1, 2] * 10}),
         {"target": "y", "budget": "x"}, UsageError, "such as 90s, 5m"),
    ],
)  # fmt: skip
def test_what_is_no_table_is_refused_with_the_remedy(data, options, error, message):
    with pytest.raises(error, match=message):
        certus.report(data, **options)


@pytest.mark.parametrize("task", ["classes", "numbers", "wide", "script"])
@pytest.mark.costly
def test_reports_of_all_kinds_of_tables(task, tmp_path):
    rng = np.random.default_rng(0)
    if task == "wide":  # as of gene expressions
        X = rng.normal(size=(72, 7129))
        y = np.where(X[:, :20].sum(axis=1) > 0, "ALL", "AML")
        data = {**{f"g{j}": X[:, j] for j in range(X.shape[1])}, "y": y}
    else:
        X = rng.normal(size=(120, 3))
        y = X[:, 0] + 0.5 * rng.normal(size=120)
        data = {"a": X[:, 0], "<script>alert(1)</script>": X[:, 1], "c": X[:, 2], "y": y}
        if task == "classes":
            data["y"] = np.array(["p", "q", "r"])[np.digitize(y, [-0.5, 0.5])]
        if task == "script":
            data["y"] = np.where(y > 0, "<script>alert(2)</script>", "b")
    models = {"numbers": "ridge", "wide": "logistic"}.get(task, "logistic")
    found = certus.report(pa.table(data), target="y", models=models)
    page = found.to_html()
    assert "<script>alert" not in page
    assert len(page) <= 2_000_000
    folder = found.save(tmp_path / "out")
    assert (folder / "check.py").exists()
