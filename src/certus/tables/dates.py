"""Dates and times of a column as numbers that sort."""

from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from ..exceptions import TableError

if TYPE_CHECKING:
    import pyarrow as pa

DAYS = (  # in the order in which they are tried; the first that reads all dates is taken
    "%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d.%m.%y", "%d/%m/%y",
    "%m/%d/%y", "%d-%m-%y", "%Y-%m", "%d %b %Y", "%d-%b-%Y", "%d %B %Y", "%b %d, %Y", "%b %d %Y",
    "%B %d, %Y", "%B %d %Y", "%d-%b-%y", "%d %b %y",
)  # fmt: skip
CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", " %I:%M %p", " %I:%M:%S %p", " %H:%M:%S%z",
          " %H:%M:%S.%f%z", " %H:%M%z")  # fmt: skip
AMBIGUOUS = {"%d/%m/%Y": "%m/%d/%Y", "%d/%m/%y": "%m/%d/%y"}


def sortable(name: str, values: "pa.ChunkedArray") -> tuple[np.ndarray, str]:
    """Numbers in the order of time, NaN where one is missing, and a note on how dates were read.

    Raises ``TableError`` for text that holds no dates.
    """
    import pyarrow as pa

    kind = values.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return values.cast(pa.float64()).to_numpy().astype(float), ""
    if pa.types.is_temporal(kind):
        width = pa.int32() if kind.bit_width == 32 else pa.int64()
        return values.cast(width).cast(pa.float64()).to_numpy().astype(float), ""
    texts = values.unique().drop_null().to_pylist()
    if not all(isinstance(text, str) for text in texts):
        raise TableError(f"the times '{name}' are of type {kind}: give dates or numbers")
    format_, times = _read(name, texts)
    place = dict(zip(texts, times, strict=True))
    numbers = np.array([place.get(text, np.nan) for text in values.to_pylist()])
    other = AMBIGUOUS.get(format_.split(" ")[0])
    note = ""
    if other and _parsed(texts, format_.replace(format_.split(" ")[0], other)):
        note = (
            f"dates of '{name}' are read as day/month/year; written as 2026-12-31 they leave no "
            "doubt"
        )
    return numbers, note


def _read(name: str, texts: Sequence[str]) -> tuple[str, list[float]]:
    for day, clock in product(DAYS, CLOCKS):
        times = _parsed(texts, day + clock)
        if times is not None:
            return day + clock, times
    raise TableError(
        f"the times '{name}' hold text that is no date, or dates written in several ways: write "
        "all as 2026-12-31, or give numbers"
    )


def _parsed(texts: Sequence[str], format_: str) -> list[float] | None:
    """Seconds since 1970 by this format; None: it does not read all of them."""
    times = []
    for text in texts:
        plain = (
            text.replace("T", " ").replace("Z", "+0000") if "%b" not in format_.lower() else text
        )
        try:
            moment = datetime.strptime(plain.strip(), format_)
        except ValueError:
            return None
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        times.append(aware.timestamp())
    return times
