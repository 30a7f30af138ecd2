"""A table becomes rows for models, and every decision is told without a value of a cell."""

import io
import re

import numpy as np
import pytest

from certus.exceptions import TableError, UsageError
from certus.reporting import demo
from certus.reporting.prepare import prepare, prepare_test
from certus.reporting.settings import Settings
from certus.tables import read_table
from certus.tables.dates import sortable

N = 60


def columns_of(seed=0):
    """Columns of a table with every role."""
    rng = np.random.default_rng(seed)
    return {
        "nr": [f"p{i:03d}" for i in range(N)],
        "age": rng.integers(20, 80, N).tolist(),
        "dose": rng.normal(10, 2, N).round(3).tolist(),
        "city": rng.choice(["Oslo", "Bergen"], N).tolist(),
        "visit": [f"2026-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(N)],
        "clinic": [f"c{i % 6}" for i in range(N)],
        "weight": rng.uniform(0.5, 2, N).round(2).tolist(),
        "grade": rng.integers(1, 5, N).tolist(),
        "level": rng.choice(["low", "mid", "high"], N).tolist(),
        "ill": ["yes" if i % 3 == 0 else "no" for i in range(N)],
        "price": rng.normal(100, 20, N).round(2).tolist(),
        "same": [7] * N,
    }


def table_of(columns, name="patients.csv"):
    cells = zip(*columns.values(), strict=True)
    rows = [",".join(columns), *(",".join(map(str, row)) for row in cells)]
    stream = io.BytesIO("\n".join(rows).encode())
    stream.name = name
    return read_table(stream)


def prepared(target="ill", columns=None, **options):
    return prepare(table_of(columns or columns_of()), Settings(target=target, **options))


# --- the task -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "options", "task", "classes"),
    [
        ("ill", {}, "two classes", ("no", "yes")),
        ("level", {}, "classes", ("high", "low", "mid")),
        ("level", {"order": ("low", "mid", "high")}, "ordered classes", ("low", "mid", "high")),
        ("grade", {}, "ordered classes", ("1", "2", "3", "4")),
        ("grade", {"task": "classes"}, "classes", ("1", "2", "3", "4")),
        ("grade", {"task": "numbers"}, "numbers", ()),
        ("price", {}, "numbers", ()),
        ("age", {}, "numbers", ()),
    ],
)  # fmt: skip
def test_what_the_target_holds_decides_the_task_and_options_overrule_it(
    target, options, task, classes
):
    found = prepared(target, **options)
    assert (found.task, found.classes) == (task, classes)
    assert target not in [c.name for c in found.columns]
    if task == "numbers":
        assert found.y.dtype == np.float64
    else:
        assert tuple(map(str, found.labels)) == classes
        assert found.codes().max() == len(classes) - 1


def test_few_whole_numbers_are_told_to_be_classes_with_the_option_that_changes_it():
    assert "--task numbers" in " ".join(prepared("grade").notes)
    assert "--task" not in " ".join(prepared("ill").notes)


def test_the_rarer_class_is_positive_unless_another_is_named():
    found = prepared()
    assert found.classes[found.positive] == "yes"
    assert found.positive_reason == "the rarer class"
    found = prepared(positive="no")
    assert (found.classes[found.positive], found.positive_reason) == ("no", "--positive")


@pytest.mark.parametrize(
    ("target", "options", "error", "message"),
    [
        ("il", {}, TableError, "No column 'il' in patients.csv. Did you mean 'ill'?"),
        ("ill", {"positive": "yse"}, UsageError, "Did you mean 'yes'?"),
        ("level", {"positive": "low"}, UsageError, "'level' has 3: high, low, mid"),
        ("level", {"order": ("low", "mid")}, UsageError, "leaves out high"),
        ("level", {"order": ("low", "mid", "hihg")}, UsageError, "Did you mean 'high'?"),
        ("level", {"task": "two-classes"}, UsageError, "'level' has 3 classes"),
        ("level", {"task": "numbers"}, UsageError, "holds text"),
        ("price", {"positive": "3"}, UsageError, "--positive is for classes"),
        ("price", {"task": "classes"}, TableError, "fewer than two of them in 5 rows"),
        ("same", {}, TableError, "there is nothing to learn"),
        ("visit", {}, TableError, "cannot be predicted"),
        ("nr", {}, TableError, "60 different values"),
        ("ill", {"weights": "city"}, TableError, "the weights 'city' hold text"),
        ("ill", {"weights": "ill"}, UsageError, "has another role too"),
        ("ill", {"drop": ("ill",)}, UsageError, "--drop leaves out 'ill'"),
        ("ill", {"drop": ("agee",)}, TableError, "Did you mean 'age'?"),
        ("ill", {"group": "city"}, TableError, "2 groups: at least 4"),
        ("ill", {"time": "city"}, TableError, "text that is no date"),
        ("ill", {"time": "same"}, TableError, "the same in every row"),
        ("ill", {"cluster": True}, UsageError, "leave one of them out"),
        (None, {}, UsageError, "no target"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_with_the_name_that_is_meant(
    target, options, error, message
):
    with pytest.raises(error, match=re.escape(message)):
        prepared(target, **options)


# --- rows and columns -----------------------------------------------------------------------------


def test_rows_without_a_target_are_dropped_and_told_and_the_others_keep_their_numbers():
    columns = columns_of()
    columns["ill"][4] = columns["ill"][40] = "NA"
    found = prepared(columns=columns)
    assert found.n == N - 2
    assert set(range(1, N + 1)) - set(found.row_numbers.tolist()) == {5, 41}
    assert "2 rows without a target (row 5, 41)" in found.dropped
    assert found.X["age"].to_pylist()[4] == columns["age"][5]
    assert found.table.report.n_rows == N


def test_rows_of_a_rare_class_are_dropped_without_naming_it():
    columns = columns_of()
    columns["ill"][7] = "Yess"
    found = prepared(columns=columns)
    assert found.task == "two classes"
    assert 8 not in found.row_numbers
    assert any("1 row of a class with fewer than 5 rows" in text for text in found.dropped)
    assert "Yess" not in " ".join([*found.dropped, *found.notes])


def test_columns_with_a_role_and_unusable_ones_are_left_out_each_with_the_reason():
    found = prepared(id="age", weights="weight", group="clinic", time="visit", drop=("dose",))
    assert [c.name for c in found.columns] == ["city", "grade", "level", "price"]
    assert found.X.column_names == ["city", "grade", "level", "price"]
    told = " | ".join(found.dropped)
    for text in ("'nr': all values differ", "'age': the id", "'same': the same value",
                 "'visit': the time", "'dose': --drop"):  # fmt: skip
        assert text in told
    assert len(np.unique(found.groups)) == 6
    assert found.weights is not None
    assert found.weights.min() > 0
    assert np.array_equal(np.argsort(found.times[:12]), np.arange(12))


def test_a_row_without_a_group_is_a_group_of_its_own():
    columns = columns_of()
    columns["clinic"][3] = columns["clinic"][9] = ""
    found = prepared(columns=columns, group="clinic")
    assert len(np.unique(found.groups)) == 8
    assert any("2 rows without a 'clinic'" in note for note in found.notes)


def test_negative_weights_are_refused_with_their_rows():
    columns = columns_of()
    columns["weight"][10] = -1
    with pytest.raises(TableError, match=r"negative or infinite in 1 row \(row 11\)"):
        prepared(columns=columns, weights="weight")


def test_too_few_rows_are_refused():
    few = {name: values[:9] for name, values in columns_of().items()}
    with pytest.raises(TableError, match="9 rows left, too few"):
        prepared("price", columns=few)


def test_rows_that_are_equal_in_every_used_column_share_a_code():
    columns = columns_of()
    for name in columns:
        columns[name][20] = columns[name][2]
    columns["nr"][20], columns["ill"][20] = "other", "no"
    found = prepared(columns=columns)
    assert found.duplicates[20] == found.duplicates[2]
    assert len(np.unique(found.duplicates)) == N - 1
    assert np.array_equal(found.duplicates[:20], np.arange(20)), "in the order of first rows"


def test_missing_values_are_equal_to_missing_values_alone():
    columns = {"x": ["", "", "1", "1"] * 5, "z": ["1", "1", "", "2"] * 5, "y": ["a", "b"] * 10}
    found = prepared("y", columns=columns)
    assert found.duplicates.tolist() == [0, 0, 1, 2] * 5


def test_without_a_target_all_rows_and_columns_are_used():
    found = prepare(table_of(columns_of()), Settings(cluster=True, drop=("ill",)))
    assert (found.task, found.n, found.labels) == ("structure", N, ())
    assert "price" in [c.name for c in found.columns]


def test_no_sentence_quotes_a_cell():
    columns = columns_of()
    columns["same"] = ["canary"] * N
    columns["text"] = [f"canary {i}" for i in range(N)]
    columns["dose"][5] = "canary"
    found = prepared(columns=columns)
    assert "canary" not in " ".join([*found.dropped, *found.notes])


# --- test rows ------------------------------------------------------------------------------------


def test_test_rows_are_given_the_columns_and_classes_of_the_first_table():
    first = prepared()
    columns = columns_of(seed=1)
    columns["ill"][3] = ""
    found = prepare_test(table_of(columns, "new.csv"), first, Settings(target="ill"))
    assert found.X.column_names == first.X.column_names
    assert len(found.y) == N - 1
    assert 4 not in found.row_numbers
    assert set(found.y) <= set(first.labels)


def test_test_rows_with_another_class_or_without_a_column_are_refused():
    columns = columns_of(seed=1)
    columns["ill"][3] = "perhaps"
    with pytest.raises(TableError, match=r"a class in row 4 that is not in patients\.csv"):
        prepare_test(table_of(columns, "new.csv"), prepared(), Settings(target="ill"))
    del columns["age"]
    with pytest.raises(TableError, match=r"No column 'age' in new\.csv"):
        prepare_test(table_of(columns, "new.csv"), prepared(), Settings(target="ill"))


# --- dates ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dates",
    [
        ["2026-01-31", "2026-02-01", "2027-01-01"],
        ["31.01.2026", "01.02.2026", "1.1.2027"],
        ["1/31/2026", "2/1/2026", "1/1/2027"],
        ["31 Jan 2026", "1 Feb 2026", "1 Jan 2027"],
        ["2026-01-31T23:59:00Z", "2026-02-01T00:00:00Z", "2026-02-01T00:01:00Z"],
        ["2026-01-31 23:59", "2026-02-01 00:00", "2026-02-01 00:01"],
    ],
)
def test_dates_sort_as_they_follow_each_other(dates):
    import pyarrow as pa

    times, note = sortable("visit", pa.chunked_array([dates]))
    assert list(times) == sorted(times)
    assert not note


def test_dates_that_may_be_read_in_two_ways_are_told():
    import pyarrow as pa

    times, note = sortable("visit", pa.chunked_array([["01/02/2026", "02/01/2026", None]]))
    assert times[0] > times[1]
    assert np.isnan(times[2])
    assert "day/month/year" in note


# --- the demo -------------------------------------------------------------------------------------


def test_the_red_wines_are_those_of_the_source():
    table = demo.table()
    found = prepare(table, Settings(target=demo.TARGET))
    assert found.n == 1599
    assert len(found.columns) == 11
    assert np.sum(found.y == "yes") == 63
    assert found.n - len(np.unique(found.duplicates)) == 240
    assert found.classes[found.positive] == "yes"
    assert len(demo.text()) < 100_000
