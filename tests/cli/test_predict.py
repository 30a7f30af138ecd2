"""``certus predict``: answers for a table, in its order."""

import csv
import io

import numpy as np
import pyarrow.parquet as pq
import pytest

import certus as library
from certus.linear_model import Ridge
from tests.cli.conftest import HEADER, write_csv


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_order_and_id_are_kept(certus, model, folder, patients):
    ran = certus("predict", model, "patients.csv", "--id", "patient_id")
    assert ran.code == 0
    rows = table(ran.out)
    assert [*rows[0]] == ["patient_id", "prediction", "p_no", "p_yes"]
    assert [row["patient_id"] for row in rows] == [row[0] for row in patients]
    backwards = patients[::-1]
    write_csv(folder / "back.csv", HEADER, backwards)
    again = table(certus("predict", model, "back.csv", "--id", "patient_id").out)
    assert again == rows[::-1]


def test_predictions_are_the_models(certus, model, folder):
    import pyarrow as pa

    from certus.tables import read_table

    fitted = library.load(folder / model)
    X = read_table(folder / "patients.csv").select(["age", "dose", "city"])
    assert isinstance(X, pa.Table)
    rows = table(certus("predict", model, "patients.csv").out)
    assert [row["prediction"] for row in rows] == fitted.predict(X).tolist()
    P = np.array([[float(row["p_no"]), float(row["p_yes"])] for row in rows])
    np.testing.assert_array_equal(P, fitted.predict_proba(X))


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_answers_go_to_a_file_that_is_not_overwritten(certus, model, folder, name):
    assert certus("predict", model, "patients.csv", "--out", name).code == 0
    before = (folder / name).read_bytes()
    refused = certus("predict", model, "patients.csv", "--out", name, "--id", "patient_id")
    assert refused.code == 2
    assert "--force" in refused.err
    assert (folder / name).read_bytes() == before
    forced = certus(
        "predict", model, "patients.csv", "--out", name, "--id", "patient_id", "--force"
    )
    assert forced.code == 0
    assert (folder / name).read_bytes() != before
    if name.endswith("parquet"):
        assert pq.read_table(folder / name).column_names[:2] == ["patient_id", "prediction"]


def test_whole_numbers_are_classes_as_written(certus, folder):
    write_csv(folder / "d.csv", ["x", "y"], [[i + 0.5 * (i % 3), int(i > 9)] for i in range(24)])
    assert certus("fit", "d.csv", "--target", "y", "--out", "n.certus").code == 0
    rows = table(certus("predict", "n.certus", "d.csv").out)
    assert [*rows[0]] == ["prediction", "p_0", "p_1"]
    assert {row["prediction"] for row in rows} == {"0", "1"}


def test_a_row_in_which_the_model_abstains_has_no_prediction(certus, folder):
    fitted = certus("fit", "patients.csv", "--target", "ill", "--model",
                    "RadiusNeighborsClassifier", "--columns", "age", "--abstain", "unknown",
                    "--out", "r.certus")  # fmt: skip
    assert fitted.code == 0
    write_csv(folder / "new.csv", ["age"], [[40], [4000], [50]])
    ran = certus("predict", "r.certus", "new.csv")
    assert ran.code == 0
    assert [row["prediction"] == "" for row in table(ran.out)] == [False, True, False]
    assert "abstains in 1 row" in ran.err


def test_a_value_that_is_missing_in_every_row_is_filled_as_in_the_fit(certus, model, folder):
    write_csv(folder / "one.csv", ["age", "dose", "city"], [[40, "NA", "Oslo"]])
    ran = certus("predict", model, "one.csv")
    assert ran.code == 0
    assert len(table(ran.out)) == 1


@pytest.mark.parametrize(
    ("header", "row", "messages"),
    [
        (
            ["agee", "dose", "city"],
            [1, 2, "Oslo"],
            ["missing: 'age'", "extra: 'agee'", "'age' may be 'agee'"],
        ),
        (["dose"], [2.5], ["missing: 'age', 'city'"]),
        (["age", "dose", "city", "shoe"], [40, 2, "Oslo", 44], ["extra: 'shoe'", "--by-name"]),
        (["city", "age", "dose"], ["Oslo", 40, 2], ["reordered: 'city'", "--by-name"]),
        (
            ["shoe", "city", "age"],
            [44, "Oslo", 40],
            ["missing: 'dose'; extra: 'shoe'; reordered: 'city'"],
        ),
        (
            ["age", "dose", "city"],
            ["old", 2, "Oslo"],
            ["column 'age' must hold numbers", "'old' in row 1"],
        ),
    ],
)
def test_columns_that_do_not_match_are_refused_and_named(
    certus, model, folder, header, row, messages
):
    write_csv(folder / "new.csv", header, [row])
    ran = certus("predict", model, "new.csv")
    assert (ran.code, ran.out) == (3, "")
    assert all(text in ran.err for text in messages), ran.err


def test_by_name_extra_and_reordered_columns_are_noted(certus, model, folder):
    write_csv(folder / "fit.csv", ["age", "dose", "city"], [[30, 9.5, "Oslo"]])
    expected = certus("predict", model, "fit.csv").out
    write_csv(folder / "new.csv", ["city", "shoe", "dose", "age"], [["Oslo", 44, 9.5, 30]])
    ran = certus("predict", model, "new.csv", "--by-name")
    assert (ran.code, ran.out) == (0, expected)
    assert "'shoe'" in ran.err
    assert "another order" in ran.err
    write_csv(folder / "less.csv", ["city", "age"], [["Oslo", 30]])
    ran = certus("predict", model, "less.csv", "--by-name")
    assert ran.code == 3
    assert "missing: 'dose'" in ran.err


def test_columns_of_the_fit_that_the_model_does_not_use_are_no_mismatch(certus, model, folder):
    header = ["ill", "age", "patient_id", "dose", "city"]
    write_csv(folder / "new.csv", header, [["yes", 30, "p", 9.5, "Oslo"]])
    assert certus("predict", model, "new.csv").code == 0
    write_csv(folder / "id.csv", ["age", "dose", "city", "who"], [[30, 9.5, "Oslo", "w7"]])
    assert certus("predict", model, "id.csv").code == 3
    ran = certus("predict", model, "id.csv", "--id", "who")
    assert (ran.code, table(ran.out)[0]["who"]) == (0, "w7")


# --- how the table is written ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        ["--missing", "-999,none given"],
        ["--missing=-999", "--missing", "none given"],
        ["--missing", "none given, -999"],
    ],
)
def test_marks_of_missing_values_are_those_of_the_fit_unless_others_are_given(
    certus, folder, patients, given
):
    for i, row in enumerate(patients):
        row[2] = -999 if i % 9 == 3 else row[2]
        row[3] = "none given" if i % 7 == 2 else row[3]
    write_csv(folder / "marked.csv", HEADER, patients)
    fit = ("fit", "marked.csv", "--target", "ill", "--out", "marked.certus", *given)
    ran = certus(*fit)
    assert ran.code == 0, ran.err
    assert "'-999'" in ran.err
    write_csv(folder / "new.csv", ["age", "dose", "city"], [[30, -999, "none given"]])
    write_csv(folder / "empty.csv", ["age", "dose", "city"], [[30, "", ""]])
    ran = certus("predict", "marked.certus", "new.csv")
    assert ran.code == 0, ran.err
    assert ran.out == certus("predict", "marked.certus", "empty.csv").out
    assert ran.out != certus("predict", "marked.certus", "new.csv", "--missing", "-1").out
    assert certus("verify", "marked.certus", "marked.csv").code == 0
    assert certus("verify", "marked.certus", "marked.csv", "--missing", "-1").code == 1


def test_a_header_option_of_the_fit_holds_at_predict(certus, folder):
    rows = [["u", "2020", "y"], *[["uv"[i % 2], str(i * i % 7), str(i % 5)] for i in range(30)]]
    (folder / "h.csv").write_text("".join(f"{','.join(row)}\n" for row in rows))
    (folder / "new.csv").write_text("v,3,1\nu,4,2\n")
    fit = ("fit", "h.csv", "--model", "kmeans", "--n_clusters", 2, "--out", "h.certus")
    assert certus(*fit).code == 0
    assert library.load(folder / "h.certus").feature_names_in_.tolist() == ["u", "2020", "y"]
    assert certus(*fit, "--header", "no").code == 0
    names = library.load(folder / "h.certus").feature_names_in_.tolist()
    assert names == ["column_1", "column_2", "column_3"]
    ran = certus("predict", "h.certus", "new.csv")
    assert (ran.code, len(ran.out.split())) == (0, 3)
    (folder / "text.csv").write_text("u,a,y\nv,3,1\n")
    assert certus("predict", "h.certus", "text.csv", "--header", "yes").code == 3


def test_options_of_text_files_have_no_effect_on_others_and_this_is_stated(certus, model, folder):
    from certus.tables import read_table

    X = read_table(folder / "patients.csv").select(["age", "dose", "city"])
    pq.write_table(X, folder / "new.parquet")
    ran = certus("predict", model, "new.parquet", "--missing", "-999")
    assert ran.code == 0
    assert "--missing is for text files" in ran.err


def test_refusals_of_predict(certus, model, folder):
    assert certus("predict", "no.certus", "patients.csv").code == 4
    assert certus("predict", "patients.csv", "patients.csv").code == 4
    assert certus("predict", model, "no.csv").code == 3
    assert certus("predict", model, "patients.csv", "--id", "patiend").code == 3
    library.save(Ridge().fit([[0.0], [1.0]], [0.0, 1.0]), folder / "a.certus")
    ran = certus("predict", "a.certus", "patients.csv")
    assert ran.code == 3
    assert "without names" in ran.err
    assert certus("fit", "patients.csv", "--model", "NearestNeighbors", "--out", "nn").code == 0
    ran = certus("predict", "nn", "patients.csv")
    assert ran.code == 2
    assert "predicts nothing" in ran.err


def test_truth_values_and_codes_are_read_as_in_the_table_of_the_fit(certus, folder):
    rows = [["yes" if i % 3 else "no", ["007", "123"][i % 2], i * i % 7 + i / 8] for i in range(24)]
    write_csv(folder / "fit.csv", ["ok", "zip", "y"], rows)
    assert (
        certus("fit", "fit.csv", "--target", "y", "--model", "ridge", "--out", "t.certus").code == 0
    )
    write_csv(folder / "new.csv", ["ok", "zip"], [["yes", "123"], ["yes", "123"]])
    ran = certus("predict", "t.certus", "new.csv")
    assert ran.code == 0, ran.err
    assert len(ran.out.split()) == 3
