"""The one formatter: how every number of HTML, Markdown and charts is written.

Sentences of sections use the same functions, from ``content/phrases.py``.
"""

import math
from collections.abc import Callable

from ..content.phrases import (
    count,
    digits3,
    interval_decimals,
    interval_text,
    listed,
    number_as,
    of_rows,
    p_value,
    percent,
    share,
    signed,
    value_and_interval,
)
from ..content.values import Interval

__all__ = [
    "ABSENT", "cell", "count", "digits3", "integer", "interval_text", "listed", "number_as",
    "of_rows", "p_value", "percent", "sentence", "share", "signed", "value_and_interval",
    "value_beside",
]  # fmt: skip

ABSENT = "–"


def integer(n: float) -> str:
    """A count, with a comma for thousands.

    >>> integer(1599), integer(-1599.0)
    ('1,599', '−1,599')
    """
    return f"{n:,.0f}".replace("-", "−")


FORMATS: dict[str, Callable[[float], str]] = {
    "number": digits3,
    "text": digits3,
    "count": integer,
    "share": share,
    "p": p_value,
}


def cell(value: str | float | int | None, kind: str = "number") -> str:
    """A cell of a table whose column is of this kind.

    >>> cell(0.7214), cell(0.7214, "share"), cell(1599, "count"), cell(None), cell("a", "text")
    ('0.721', '72 %', '1,599', '–', 'a')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ABSENT
    if isinstance(value, str):
        return value
    return FORMATS[kind](value)


def sentence(text: str) -> str:
    """Text that begins with a capital letter and ends with a full stop.

    >>> sentence("no --time column was named")
    'No --time column was named.'
    """
    if not text:
        return text
    end = "" if text.endswith((".", "!", "?", ":", "…")) else "."
    return f"{text[0].upper()}{text[1:]}{end}"


def value_beside(value: float, interval: Interval | None) -> str:
    """A value with the decimals of its interval.

    >>> value_beside(0.7214, Interval(0.6512, 0.7931))
    '0.72'
    """
    return digits3(value) if interval is None else number_as(value, interval_decimals(interval))
