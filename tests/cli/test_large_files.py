"""Files that are read block by block: the same models, answers and certificates as in memory."""

import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import certus as library
from certus.cli.files import opening
from certus.sources import file_blocks
from tests.cli.conftest import write_csv

N = 2000
HEADER = ["id", "age", "dose", "city", "member", "note", "price", "ill"]


def visits(n=N, seed=0):
    """Rows with missing numbers and categories, a rare category, an id and free text."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        age, dose = int(rng.integers(20, 80)), round(float(rng.normal(10, 2)), 3)
        city = "" if i % 97 == 5 else str(rng.choice(["Oslo", "Bergen", "Tromsø"]))
        city = "Bodø" if i == n - 2 else city
        member = str(rng.choice(["yes", "no"]))
        price = round(age / 7 + dose + (city == "Oslo") * 3 + float(rng.normal()), 2)
        dose = "NA" if i % 50 == 7 else dose
        rows.append([i + 1, age, dose, city, member, f"text {i}", price, int(price > 18)])
    return rows


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 300 rows, for files as for tables in memory."""
    monkeypatch.setattr(opening, "MAX_ROWS_AT_ONCE", 300)
    monkeypatch.setattr(opening, "MIN_ROWS_AT_ONCE", 300)
    monkeypatch.setattr(file_blocks, "BATCH_BYTES", 1 << 12)


@pytest.fixture
def files(folder, small_blocks):
    """Write the same rows as one CSV file, as two, and in other formats."""
    rows = visits()
    write_csv(folder / "all.csv", HEADER, rows)
    (folder / "years").mkdir()
    write_csv(folder / "years" / "2023.csv", HEADER, rows[:1337])
    write_csv(folder / "years" / "2024.csv", HEADER, rows[1337:])
    data = pa.csv.read_csv(
        folder / "all.csv", convert_options=pa.csv.ConvertOptions(null_values=["NA", ""],
                                                                  strings_can_be_null=True)
    )  # fmt: skip
    pq.write_table(data, folder / "all.parquet", row_group_size=700)
    pyarrow.feather.write_feather(data, folder / "all.feather", chunksize=450)
    return folder


FIT = ["--target", "price", "--drop", "ill", "--out"]
FORMS = {
    "csv": ["all.csv", "--stream"],
    "parquet": ["all.parquet", "--stream"],
    "feather": ["all.feather", "--stream"],
    "files": ["years/2023.csv", "years/2024.csv"],
    "glob": ["years/*.csv"],
    "folder": ["years"],
}


# --- fit ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_a_fit_in_blocks_writes_the_same_model_file_as_one_in_memory(certus, files, form):
    assert certus("fit", "all.csv", *FIT, "memory.certus").code == 0
    ran = certus("fit", *FORMS[form], *FIT, "blocks.certus")
    assert ran.code == 0, ran.err
    assert "read block by block" in ran.err
    assert (files / "blocks.certus").read_bytes() == (files / "memory.certus").read_bytes()


def test_what_is_said_of_columns_is_the_same(certus, files):
    memory = certus("fit", "all.csv", *FIT, "memory.certus")
    blocks = certus("fit", "all.csv", "--stream", *FIT, "blocks.certus")
    assert blocks.out == memory.out.replace("memory.certus", "blocks.certus")
    said = [line for line in memory.err.splitlines() if line.startswith(("left out", "'"))]
    assert len(said) == 4
    assert all(line in blocks.err.splitlines() for line in said)


def test_medians_are_those_of_all_rows_where_there_are_too_many_to_count(
    certus, files, monkeypatch
):
    from certus.tables import medians, scan

    monkeypatch.setattr(scan, "MAX_COUNTED", 20)
    monkeypatch.setattr(medians, "MAX_GATHERED", 20)
    assert certus("fit", "all.csv", *FIT, "memory.certus").code == 0
    assert certus("fit", "all.csv", "--stream", *FIT, "blocks.certus").code == 0
    assert (files / "blocks.certus").read_bytes() == (files / "memory.certus").read_bytes()


@pytest.mark.parametrize("model", ["ridge", "lasso", "LassoCV"])
def test_numbers_are_scaled_block_by_block_which_rounds_otherwise(certus, files, model):
    for name, form in (("memory", ["all.csv"]), ("blocks", ["years"])):
        ran = certus("fit", *form, *FIT, f"{name}.certus", "--model", model)
        assert ran.code == 0, ran.err
    memory, blocks = (library.load(files / f"{name}.certus") for name in ("memory", "blocks"))
    scalers = [m[0].named_transformers_["numbers"][-1] for m in (memory, blocks)]
    for name in ("mean_", "scale_"):
        np.testing.assert_allclose(*(getattr(s, name) for s in scalers), rtol=1e-13)
    np.testing.assert_allclose(blocks[-1].coef_, memory[-1].coef_, rtol=1e-7)


@pytest.mark.parametrize("target", ["city", "member", "ill"])
def test_classes_are_those_of_a_fit_in_memory(certus, files, target):
    """Text of three classes, truth values, and whole numbers."""
    rows = [row for row in visits() if row[3] not in ("", "Bodø")]
    write_csv(files / "all.csv", HEADER, rows)
    drop = ",".join({"city", "member", "ill"} - {target})
    given = ["--target", target, "--drop", drop, "--model", "logistic", "--out"]
    assert certus("fit", "all.csv", *given, "memory.certus").code == 0
    ran = certus("fit", "all.csv", "--stream", *given, "blocks.certus")
    assert ran.code == 0, ran.err
    assert (files / "blocks.certus").read_bytes() == (files / "memory.certus").read_bytes()
    predict = ["predict", "memory.certus", "all.csv"]
    assert certus(*predict).out == certus(*predict, "--stream").out


def test_columns_that_are_not_chosen_may_be_in_later_tables(certus, files):
    chosen = ["--target", "price", "--columns", "city,age", "--out", "m.certus"]
    assert certus("fit", "years", *chosen).code == 0
    assert library.load(files / "m.certus").feature_names_in_.tolist() == ["city", "age"]
    write_csv(files / "all.csv", ["city", *HEADER[:3], *HEADER[4:]],
              [[row[3], *row[:3], *row[4:]] for row in visits()])  # fmt: skip
    ran = certus("predict", "m.certus", "all.csv", "--stream")
    assert ran.code == 0, ran.err


@pytest.mark.parametrize("model", ["kmeans", "mixture"])
def test_groups_need_no_target(certus, files, model):
    number = "--n_clusters" if model == "kmeans" else "--n_components"
    given = ["--model", model, "--columns", "age,dose,price", "--random_state", "0", number, "2",
             "--out", "m.certus"]  # fmt: skip
    ran = certus("fit", "years", *given)
    assert ran.code == 0, ran.err
    verified = certus("verify", "m.certus", "all.csv")
    assert verified.code == 0
    assert verified.out.splitlines()[0] == ran.out.splitlines()[0]


def test_columns_weights_and_json(certus, files):
    import json

    given = ["--target", "price", "--columns", "age,city", "--weights", "dose", "--json"]
    refused = certus("fit", "years", *given)
    assert refused.code == 3
    assert "the weights 'dose' are missing, negative or infinite in row 8 of 2023.csv" in " ".join(
        refused.err.split()
    )
    given[-2] = "id"
    memory, blocks = (json.loads(certus("fit", f, *given).out) for f in ("all.csv", "years"))
    assert memory["rows"] == blocks["rows"] == N
    assert memory["certificate"]["objective"] == blocks["certificate"]["objective"]


def test_a_category_of_one_file_alone_is_a_category(certus, files):
    assert certus("fit", "years", *FIT, "m.certus").code == 0
    encoder = library.load(files / "m.certus")[0].named_transformers_["categories"][-1]
    assert encoder.categories_[0].tolist() == ["Bergen", "Bodø", "Oslo", "Tromsø", "missing"]


def test_a_model_that_needs_all_rows_is_refused_and_others_are_named(certus, files):
    given = ["--target", "price", "--model", "knn"]
    ran = certus("fit", "years", *given)
    assert ran.code == 2
    assert "KNeighborsRegressor needs all rows in memory" in ran.err
    assert all(name in ran.err for name in ("LinearRegression", "Ridge", "ElasticNet"))
    assert "KNeighborsRegressor, " not in ran.err


def test_one_large_file_is_read_as_a_whole_for_a_model_that_needs_it(certus, files, monkeypatch):
    monkeypatch.setattr(opening, "available_memory", lambda: 1000)
    ran = certus("fit", "all.csv", "--target", "price", "--model", "knn", "--out", "k.certus")
    assert ran.code == 0, ran.err
    assert "would take about" in ran.err
    assert "KNeighborsRegressor needs all rows in memory" in ran.err
    ran = certus("verify", "k.certus", "all.csv")
    assert ran.code == 0, ran.err
    assert "verified on all rows in memory" in ran.err


def test_a_file_that_takes_much_of_the_free_memory_is_read_in_blocks(certus, files, monkeypatch):
    size = (files / "all.csv").stat().st_size
    monkeypatch.setattr(opening, "available_memory", lambda: 5 * size)
    ran = certus("fit", "all.csv", *FIT, "m.certus")
    assert ran.code == 0
    assert "all.csv would take about" in ran.err
    assert "read block by block" in ran.err
    monkeypatch.setattr(opening, "available_memory", lambda: 7 * size)
    assert "block by block" not in certus("fit", "all.csv", *FIT, "m.certus").err


# --- predict and verify ---------------------------------------------------------------------------


@pytest.fixture
def fitted(certus, files):
    assert certus("fit", "all.csv", *FIT, "m.certus").code == 0
    return files


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_answers_of_files_are_those_in_memory_byte_by_byte(certus, fitted, suffix):
    given = ["--id", "id", "--by-name", "--out"]
    assert certus("predict", "m.certus", "all.csv", *given, f"memory.{suffix}").code == 0
    whole = (fitted / f"memory.{suffix}").read_bytes()
    for form in ("csv", "parquet", "feather"):
        out = f"{form}.{suffix}"
        ran = certus("predict", "m.certus", *FORMS[form], *given, out)
        assert ran.code == 0, ran.err
        assert (fitted / out).read_bytes() == whole, form
    table = pq.read_table(fitted / "memory.parquet") if suffix == "parquet" else None
    assert table is None or table.column("id").to_pylist() == [i + 1 for i in range(N)]


def test_answers_to_several_files_are_in_their_order_also_on_stdout(certus, fitted):
    whole = certus("predict", "m.certus", "all.csv", "--by-name", "--id", "id")
    for form in ("files", "glob", "folder"):
        ran = certus("predict", "m.certus", *FORMS[form], "--by-name", "--id", "id")
        assert (ran.code, ran.out) == (0, whole.out)


@pytest.mark.parametrize("form", FORMS)
def test_verify_finds_the_same_as_in_memory(certus, fitted, form):
    memory = certus("verify", "m.certus", "all.csv")
    ran = certus("verify", "m.certus", *FORMS[form])
    assert ran.code == memory.code == 0, ran.err
    lines = [line for line in ran.out.splitlines() if not line.startswith(("Note", "   "))]
    assert [line for line in lines if line not in memory.out] == []
    assert certus("verify", "m.certus", "years/2023.csv", "--stream").code == 1


def test_verify_by_page_needs_arrays(certus, fitted):
    ran = certus("verify", "m.certus", "years", "--by", "page")
    assert ran.code == 2
    assert "--by page works on whole arrays" in ran.err


def test_rows_that_the_fit_left_out_are_left_out_of_every_block(certus, fitted):
    from certus.cli.files.model_rows import RowsLeftOut, _place
    from certus.sources import FileTable

    left_out = RowsLeftOut([300, 1, 301, 2000])
    blocks = [left_out.without(b) for b in FileTable("years").blocks(["id"], 300)]
    found = [int(i) for b in blocks for i in b.data.column("id").to_pylist()]
    assert found == [i + 1 for i in range(N) if i not in (0, 299, 300, 1999)]
    assert _place(blocks[0], 0) == "row 2 of 2023.csv"
    assert _place(blocks[1], 0) == "row 302 of 2023.csv"
    assert _place(blocks[5], 0) == "row 1 of 2024.csv"


def test_options_of_text_files_hold_in_blocks_and_are_kept_for_later_files(certus, files):
    rows = visits()
    for i, row in enumerate(rows):
        row[2] = -999 if row[2] == "NA" else row[2]
        row[3] = "none given" if i % 97 == 5 else row[3]
    lines = [";".join(map(str, row)).replace(".", ",") for row in rows]
    (files / "marked.txt").write_text("\n".join([";".join(HEADER), *lines]), encoding="cp1252")
    given = ["--missing", "-999,none given", "--decimal", ",", "--delimiter", ";",
             "--encoding", "cp1252"]  # fmt: skip
    assert certus("fit", "marked.txt", *FIT, "memory.certus", *given).code == 0
    ran = certus("fit", "marked.txt", "--stream", *FIT, "blocks.certus", *given)
    assert ran.code == 0, ran.err
    assert "delimiter: semicolon, decimal comma, cp1252" in ran.err
    assert (files / "blocks.certus").read_bytes() == (files / "memory.certus").read_bytes()
    predict = ("predict", "blocks.certus", "marked.txt", "--by-name", "--encoding", "cp1252")
    memory, blocks = certus(*predict), certus(*predict, "--stream")
    assert (blocks.code, blocks.out) == (0, memory.out)
    assert "--missing is for text files" in certus(
        "predict", "blocks.certus", *FORMS["parquet"], "--by-name", "--missing", "x"
    ).err  # fmt: skip


def test_numbers_that_are_whole_at_first_and_have_fractions_later(certus, files, monkeypatch):
    from certus.sources import csv_files

    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 1 << 10)
    rows = changed(visits(), N - 1, "age", 20.5)
    write_csv(files / "all.csv", HEADER, rows)
    assert certus("fit", "all.csv", *FIT, "memory.certus").code == 0
    ran = certus("fit", "all.csv", "--stream", *FIT, "blocks.certus")
    assert ran.code == 0, ran.err
    assert (files / "blocks.certus").read_bytes() == (files / "memory.certus").read_bytes()
    ran = certus("predict", "blocks.certus", "all.csv", "--stream", "--by-name", "--id", "age")
    assert ran.code == 3
    assert "column 'age' holds '20.5'" in " ".join(ran.err.split())


def test_ids_are_repeated_as_they_are_written(certus, fitted):
    rows = [[(10**17) + i, *row[1:]] for i, row in enumerate(visits(5))]
    write_csv(fitted / "big.csv", HEADER, rows)
    predict = ("predict", "m.certus", "big.csv", "--by-name", "--id", "id")
    memory, blocks = certus(*predict), certus(*predict, "--stream")
    assert blocks.out == memory.out
    assert blocks.out.splitlines()[3].startswith(str((10**17) + 2))


def test_truth_values_and_codes_are_read_as_in_the_fit(certus, folder, small_blocks):
    rows = [[i % 3 == 0, ["007", "123"][i % 2], i * i % 11, i % 7 + i / 8] for i in range(700)]
    table = pa.table(list(map(list, zip(*rows, strict=True))), names=["ok", "zip", "x", "y"])
    pq.write_table(table, folder / "t.parquet")
    given = ["--target", "y", "--out"]
    assert certus("fit", "t.parquet", *given, "memory.certus").code == 0
    assert certus("fit", "t.parquet", "--stream", *given, "blocks.certus").code == 0
    assert (folder / "blocks.certus").read_bytes() == (folder / "memory.certus").read_bytes()
    numbers = table.slice(1, 1).set_column(1, "zip", pa.array([123])).select(["ok", "zip", "x"])
    pq.write_table(numbers, folder / "n.parquet")
    memory = certus("predict", "memory.certus", "n.parquet")
    blocks = certus("predict", "memory.certus", "n.parquet", "--stream")
    assert (blocks.code, blocks.out) == (0, memory.out)


@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_files_are_read_in_blocks(certus, folder, small_blocks, order):
    X = np.random.default_rng(0).normal(size=(1000, 4))
    np.save(folder / "a.npy", np.asarray(X, order=order))
    given = ["--target", "column_4", "--out"]
    assert certus("fit", "a.npy", *given, "memory.certus").code == 0
    assert certus("fit", "a.npy", "--stream", *given, "blocks.certus").code == 0
    assert (folder / "blocks.certus").read_bytes() == (folder / "memory.certus").read_bytes()


# --- what is refused ------------------------------------------------------------------------------


def changed(rows, i, name, value):
    rows = [list(row) for row in rows]
    rows[i][HEADER.index(name)] = value
    return rows


@pytest.mark.parametrize(
    ("i", "name", "value", "message"),
    [
        (4, "price", "", "the target 'price' is missing in 1 row (row 5 of 2024.csv)"),
        (4, "dose", "inf", "column 'dose' is infinite in 1 row (row 5 of 2024.csv)"),
        (4, "age", "old", "column 'age'"),
    ],
)
def test_cells_that_no_model_can_use_are_named_by_file_and_row(
    certus, files, i, name, value, message
):
    write_csv(files / "years" / "2024.csv", HEADER, changed(visits()[1337:], i, name, value))
    ran = certus("fit", "years", *FIT, "m.certus")
    assert ran.code == 3
    assert message in " ".join(ran.err.split())
    assert not (files / "m.certus").exists()


def test_files_with_other_columns_are_refused_and_named(certus, fitted):
    rows = visits(30)
    later = fitted / "years" / "2025.csv"
    write_csv(later, [*HEADER, "shoe"], [[*row, 44] for row in rows])
    ran = certus("fit", "years", *FIT, "x.certus")
    assert ran.code == 3
    assert "2025.csv has 1 column that 2023.csv has not ('shoe')" in " ".join(ran.err.split())
    assert certus("fit", "years", *FIT, "x.certus", "--columns", "age,city").code == 0
    assert certus("predict", "m.certus", "years").code == 3
    assert "extra: 'shoe'" in certus("predict", "m.certus", "years").err
    assert certus("predict", "m.certus", "years", "--by-name").code == 0
    write_csv(later, HEADER[:1] + HEADER[2:], [row[:1] + row[2:] for row in rows])
    for command in (["fit", "years", *FIT, "y.certus"], ["predict", "m.certus", "years"]):
        ran = certus(*command)
        assert ran.code == 3
        assert "2025.csv" in ran.err
        assert "'age'" in ran.err
    write_csv(later, HEADER, [[row[0], f"about {row[1]}", *row[2:]] for row in rows])
    ran = certus("predict", "m.certus", "years", "--out", "o.csv", "--by-name")
    assert ran.code == 3
    assert "'age'" in ran.err
    assert not (fitted / "o.csv").exists()


def test_an_empty_file_among_many_is_named(certus, fitted):
    (fitted / "years" / "2022.csv").write_bytes(b"")
    for command in (["fit", "years", *FIT, "x.certus"], ["predict", "m.certus", "years"]):
        ran = certus(*command)
        assert ran.code == 3
        assert "2022.csv is empty" in ran.err


def test_a_file_that_is_written_meanwhile_leaves_nothing_behind(certus, fitted, monkeypatch):
    read = file_blocks.FileTable._tables

    def written(self, number, columns, rows):
        path = self.parts[number].path
        for data in read(self, number, columns, rows):
            os.utime(path, ns=(1, 1))
            yield data

    monkeypatch.setattr(file_blocks.FileTable, "_tables", written)
    before = sorted(p.name for p in fitted.iterdir())
    ran = certus("predict", "m.certus", "years", "--by-name", "--out", "o.csv")
    assert ran.code == 3
    assert "2023.csv was written again" in ran.err
    assert sorted(p.name for p in fitted.iterdir()) == before


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        (["fit", "-", "all.csv", *FIT, "x"], 2, "standard input is read as a whole"),
        (["fit", "-", "--stream", *FIT, "x"], 2, "standard input is read as a whole"),
        (["fit", "years/20*.parquet", *FIT, "x"], 3, "no file matches"),
        (["fit", "years", "--target", "prise"], 3, "Did you mean 'price'?"),
        (["fit", "years", *FIT, "x", "--columns", "agee"], 3, "Did you mean 'age'?"),
        (["fit", "years"], 2, "which column shall be predicted?"),
        (["predict", "m.certus", "years", "--id", "idd", "--by-name"], 3, "Did you mean 'id'?"),
        (["predict", "m.certus", "all.csv", "all.parquet"], 3, "several kinds"),
    ],
)
def test_refusals_of_files_are_those_of_tables(certus, fitted, given, code, message):
    ran = certus(*given)
    assert (ran.code, ran.out) == (code, "")
    assert message in " ".join(ran.err.split())
    assert "Traceback" not in ran.err


# --- memory ---------------------------------------------------------------------------------------

PEAK = """
import resource, sys
from certus.cli import main
code = main(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
raise SystemExit(code)
"""


def peak_of(*arguments):
    ran = subprocess.run(
        [sys.executable, "-c", PEAK, *map(str, arguments)], capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return int(ran.stdout.split()[-1]) / (1 if sys.platform == "darwin" else 1 << 10)  # MB


def test_the_memory_of_predict_does_not_grow_with_the_table(certus, folder):
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(8)]
    sizes = {"small": 200_000, "large": 2_000_000}
    for name, n in sizes.items():
        with pq.ParquetWriter(
            folder / f"{name}.parquet", pa.schema([(c, pa.float64()) for c in [*names, "y"]])
        ) as writer:
            for _ in range(n // 100_000):
                X = rng.normal(size=(100_000, 8))
                writer.write_table(pa.table([*X.T, X.sum(axis=1)], names=[*names, "y"]))
    ran = certus("fit", "small.parquet", "--target", "y", "--out", folder / "s.certus")
    assert ran.code == 0
    peaks = {
        name: peak_of("predict", folder / "s.certus", folder / f"{name}.parquet", "--stream",
                      "--out", folder / f"{name}.answers.parquet")
        for name in sizes
    }  # fmt: skip
    assert pq.read_metadata(folder / "large.answers.parquet").num_rows == sizes["large"]
    assert peaks["large"] < peaks["small"] + 60, peaks  # 144 MB of numbers in the table


def test_ncfs_compares_rows_of_files_within_batches(certus, files):
    fit = ["--target", "ill", "--drop", "price", "--model", "ncfs", "--batch_size", "200"]
    ran = certus("fit", "years", *fit, "--out", "blocks.certus")
    assert ran.code == 0, ran.err
    assert "10 of consecutive rows, all recomputed" in " ".join(ran.out.split())
    assert certus("verify", "blocks.certus", "years").code == 0
