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
    ("header", "row", "said"),
    [
        (["agee", "dose", "city"], [1, 2, "Oslo"], ["lacks 'age'", "'agee'", "may be"]),
        (["dose"], [2.5], ["lacks 'age', 'city'"]),
        (
            ["age", "dose", "city"],
            ["old", 2, "Oslo"],
            ["column 'age' must hold numbers", "'old' in row 1"],
        ),
    ],
)
def test_columns_that_do_not_match_are_refused_and_named(certus, model, folder, header, row, said):
    write_csv(folder / "new.csv", header, [row])
    ran = certus("predict", model, "new.csv")
    assert (ran.code, ran.out) == (3, "")
    assert all(text in ran.err for text in said), ran.err


def test_extra_and_reordered_columns_are_told(certus, model, folder):
    write_csv(folder / "new.csv", ["city", "shoe", "dose", "age"], [["Oslo", 44, 9.5, 30]])
    ran = certus("predict", model, "new.csv")
    assert ran.code == 0
    assert "'shoe'" in ran.err
    assert "another order" in ran.err


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
