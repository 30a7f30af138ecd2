"""How text files are written: encodings, delimiters, headers, rows that do not fit."""

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
from pathlib import Path

import pytest

import certus
from certus.exceptions import TableError
from certus.tables import read_table

from .reading import read, refusal, roles, values

PLAIN = "name,size\nÅse,1.5\nBjörn,2.5\n"
SOURCE = Path(certus.__file__).parents[1]


@pytest.mark.parametrize(
    ("encoding", "found"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16"),
        ("utf-32", "utf-32"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("cp1252", "cp1252"),
    ],
)
def test_encodings_are_found(encoding, found):
    table = read(PLAIN.encode(encoding))
    assert table.report.dialect.encoding == found
    assert values(table, "name") == ["Åse", "Björn"]
    assert values(table, "size") == [1.5, 2.5]


def test_a_byte_order_mark_is_no_part_of_the_first_name():
    assert roles(read("\ufeffa,b\n1,2\n3,4\n")) == {"a": "number", "b": "number"}
    assert roles(read('\ufeff"a",b\n1,2\n3,4\n')) == {"a": "number", "b": "number"}


def test_a_file_that_ceases_to_be_utf_8_is_read_as_cp1252():
    content = b"name\n" + b"x\n" * 600_000 + "Å\n".encode("cp1252")
    table = read(content)
    assert table.report.dialect.encoding == "cp1252"
    assert values(table, "name")[-1] == "Å"
    assert "not UTF-8 throughout" in refusal(content, encoding="utf-8")


@pytest.mark.parametrize("encoding", ["no-such", "base64", "rot13", "undefined", "utf-16"])
def test_an_encoding_that_does_not_fit_is_refused_in_words(encoding):
    assert "encoding" in refusal("a,b\n1,2\n3,4\n5", encoding=encoding)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_ends_of_lines(end):
    table = read(f'a,b{end}"x{end}y","1,2"{end}z,3{end}')
    assert values(table, "a") == [f"x{end}y", "z"]
    assert table.data.num_rows == 2


@pytest.mark.parametrize(
    ("delimiter", "name"), [(",", "comma"), (";", "semicolon"), ("\t", "tab"), ("|", "bar")]
)
def test_delimiters_are_found_and_reported(delimiter, name):
    table = read(delimiter.join(["a", "b"]) + "\n" + delimiter.join(["x y", "2"]) + "\n")
    assert values(table, "a") == ["x y"]
    assert table.report.lines()[1] == f"delimiter: {name}, decimal point, utf-8"


def test_any_other_delimiter_can_be_given():
    table = read("a:b\n1:2\n", delimiter=":")
    assert values(table, "b") == [2]
    assert table.report.lines()[1].startswith("delimiter: ':'")
    assert "one ASCII character" in refusal("a,b\n", delimiter="::")
    assert "neither" in refusal("a,b\n", decimal="'")


def test_the_line_by_which_excel_is_told_the_delimiter():
    table = read("sep=;\r\na;b\r\n1,5;2\r\n")
    assert values(table, "a") == [1.5]


def test_quoted_delimiters_quotes_and_newlines():
    table = read('a,b\n"1,5 ""inch""\nlong",x\n"",y\n')
    assert values(table, "a") == ['1,5 "inch"\nlong', None]


def test_one_column():
    table = read("height\n1.5\n2.5\n")
    assert roles(table) == {"height": "number"}
    assert values(table, "height") == [1.5, 2.5]


def test_blank_lines_are_skipped():
    assert values(read("\n\na,b\n\n1,2\n\n3,4\n\n"), "a") == [1, 3]


def test_no_header_is_noticed_and_said():
    table = read("5.1,3.5,setosa\n4.9,3.0,setosa\n6.3,3.3,virginica\n")
    assert list(roles(table)) == ["column_1", "column_2", "column_3"]
    assert "no header: columns are numbered" in table.report.lines()
    assert list(roles(read("2020-01-01,x\n2020-01-02,y\n"))) == ["column_1", "column_2"]


def test_a_header_with_a_year_in_it_is_one_if_text_stands_above_numbers():
    assert list(roles(read("city,size,1990\nOslo,5,1\nRome,6,2\n"))) == ["city", "size", "1990"]
    assert list(roles(read("x,y\na,b\nc,d\n", header=False))) == ["column_1", "column_2"]
    assert list(roles(read("1990,1991\n1,2\n", header=True))) == ["1990", "1991"]


def test_duplicate_and_missing_names_are_reported():
    table = read("a,a,,a,a_2\n1,2,3,4,5\n6,7,8,9,1\n")
    assert list(roles(table)) == ["a", "a_3", "column_3", "a_4", "a_2"]
    assert "several columns are called 'a': number 2 is 'a_3'" in table.report.notes
    assert "column 3 has no name: it is read as 'column_3'" in table.report.notes


def test_names_are_names_whatever_they_hold():
    name = "<script>alert('x')</script>"
    table = read(f'"{name}"," b  c "\n1,2\n3,4\n')
    assert list(roles(table)) == [name, "b c"]


def test_rows_of_another_length_are_named():
    message = refusal("a,b\n1,2\n3\n\n4,5,6\n7\n8\n9\n")
    assert "the header has 2 fields, but row 2 has 1 field ('3'), row 3 has 3 fields" in message
    assert "and 2 other rows" in message
    assert "--delimiter" in message
    assert "the first row has 2 fields, but row 2 has 1" in refusal("1,2\n3\n4,5\n")


def test_a_row_of_another_length_far_down_is_named_too():
    content = "a,b\n" + "1,2\n" * 700_000 + "3\n"
    assert "row 700,001 has 1 field ('3')" in refusal(content)


def test_names_of_rows_as_r_writes_them():
    table = read('"mpg","cyl"\n"Mazda RX4",21,6\n"Datsun 710",22.8,4\n')
    assert list(roles(table)) == ["row_name", "mpg", "cyl"]
    assert "rows have one field more than the header" in table.report.notes[0]


def test_a_quote_that_is_not_closed_is_named():
    assert "row 2 has a quote that is not closed" in refusal('a,b\n1,x\n2,"y\n3,z\n')


def test_very_long_lines():
    table = read(b"a,b\n1," + b"x" * 3_000_000 + b"\n2,y\n")
    assert [len(v) for v in values(table, "b")] == [3_000_000, 1]
    assert all(len(example) <= 60 for example in table.column("b").examples)


@pytest.mark.parametrize("content", ["", "\n\n", "   ", "\ufeff", ",\n", "\r\n"])
def test_empty_files_are_refused(content):
    assert "empty" in refusal(content) or "no rows" in refusal(content)


def test_a_header_alone_is_refused():
    assert refusal("a,b\n") == "the stream has no rows, only names of columns"


def test_bytes_that_are_no_text_are_refused():
    assert "zero bytes" in refusal(b"a,b\n1,\x00\x00\n")
    assert "not text" in refusal(bytes(range(1, 128)) * 4)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\x03\x04\x14\x00", "save the sheet as CSV"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "an old Excel file"),
        (b"%PDF-1.7\n", "a PDF"),
        (b"SQLite format 3\x00", "a database"),
        (b"FEA1....", "Feather file of version 1"),
        (b"\x28\xb5\x2f\xfd\x04", "compressed by zstd"),
        (b"\x89HDF\r\n", "an HDF5 file"),
        (b"\x80\x04\x95\x05\x00", "a pickle, which may run code"),
    ],
)
def test_other_kinds_of_files_are_refused_in_words(content, words):
    assert words in refusal(content)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_text(compress):
    content = compress(PLAIN.encode())
    assert values(read(content), "size") == [1.5, 2.5]
    assert "cannot be read" in refusal(content[:-12])


# --- sources --------------------------------------------------------------------------------------


def test_a_path_with_a_space_and_an_umlaut(tmp_path):
    path = tmp_path / "my größe" / "täble 1.csv"
    path.parent.mkdir()
    path.write_text(PLAIN, encoding="utf-8")
    for source in (path, str(path)):
        assert read_table(source).report.lines()[0] == "täble 1.csv: CSV, 2 rows"


def test_a_mistyped_path_is_guessed(tmp_path):
    (tmp_path / "loans.csv").write_text(PLAIN)
    with pytest.raises(TableError, match=r"there is no file '.*lons.csv'. Did you mean '.*loans"):
        read_table(tmp_path / "lons.csv")
    with pytest.raises(TableError, match="is a folder: give a file"):
        read_table(tmp_path)
    with pytest.raises(TableError, match="there is no file"):
        read_table(tmp_path / "nowhere" / "a.csv")
    with pytest.raises(TableError, match="cannot be read"):
        read_table("a\x00b.csv")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs file permissions")
def test_a_file_that_may_not_be_read_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(PLAIN)
    path.chmod(0)
    with pytest.raises(TableError, match="Permission denied"):
        read_table(path)


def test_streams_are_left_open_and_need_not_be_seekable():
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    stream = Pipe(PLAIN.encode())
    assert values(read_table(stream), "size") == [1.5, 2.5]
    assert not stream.closed


def test_standard_input_in_the_plainest_locale():
    program = (
        "from certus.tables import read_table; t = read_table('-')\n"
        "print(ascii(t.report.lines()[0]), ascii(t.data.column('name').to_pylist()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=PLAIN.encode(), capture_output=True, check=True,
        env={**os.environ, "LC_ALL": "C", "PYTHONPATH": str(SOURCE)},
    )  # fmt: skip
    assert done.stdout.decode() == (
        "'standard input: CSV, 2 rows' ['\\xc5se', 'Bj\\xf6rn']" + os.linesep
    )


def test_without_pyarrow_the_remedy_is_a_line_to_type():
    program = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from certus.tables import read_table\n"
        "from certus.exceptions import MissingExtraError\n"
        "try: read_table('a.csv')\n"
        "except MissingExtraError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )  # fmt: skip
    assert done.stdout.strip() == 'tables need pyarrow: pip install "certus[tables]"'
