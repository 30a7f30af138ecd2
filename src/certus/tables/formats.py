r"""What numbers, dates, truth values and marks of missing values look like in text.

    number     5, +5, .5, 5., 1e-3      with a decimal point or comma
    grouped    1,234,567.5   1.234,5   1 234,5   1'234.5     groups of three digits
    code       007, 01234    whole numbers with leading zeros, which numbers would lose

Patterns match a whole cell. They are in the syntax that Python's ``re`` and Arrow share.
"""

import re
from typing import NamedTuple

MISSING = (
    "", "NA", "N/A", "n/a", "na", "NaN", "nan", "-nan", "-NaN", "NaT", "<NA>", "NULL", "null",
    "#N/A", "#NA", "-", "--", "?", ".",
)  # fmt: skip
MISSING_NUMBERS = (  # in a column of numbers; elsewhere such a text is a category
    "None", "none", "missing", "Missing", "nil", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?",
    "#NULL!",
)  # fmt: skip

WHOLE_NUMBER = r"[+-]?\d{1,18}"  # fits in 64 bits
CODE = r"(0\d+|[+-]?\d{19,})"  # 007; or more digits than a number keeps
INFINITY = r"[+-]?(?i:inf|infinity)"
EXPONENT = r"([eE][+-]?\d+)?"
SPACES = " '’\u00a0\u202f"  # between groups of three digits, besides a point or a comma

DAY = r"(0?[1-9]|[12]\d|3[01])"
MONTH = r"(0?[1-9]|1[0-2])"
YEAR = r"(\d{4}|\d{2})"
MONTH_NAME = r"(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
CLOCK = r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?( ?(?i:am|pm))?"
ZONE = r"( ?(Z|UTC|[+-]\d{2}(:?\d{2})?))?"
DATE = (
    rf"((\d{{4}}-{MONTH}-{DAY}|\d{{4}}/{MONTH}/{DAY}|{DAY}\.{MONTH}\.{YEAR}"
    rf"|{DAY}[/-]{MONTH}[/-]{YEAR}|{MONTH}/{DAY}/{YEAR}|\d{{4}}-(0[1-9]|1[0-2])"
    rf"|{DAY}[ -]{MONTH_NAME}[ -]{YEAR}|{MONTH_NAME} {DAY},? \d{{4}})"
    rf"(,?[T ]{CLOCK}{ZONE})?|{CLOCK})"
)
PERCENT = r"[+-]?[\d.,]+\s*%"
UNIT_OF_MONEY = "([$€£¥₹]|USD|EUR|GBP|CHF|JPY)"
CURRENCY = rf"([+-]?{UNIT_OF_MONEY}\s*[+-]?[\d.,]+|[+-]?[\d.,]+\s*{UNIT_OF_MONEY})"
TRUTH_VALUES = ({"true", "false"}, {"yes", "no"}, {"t", "f"}, {"y", "n"})


class NumberStyle(NamedTuple):
    """One way to write numbers."""

    pattern: str  # of a number
    decimal: str
    separators: str = ""  # characters between groups of three digits

    def applies(self, cell: str) -> bool:
        """Is the text a number of this style?"""
        return re.fullmatch(self.pattern, cell, re.ASCII) is not None


def _plain(mark: str) -> str:
    return rf"[+-]?(\d+({mark}\d*)?|{mark}\d+){EXPONENT}"


def _grouped(separators: str, mark: str) -> str:
    """Numbers, some of them in groups of three digits; the minus may be a typeset one."""
    groups = "|".join(rf"[1-9]\d{{0,2}}({re.escape(s)}\d{{3}})+" for s in separators)
    return rf"[+−-]?((\d+|{groups})({mark}\d*)?|{mark}\d+){EXPONENT}"


POINT = NumberStyle(_plain(r"\."), ".")
COMMA = NumberStyle(_plain(","), ",")
GROUPED_POINT = NumberStyle(_grouped(f",{SPACES}", r"\."), ".", f",{SPACES}")
GROUPED_COMMA = NumberStyle(_grouped(f".{SPACES}", ","), ",", f".{SPACES}")


def styles_for(decimal: str) -> tuple[NumberStyle, ...]:
    """Styles to try in this order, for a file with this decimal mark."""
    if decimal == ",":
        return COMMA, GROUPED_COMMA, POINT, GROUPED_POINT
    return POINT, GROUPED_POINT, COMMA, GROUPED_COMMA


def is_number(cell: str, decimal: str) -> bool:
    """Is the text a number, for this decimal mark of the file?"""
    return any(style.applies(cell) for style in styles_for(decimal)[:2])
