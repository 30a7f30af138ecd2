"""CSV files: how they are written is found, and a cell that does not fit is named."""

import gzip

import numpy as np
import pytest

import certus
from certus.exceptions import TableError
from certus.sources import csv_files
from tests.sources.tables_on_disk import whole, write_text

ROWS = "a;b;wo\n" + "".join(f"{i},5;{-i};{'Köln' if i % 2 else 'Ulm'}\n" for i in range(400))


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(csv_files, "BLOCK_BYTES", 1 << 10)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_semicolons_decimal_commas_and_encodings_are_found(encoding, tmp_path, small_blocks):
    path = write_text(ROWS, tmp_path / "rows.csv", encoding)
    for cache in (True, False):
        with certus.open_rows(path, target="b", cache=cache) as rows:
            X, y, _ = whole(rows)
            assert rows.names == ("a", "wo_Köln", "wo_Ulm")
            np.testing.assert_array_equal(X[:, 0], np.arange(400) + 0.5)
            np.testing.assert_array_equal(X[:, 1], np.arange(400) % 2)
            np.testing.assert_array_equal(y[:, 0], -np.arange(400.0))


def test_a_compressed_file_is_read_by_the_end_of_its_name(tmp_path, small_blocks):
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(ROWS.encode()))
    assert certus.open_rows(path).shape == (400, 4)


def test_a_quoted_cell_may_hold_the_delimiter_and_ends_of_lines(tmp_path, small_blocks):
    text = "x,t\n" + "".join(f'{i},"one\ntwo, {i % 3}"\n' for i in range(300))
    rows = certus.open_rows(write_text(text, tmp_path / "rows.csv"), target="t")
    assert rows.classes.tolist() == ["one\ntwo, 0", "one\ntwo, 1", "one\ntwo, 2"]
    np.testing.assert_array_equal(whole(rows)[1][:, 0], np.arange(300) % 3)


@pytest.mark.parametrize("mark", ["", "NA", "NaN", "null", "?", "-", "None", "#DIV/0!"])
def test_marks_of_missing_numbers_are_nan(mark, tmp_path, small_blocks):
    text = "x,z\n" + "".join(f"{mark if i == 170 else i},1\n" for i in range(300))
    path = write_text(text, tmp_path / "rows.csv")
    X = whole(certus.open_rows(path, missing=True))[0]
    assert np.flatnonzero(np.isnan(X[:, 0])).tolist() == [170]
    with pytest.raises(TableError, match=r"column 'x' has a missing value \(NaN; row 170 of rows"):
        certus.open_rows(path)


def test_missing_text_is_refused_and_the_word_none_is_a_category(tmp_path):
    path = write_text("t,x\n a ,1\nNone,2\na,3\nb,4\n", tmp_path / "rows.csv")
    assert certus.open_rows(path).categories == {"t": ["None", "a", "b"]}
    path = write_text("t,x\na,1\n NA,2\n", tmp_path / "rows.csv")
    with pytest.raises(TableError, match=r"column 't' has a missing value \(row 1 of rows.csv"):
        certus.open_rows(path)


@pytest.mark.parametrize("spoilt", [0, 1])
def test_a_text_late_in_a_column_of_numbers_is_named_with_its_row(spoilt, tmp_path, small_blocks):
    for i in (0, 1):
        cells = [f"{j},{j}" for j in range(5000)]
        if i == spoilt:
            cells[4321] = "4321,about 7"
        write_text("a,b\n" + "\n".join(cells), tmp_path / f"part-{i}.csv")
    with pytest.raises(
        TableError,
        match=rf"column 'b' holds 'about 7' \(row 4,321 of part-{spoilt}.csv, counted from 0\)",
    ):
        certus.open_rows(tmp_path, target="b")


def test_a_row_with_another_number_of_fields_is_named(tmp_path, small_blocks):
    rows = [f"{j},{j}" for j in range(3000)]
    rows[2500] = "1,2,3"
    path = write_text("a,b\n" + "\n".join(rows), tmp_path / "rows.csv")
    with pytest.raises(
        TableError, match=r"row 2,500 of rows.csv, counted from 0, has 3 fields, and others have 2"
    ):
        certus.open_rows(path)


def test_a_quote_that_is_not_closed_is_suspected_in_a_row_without_end(tmp_path):
    path = write_text("a,t\n" + "1,x\n" * 200 + '1,"x\n' + "1,x\n" * 600_000, tmp_path / "rows.csv")
    with pytest.raises(TableError, match=r"rows.csv has a row longer than 1 MB: is there a quote"):
        certus.open_rows(path)


def test_files_without_a_header_number_their_columns(tmp_path):
    for i in range(2):
        write_text("1.5,2\n3,4\n", tmp_path / f"part-{i}.csv")
    rows = certus.open_rows(tmp_path, target="column_2")
    assert rows.shape == (4, 1)
    assert "no header: columns are numbered" in rows.notes
    write_text("1.5,2,3\n", tmp_path / "part-2.csv")
    with pytest.raises(TableError, match=r"part-2.csv has 3 fields a row, and part-0.csv has 2"):
        certus.open_rows(tmp_path)


def test_columns_of_one_name_are_renamed_in_all_files_alike(tmp_path):
    for i in range(2):
        write_text("a,a,y\n1,2,3\n4,5,6\n", tmp_path / f"part-{i}.csv")
    rows = certus.open_rows(tmp_path, target="y")
    assert rows.names == ("a", "a_2")
    assert rows.shape == (4, 2)


def test_columns_of_later_files_may_be_in_another_order(tmp_path):
    write_text("a,b\n1,2\n", tmp_path / "1.csv")
    write_text("b,a\n4,3\n", tmp_path / "2.csv")
    np.testing.assert_array_equal(whole(certus.open_rows(tmp_path))[0], [[1, 2], [3, 4]])


def test_a_header_alone_is_a_file_without_rows(tmp_path):
    write_text("a,b\n", tmp_path / "1.csv")
    with pytest.raises(TableError, match=r"1.csv has no rows"):
        certus.open_rows(tmp_path)
    write_text("a,b\nu,2\nv,3\n", tmp_path / "2.csv")
    assert certus.open_rows(tmp_path).names == ("a_u", "a_v", "b")


def test_an_infinite_number_is_refused_with_its_place(tmp_path):
    path = write_text("a,b\n1,2\n3,-inf\n", tmp_path / "rows.csv")
    with pytest.raises(TableError, match=r"column 'b' has an infinite value \(row 1 of rows.csv"):
        certus.open_rows(path)


def test_an_encoding_that_changes_in_the_middle_is_refused(tmp_path, small_blocks):
    path = tmp_path / "rows.csv"
    path.write_bytes(b"a,t\n" + b"1,x\n" * 400_000 + "2,Köln\n".encode("latin-1"))
    with pytest.raises(TableError, match=r"rows.csv is not utf-8 throughout: write it again"):
        certus.open_rows(path)
