"""What columns hold: numbers, categories, codes, dates, ids; what is odd is said."""

import numpy as np
import pytest

from certus.exceptions import TableError
from certus.tables import roles_of

from .reading import kind, read, refusal, roles, values


def column(cells, name="x", **options):
    """A table of one column, and what it looks like."""
    quoted = "".join(f'"{cell}"\n' for cell in cells)
    table = read(f"{name}\n{quoted}", header=True, **options)
    return table, table.columns[0]


def distinct(n):
    """Texts that all differ."""
    return [f"t{i * 37 % 1009}" for i in range(n)]


# --- numbers --------------------------------------------------------------------------------------


def test_numbers_as_people_write_them():
    table, x = column(["+5", ".5", "5.", "-1e-3", "1E5", " 7 ", "0.25"])
    assert x.role == "number"
    assert not x.reason
    assert values(table, "x") == [5.0, 0.5, 5.0, -0.001, 1e5, 7.0, 0.25]


def test_whole_numbers_stay_whole():
    table, _ = column(["1", "-2", "+3", "0", "123456789012345678"])
    assert kind(table, "x") == "int64"
    assert values(table, "x") == [1, -2, 3, 0, 123456789012345678]
    table, x = column(["1", "", "2"])
    assert kind(table, "x") == "int64"
    assert (values(table, "x"), x.n_missing) == ([1, None, 2], 1)


@pytest.mark.parametrize("cell", ["1_000", "0x1F", "1e", "1,2,3", "--5", "5-", "１２", "1 2", "e5"])
def test_what_is_no_number(cell):
    _, x = column([cell, "5", "6", "7.5"])
    assert x.role == "category"
    assert x.reason == f"mostly numbers, but 1 is not ({cell!r} in row 1)"
    assert x.is_mixed


def test_infinite_numbers_are_numbers_that_a_model_cannot_use():
    table, x = column(["1e400", "inf", "-Infinity", "nan", "2.5"])
    assert (x.role, x.n_missing) == ("number", 1)
    assert x.reason == "infinite in 3 rows (row 1, 2, 3)"
    with pytest.raises(TableError, match=r"column 'x' is infinite in 3 rows \(row 1, 2, 3\)"):
        table.select(["x"])


def test_a_decimal_comma_is_found_and_reported():
    table = read("a;b\n1,5;x\n-2,25;y\n3;z\n")
    assert values(table, "a") == [1.5, -2.25, 3.0]
    assert table.report.lines()[1] == "delimiter: semicolon, decimal comma, utf-8"


def test_a_decimal_comma_with_points_between_thousands():
    table = read("a;b\n1.234.567,5;1,5\n12,5;2,5\n1.000;3\n")
    assert values(table, "a") == [1234567.5, 12.5, 1000.0]
    assert "column 'a': '1.234.567,5' in row 1 is read as 1234567.5" in table.report.notes


def test_a_column_with_points_in_a_file_with_commas():
    table = read("a;b;c\n1,5;0.123;1,5\n2,5;12.5;2,5\n3,5;7.25;3,5\n")
    assert values(table, "b") == [0.123, 12.5, 7.25]
    assert "column 'b': its decimal mark is a point, unlike that of the file" in table.report.notes


def test_quoted_commas_in_a_file_with_commas():
    table, x = column(["1,234", "12", "1,234,567.5"])
    assert values(table, "x") == [1234.0, 12.0, 1234567.5]
    assert x.reason == "'1,234' in row 1 is read as 1234.0"
    table, x = column(["1,5", "12,25"])
    assert values(table, "x") == [1.5, 12.25]
    assert x.reason == "its decimal mark is a comma, unlike that of the file"


def test_spaces_and_apostrophes_between_thousands_and_the_typeset_minus():
    for cells in (["1 234,5", "2,5"], ["1\u202f234,5", "2,5"], ["1'234.5", "2.5"]):
        assert values(column(cells)[0], "x") == [1234.5, 2.5]
    assert values(column(["\u22125", "7"])[0], "x") == [-5, 7]


def test_the_decimal_mark_can_be_given():
    assert values(read("a;b\n1,234;x\n", decimal="."), "a") == [1234]
    assert values(read("a;b\n1,234;x\n", decimal=","), "a") == [1.234]


def test_percent_and_currency_are_no_numbers_and_noted():
    _, x = column(["12 %", "13.5%", "7%"])
    assert (x.role, x.reason[:36]) == ("category", "percentages like '12 %' in row 1 are")
    for cells in (["$5", "$6.50"], ["5 €", "6 €"], ["USD 5", "USD 7"]):
        assert column(cells)[1].reason.startswith("amounts of money like")


def test_codes_keep_their_zeros():
    table, x = column(["007", "123", "045"], name="postcode")
    assert x.role == "category"
    assert values(table, "postcode") == ["007", "123", "045"]
    assert x.reason == "whole numbers like '007' in row 1 are read as codes, which are text"
    assert column(["0", "10", "100"])[1].role == "number"
    assert column(["00.5", "1.25"])[1].role == "number"
    table, _ = column(["99999999999999999999", "99999999999999999998"])
    assert values(table, "x") == ["99999999999999999999", "99999999999999999998"]


# --- missing values -------------------------------------------------------------------------------


def test_marks_of_missing_values_are_found_and_reported():
    table = read("a,b\n1,x\nNA,-\n-,?\n,NULL\n#DIV/0!,\nNone,None\n")
    assert values(table, "a") == [1, None, None, None, None, None]
    assert values(table, "b") == ["x", None, None, None, None, "None"]
    assert table.report.missing == ("", "#DIV/0!", "-", "?", "NA", "NULL", "None")
    assert "missing values: empty, '#DIV/0!', '-', '?', 'NA', 'NULL', 'None'" in (
        table.report.lines()
    )


def test_further_marks_can_be_given():
    table = read("a,b\n1,x\n-999,k.A.\n", missing=["-999", "k.A."])
    assert (values(table, "a"), values(table, "b")) == ([1, None], ["x", None])


# --- roles ----------------------------------------------------------------------------------------


def test_mixed_types_are_named_with_their_rows():
    _, x = column(["1", "2", "3", "abc", "5", "n.d.", "7"])
    assert x.reason == "mostly numbers, but 2 are not ('abc' in row 4, 'n.d.' in row 6)"
    cells = [str(i * 0.5) for i in range(300)]
    cells[17] = "?!"
    table, x = column(cells)
    assert x.role == "text"
    assert x.reason.startswith("mostly numbers, but 1 is not ('?!' in row 18); 300 distinct texts")
    with pytest.raises(TableError, match="the target 'x' is mostly numbers, but 1 is not"):
        table.target("x")


def test_truth_values():
    for cells in (["true", "false"], ["True", "False"], ["yes", "no"], ["Y", "N"]):
        table, x = column(cells * 3)
        assert x.role == "truth"
        assert values(table, "x") == cells * 3
    assert column(["0", "1", "0"])[1].role == "number"


def test_categories_that_may_be_mistyped():
    _, x = column(["Oslo", "oslo", "Rome"])
    assert x.reason == "'Oslo' and 'oslo' are different categories: mistyped?"


@pytest.mark.parametrize(
    "cells",
    [
        ["2020-01-31", "2021-02-03"],
        ["2020-01-31T12:30:00Z", "2021-02-03 01:02:03.456"],
        ["31.01.2020", "1.2.21"],
        ["1/31/2020", "12/1/2020"],
        ["31/01/2020", "01/12/2020"],
        ["5 Jan 2021", "17 March 2022"],
        ["Jan 5, 2021", "March 17, 2022"],
        ["12:30", "23:59:59"],
        ["2020-01", "2020-02"],
    ],
)
def test_dates_are_left_out_with_a_remedy(cells):
    table, x = column([*cells, "NA"])
    assert x.role == "date"
    assert "make numbers of it" in x.reason
    assert values(table, "x") == [*cells, None]
    with pytest.raises(TableError, match="cannot be predicted"):
        column(cells)[0].target("x")


def test_what_is_no_date():
    assert column(["1.10.1", "1.45.2"])[1].role == "category"
    assert column(["1990", "1991"])[1].role == "number"
    assert column(["99-99-9999", "01-01-2000"])[1].role == "category"


def test_ids():
    assert column(range(1, 31), name="n")[1].role == "id"
    for name in ("id", "customer_id", "PassengerId", "userID", "order no", "Unnamed: 0"):
        _, x = column([i * i for i in range(30)], name=name)
        assert x.role == "id", name
        assert x.reason == "all values differ: it looks like an id"
    for name in ("width", "paid", "humid", "grid"):
        assert column([i * i for i in range(30)], name=name)[1].role == "number", name
    assert column(distinct(30), name="id")[1].role == "id"
    assert column([1, 4, 9], name="id")[1].role == "number"  # too few rows to say


def test_free_text_constants_and_empty_columns_are_left_out():
    table = read(
        "text,same,none,code\n" + "".join(f"{t},7,NA,{t[1]}\n" for t in distinct(150)),
    )
    assert roles(table) == {
        "text": "text", "same": "constant", "none": "empty", "code": "number"
    }  # fmt: skip
    reasons = {c.name: c.reason for c in table.left_out()}
    assert reasons == {
        "text": "150 distinct texts in 150 rows: too many to use as categories",
        "same": "7 in every row",
        "none": "no value in any row",
    }
    assert [c.name for c in table.used()] == ["code"]
    _, x = column(["5", "NA", "5"])
    assert (x.role, x.reason) == ("constant", "5 wherever there is a value")
    assert column(["a", "", "a"])[1].role == "category"  # present or missing


# --- targets --------------------------------------------------------------------------------------


def test_targets_keep_their_type():
    table = read("i,f,t,b\n1,.5,a,true\n0,.25,b,false\n")
    np.testing.assert_array_equal(table.target("i"), [1, 0])
    assert table.target("i").dtype == np.int64
    assert table.target("f").dtype == np.float64
    assert table.target("t").tolist() == ["a", "b"]
    assert table.target("b").tolist() == ["true", "false"]


def test_targets_that_cannot_be_learned_are_refused():
    table = read("y,z,w,inf\n1,,5,1\n1,2,6,inf\n1,,7,2\n1,3,8,3\n1,,9,4\n1,,9,4\n")
    with pytest.raises(TableError, match="the target 'y' is 1 in every row: there is nothing to l"):
        table.target("y")
    with pytest.raises(TableError, match=r"'z' is missing in 4 rows \(row 1, 3, 5, …\): drop"):
        table.target("z")
    with pytest.raises(TableError, match=r"column 'inf' is infinite in 1 row \(row 2\)"):
        table.target("inf")
    with pytest.raises(TableError, match=r"No column 'ww' in the stream. Did you mean 'w'\?"):
        table.target("ww")


# --- roles that are given -------------------------------------------------------------------------


def test_a_later_table_is_read_with_the_roles_of_the_first():
    first = read("zip,grade,size\n007,a,1.5\n123,1,2\n045,b,3\n")
    schema = first.schema(["zip"])
    assert schema["columns"][1:] == [
        {"name": "grade", "role": "category"}, {"name": "size", "role": "number"}
    ]  # fmt: skip
    assert schema["used"] == ["zip"]
    assert schema["columns"][0] == {
        "name": "zip", "role": "category", "categories": ["007", "045", "123"]
    }  # fmt: skip
    later = read("zip,grade,size\n123,1,\n456,2,\n", roles=roles_of(schema))
    assert values(later, "zip") == ["123", "456"]
    assert values(later, "grade") == ["1", "2"]
    assert kind(later, "size") in ("double", "int64")
    assert roles(later) == {"zip": "category", "grade": "category", "size": "number"}


def test_text_in_a_column_that_must_hold_numbers_is_named():
    message = refusal("size,b\n1,2\nbig,3\n2,4\n", roles={"size": "number"})
    assert message == (
        "the stream: column 'size' must hold numbers, but has 'big' in row 2: correct them, or "
        "leave these cells empty"
    )


def test_a_role_overrules_what_was_found():
    content = "id\n" + "".join(f"{i * 7}\n" for i in range(30))
    assert roles(read(content)) == {"id": "id"}
    assert roles(read(content, roles={"id": "number"})) == {"id": "number"}
    assert roles(read(content, roles={"id": "category"})) == {"id": "category"}
