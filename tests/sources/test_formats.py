"""Whatever the kind of file, the rows are the ones that were written."""

import numpy as np
import pyarrow as pa
import pytest

import certus
from certus.exceptions import TableError
from certus.sources import arrow_files, arrow_rows, read_ahead
from tests.sources.tables_on_disk import WRITERS, N, arrays, numbers, whole, write, write_parquet

CACHE = [True, False]


@pytest.fixture(params=CACHE, ids=["kept", "decoded in every pass"])
def cache(request):
    return request.param


@pytest.fixture
def small_batches(monkeypatch):
    """Many batches, chunks and buffers of a small table."""
    monkeypatch.setattr(arrow_rows, "BATCH_BYTES", 1 << 13)
    monkeypatch.setattr(read_ahead, "CHUNK_BYTES", 1 << 12)
    monkeypatch.setattr(arrow_files, "MAX_BUFFER_BYTES", 1 << 14)


def assert_rows(rows, table, **roles):
    X, y, s = arrays(table, **roles)
    X_read, y_read, s_read = whole(rows)
    np.testing.assert_array_equal(X_read, X)
    np.testing.assert_array_equal(y_read, y[:, None])
    np.testing.assert_array_equal(s_read, s)


@pytest.mark.parametrize("ending", WRITERS)
def test_rows_are_the_ones_that_were_written(ending, cache, tmp_path, small_batches):
    table = numbers()
    path = write(table, tmp_path / f"rows.{ending}")
    with certus.open_rows(path, target="y", weights="s", cache=cache) as rows:
        assert rows.shape == (N, 4)
        assert rows.names == ("x0", "x1", "x2", "x3")
        assert_rows(rows, table)
        np.testing.assert_allclose(rows.means, arrays(table)[0].mean(axis=0), rtol=1e-13)


@pytest.mark.parametrize("ending", WRITERS)
def test_several_files_are_read_one_after_another(ending, cache, tmp_path, small_batches):
    table = numbers()
    for i, (start, stop) in enumerate([(0, 100), (100, 101), (101, 2500), (2500, N)]):
        write(table.slice(start, stop - start), tmp_path / f"part-{i}.{ending}")
    for source in (tmp_path, str(tmp_path / f"*.{ending}"), sorted(tmp_path.iterdir())):
        with certus.open_rows(source, target="y", weights="s", cache=cache) as rows:
            assert_rows(rows, table)


@pytest.mark.parametrize("group_rows", [7, 1000, N])
def test_row_groups_may_be_small_or_giant(group_rows, cache, tmp_path, small_batches):
    table = numbers()
    path = write_parquet(table, tmp_path / "rows.parquet", row_group_size=group_rows)
    with certus.open_rows(path, target="y", weights="s", cache=cache) as rows:
        assert_rows(rows, table)
        late = rows.read(2900, 2950)  # in the middle of a group, away from the last rows read
        np.testing.assert_array_equal(late.X, arrays(table)[0][2900:2950])
        i = np.array([2999, 5, 5, 1500])
        np.testing.assert_array_equal(rows.gather(i).X, arrays(table)[0][i])


def test_columns_may_be_listed_and_come_in_that_order(cache, tmp_path):
    table = numbers()
    for ending in WRITERS:
        path = write(table, tmp_path / f"rows.{ending}")
        with certus.open_rows(path, ["x3", "x0"], target=["y", "x2"], cache=cache) as rows:
            X, y, s = whole(rows)
            assert rows.names == ("x3", "x0")
            np.testing.assert_array_equal(X, np.column_stack([table["x3"], table["x0"]]))
            np.testing.assert_array_equal(y, np.column_stack([table["y"], table["x2"]]))
            assert s is None


def test_a_column_may_have_a_dot_in_its_name(tmp_path):
    table = pa.table({"a.b": [1.0, 2], "a": [3.0, 4], "y": [0.0, 1]})
    rows = certus.open_rows(write(table, tmp_path / "rows.parquet"), target="y")
    np.testing.assert_array_equal(whole(rows)[0], [[1, 3], [2, 4]])


NUMBER_TYPES = {
    "int8": pa.array([1, -2, 3], pa.int8()),
    "uint64": pa.array([1, 2, 3], pa.uint64()),
    "bool": pa.array([True, False, True]),
    "float16": pa.array(np.array([1.5, 2, 3], np.float16)),
    "float32": pa.array([1.5, 2, 3], pa.float32()),
    "float64": pa.array([1.5, 2, 3]),
    "decimal128": pa.array([1, 2, 3], pa.int64()).cast(pa.decimal128(24, 2)),
    "decimal256": pa.array([1, 2, 3], pa.int64()).cast(pa.decimal256(40, 2)),
}


@pytest.mark.parametrize("kind", NUMBER_TYPES)
def test_numbers_of_every_type_become_floats(kind, tmp_path):
    column = NUMBER_TYPES[kind]
    rows = certus.open_rows(pa.table({"a": column, "y": column}), target="y")
    expected = np.array([float(value) for value in column.to_pylist()])
    np.testing.assert_array_equal(whole(rows)[0][:, 0], expected)
    assert rows.dtype == (np.float32 if kind == "float32" else np.float64)


@pytest.mark.parametrize("kind", NUMBER_TYPES)
def test_a_missing_number_is_nan_or_refused_with_its_row(kind):
    column = pa.concat_arrays([NUMBER_TYPES[kind], pa.nulls(1, NUMBER_TYPES[kind].type)])
    table = pa.table({"a": column})
    with certus.open_rows(table, missing=True) as rows:
        assert np.isnan(rows.read(0, 4).X[:, 0]).tolist() == [False, False, False, True]
        assert rows.means[0] == pytest.approx(rows.read(0, 3).X.mean())
    with pytest.raises(TableError, match=r"column 'a' has a missing value \(NaN; row 3 of the Tab"):
        certus.open_rows(table)


def test_float32_and_float64_columns_together_are_float64(tmp_path):
    table = pa.table({"a": pa.array([0.1, 0.2], pa.float32()), "b": [0.1, 0.2]})
    rows = certus.open_rows(write(table, tmp_path / "rows.parquet"))
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(whole(rows)[0][:, 1], [0.1, 0.2])


REFUSED_TYPES = {
    "dates or times": pa.array([0, 1], pa.timestamp("s")),
    r"list<item: int64>|list<element: int64>": pa.array([[1], [2]]),
    r"struct<q: int64>": pa.array([{"q": 1}, {"q": 2}]),
    r"binary": pa.array([b"1", b"2"]),
    r"dictionary<values=timestamp": pa.array([0, 1], pa.timestamp("s")).dictionary_encode(),
}


@pytest.mark.parametrize("words", REFUSED_TYPES)
def test_what_is_no_number_and_no_text_is_refused_unless_it_is_left_out(words):
    table = pa.table({"a": [1.0, 2.0], "when": REFUSED_TYPES[words]})
    with pytest.raises(TableError, match=rf"column 'when' of the Table holds .*{words}"):
        certus.open_rows(table)
    assert certus.open_rows(table, columns=["a"]).shape == (2, 1)


def test_a_file_without_rows_among_others_adds_none(cache, tmp_path):
    table = numbers()
    for ending in WRITERS:
        folder = tmp_path / ending
        folder.mkdir()
        for i, (start, stop) in enumerate([(0, 0), (0, 2000), (0, 0), (2000, N), (0, 0)]):
            write(table.slice(start, stop - start), folder / f"part-{i}.{ending}")
        with certus.open_rows(folder, target="y", weights="s", cache=cache) as rows:
            assert_rows(rows, table)


def test_what_a_table_says_of_itself(tmp_path):
    path = write(numbers(), tmp_path / "rows.parquet")
    rows = certus.open_rows(path, target="y", weights="s")
    assert repr(rows).splitlines() == [
        "rows.parquet: 3,000 rows × 4 columns (float64)",
        "target: 'y'",
        "weights: 's'",
        "rows are decoded once and kept in a temporary file (144 kB)",
    ]
    assert rows.head(2).X.shape == (2, 4)
    assert [len(block.X) for block in rows.batches(1300)] == [1300, 1300, 400]
    again = certus.open_rows(path, target="y", weights="s", cache=False)
    assert repr(again).splitlines()[3] == "rows are decoded again in every pass"
