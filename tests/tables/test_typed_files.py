"""Parquet, Feather and NumPy files: types are taken at their word, damage is refused."""

import io
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from .reading import kind, read, refusal, roles, values

TRUTH = [True, False, None, True]
TEXT = ["a", "b", None, "a"]
COLUMNS = {
    "int8": (pa.array([1, 2, None, 3], pa.int8()), "number", "int64"),
    "uint64": (pa.array([1, 2, None, 3], pa.uint64()), "number", "uint64"),
    "half": (pa.array(np.array([1, 2, 3, 4], np.float16)), "number", "double"),
    "float32": (pa.array([1.5, None, 2.5, 3.5], pa.float32()), "number", "double"),
    "decimal": (pa.array([Decimal("1.5"), None, Decimal(2), Decimal(3)]), "number", "double"),
    "bool": (pa.array(TRUTH), "truth", "bool"),
    "string": (pa.array(TEXT), "category", "string"),
    "large": (pa.array(TEXT, pa.large_string()), "category", "string"),
    "view": (pa.array(TEXT, pa.string_view()), "category", "string"),
    "dictionary": (pa.array(TEXT).dictionary_encode(), "category", "string"),
    "codes": (pa.array([5, 6, None, 5]).dictionary_encode(), "number", "int64"),
    "moment": (pa.array([datetime(2020, 1, d) for d in (1, 2, 3, 4)]), "date", "timestamp[us]"),
    "day": (pa.array([date(2020, 1, d) for d in (1, 2, 3, 4)]), "date", "date32[day]"),
    "clock": (pa.array([time(d) for d in (1, 2, 3, 4)]), "date", "time64[us]"),
    "duration": (pa.array([timedelta(d) for d in (1, 2, 3, 4)]), "date", "duration[us]"),
    "list": (pa.array([[1], [2], None, [3]]), "nested", "list<"),
    "record": (pa.array([{"a": 1}, {"a": 2}, None, {"a": 3}]), "nested", "struct<"),
    "binary": (pa.array([b"a", b"b", None, b"c"]), "nested", "binary"),
    "null": (pa.nulls(4), "empty", "null"),
}


def file_of(data, write):
    stream = io.BytesIO()
    write(data, stream)
    return stream.getvalue()


def stream_of(data, stream):
    with pa.ipc.new_stream(stream, data.schema) as writer:
        writer.write_table(data)


WRITERS = {
    "Parquet": parquet.write_table,
    "Feather": feather.write_feather,
    "Arrow stream": stream_of,
}


@pytest.mark.parametrize("name", WRITERS)
def test_types_of_typed_files(name):
    left_out = ("view", "half", "duration") if name == "Parquet" else ()
    given = {k: v for k, v in COLUMNS.items() if k not in left_out}
    table = read(file_of(pa.table({k: v[0] for k, v in given.items()}), WRITERS[name]))
    assert roles(table) == {k: role for k, (_, role, _) in given.items()}
    for column, (_, _, type_name) in given.items():
        assert kind(table, column).startswith(type_name), column
    assert table.report.lines() == [f"the stream: {name}, 4 rows"]
    assert values(table, "int8") == [1, 2, None, 3]
    assert values(table, "large") == TEXT
    assert "values of type struct" in table.column("record").reason


def test_truth_values_of_typed_files_are_targets_and_features():
    table = read(file_of(pa.table({"b": [True, False, True], "m": TRUTH[:3]}), parquet.write_table))
    np.testing.assert_array_equal(table.target("b"), [True, False, True])
    assert table.select(["b", "m"]).to_pydict() == {
        "b": ["True", "False", "True"], "m": ["True", "False", None]
    }  # fmt: skip


def test_typed_columns_take_the_roles_of_an_earlier_table():
    data = pa.table({"zip": [7, 12, 7], "size": ["1.5", None, "2"], "b": [True, False, True]})
    given = {"zip": "category", "size": "number", "b": "truth"}
    table = read(file_of(data, parquet.write_table), roles=given)
    assert roles(table) == given
    assert values(table, "zip") == ["7", "12", "7"]
    assert values(table, "size") == [1.5, None, 2.0]
    assert values(table, "b") == ["True", "False", "True"]


def test_duplicate_names_in_an_arrow_file():
    data = pa.table([pa.array([1, 2]), pa.array([3, 4])], names=["a", "a"])
    table = read(file_of(data, stream_of))
    assert roles(table) == {"a": "number", "a_2": "number"}
    assert values(table, "a_2") == [3, 4]


def test_tables_without_rows_or_columns_are_refused():
    assert "has no columns" in refusal(file_of(pa.table({}), parquet.write_table))
    empty = pa.table({"a": pa.array([], pa.int64())})
    assert "has no rows" in refusal(file_of(empty, feather.write_feather))


@pytest.mark.parametrize("name", WRITERS)
def test_damaged_typed_files_are_refused(name):
    content = file_of(pa.table({"a": [1, 2, 3], "t": TEXT[:3]}), WRITERS[name])
    for damaged in (content[:20], content[:-30], content[:8] + content[40:]):
        assert f"cannot be read as {name}" in refusal(damaged)


def test_indices_that_lead_nowhere_are_refused():
    data = pa.table({"t": pa.array(["aa", "bb", "cc"])})
    content = file_of(data, lambda d, s: feather.write_feather(d, s, compression="uncompressed"))
    offsets = np.array([0, 2, 4, 6], np.int32).tobytes()
    assert content.count(offsets) == 1
    wrong = np.array([0, 2, 4, 2**30], np.int32).tobytes()
    assert "cannot be read as Feather" in refusal(content.replace(offsets, wrong))


# --- NumPy ----------------------------------------------------------------------------------------


def npy(array, **options):
    return file_of(array, lambda a, s: np.save(s, a, **options))


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", ">i2", "<u8", "<f2", "?"])
def test_arrays_in_any_byte_order(dtype):
    array = np.array([[1, 0], [0, 1], [1, 1]]).astype(dtype)
    for given in (array, np.asfortranarray(array)):
        table = read(npy(given))
        assert list(roles(table)) == ["column_1", "column_2"]
        assert values(table, "column_2") == [0, 1, 1]


def test_arrays_of_one_dimension_and_missing_values():
    table = read(npy(np.array([1.5, np.nan, 2.5])))
    (x,) = table.columns
    assert (x.role, x.n_missing, x.n_distinct) == ("number", 1, 2)


def test_structured_arrays():
    array = np.array([(1, 2.5, "a"), (2, 3.5, "ü")], dtype=[("n", ">i4"), ("x", "f8"), ("t", "U3")])
    table = read(npy(array))
    assert roles(table) == {"n": "number", "x": "number", "t": "category"}
    assert values(table, "t") == ["a", "ü"]
    assert "give a row each" in refusal(npy(np.zeros(2, dtype=[("a", "f8", (2,))])))


def test_arrays_that_are_no_tables_are_refused():
    assert "Python objects" in refusal(npy(np.array([{}, []], dtype=object), allow_pickle=True))
    assert "shape (2, 2, 2)" in refusal(npy(np.zeros((2, 2, 2))))
    assert "type complex128" in refusal(npy(np.zeros((2, 2), complex)))
    assert "has no rows" in refusal(npy(np.zeros((0, 2))))
    assert "has no columns" in refusal(npy(np.zeros((2, 0))))


def test_an_array_larger_than_its_file_is_refused_before_memory_is_taken():
    content = npy(np.zeros((4, 2))).replace(b"(4, 2)", b"(999999999999, 2)".ljust(6))
    assert "cannot be read as .npy" in refusal(content)
    content = npy(np.zeros((1000, 2)))
    assert "shorter than its header states" in refusal(content[:-1])
