"""``certus audit``: models of other libraries in files, beside the table of their fit."""

import json
import os
import pickle
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from skops import io as skops

from tests.cli.test_model_commands import valid

COLUMNS = ["age", "city"]


@pytest.fixture
def table(folder):
    return pd.read_csv("patients.csv")


def pipeline(**parameters):
    columns = make_column_transformer((StandardScaler(), ["age"]), (OneHotEncoder(), ["city"]))
    return make_pipeline(columns, LogisticRegression(tol=1e-10, **parameters))


@pytest.fixture
def right(table):
    return pipeline().fit(table[COLUMNS], table["ill"])


def valid_json(ran, kind):
    document = json.loads(ran.out)
    valid(kind, document)
    return document


class OnLoading:
    """An object whose pickle calls a function when it is loaded."""

    def __init__(self, function, *args):
        self.call = function, args

    def __reduce__(self):
        return self.call


def dumped(model, path, **attributes):
    vars(model).update(attributes)
    Path(path).write_bytes(pickle.dumps(model))
    return path


# --- kinds of files -------------------------------------------------------------------------------


def test_a_pipeline_in_a_file_of_skops_is_audited(certus, right):
    skops.dump(right, "right.skops")
    ran = certus("audit", "right.skops", "patients.csv", "--target", "ill")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("[OK] OPTIMAL")
    assert "no prediction changes" in " ".join(ran.out.split())


def test_types_that_skops_does_not_trust_are_named(certus, right):
    right.steps.insert(0, ("odd", OnLoading(print)))
    skops.dump(right, "odd.skops")
    ran = certus("audit", "odd.skops", "patients.csv", "--target", "ill")
    assert ran.code == 4
    assert "OnLoading" in ran.err or "does not trust" in ran.err


@pytest.mark.parametrize("compress", [0, ("gzip", 3), ("xz", 3)], ids=str)
def test_a_pickle_is_loaded_only_when_it_is_trusted(certus, right, compress):
    joblib.dump(right, "right.joblib", compress=compress)
    refused = certus("audit", "right.joblib", "patients.csv", "--target", "ill")
    assert refused.code == 4
    assert "--trust-pickle" in refused.err
    ran = certus("audit", "right.joblib", "patients.csv", "--target", "ill", "--trust-pickle")
    assert ran.code == 0, ran.err
    assert ran.out.startswith("[OK] OPTIMAL")


def test_code_of_a_pickle_runs_neither_untrusted_nor_in_this_process(certus, right):
    dumped(right, "noted.pkl", note=OnLoading(Path.touch, Path("ran")))
    certus("audit", "noted.pkl", "patients.csv", "--target", "ill")
    assert not Path("ran").exists()
    dumped(right, "ends.pkl", note=OnLoading(os.abort))
    ran = certus("audit", "ends.pkl", "patients.csv", "--target", "ill", "--trust-pickle")
    assert ran.code == 4
    assert "SIGABRT" in ran.err


def test_what_a_model_prints_is_no_part_of_the_result(certus, right):
    dumped(right, "says.pkl", note=OnLoading(print, "noise"))
    ran = certus("audit", "says.pkl", "patients.csv", "--target", "ill", "--trust-pickle", "--json")
    assert "noise" in ran.err
    assert valid_json(ran, "audit")["certificate"]["certified"]


def test_a_pickle_that_needs_a_missing_package_says_which(certus, folder):
    Path("other.pkl").write_bytes(b"\x80\x04cno_such_package\nModel\n.")
    ran = certus("audit", "other.pkl", "patients.csv", "--target", "ill", "--trust-pickle")
    assert ran.code == 4
    assert "no_such_package" in ran.err


def logged(model, folder="logged", name="model.skops", **description):
    """A model folder as MLflow writes it."""
    Path(folder).mkdir()
    skops.dump(model, Path(folder, "model.skops"))
    inputs = [{"name": column, "type": "double"} for column in COLUMNS]
    text = {
        "flavors": {"python_function": {}, "sklearn": {"pickled_model": name}},
        "signature": {"inputs": json.dumps(inputs)}, **description,
    }  # fmt: skip
    Path(folder, "MLmodel").write_text(json.dumps(text), "utf-8")  # JSON is YAML
    return folder


def test_a_model_folder_of_mlflow_names_the_columns_of_the_fit(certus, table):
    X = table[["age"]].assign(city=table["city"] == "Oslo").to_numpy(float)
    table.assign(city=X[:, 1]).to_csv("numbers.csv", index=False)
    folder = logged(LogisticRegression(tol=1e-10).fit(X, table["ill"]))
    ran = certus("audit", folder, "numbers.csv", "--target", "ill")
    assert ran.code == 0, ran.err
    assert "60 rows × 2 columns" in " ".join(ran.out.split())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "../outside.skops"}, "outside its folder"),
        ({"name": "absent.skops"}, "lacks the file"),
        ({"flavors": {"keras": {}}}, "its flavors are keras"),
        ({"flavors": []}, "names no flavors"),
    ],
)
def test_a_folder_without_a_readable_model_is_refused(certus, right, changes, message):
    Path("outside.skops").touch()
    ran = certus("audit", logged(right, **changes), "patients.csv", "--target", "ill")
    assert ran.code == 4
    assert message in ran.err


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("model.rds", b"\x1f\x8b", "is an R object"),
        ("model.onnx", b"\xff\xff", "cannot be read as ONNX"),
        ("model.bin", b"hello", "is no model file"),
        ("model.zip", b"PK\x03\x04", "damaged archive"),
        ("cut.skops", b"PK\x03\x04", "damaged archive"),
        ("cut.certus", b"\x10\0\0\0\0\0\0\0{", "cut.certus"),
    ],
)
def test_what_is_no_model_file_is_named(certus, folder, name, content, message):
    Path(name).write_bytes(content)
    ran = certus("audit", name, "patients.csv", "--target", "ill")
    assert ran.code == 4
    assert message in ran.err


def test_a_pickle_of_something_else_is_named(certus, folder):
    Path("list.pkl").write_bytes(pickle.dumps([1, 2]))
    ran = certus("audit", "list.pkl", "patients.csv", "--trust-pickle")
    assert ran.code == 4
    assert "builtins.list" in ran.err


def test_a_model_file_of_ours_is_audited_as_verify_does(certus, model):
    ran = certus("audit", model, "patients.csv")
    assert ran.code == 0, ran.err
    assert "no prediction changes" in " ".join(ran.out.split())


# --- findings -------------------------------------------------------------------------------------


def test_a_fit_that_was_stopped_fails_with_its_changed_predictions(certus, table):
    with pytest.warns(UserWarning, match="converge"):
        skops.dump(pipeline(max_iter=1).fit(table[COLUMNS], table["ill"]), "stopped.skops")
    ran = certus("audit", "stopped.skops", "patients.csv", "--target", "ill")
    assert ran.code == 1
    assert "At the optimum" in ran.out


def test_other_rows_come_before_the_solver(certus, table, right):
    skops.dump(right, "right.skops")
    table[:30].to_csv("half.csv", index=False)
    ran = certus("audit", "right.skops", "half.csv", "--target", "ill")
    assert ran.code == 1
    assert "PROBABLY NOT THE ROWS" in ran.out.splitlines()[0]
    assert "60" in ran.out


def test_weights_are_those_of_the_column(certus, table):
    rng = np.random.default_rng(1)
    weights, cost = rng.uniform(1, 3, len(table)), table["age"] + rng.normal(0, 20, len(table))
    model = Ridge().fit(table[["age"]], cost, sample_weight=weights)
    table.assign(w=weights, cost=cost).to_csv("weighted.csv", index=False)
    skops.dump(model, "ridge.skops")
    given = ("audit", "ridge.skops", "weighted.csv", "--target", "cost")
    assert certus(*given, "--weights", "w").code == 0
    assert certus(*given).code == 1


def test_columns_without_names_are_taken_in_order_or_named(certus, table):
    X = table[["age", "age"]].to_numpy(float) * [1, 0] + [0, 1] * np.arange(60)[:, None] / 9
    table = pd.DataFrame({"b": X[:, 1], "a": X[:, 0], "cost": X[:, 0] + np.sqrt(X[:, 1])})
    table.to_csv("numbers.csv", index=False)
    skops.dump(Ridge().fit(X, table["cost"]), "ridge.skops")
    given = ("audit", "ridge.skops", "numbers.csv", "--target", "cost")
    assert certus(*given).code == 1
    assert certus(*given, "--columns", "a,b").code == 0
    table.assign(more=1.5 * table["a"]).to_csv("numbers.csv", index=False)
    ran = certus(*given)
    assert ran.code == 2
    assert "--columns" in ran.err


def test_a_clustering_needs_no_target(certus, table):
    table[["age"]].to_csv("ages.csv", index=False)
    skops.dump(KMeans(2, n_init=3, random_state=0).fit(table[["age"]]), "groups.skops")
    ran = certus("audit", "groups.skops", "ages.csv")
    assert ran.code == 0, ran.err
    assert "LOCAL OPTIMUM" in ran.out


@pytest.mark.parametrize("classes", [[0, 1], [False, True], ["0", "1"]], ids=str)
def test_classes_are_written_as_the_model_writes_them(certus, table, classes):
    y = np.array(classes)[(table["ill"] == "yes").to_numpy(int)]
    skops.dump(LogisticRegression(tol=1e-10).fit(table[["age"]], y), "classes.skops")
    table.assign(ill=(table["ill"] == "yes").astype(int)).to_csv("numbers.csv", index=False)
    ran = certus("audit", "classes.skops", "numbers.csv", "--target", "ill")
    assert ran.code == 0, ran.err


# --- what is written ------------------------------------------------------------------------------


def test_json_is_as_its_schema_says(certus, right):
    skops.dump(right, "right.skops")
    ran = certus("audit", "right.skops", "patients.csv", "--target", "ill", "--json")
    document = valid_json(ran, "audit")
    assert document["facts"]["kind of file"] == "skops"
    assert document["certificate"]["decisions"]["n_changed"] == 0


def test_the_page_stands_by_itself_and_escapes_names(certus, right):
    name = "<b>right.skops"
    skops.dump(right, name)
    given = ("audit", name, "patients.csv", "--target", "ill", "--html", "page.html")
    assert certus(*given).code == 0
    page = Path("page.html").read_text("utf-8")
    assert "&lt;b&gt;right.skops" in page
    assert name not in page
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "").replace("http://www.w3.org/1998/", "")
    refused = certus(*given)
    assert refused.code == 2
    assert "--force" in refused.err
    assert certus(*given, "--force").code == 0


def test_a_model_alone_is_not_enough(certus, folder):
    ran = certus("audit", "model.skops")
    assert ran.code == 2
    assert "the table of its fit" in ran.err


# --- ONNX -----------------------------------------------------------------------------------------


@pytest.fixture
def onnx_model(certus, table):
    """A ridge regression of two numbers in an ONNX file, and its table."""
    rng = np.random.default_rng(0)
    given = pd.DataFrame(rng.normal(size=(60, 2)) * [1, 40] + [0, 200], columns=["a", "b"])
    given["cost"] = given @ [2.0, -0.05] + rng.normal(size=60)
    given.to_csv("costs.csv", index=False)
    fit = ("fit", "costs.csv", "--target", "cost", "--model", "ridge", "--alpha", 3)
    assert certus(*fit, "--out", "ridge.certus").code == 0
    assert certus("export", "ridge.certus", "--onnx", "ridge.onnx").code == 0
    return given


def test_an_onnx_file_is_audited_as_its_coefficients(certus, onnx_model):
    given = ("audit", "ridge.onnx", "costs.csv", "--target", "cost")
    ran = certus(*given)
    assert ran.code == 0, ran.err
    assert "alpha=3" in ran.out
    assert certus(*given, "--objective", "sklearn.Ridge", "--penalty", "alpha=3").code == 0
    assert certus(*given, "--objective", "sklearn.Ridge", "--penalty", "alpha=30").code == 1
    document = valid_json(certus(*given, "--json"), "coefficient_audit")
    assert document["audit"]["holds"]


def test_columns_of_an_onnx_file_are_taken_in_order_or_named(certus, onnx_model):
    onnx_model[["b", "cost", "a"]].to_csv("costs.csv", index=False)
    given = ("audit", "ridge.onnx", "costs.csv", "--target", "cost")
    assert certus(*given).code == 1
    assert certus(*given, "--columns", "a,b").code == 0
    ran = certus(*given, "--columns", "a")
    assert ran.code == 2
    assert "reads 2 columns" in ran.err
