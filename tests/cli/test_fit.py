"""``certus fit``: a model from a table."""

import pytest

import certus as library
from tests.cli.conftest import write_csv


def test_fit_prints_the_certificate_and_writes_the_file(certus, folder):
    ran = certus(
        "fit", "patients.csv", "--target", "ill", "--model", "logistic", "--out", "m.certus"
    )
    assert ran.code == 0
    assert ran.out.startswith("[OK] OPTIMAL")
    assert ran.out.rstrip().endswith("m.certus")
    assert library.load(folder / "m.certus")[-1].certificate_.certified


def test_how_the_table_was_read_goes_to_stderr(certus):
    ran = certus("fit", "patients.csv", "--target", "ill")
    for text in ("60 rows", "delimiter: comma", "'NA'", "'patient_id' (id)", "1 missing value"):
        assert text in ran.err
    assert "delimiter" not in ran.out
    assert "--out FILE" in ran.err, "without --out nothing is kept"


def test_a_fit_that_is_not_certified_is_written_and_exits_1(certus, folder):
    ran = certus("fit", "patients.csv", "--target", "ill", "--max_iter", 1, "--out", "m.certus")
    assert ran.code == 1
    assert "NotCertifiedWarning" in ran.err
    assert not library.load(folder / "m.certus")[-1].certificate_.certified


@pytest.mark.parametrize(
    "given",
    [
        ["patients.csv", "--C", "0.5", "--fit-intercept", "false"],
        ["--C=0.5", "--fit_intercept=False", "patients.csv"],
        ["patients.csv", "--params", '{"C": 0.5, "fit_intercept": false}'],
        ["--fit-intercept", "false", "patients.csv", "--params", '{"C": 0.5}'],
    ],
)
def test_parameters_are_flags_or_json_in_any_order(certus, folder, given):
    ran = certus("fit", *given, "--target", "ill", "--out", "m.certus")
    assert ran.code == 0
    fitted = library.load(folder / "m.certus")[-1]
    assert (fitted.C, fitted.fit_intercept) == (0.5, False)


@pytest.mark.parametrize(
    ("name", "target", "cls"),
    [
        ("logistic", "ill", "LogisticRegression"),
        ("linear", "age", "LinearRegression"),
        ("knn", "ill", "KNeighborsClassifier"),
        ("knn", "age", "KNeighborsRegressor"),
        ("RIDGE", "age", "Ridge"),
        ("OrdinalRegression", "age", "OrdinalRegression"),
        ("kmeans", None, "KMeans"),
        (None, "ill", "LogisticRegression"),
        (None, "age", "LinearRegression"),
    ],
)
def test_models_are_named_shortly_or_by_class(certus, folder, name, target, cls):
    named = [] if name is None else ["--model", name]
    on = [] if target is None else ["--target", target]
    ran = certus("fit", "patients.csv", *named, *on, "--drop", "dose", "--out", "m.certus")
    assert ran.code == 0, ran.err
    assert type(library.load(folder / "m.certus")[-1]).__name__ == cls


def test_columns_and_weights(certus, folder):
    ran = certus("fit", "patients.csv", "--target", "ill", "--columns", "age,city", "--weights",
                 "age", "--out", "m.certus")  # fmt: skip
    assert ran.code == 0
    assert library.load(folder / "m.certus").feature_names_in_.tolist() == ["city"]


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        (["--target", "il"], 3, "No column 'il' in patients.csv. Did you mean 'ill'?"),
        (["--taget", "ill"], 2, "No option --taget. Did you mean --target?"),
        (["--target", "ill", "--modle", "knn"], 2, "No option --modle. Did you mean --model?"),
        (["--target", "ill", "--max-itr", "5"], 2, "Did you mean --max_iter?"),
        (["--target", "ill", "--model", "logistc"], 2, "Did you mean 'logistic'?"),
        (["--target", "ill", "--C", "-1"], 2, "C=-1: give a number above 0"),
        (["--target", "ill", "--C", "many"], 2, "C='many'"),
        (["--target", "ill", "--C"], 2, "--C needs a value"),
        (["--target", "ill", "--C", "--json"], 2, "--C needs a value"),
        (["--target", "ill", "--params", "{"], 2, "--params is not JSON"),
        (["--target", "ill", "--params", "[1]"], 2, "must be a JSON object"),
        (["--target", "ill", "--params", '{"c": 1}'], 2, "Did you mean 'C'?"),
        (["--target", "ill", "--model", "linear"], 2, "linear is not a model of classes"),
        (["--target", "ill", "--model", "Ridge"], 2, "not a model of classes"),
        (["--target", "ill", "--model", "LassoCV"], 2, "the target holds classes"),
        (["--model", "logistic"], 2, "not a model of a table without a target"),
        (["--target", "dose"], 3, "is missing in 1 row (row 4)"),
        (["--target", "ill", "--columns", "patient_id"], 3, "'patient_id' cannot be used (id)"),
        (["--target", "ill", "--weights", "city"], 3, "the weights 'city' hold text"),
        (["--model", "agglomerative", "--weights", "age"], 2, "takes no weights"),
        (["--target", "ill", "--out", "nowhere/m.certus"], 2, "there is no folder nowhere"),
        (["--target", "ill", "--out", "."], 2, ". is a folder"),
        (["--target", "ill", "--out", "patients.csv"], 2, "patients.csv exists"),
        (["--target", "ill", "--encoding", "utf-99"], 3, "utf-99"),
        (["--target", "ill", "--class_weight", '{"yess": 2, "no": 1}'], 2, "Did you mean 'yes'?"),
        (["--target", "ill", "--model", "knn", "--metric", "euclidan"], 2, "Did you mean 'eucli"),
    ],
)  # fmt: skip
def test_what_is_refused_is_named(certus, given, code, message):
    ran = certus("fit", "patients.csv", *given)
    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_a_target_that_looks_like_an_id_is_noted(certus):
    ran = certus("fit", "patients.csv", "--target", "patient_id", "--model", "knn")
    assert "the target 'patient_id' looks like an id" in ran.err


def test_a_table_of_one_column_and_a_mixed_target_are_refused(certus, folder):
    write_csv(folder / "one.csv", ["v"], [[i * 0.37] for i in range(30)])
    assert "the table has no others" in certus("fit", "one.csv", "--target", "v").err
    rows = [[i * 0.37 if i != 4 else "abc", i % 7] for i in range(30)]
    write_csv(folder / "mixed.csv", ["v", "x"], rows)
    ran = certus("fit", "mixed.csv", "--target", "v")
    assert ran.code == 3
    assert "mostly numbers, but 1 is not ('abc' in row 5): correct these cells" in ran.err


def test_without_a_target_the_columns_and_two_commands_are_shown(certus):
    ran = certus("fit", "patients.csv")
    assert (ran.code, ran.out) == (2, "")
    assert "age                  number" in ran.err
    assert "certus fit patients.csv --target ill" in ran.err
    assert "certus cluster patients.csv" in ran.err


def test_a_model_file_may_be_replaced_and_nothing_else(certus, folder, model):
    assert certus("fit", "patients.csv", "--target", "ill", "--out", model).code == 0
    (folder / "notes.txt").write_text("mine")
    refused = certus("fit", "patients.csv", "--target", "ill", "--out", "notes.txt")
    assert refused.code == 2
    assert (folder / "notes.txt").read_text() == "mine"
    forced = certus("fit", "patients.csv", "--target", "ill", "--out", "notes.txt", "--force")
    assert forced.code == 0
    assert library.load(folder / "notes.txt")


@pytest.mark.parametrize("model", ["logistic", "kmeans"])
def test_values_of_columns_that_the_model_does_not_use_are_not_in_the_file(certus, folder, model):
    rows = [[f"canary-id-{i:03d}", f"canary-{i % 3}", i * i % 7, "xy"[i % 2], i % 5 > 1, "canary"]
            for i in range(40)]  # fmt: skip
    write_csv(folder / "d.csv", ["id", "dropped", "size", "kind", "ill", "same"], rows)
    given = ["--target", "ill"] if model == "logistic" else ["--drop", "dropped,ill"]
    given += ["--drop", "dropped"] if model == "logistic" else []
    ran = certus("fit", "d.csv", "--model", model, *given, "--out", "d.certus")
    assert ran.code == 0, ran.err
    content = (folder / "d.certus").read_bytes()
    assert b"canary" not in content
    assert b"dropped" in content, "names of columns are kept"
