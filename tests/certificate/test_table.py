"""The small table that results are shown in."""

import math

import numpy as np
import polars
import pytest

from certus.text import table as _table
from certus.text.table import ResultTable


@pytest.fixture
def table():
    columns = {"name": ["a", "b & c"], "coef": [1.5, math.nan], "n": [3, 4]}
    return ResultTable(columns, title="Title <i>", notes=["A note with <b>"])


def test_text_is_aligned_with_names_left_and_numbers_right(table):
    assert str(table).splitlines() == [
        "Title <i>",
        "name   coef  n",
        "a       1.5  3",
        "b & c     –  4",
        "A note with <b>",
    ]
    assert repr(table) == str(table)


def test_user_text_is_escaped_in_html(table):
    html = table._repr_html_()
    assert "Title &lt;i&gt;" in html
    assert "b &amp; c" in html
    assert "note with &lt;b&gt;" in html
    assert "<i>" not in html
    assert "<b>" not in html
    column = ResultTable({"<script>": ["x"]})._repr_html_()
    assert "<script>" not in column


def test_html_rows_are_the_rows(table):
    html = table._repr_html_()
    assert html.count("<tr>") == 3
    assert html.count("<td ") == 4
    assert html.count("<th ") == 3 + 2


def test_the_same_values_elsewhere(table):
    taken = table.to_dict()
    assert taken["name"] == ["a", "b & c"]
    assert math.isnan(taken["coef"][1])
    frame = table.to_pandas()
    assert list(frame.index) == ["a", "b & c"]
    assert list(frame.columns) == ["coef", "n"]
    assert frame.loc["a", "coef"] == 1.5
    other = table.to_polars()
    assert isinstance(other, polars.DataFrame)
    assert other.columns == ["name", "coef", "n"]
    assert other["n"].to_list() == [3, 4]


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_missing_package_is_named(table, package, monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(_table, "import_module", absent)
    with pytest.raises(ImportError, match=rf"to_{package}\(\) needs {package}.*pip install"):
        getattr(table, f"to_{package}")()


def test_two_keys_are_a_double_index():
    table = ResultTable({"target": ["y0", "y1"], "name": ["a", "a"], "x": [1.0, 2.0]}, keys=2)
    assert list(table.to_pandas().index) == [("y0", "a"), ("y1", "a")]


def test_long_names_give_way_and_numbers_do_not():
    name = "a" * 200
    columns = {f"c{j}": [-1.23456789e-100] for j in range(6)}
    lines = str(ResultTable({"name": [name], **columns})).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[1].count("-1.23e-100") == 6
    assert "…" in lines[1]


def test_long_titles_and_notes_go_on_in_the_next_line():
    text = str(ResultTable({"x": [1.0]}, title="word " * 40, notes=["note " * 40]))
    assert max(map(len, text.splitlines())) <= 80
    assert (text.count("word"), text.count("note")) == (40, 40)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"), (1.0, "1"), (-123456.789, "-123,457"), (123456789.0, "1.23e8"),
        (1.23456e-10, "1.23e-10"), (math.inf, "infinite"), (math.nan, "–"), (0.05, "0.05"),
    ],
)  # fmt: skip
def test_numbers_are_short(value, shown):
    assert str(ResultTable({"x": [value]}, keys=0)).splitlines()[1].strip() == shown


def test_a_name_cannot_break_the_lines():
    text = str(ResultTable({"name": ["a\nb\x1b[31m"], "x": [1.0]}))
    assert len(text.splitlines()) == 2
    assert "\x1b" not in text


def test_columns_are_found_by_name(table):
    np.testing.assert_array_equal(table["n"], [3, 4])
    assert len(table) == 2
    assert table.columns == ("name", "coef", "n")
    with pytest.raises(KeyError, match="no column 'p': there are name, coef, n"):
        table["p"]


def test_columns_of_different_length_are_refused():
    with pytest.raises(ValueError, match=r"one length.*'b': 2"):
        ResultTable({"a": [1], "b": [1, 2]})
