"""What cannot be read is refused with its file, row and column, and nothing half-written stays."""

import pickle
import re
import threading

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import dataset, parquet

import certus
from certus.exceptions import TableError
from certus.linear_model import Ridge
from certus.sources import arrow_rows
from tests.sources.tables_on_disk import numbers, write, write_parquet, write_text


@pytest.fixture(autouse=True)
def nothing_stays(monkeypatch, tmp_path_factory):
    """Temporary files have a folder of their own, which is empty after the test; threads end."""
    monkeypatch.setattr(arrow_rows, "BATCH_BYTES", 1 << 13)
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield
    assert not list(folder.iterdir())
    assert not [t for t in threading.enumerate() if t.name == "certus read-ahead"]


@pytest.fixture
def three(tmp_path):
    """Three files of 1,000 rows."""
    table = numbers()
    return [
        write(table[1000 * i : 1000 * (i + 1)], tmp_path / f"part-{i}.parquet") for i in range(3)
    ]


def changed(path, name, values):
    """Write a file again with another column."""
    table = parquet.read_table(path)
    at = table.column_names.index(name)
    write(table.set_column(at, name, pa.array(values)), path)


def refusal(source, **options):
    with pytest.raises(TableError) as error:
        certus.open_rows(source, **options)
    return str(error.value)


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize(
    ("value", "words"), [(np.nan, "missing value (NaN; "), (np.inf, "infinite value (")]
)
def test_a_value_that_is_not_finite_in_one_file_is_named(value, words, cache, three):
    column = np.ones(1000)
    column[[345, 800]] = value
    changed(three[1], "x2", column)
    assert f"column 'x2' has a{'n' * (value == np.inf)} {words}row 345 of part-1.parquet, " in (
        refusal(three, target="y", cache=cache)
    )
    assert f"the target, column 'x2', has a{'n' * (value == np.inf)} " in refusal(
        three, target="x2"
    )


def test_a_missing_value_may_be_but_an_infinite_one_not(three):
    column = np.ones(1000)
    column[[3, 4]] = np.nan, -np.inf
    changed(three[2], "x2", column)
    assert "column 'x2' has an infinite value (row 4 of part-2.parquet" in (
        refusal(three, missing=True)
    )


def test_a_damaged_file_among_others_is_named(three):
    whole = three[1].read_bytes()
    three[1].write_bytes(whole[: len(whole) // 2])
    assert "part-1.parquet cannot be read as Parquet: " in refusal(three)
    assert "Is it damaged, or cut off? Write it again, or leave it out" in refusal(three)
    write_parquet(parquet.read_table(three[0]), three[1], write_page_checksum=True)
    whole = three[1].read_bytes()
    three[1].write_bytes(whole[:2000] + bytes(5000) + whole[7000:])
    for cache in (True, False):
        assert "part-1.parquet cannot be read as Parquet: " in refusal(three, cache=cache)
    three[1].write_bytes(b"")
    assert refusal(three) == "part-1.parquet is empty (0 bytes): remove it, or leave it out"


@pytest.mark.parametrize("ending", ["feather", "arrows"])
def test_a_cut_off_arrow_file_is_named(ending, tmp_path):
    path = write(numbers(), tmp_path / f"rows.{ending}")
    path.write_bytes(path.read_bytes()[:-40_000])
    assert f"rows.{ending} cannot be read as Feather: " in refusal(tmp_path)


def test_another_schema_in_the_middle_is_named(three):
    changed(three[1], "x2", ["a", "b"] * 500)
    assert refusal(three) == (
        "column 'x2' holds text in part-1.parquet (string), and numbers in part-0.parquet "
        "(double): write the files with the same types"
    )
    write(numbers(1000).drop_columns("x2"), three[1])
    assert refusal(three) == (
        "No column 'x2' in part-1.parquet. There is: x0, x1, x3, y, s. part-0.parquet has it: give "
        "files with the same columns, or leave this one out"
    )
    write(numbers(1000).append_column("new", pa.nulls(1000, pa.float64())), three[1])
    assert refusal(three) == (
        "part-1.parquet has 1 column that part-0.parquet has not ('new'): name the columns to "
        "read, columns=[…]"
    )
    assert certus.open_rows(three, columns=["x0"]).shape == (3000, 1)
    changed(three[1], "x2", pa.nulls(1000))
    assert "column 'x2' of part-1.parquet holds nothing but missing values" in (
        refusal(three, columns=["x2"])
    )


def test_float32_in_one_file_and_float64_in_another_are_float64(three):
    changed(three[0], "x0", np.ones(1000, np.float32))
    rows = certus.open_rows(three, columns=["x0"])
    assert rows.dtype == np.float64
    rows.close()


def test_weights_below_zero_and_weights_of_nothing_are_refused(three):
    column = np.ones(1000)
    column[7] = -0.5
    changed(three[1], "s", column)
    assert refusal(three, weights="s") == (
        "the weights, column 's', have -0.5 (row 7 of part-1.parquet, counted from 0). A weight "
        "says how often a row counts: 0 leaves it out, and none is below 0"
    )
    for path in three:
        changed(path, "s", np.zeros(1000))
    assert refusal(three, weights="s") == "the weights, column 's', are all 0"
    changed(three[0], "s", np.full(1000, np.nan))
    assert "the weights, column 's', have a missing value (row 0 of part-0" in (
        refusal(three, weights="s")
    )
    changed(three[0], "s", np.full(1000, 1e-305))
    assert "sums of such weights underflow: multiply them" in refusal(three, weights="s")


def test_an_unknown_column_is_named_with_the_one_that_was_meant(three):
    assert "No column 'X1' in part-0.parquet. Did you mean 'x1'?" in refusal(three, columns=["X1"])
    assert "No column 'yy' in part-0.parquet. Did you mean 'y'?" in refusal(three, target="yy")
    assert "No column 'w' in part-0.parquet." in refusal(three, weights="w")


def test_roles_of_columns_may_not_contradict(three):
    cases = {
        "column 'y' is in columns and is target too": {"columns": ["x0", "y"], "target": "y"},
        "column 's' is in columns and is weights too": {"columns": ["s"], "weights": "s"},
        "column 'y' cannot be both target and weights": {"target": "y", "weights": "y"},
        "columns has 'x0' twice": {"columns": ["x0", "x0"]},
        "columns is an empty list": {"columns": []},
    }
    for words, options in cases.items():
        with pytest.raises(ValueError, match=words):
            certus.open_rows(three, **options)
    for words, options in {
        "columns=3: give the name": {"columns": 3},
        "weights=.'s'.: give the name of a column": {"weights": ["s"]},
    }.items():
        with pytest.raises(TypeError, match=words):
            certus.open_rows(three, **options)
    assert "part-0.parquet has no columns left for X" in (
        refusal(three, target=["x0", "x1", "x2", "x3", "y", "s"])
    )


def test_columns_of_one_name_are_refused(tmp_path):
    table = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["a", "a"])
    write(table, tmp_path / "rows.parquet")
    assert refusal(tmp_path) == (
        "rows.parquet has columns of the same name: 'a'. Rename or drop them"
    )


def test_paths_that_lead_nowhere_say_what_would(tmp_path):
    write(numbers(10), tmp_path / "loans.parquet")
    assert re.fullmatch(
        r"there is no file '.*loan.parquet'. Did you mean '.*loans.parquet'\?",
        refusal(tmp_path / "loan.parquet"),
    )
    assert refusal(str(tmp_path / "*.csv")) == f"no file matches '{tmp_path / '*.csv'}'"
    assert "is not a local path: give a dataset of pyarrow" in refusal("s3://bucket/rows.parquet")
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "_SUCCESS").write_text("")
    assert "none holds no file of rows" in refusal(tmp_path / "none")
    path = tmp_path / "loans.parquet"
    assert refusal([path, str(path)]) == f"{path} is named twice: its rows would count twice"


def test_folders_with_a_value_as_their_name_are_not_read_without_it(tmp_path):
    folder = tmp_path / "rents" / "year=2024"
    folder.mkdir(parents=True)
    write(numbers(10), folder / "a.parquet")
    assert "rents has folders with a value as their name ('year=2024'). To have it" in (
        refusal(tmp_path / "rents")
    )
    rows = certus.open_rows(tmp_path / "rents" / "**" / "*.parquet", target="y")
    assert rows.shape == (10, 5)
    rows.close()
    hive = dataset.dataset(tmp_path / "rents", partitioning="hive")
    rows = certus.open_rows(hive, columns=["x0", "year"])
    assert rows.read(0, 10).X[:, 1].tolist() == [2024] * 10
    rows.close()


def test_files_of_several_kinds_and_foreign_files_are_refused(tmp_path):
    write(numbers(10), tmp_path / "a.parquet")
    write(numbers(10), tmp_path / "b.parquet")
    write_text("a,b\n1,2\n", tmp_path / "readme.csv")
    assert "the files are of several kinds (Parquet: 2, CSV: 1; readme.csv is CSV)" in (
        refusal(tmp_path)
    )
    (tmp_path / "sheet.xlsx").write_bytes(b"PK\x03\x04" + bytes(100))
    assert "sheet.xlsx is an Excel file or another zip archive" in refusal(tmp_path / "sheet.xlsx")


def test_files_of_one_name_in_several_folders_are_told_apart(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write(numbers(10), tmp_path / folder / "rows.parquet")
    changed(tmp_path / "b" / "rows.parquet", "x0", [np.nan] * 10)
    assert f"row 0 of {'b'}/rows.parquet" in refusal(tmp_path).replace("\\", "/")


@pytest.mark.parametrize("ending", ["parquet", "feather", "csv", "arrows"])
def test_a_table_without_rows_is_refused(ending, tmp_path):
    write(numbers(0), tmp_path / f"rows.{ending}")
    assert refusal(tmp_path) == f"rows.{ending} has no rows"


@pytest.mark.parametrize("cache", [True, False])
def test_a_closed_table_is_not_read_and_says_so(cache, three):
    rows = certus.open_rows(three, target="y", cache=cache)
    rows.read(0, 10)
    rows.close()
    rows.close()
    for read in (lambda: rows.read(0, 5), lambda: Ridge().fit(rows), rows.head):
        with pytest.raises(ValueError, match="3 Parquet files: the table was closed, open"):
            read()


def test_a_table_is_not_pickled(three):
    rows = certus.open_rows(three, target="y")
    with pytest.raises(TypeError, match="cannot be pickled or copied: open it again where it is"):
        pickle.dumps(rows)


def test_a_table_is_no_array_by_accident(three):
    rows = certus.open_rows(three, target="y")
    with pytest.raises(TypeError, match="3,000 rows are read block by block"):
        np.asarray(rows.X)
    with pytest.raises(ValueError, match="y was given beside streamed rows: name its column"):
        Ridge().fit(rows, np.ones(3000))
