"""``certus verify``, ``show``, ``export`` and ``cluster``; and what ``--json`` prints."""

import json
import re
import runpy
import subprocess
import sys

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from tests.cli.conftest import HEADER, write_csv
from tests.house.source import REPOSITORY

SCHEMAS = {
    path.stem: json.loads(path.read_text("utf-8"))
    for path in (REPOSITORY / "docs" / "schemas").glob("*.json")
}


@pytest.fixture(autouse=True)
def few_numbers_of_clusters(monkeypatch):
    """Up to four clusters are tried, not ten."""
    monkeypatch.setattr("certus.cli.cluster.MAX_TRIED", 4)


@pytest.fixture
def blobs(folder):
    """Three groups in the units of a table, and one column of categories."""
    rng = np.random.default_rng(0)
    centers = np.repeat([[0, 0], [0, 900], [70, 0]], 30, axis=0)
    points = centers + rng.normal(size=(90, 2)) * [1, 10]
    kinds = np.repeat(["a", "b", "a"], 30)
    rows = [[round(x, 2), round(y, 2), kind] for (x, y), kind in zip(points, kinds, strict=True)]
    write_csv(folder / "blobs.csv", ["width", "price", "kind"], rows)
    return "blobs.csv"


# --- verify ---------------------------------------------------------------------------------------


def test_verify_recomputes_the_claim_from_the_table(certus, model):
    for by in ("proof", "page"):
        ran = certus("verify", model, "patients.csv", "--by", by)
        assert ran.code == 0
        assert ran.out.startswith("[OK] OPTIMAL")


def test_verify_says_no_where_the_rows_are_others(certus, model, folder, patients):
    for row in patients[:20]:
        row[-1] = "no" if row[-1] == "yes" else "yes"
    write_csv(folder / "other.csv", HEADER, patients)
    ran = certus("verify", model, "other.csv")
    assert ran.code == 1
    assert not ran.out.startswith("[OK]")


def test_verify_needs_the_target(certus, model, folder, patients):
    write_csv(folder / "less.csv", HEADER[:-1], [row[:-1] for row in patients])
    ran = certus("verify", model, "less.csv")
    assert ran.code == 3
    assert "No column 'ill'" in ran.err
    write_csv(folder / "named.csv", [*HEADER[:-1], "sick"], patients)
    assert certus("verify", model, "named.csv", "--target", "sick").code == 0


# --- show and export ------------------------------------------------------------------------------


def test_show_says_what_the_file_holds(certus, model):
    ran = certus("show", model)
    assert ran.code == 0
    for text in ("LogisticRegression", "age, dose, city", "ill", "no, yes", "optimal", "numpy"):
        assert text in ran.out


def test_show_states_training_rows(certus):
    assert (
        certus("fit", "patients.csv", "--target", "ill", "--model", "knn", "--out", "k").code == 0
    )
    assert "Training rows  yes" in certus("show", "k").out


@pytest.mark.parametrize(
    ("model", "aim"), [("logistic", "Minimised"), ("ncfs", "Maximised"), ("knn", "Claim")]
)
def test_show_states_what_was_done_to_the_objective(certus, model, aim):
    fit = ("fit", "patients.csv", "--target", "ill", "--model", model, "--out", "m")
    assert certus(*fit).code == 0
    assert re.search(rf"^{aim} +\S", certus("show", "m").out, re.M)


def test_export_writes_onnx_and_a_script(certus, folder):
    pytest.importorskip("onnx")
    fit = ("fit", "patients.csv", "--target", "ill", "--columns", "age,dose", "--out", "m.certus")
    assert certus(*fit).code == 0
    ran = certus("export", "m.certus", "--onnx", "m.onnx", "--check", "check.py")
    assert ran.code == 0
    assert (folder / "m.onnx").stat().st_size > 0
    assert callable(runpy.run_path(str(folder / "check.py"))["check"])
    assert certus("export", "m.certus", "--onnx", "m.onnx").code == 2


def test_the_script_reads_the_table_of_the_fit(certus, model, folder):
    """Categories and missing values are read as the pipeline read them."""
    assert certus("export", model, "--check", "check.py").code == 0
    ran = subprocess.run(
        [sys.executable, "check.py", "patients.csv", "ill"], cwd=folder, capture_output=True
    )
    assert ran.returncode == 0, ran.stderr
    assert b"the claim holds" in ran.stdout


def test_control_characters_of_a_file_do_not_reach_the_terminal(certus, folder):
    rows = [[i * i % 7, i % 5, "ab"[i % 2]] for i in range(40)]
    write_csv(folder / "d.csv", ["x\x1b[2Jy", "z", "kind"], rows)
    out = certus("fit", "d.csv", "--target", "kind", "--out", "d.certus")
    shown = [out, certus("show", "d.certus"), certus("cluster", "d.csv", "--clusters", "2"),
             certus("fit", "d.csv"), certus("fit", "d.csv", "--target", "kindd")]  # fmt: skip
    assert all("\x1b" not in ran.out + ran.err for ran in shown)
    assert "x\\x1b[2Jy" in shown[1].out


def test_export_refuses_in_words(certus, model):
    pytest.importorskip("onnx")
    assert certus("export", model).code == 2
    ran = certus("export", model, "--onnx", "m.onnx")  # has categories
    assert ran.code == 4
    assert "no ONNX form" in ran.err


# --- cluster --------------------------------------------------------------------------------------


def test_groups_are_found_and_described_in_the_tables_units(certus, blobs, folder):
    ran = certus("cluster", blobs, "--json", "--out", "out.csv")
    assert ran.code == 0
    found = json.loads(ran.out)
    assert found["n_clusters"] == 3
    prices = sorted(group["profile"]["price"] for group in found["groups"])
    assert prices[2] == pytest.approx(900, abs=20)
    assert {group["profile"]["kind"]["commonest"] for group in found["groups"]} == {"a", "b"}
    header, *rows = (folder / "out.csv").read_text("utf-8").splitlines()
    assert header.endswith('"cluster"')
    assert len(rows) == 90


def test_profiles_are_a_table(certus, blobs):
    ran = certus("cluster", blobs, "--clusters", 3)
    assert ran.code == 0
    assert "3 groups" in ran.out
    assert "group 2" in ran.out
    assert "b 100 %" in ran.out


def test_no_groups_is_an_answer(certus, folder):
    rng = np.random.default_rng(0)
    write_csv(folder / "noise.csv", ["a", "b"], rng.normal(size=(60, 2)).round(3).tolist())
    ran = certus("cluster", "noise.csv", "--json")
    assert ran.code == 0
    valid("cluster", json.loads(ran.out))
    assert json.loads(ran.out)["n_clusters"] is None


def test_profiles_fit_a_narrow_terminal(certus, blobs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    ran = certus("cluster", blobs, "--clusters", "6")
    assert max(map(len, ran.out.splitlines())) <= 40
    for g in range(6):
        assert f"group {g}" in ran.out


def test_tables_are_written_as_their_suffix_says(certus, blobs, folder):
    refused = certus("cluster", blobs, "--clusters", "2", "--out", "groups.xlsx")
    assert refused.code == 2
    assert "written as CSV, TSV or Parquet" in refused.err
    assert certus("cluster", blobs, "--clusters", "2", "--out", "groups.tsv").code == 0
    assert "\t" in (folder / "groups.tsv").read_text().splitlines()[0]


def test_too_many_groups_are_refused(certus, blobs):
    ran = certus("cluster", blobs, "--clusters", 0)
    assert ran.code == 2
    assert "n_clusters=0" in ran.err


# --- JSON -----------------------------------------------------------------------------------------


def valid(kind, document):
    registry = Registry().with_resources(
        (f"{name}.json", Resource.from_contents(schema)) for name, schema in SCHEMAS.items()
    )
    Draft202012Validator(SCHEMAS[kind], registry=registry).validate(document)
    assert document["kind"] == kind
    assert document["schema_version"] == 1


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_schemas(name):
    Draft202012Validator.check_schema(SCHEMAS[name])


def test_every_json_output_is_one_object_as_its_schema_says(certus, model, blobs):
    for kind, arguments in (
        ("fit", ["patients.csv", "--target", "ill"]),
        ("fit", ["patients.csv", "--target", "ill", "--max_iter", 1]),
        ("fit", ["patients.csv", "--model", "kmeans"]),  # its gap is infinite
        ("verify", [model, "patients.csv"]),
        ("show", [model]),
        ("cluster", [blobs, "--clusters", 3]),
    ):
        ran = certus(kind, *arguments, "--json")
        assert ran.code in (0, 1)
        valid(kind, json.loads(ran.out))
        assert ran.out.isascii()


def test_show_of_a_model_without_a_table_or_a_bound(certus, folder):
    import certus as library
    from certus.cluster import KMeans

    library.save(KMeans(2, random_state=0).fit([[0.0], [1.0], [9.0], [8.0]]), folder / "k.certus")
    ran = certus("show", "k.certus", "--json")
    assert ran.code == 0
    valid("show", json.loads(ran.out))
