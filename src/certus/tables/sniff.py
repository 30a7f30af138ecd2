"""How a text file is written: encoding, delimiter, decimal mark, header.

Everything is decided from the first part of the file, and reported. The delimiter is the one that
cuts the most lines into the same number of fields; of two that do, the one with more fields.
"""

import codecs
import csv
import re
from collections import Counter
from typing import NamedTuple

from ..exceptions import TableError

SAMPLE_BYTES = 1 << 20
SAMPLE_LINES = 200
DELIMITERS = (",", ";", "\t", "|")
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
POINT_NUMBER = re.compile(r"[+-]?\d+\.\d+([eE][+-]?\d+)?")


class Dialect(NamedTuple):
    """How a text file is written."""

    encoding: str
    delimiter: str
    decimal: str
    header: bool
    first_row: tuple[str, ...]


def encoding_of(sample: bytes) -> str:
    """The encoding of the beginning of a file: by its mark, UTF-8 if it is valid, else cp1252."""
    for mark, encoding in BYTE_ORDER_MARKS:
        if sample.startswith(mark):
            return encoding
    if b"\x00" in sample:
        raise TableError(
            "the file holds zero bytes, so it is not text: give a CSV, Parquet, Feather or .npy "
            "file, or say --encoding utf-16"
        )
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)  # may end inside a character
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def dialect_of(
    sample: bytes,
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
) -> Dialect:
    """The dialect of a sample, as far as it is not given."""
    encoding = encoding or encoding_of(sample)
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(sample)
    except (UnicodeDecodeError, LookupError) as error:
        raise TableError(f"the file cannot be read as {encoding}: {error}") from error
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise TableError("the file is empty")
    whole = len(sample) < SAMPLE_BYTES
    delimiter = delimiter or _delimiter(text, whole)
    rows = _rows(text, delimiter, whole)
    decimal = decimal or _decimal(rows, delimiter)
    header = _has_header(rows, decimal)
    return Dialect(encoding, delimiter, decimal, header, tuple(rows[0]))


def _rows(text: str, delimiter: str, whole: bool) -> list[list[str]]:
    lines = text.splitlines(keepends=True)
    if not whole and len(lines) > 1:
        lines = lines[:-1]  # cut off somewhere
    try:
        reader = csv.reader(lines, delimiter=delimiter)
        rows = [row for row, _ in zip(reader, range(SAMPLE_LINES), strict=False) if row]
    except csv.Error as error:
        raise TableError(f"the file is not a table of text: {error}") from error
    return rows


def _delimiter(text: str, whole: bool) -> str:
    best, delimiter = (0.0, 0), ","
    for candidate in DELIMITERS:
        widths = Counter(len(row) for row in _rows(text, candidate, whole))
        if not widths:
            continue
        width, count = widths.most_common(1)[0]
        if width > 1:
            best, delimiter = max((best, delimiter), ((count / widths.total(), width), candidate))
    return delimiter


def _decimal(rows: list[list[str]], delimiter: str) -> str:
    if delimiter == ",":
        return "."
    cells = [cell.strip() for row in rows[1:] for cell in row]
    commas = sum(COMMA_NUMBER.fullmatch(cell) is not None for cell in cells)
    points = sum(POINT_NUMBER.fullmatch(cell) is not None for cell in cells)
    return "," if commas > points else "."


def is_number(cell: str, decimal: str) -> bool:
    """Whether the text is a number with this decimal mark."""
    cell = cell.strip()
    return NUMBER.fullmatch(cell.replace(",", ".") if decimal == "," else cell) is not None


def _has_header(rows: list[list[str]], decimal: str) -> bool:
    """Whether the first row holds names: it does if none of it is a number."""
    return not any(is_number(cell, decimal) for cell in rows[0])
