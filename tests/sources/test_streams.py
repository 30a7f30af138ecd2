"""Objects that give Arrow streams, functions and generators: fresh in every pass, or kept."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import dataset

import certus
from certus.exceptions import TableError
from certus.sources import arrow_rows, read_ahead
from tests.sources.tables_on_disk import N, arrays, numbers, whole, write


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(arrow_rows, "BATCH_BYTES", 1 << 13)
    monkeypatch.setattr(read_ahead, "CHUNK_BYTES", 1 << 12)


def duckdb_relation(table, path):
    duckdb = pytest.importorskip("duckdb")
    write(table, path / "rows.parquet")
    return duckdb.connect().sql(f"select * from '{path / 'rows.parquet'}'")


FRESH = {
    "Table of pyarrow": lambda table, path: table,
    "dataset of pyarrow": lambda table, path: dataset.dataset(write(table, path / "rows.parquet")),
    "lazy frame of polars": lambda table, path: pl.from_arrow(table).lazy(),
    "frame of polars": lambda table, path: pl.from_arrow(table),
    "frame of pandas": lambda table, path: table.to_pandas(),
    "relation of DuckDB": duckdb_relation,
    "function of batches": lambda table, path: lambda: iter(table.to_batches(500)),
    "function of frames": lambda table, path: lambda: [
        table[:700].to_pandas(), pl.from_arrow(table[700:701]), table[701:],
    ],
    "function that returns a reader": lambda table, path: table.to_reader,
}  # fmt: skip


@pytest.mark.parametrize("cache", [True, False], ids=["kept", "decoded in every pass"])
@pytest.mark.parametrize("kind", FRESH)
def test_a_fresh_stream_is_read_in_every_pass(kind, cache, tmp_path):
    table = numbers()
    source = FRESH[kind](table, tmp_path)
    with certus.open_rows(source, target="y", weights="s", cache=cache) as rows:
        assert rows.shape == (N, 4)
        assert rows.names == ("x0", "x1", "x2", "x3")
        for _ in range(2):
            for found, expected in zip(whole(rows), arrays(table), strict=True):
                np.testing.assert_array_equal(found, expected if found.ndim != 2 else found)
            np.testing.assert_array_equal(rows.read(0, N).X, arrays(table)[0])


ONCE = {
    "RecordBatchReader": lambda table: table.to_reader(400),
    "Scanner": lambda table: dataset.dataset(table).scanner(),
    "generator": lambda table: (batch for batch in table.to_batches(400)),
}


@pytest.mark.parametrize("kind", ONCE)
def test_what_can_be_read_only_once_is_kept_and_that_is_said(kind):
    table = numbers()
    for cache in ("auto", True, False):
        rows = certus.open_rows(ONCE[kind](table), target="y", weights="s", cache=cache)
        assert "can be read only once: its rows are kept in a temporary file" in rows.notes[0]
        for _ in range(2):
            np.testing.assert_array_equal(rows.read(0, N).X, arrays(table)[0])


def batches_of_arrays(with_y=True, with_s=True):
    X, y, s = arrays(numbers())
    for start in range(0, N, 700):
        part = slice(start, start + 700)
        yield (X[part], *([y[part]] if with_y else []), *([s[part]] if with_s else []))


def test_batches_may_be_tuples_of_arrays():
    rows = certus.open_rows(batches_of_arrays, cache=False)
    assert rows.description == "the batches of batches_of_arrays()"
    assert rows.names is None
    X, y, s = arrays(numbers())
    for found, expected in zip(whole(rows), (X, y[:, None], s), strict=True):
        np.testing.assert_array_equal(found, expected)
    rows = certus.open_rows(lambda: (X, y))  # a single batch
    np.testing.assert_array_equal(whole(rows)[1], y[:, None])
    assert certus.open_rows(lambda: X).shape == X.shape
    two = certus.open_rows((X[a : a + 10], X[a : a + 10, :2]) for a in range(0, 50, 10))
    np.testing.assert_array_equal(whole(two)[1], X[:50, :2])
    with pytest.raises(ValueError, match=r"batches of arrays are .X, y, weights. already"):
        certus.open_rows(batches_of_arrays, target="y")


def test_the_index_of_a_frame_of_pandas_is_no_column():
    frame = pd.DataFrame({"a": [1.0, 2], "b": [3.0, 4]}, index=[7, 9])
    assert certus.open_rows(frame).names == ("a", "b")
    assert certus.open_rows(lambda: [frame, frame]).shape == (4, 2)


def test_a_type_may_grow_within_numbers_but_not_become_another_kind():
    def batches(*columns):
        return lambda: [pa.record_batch({"a": column}) for column in columns]

    whole_then_real = batches(pa.array([1, 2]), pa.array([0.5, None]), pa.nulls(1))
    X = certus.open_rows(whole_then_real, missing=True).read(0, 5).X
    np.testing.assert_array_equal(X[:, 0], [1, 2, 0.5, np.nan, np.nan])
    text = batches(pa.array([1, 2]), pa.array(["x"]))
    with pytest.raises(
        TableError, match=r"column 'a' .* from row 2 on is string, and in the first batch int64"
    ):
        certus.open_rows(text)
    wider = batches(pa.array([1.0], pa.float32()), pa.array([0.1]))
    with pytest.raises(TableError, match="is double, and in the first batch float: give batches"):
        certus.open_rows(wider)
    lost = lambda: [pa.record_batch({"a": [1.0]}), pa.record_batch({"A": [1.0]})]  # noqa: E731
    with pytest.raises(TableError, match=r"No column 'a' in .* from row 1 on. Did you mean 'A'"):
        certus.open_rows(lost)


def test_batches_that_are_no_rows_are_refused():
    cases = {
        "a batch is a str": lambda: ["a", "b"],
        r"a batch of arrays is \(X, y, weights\)": lambda: [(np.ones(3), np.ones(3))],
        "3 and 2 rows in X, y and the weights": lambda: [(np.ones((3, 2)), np.ones(2))],
        "gives no batch": list,
    }
    for words, source in cases.items():
        with pytest.raises(TableError, match=words):
            certus.open_rows(source)


def test_what_is_no_source_is_refused_with_what_is():
    with pytest.raises(TypeError, match="an array is given to fit as it is"):
        certus.open_rows(np.ones((3, 2)))
    with pytest.raises(TypeError, match="open_rows cannot read a int: give a path"):
        certus.open_rows(3)


def test_errors_of_a_function_of_the_user_are_the_users():
    def batches():
        yield pa.record_batch({"a": [1.0]})
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        certus.open_rows(batches)


def test_a_damaged_file_behind_a_dataset_is_an_error_of_the_table(tmp_path):
    write(numbers(), tmp_path / "a.parquet")
    source = dataset.dataset(tmp_path)
    path = write(numbers(), tmp_path / "b.parquet")
    source = dataset.dataset(tmp_path)
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(TableError, match=r"the FileSystemDataset failed after [\d,]+ rows: "):
        certus.open_rows(source)
