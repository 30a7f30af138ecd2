"""How a text file is written: encoding, delimiter, decimal mark, header.

Everything is decided from the first part of the file, and reported. The delimiter is the one that
cuts the most lines into the same number of fields; of two that do, the one with more fields.
"""

import codecs
import csv
import io
import re
import sys
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ..exceptions import TableError
from .formats import DATE, MISSING, MISSING_NUMBERS, is_number

SAMPLE_BYTES = 1 << 20
SAMPLE_ROWS = 200
DELIMITERS = (",", ";", "\t", "|")
MIN_SHARE_OF_ZERO_BYTES = 0.3  # of every second byte: Latin text in UTF-16 without a mark
MAX_SHARE_OF_CONTROL_CHARACTERS = 0.01  # above, a file is not text
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
COMMA_NUMBER = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?")
POINT_NUMBER = re.compile(r"[+-]?\d+\.\d+([eE][+-]?\d+)?")
CONTROL_CHARACTER = re.compile("[\x00-\x08\x0e-\x19\x1b-\x1f]")
EXCEL_HINT = re.compile(r'"?sep=(.)"?(\r\n|\r|\n)', re.IGNORECASE)


class Dialect(NamedTuple):
    """How a text file is written."""

    encoding: str
    delimiter: str
    decimal: str
    header: bool
    first_row: tuple[str, ...]
    n_fields: int  # of a row
    n_rows_before: int = 0  # before the first row of values: blank ones and the header
    hint: bool = False  # does the file begin with Excel's line "sep=;"?


def encoding_of(sample: bytes) -> str:
    """The encoding of the beginning of a file: by its mark, UTF-8 if it is valid, else cp1252."""
    for mark, encoding in BYTE_ORDER_MARKS:
        if sample.startswith(mark):
            return encoding
    if b"\x00" in sample:
        return _utf_16(sample)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)  # may end inside a character
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _utf_16(sample: bytes) -> str:
    """UTF-16 without a mark: every second byte of Latin text is zero."""
    for start, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros = sample[start::2].count(0)
        others = sample[1 - start :: 2].count(0)
        if not others and zeros >= MIN_SHARE_OF_ZERO_BYTES * len(sample) / 2:
            return encoding
    raise TableError(
        "the file holds zero bytes, so it is not text: give a CSV, Parquet, Feather or .npy file, "
        "or name its encoding (--encoding)"
    )


def dialect_of(
    sample: bytes,
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
) -> Dialect:
    """The dialect of a sample, as far as it is not given."""
    encoding = encoding or encoding_of(sample)
    text = _decoded(sample, encoding).removeprefix("\ufeff")
    if not text.strip():
        raise TableError("the file is empty")
    if len(CONTROL_CHARACTER.findall(text)) > MAX_SHARE_OF_CONTROL_CHARACTERS * len(text):
        raise TableError("the file is not text: give a CSV, Parquet, Feather or .npy file")
    hint = EXCEL_HINT.match(text)
    if hint is not None:
        text, delimiter = text[hint.end() :], delimiter or hint[1]
    whole = len(sample) < SAMPLE_BYTES
    delimiter = _one_character(delimiter) if delimiter else _delimiter(text, whole)
    rows, n_blank = _rows(text, delimiter, whole)
    if not rows:
        raise TableError("the file is empty")
    if decimal not in (None, ".", ","):
        raise TableError(f"the decimal mark {decimal!r} is neither '.' nor ','")
    decimal = decimal or _decimal(rows, delimiter)
    if header is None:
        header = _has_header(rows, decimal)
    return Dialect(
        encoding, delimiter, decimal, header, tuple(rows[0]), _n_fields(rows, header),
        n_blank + header, hint is not None,
    )  # fmt: skip


def _decoded(sample: bytes, encoding: str) -> str:
    try:
        return codecs.getincrementaldecoder(encoding)().decode(sample)
    except LookupError as error:
        raise TableError(f"there is no encoding {encoding!r}") from error
    except (ValueError, AttributeError, TypeError) as error:  # also codecs that make no text of it
        raise TableError(
            f"the file cannot be read as {encoding} ({error}): name its encoding (--encoding)"
        ) from error


def _one_character(delimiter: str) -> str:
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '\r\n"\x00':
        raise TableError(f"the delimiter must be one ASCII character, and {delimiter!r} is not")
    return delimiter


def _rows(text: str, delimiter: str, whole: bool) -> tuple[list[list[str]], int]:
    """Rows of the sample that are not blank, and the number of blank lines before the first."""
    rows: list[list[str]] = []
    n_blank = 0
    lines = io.StringIO(text, newline="")  # ends of lines are \n, \r\n or \r
    limit = csv.field_size_limit(sys.maxsize)
    try:
        for row in csv.reader(lines, delimiter=delimiter):
            if row:
                rows.append(row)
            elif not rows:
                n_blank += 1
            if len(rows) > SAMPLE_ROWS:
                break
    except csv.Error as error:
        raise TableError(f"the file is not a table of text: {error}") from error
    finally:
        csv.field_size_limit(limit)
    if not whole and len(rows) > 1:
        rows.pop()  # it may be cut off
    return rows, n_blank


def _delimiter(text: str, whole: bool) -> str:
    best, delimiter = (0.0, 0), ","
    for candidate in DELIMITERS:
        widths = Counter(len(row) for row in _rows(text, candidate, whole)[0])
        width, count = max(widths.items(), key=lambda item: item[::-1], default=(0, 0))
        if width > 1:
            best, delimiter = max((best, delimiter), ((count / widths.total(), width), candidate))
    return delimiter


def _n_fields(rows: Sequence[Sequence[str]], header: bool) -> int:
    """Fields of a row. Tables of R have one more than their header: names of the rows."""
    widths = {len(row) for row in rows[1:]}
    first = len(rows[0])
    return first + 1 if header and widths == {first + 1} else first


def _decimal(rows: Sequence[Sequence[str]], delimiter: str) -> str:
    if delimiter == ",":
        return "."
    cells = [cell.strip() for row in rows for cell in row]
    commas = sum(COMMA_NUMBER.fullmatch(cell) is not None for cell in cells)
    points = sum(POINT_NUMBER.fullmatch(cell) is not None for cell in cells)
    return "," if commas > points else "."


def _has_header(rows: Sequence[Sequence[str]], decimal: str) -> bool:
    """Is the first row one of names?

    It is if it has text above numbers or dates, and is not if it has a number elsewhere.
    """
    first, *others = rows
    kinds = [_kind(cell, decimal) for cell in first]
    for j, kind in enumerate(kinds):
        below = {_kind(row[j], decimal) for row in others if j < len(row)} - {""}
        if kind == "text" and below and "text" not in below:
            return True
    return not {"number", "date"} & set(kinds)


def _kind(cell: str, decimal: str) -> str:
    cell = cell.strip()
    if cell in MISSING or cell in MISSING_NUMBERS:
        return ""
    if is_number(cell, decimal):
        return "number"
    return "date" if re.fullmatch(DATE, cell) else "text"
