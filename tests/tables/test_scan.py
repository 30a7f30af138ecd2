"""A table that is read in blocks has the columns that it has in memory."""

import numpy as np
import pyarrow as pa
import pytest

from certus.exceptions import TableError
from certus.tables import scan as module
from certus.tables import scanned
from certus.tables.columns import described
from certus.tables.conversion import Converted

N = 300
rng = np.random.default_rng(0)
COLUMNS = {
    "age": pa.array(rng.integers(20, 80, N)),
    "dose": pa.array(rng.normal(size=N), mask=rng.random(N) < 0.1),
    "nan": pa.array(np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N))),
    "year": pa.array([2020] * (N - 1) + [2021]),
    "same": pa.array([7.5] * N),
    "same_or_none": pa.array([1.5] * (N - 1) + [None]),
    "nothing": pa.array([None] * N, pa.float64()),
    "no_text": pa.array([None] * N, pa.string()),
    "null": pa.nulls(N),
    "counter": pa.array(np.arange(5, 5 + N)),
    "halves": pa.array(np.arange(N) + 0.5),
    "customer_id": pa.array(rng.permutation(N)),
    "row_number": pa.array(np.arange(N)[::-1] * 3),
    "key": pa.array([f"k{i}" for i in range(N)]),
    "colour": pa.array(rng.choice(["red", "green"], N), mask=rng.random(N) < 0.1),
    "town": pa.array([f"town{i % 150}" for i in range(N)]),
    "words": pa.array([f"word {i} and more" for i in range(N)]),
    "answer": pa.array(rng.choice(["Yes", "no"], N)),
    "spelt": pa.array(rng.choice(["Oslo", "oslo "], N)),
    "truth": pa.array(rng.random(N) < 0.5),
    "always": pa.array([True] * N),
    "day": pa.array([f"2024-01-{1 + i % 28:02d}" for i in range(N)]),
    "mostly_days": pa.array(["2024-01-01"] * (N - 1) + ["unknown"]),
    "when": pa.array(np.arange(N).astype("datetime64[s]")),
    "list": pa.array([[1, 2]] * N),
}


def scan_of(columns, rows):
    table = pa.table(columns)
    blocks = ((table.slice(i, rows), "f.csv", i) for i in range(0, len(table), rows))
    return scanned(blocks, "f.csv", "CSV")


@pytest.mark.parametrize("rows", [1, 17, 299, 300])
def test_roles_reasons_and_counts_are_those_of_the_table_in_memory(rows):
    table = scan_of(COLUMNS, rows)
    for column, (name, values) in zip(table.columns, COLUMNS.items(), strict=True):
        whole = described(name, Converted(pa.chunked_array([values]), frozenset()))
        assert column == whole


@pytest.mark.parametrize("rows", [1, 40, 300])
@pytest.mark.parametrize("most", [10, 1 << 16])
def test_medians_that_are_counted_are_exact_and_others_are_left(rows, most, monkeypatch):
    monkeypatch.setattr(module, "MAX_COUNTED", most)
    table = scan_of({k: COLUMNS[k] for k in ("age", "dose", "year", "nothing")}, rows)
    assert table.scans["year"].median == 2020
    assert table.scans["nothing"].median is None
    for name in ("age", "dose"):
        values = COLUMNS[name].drop_null().to_numpy()
        assert table.scans[name].median == (np.median(values) if most > 10 else None)


def test_where_counting_stops_a_reason_says_so(monkeypatch):
    monkeypatch.setattr(module, "MAX_COUNTED", 120)
    monkeypatch.setattr(module, "MAX_TEXTS", 120)
    table = scan_of(COLUMNS, 50)
    reasons = {c.name: (c.role, c.reason) for c in table.columns}
    assert reasons["words"] == (
        "text", "more than 120 distinct texts: too many to use as categories",
    )  # fmt: skip
    assert reasons["customer_id"] == ("id", "the first 150 values differ: it looks like an id")
    assert reasons["counter"][1] == "all values differ: it looks like an id"
    assert reasons["dose"][0] == "number"


def test_missing_and_infinite_cells_are_named_by_file_and_row():
    table = scan_of({"y": pa.array([1.0, None, np.inf, np.nan, None, None, -np.inf])}, 3)
    with pytest.raises(TableError, match=r"missing in 4 rows \(row 2 of f.csv, row 4 of f.csv, "):
        table.require_target("y")
    with pytest.raises(TableError, match=r"infinite in 2 rows \(row 3 of f.csv, row 7 of f.csv\)"):
        table.require_finite("y")
