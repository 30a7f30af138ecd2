"""What the columns of a table look like: numbers, categories, dates, ids.

A column of text that holds nothing but numbers and marks of missing values becomes numbers. What is
neither is a category if it has few distinct values. Ids (all values different, by name or by
counting up), free text, dates, constants and empty columns are not used by a model, each for a
reason that is reported.
"""

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

MISSING_MARKERS = (
    "", "NA", "N/A", "n/a", "na", "NaN", "nan", "NULL", "null", "#N/A", "-", "--", "?", ".",
)  # fmt: skip
MISSING_NUMBERS = ("None", "none", "missing", "nil", "#DIV/0!", "#VALUE!")  # elsewhere: a category
MAX_CATEGORIES = 100
MIN_ROWS_OF_ID = 20  # in shorter columns all values differ by chance
ID_NAME = re.compile(
    r"(^|[_\s.])(id|ids|uuid|guid|key|index|rowid|row)$|^unnamed|^id[_\s]", re.IGNORECASE
)
NUMBER = r"^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"
INFINITY_PATTERN = r"^[+-]?(?i:inf|infinity)$"
DAY = r"(\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4})"
TIME = r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?"
DATE = f"^{DAY}{TIME}$"
MODEL_ROLES = ("number", "category", "truth")


class Column(NamedTuple):
    """One column: its role, and why it has it."""

    name: str
    role: str  # "number", "category", "truth", "date", "id", "text", "constant", "empty", "nested"
    n_missing: int
    n_distinct: int
    examples: tuple[str, ...]
    reason: str = ""  # why it is not used, or what is odd about it

    @property
    def is_used(self) -> bool:
        """Whether a model uses the column."""
        return self.role in MODEL_ROLES


def typed(values: "pa.ChunkedArray", decimal: str) -> tuple["pa.ChunkedArray", set[str], str]:
    """Text as numbers if it is such; the marks of missing values found; what is odd, in words."""
    import pyarrow as pa
    import pyarrow.compute as pc

    stripped = pc.utf8_trim_whitespace(values)
    markers = (*MISSING_MARKERS, *MISSING_NUMBERS)
    plain = pc.replace_substring(stripped, ",", ".") if decimal == "," else stripped
    is_number = pc.match_substring_regex(plain, NUMBER)
    is_infinite = pc.match_substring_regex(plain, INFINITY_PATTERN)
    is_marker = pc.is_in(stripped, value_set=pa.array(markers))
    n_numbers = _true(is_number)
    odd = len(values) - n_numbers - _true(pc.and_not(is_marker, is_number)) - _true(is_infinite)
    if n_numbers and not odd:
        found = _markers(stripped, pc.and_not(is_marker, is_number))
        kept = pc.if_else(pc.or_(is_number, is_infinite), plain, None)
        note = ""
        return pc.cast(kept, pa.float64()), found, note
    is_missing = pc.is_in(stripped, value_set=pa.array(MISSING_MARKERS))
    text = pc.if_else(is_missing, None, stripped)
    note = ""
    if n_numbers > odd:
        note = _mixed(plain, pc.invert(pc.or_(pc.or_(is_number, is_infinite), is_marker)), odd)
    return text, _markers(stripped, is_missing), note


def _true(mask: "pa.ChunkedArray") -> int:
    import pyarrow.compute as pc

    return int(pc.sum(mask).as_py() or 0)


def _markers(values: "pa.ChunkedArray", mask: "pa.ChunkedArray") -> set[str]:
    return {str(v) for v in values.filter(mask).unique().to_pylist() if v is not None}


def _mixed(values: "pa.ChunkedArray", mask: "pa.ChunkedArray", odd: int) -> str:
    import pyarrow.compute as pc

    rows = pc.indices_nonzero(mask)[:3].to_pylist()
    shown = ", ".join(f"{values[row].as_py()!r} in row {row + 1:,}" for row in rows)
    return f"mostly numbers, but {odd:,} {'is' if odd == 1 else 'are'} not ({shown})"


def described(name: str, values: "pa.ChunkedArray", note: str = "") -> Column:
    """The role of a column, and why."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind, n = values.type, len(values)
    n_missing = int(values.null_count)
    if pa.types.is_floating(kind):
        n_missing += _true(pc.is_nan(values))
    if pa.types.is_nested(kind) or pa.types.is_binary(kind):
        return Column(name, "nested", n_missing, 0, (), f"values of type {kind} are not used")
    distinct = values.unique().drop_null()
    n_distinct = len(distinct)
    examples = tuple(_shown(v) for v in distinct[:3].to_pylist())

    def column(role: str, reason: str = note) -> Column:
        return Column(name, role, n_missing, n_distinct, examples, reason)

    if n_missing >= n or n_distinct == 0:
        return column("empty", "no value in any row")
    if n_distinct == 1 and n_missing == 0 and n > 1:
        return column("constant", f"{examples[0]} in every row")
    if pa.types.is_temporal(kind) or (pa.types.is_string(kind) and _are_dates(distinct)):
        return column("date", "a date: make numbers of it (days since a day, month, weekday)")
    all_differ = n_distinct == n - n_missing and n >= MIN_ROWS_OF_ID
    if pa.types.is_boolean(kind):
        return column("truth")
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        if all_differ and n_missing == 0 and (_counts_up(values) or _whole_id(name, values)):
            return column("id", "all values differ: it looks like an id")
        return column("number")
    if all_differ and ID_NAME.search(name):
        return column("id", "all values differ: it looks like an id")
    if n_distinct > MAX_CATEGORIES or (all_differ and n_distinct > MIN_ROWS_OF_ID):
        return column(
            "text", f"{n_distinct:,} distinct texts in {n:,} rows: too many to use as categories"
        )
    return column("category")


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _are_dates(distinct: "pa.Array") -> bool:
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(distinct, DATE)).as_py())


def _counts_up(values: "pa.ChunkedArray") -> bool:
    """Whether the column numbers the rows, 1, 2, 3, …."""
    import numpy as np

    numbers = values.to_numpy()
    return bool(len(numbers) > 1 and np.all(np.diff(numbers) == 1))


def _whole_id(name: str, values: "pa.ChunkedArray") -> bool:
    import numpy as np

    return bool(ID_NAME.search(name)) and bool(np.all(values.to_numpy() % 1 == 0))
