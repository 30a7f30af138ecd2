"""A column of text as what it holds: numbers, or text with its missing values marked.

A column becomes numbers if every cell is a number of one style or a mark of a missing value; whole
numbers become integers. Codes with leading zeros stay text, and so does a column in which a single
cell is something else: what and where is noted, since nobody would notice it otherwise.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..exceptions import TableError
from .formats import (
    CODE,
    CURRENCY,
    INFINITY,
    MISSING,
    MISSING_NUMBERS,
    PERCENT,
    WHOLE_NUMBER,
    NumberStyle,
    styles_for,
)

if TYPE_CHECKING:
    import pyarrow as pa

MAX_ROWS_NAMED = 3
MIN_SHARE_OF_NUMBERS = 0.5  # above, a column is "mostly numbers", and the others are named


class Converted(NamedTuple):
    """A column with its types, the marks of missing values in it, and what is odd about it."""

    values: "pa.ChunkedArray"
    missing: frozenset[str]
    note: str = ""
    is_mixed: bool = False


def converted(
    name: str,
    values: "pa.ChunkedArray",
    decimal: str = ".",
    missing: Sequence[str] = (),
    role: str | None = None,
) -> Converted:
    """A column of text as numbers if it holds nothing else, or as text.

    ``role`` is the one that the column must have: "number", or "category" and "truth" for text;
    None: what it looks like. Raises ``TableError`` where a column of numbers holds something else.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    stripped = pc.utf8_trim_whitespace(values)
    if role not in ("category", "truth"):
        markers = pa.array([*MISSING, *MISSING_NUMBERS, *missing], pa.string())
        is_marker = pc.is_in(stripped, value_set=markers)
        cells = pc.if_else(is_marker, None, stripped)
        for style in styles_for(decimal):
            numbers = _numbers(cells, style, role)
            if numbers is not None:
                note = _style_note(cells, numbers, style, decimal)
                return Converted(numbers, _distinct(stripped, is_marker), note)
        if role == "number":
            raise TableError(_not_numbers(name, cells, decimal))
        note, is_mixed = _text_note(cells, decimal)
        del cells
    else:
        note, is_mixed = "", False
    markers = pa.array([*MISSING, *missing], pa.string())
    is_marker = pc.is_in(stripped, value_set=markers)
    text = pc.if_else(is_marker, None, stripped)
    return Converted(text, _distinct(stripped, is_marker), note, is_mixed)


def _numbers(
    cells: "pa.ChunkedArray", style: NumberStyle, role: str | None
) -> "pa.ChunkedArray | None":
    """Numbers of this style; None: there are none, or there is something else."""
    import pyarrow as pa
    import pyarrow.compute as pc

    is_number = matches(cells, style.pattern)
    n_numbers, n_cells = n_true(is_number), len(cells) - cells.null_count
    if n_numbers < n_cells:
        n_numbers_or_infinite = n_true(pc.or_(is_number, matches(cells, INFINITY)))
        if n_numbers_or_infinite < n_cells:
            return None
    if not n_numbers and role != "number":
        return None
    plain = cells
    for separator in style.separators:
        plain = pc.replace_substring(plain, separator, "")
    if style.decimal == ",":
        plain = pc.replace_substring(plain, ",", ".")
    if style.separators:
        plain = pc.replace_substring(plain, "−", "-")
    if n_numbers and n_true(matches(plain, WHOLE_NUMBER)) == n_cells:
        if role != "number" and n_true(matches(cells, CODE)):
            return None
        return pc.cast(pc.utf8_ltrim(plain, "+"), pa.int64())
    if role != "number" and n_true(matches(cells, r"\d+")) == n_cells:  # too long: codes
        return None
    return pc.cast(plain, pa.float64())


def _style_note(
    cells: "pa.ChunkedArray", numbers: "pa.ChunkedArray", style: NumberStyle, decimal: str
) -> str:
    """What is said of numbers that are not written as the file's decimal mark has it."""
    import pyarrow.compute as pc

    if style.separators:
        rows = rows_of(pc.invert(matches(cells, styles_for(style.decimal)[0].pattern)), 1)
        return "".join(
            f"{clipped(cells[row - 1].as_py())} in row {row:,} is read as {numbers[row - 1]}"
            for row in rows
        )
    if style.decimal != decimal and n_true(pc.match_substring(cells, style.decimal)):
        mark = "comma" if style.decimal == "," else "point"
        return f"its decimal mark is a {mark}, unlike that of the file"
    return ""


def _text_note(cells: "pa.ChunkedArray", decimal: str) -> tuple[str, bool]:
    """What is odd about a column of text that looks like numbers; is it mixed?"""
    import pyarrow.compute as pc

    n_cells = len(cells) - cells.null_count
    is_code = matches(cells, CODE)
    if n_true(matches(cells, r"[+-]?\d+")) == n_cells and n_true(is_code):
        shown = _shown_cells(cells, is_code, 1)
        return f"whole numbers like {shown} are read as codes, which are text", False
    is_number = _is_number(cells, decimal)
    n_numbers = n_true(is_number)
    if n_numbers > MIN_SHARE_OF_NUMBERS * n_cells:
        n_odd = n_cells - n_numbers
        shown = _shown_cells(cells, pc.invert(is_number), MAX_ROWS_NAMED)
        verb = "is" if n_odd == 1 else "are"
        return f"mostly numbers, but {n_odd:,} {verb} not ({shown})", True
    for pattern, what in ((PERCENT, "percentages"), (CURRENCY, "amounts of money")):
        is_such = matches(cells, pattern)
        if n_true(is_such) > MIN_SHARE_OF_NUMBERS * n_cells:
            shown = _shown_cells(cells, is_such, 1)
            return f"{what} like {shown} are read as text: write numbers without the sign", False
    return "", False


def _is_number(cells: "pa.ChunkedArray", decimal: str) -> "pa.ChunkedArray":
    """Cells that are numbers of the file's decimal mark, or infinite."""
    import pyarrow.compute as pc

    plain, grouped = styles_for(decimal)[:2]
    return pc.or_(
        pc.or_(matches(cells, plain.pattern), matches(cells, grouped.pattern)),
        matches(cells, INFINITY),
    )


def _not_numbers(name: str, cells: "pa.ChunkedArray", decimal: str) -> str:
    import pyarrow.compute as pc

    is_text = pc.invert(_is_number(cells, decimal))
    n_odd = n_true(is_text)
    shown = _shown_cells(cells, is_text, MAX_ROWS_NAMED)
    others = f" and {n_odd - MAX_ROWS_NAMED:,} more" if n_odd > MAX_ROWS_NAMED else ""
    return (
        f"column '{name}' must hold numbers, but has {shown or 'other values'}{others}: correct "
        "them, or leave these cells empty"
    )


# --- cells ----------------------------------------------------------------------------------------


def matches(cells: "pa.ChunkedArray", pattern: str) -> "pa.ChunkedArray":
    """Is the whole cell of this pattern? Null where it is missing."""
    import pyarrow.compute as pc

    return pc.match_substring_regex(cells, rf"\A(?:{pattern})\z")


def n_true(mask: "pa.ChunkedArray") -> int:
    """Number of rows in which a mask is true."""
    import pyarrow.compute as pc

    return int(pc.sum(mask).as_py() or 0)


def rows_of(mask: "pa.ChunkedArray", most: int = MAX_ROWS_NAMED) -> list[int]:
    """The first rows in which a mask is true, counted from 1."""
    import pyarrow.compute as pc

    return [row + 1 for row in pc.indices_nonzero(mask)[:most].to_pylist()]


def _shown_cells(cells: "pa.ChunkedArray", mask: "pa.ChunkedArray", most: int) -> str:
    shown = (f"{clipped(cells[row - 1].as_py())} in row {row:,}" for row in rows_of(mask, most))
    return ", ".join(shown)


def clipped(text: str, most: int = 60) -> str:
    """A text in quotes, cut off where it is long."""
    return repr(text if len(text) <= most else f"{text[: most - 1]}…")


def _distinct(values: "pa.ChunkedArray", mask: "pa.ChunkedArray") -> frozenset[str]:
    return frozenset(str(v) for v in values.filter(mask).unique().to_pylist() if v is not None)
