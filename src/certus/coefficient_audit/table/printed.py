"""Numbers as they were printed: a value and the interval that rounding leaves around it.

    x printed with its last digit at 10^e:   |x − value| ≤ h = ½ · 10^e

A writer may have dropped trailing zeros: 0.500 became 0.5. A column is printed either with a fixed
number of decimals or with a fixed number of significant digits, so the last digit of a number is
at most as fine as the coarser of the two finest things seen in its column,

    e = min(e_printed, max(−decimals, ⌊log₁₀|x|⌋ + 1 − digits)),

which never makes an interval smaller than the writer's own. Zeros at the end of a whole number may
be digits or not, and count as none: 2560 of three significant digits is known to ±5.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

FULL_DIGITS = 15  # of a float64; a column with so many was not rounded for people
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_GROUPED = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
MARKS_OF_MISSING = ("", ".", "na", "nan", "none", "null", "-", "–")


@dataclass(frozen=True, eq=False)
class PrintedColumn:
    """Numbers of one column of a table."""

    texts: tuple[str, ...]
    values: np.ndarray
    half_units: np.ndarray  # h of each number
    digits: int  # the most significant digits that any of them has

    @property
    def full(self) -> bool:
        """Whether the numbers were not rounded for people."""
        return self.digits >= FULL_DIGITS


def is_missing(text: str) -> bool:
    """Return whether a cell is empty or a mark of a missing value."""
    return text.strip().casefold() in MARKS_OF_MISSING


def number_text(value: object, decimal_comma: bool = False) -> str | None:
    """Return the digits of a number, cleaned of stars and grouping; None if it is no number."""
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, float | np.floating):  # the shortest text of its precision
        value = str(value).removesuffix(".0")
    text = str(value).strip().rstrip("*").strip().replace("−", "-").replace("\u00a0", "")
    if decimal_comma:
        text = text.replace(".", "").replace(",", ".")
    elif _GROUPED.fullmatch(text):
        text = text.replace(",", "")
    return text if _NUMBER.fullmatch(text) else None


def printed_column(texts: Sequence[str]) -> PrintedColumn:
    """Return the values of texts that are numbers, each with half a unit of its last digit."""
    numbers = [_without_zeros(Decimal(text)) for text in texts]
    last = [int(one.as_tuple().exponent) for one in numbers]
    lead = [one.adjusted() if one else None for one in numbers]
    digits = [a - e + 1 for a, e in zip(lead, last, strict=True) if a is not None]
    most_digits = max(digits, default=1)
    decimals = -min(last, default=0)
    units = []
    for first, own in zip(lead, last, strict=True):
        by_digits = -math.inf if first is None else first + 1 - most_digits
        units.append(min(own, max(-decimals, by_digits)))
    half = np.array([0.5 * 10.0 ** float(e) for e in units])
    values = np.array([float(one) for one in numbers])
    # reading a text rounds it once more
    return PrintedColumn(tuple(texts), values, half + np.spacing(np.abs(values)), most_digits)


def _without_zeros(number: Decimal) -> Decimal:
    """Return a whole number without the zeros at its end, as so many powers of ten."""
    return number.normalize() if number and number.as_tuple().exponent == 0 else number
