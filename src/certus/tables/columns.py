"""What the columns of a table look like: numbers, categories, dates, ids.

Text is a category if it has few distinct values. Ids (all values different, by name or by counting
up), free text, dates, constants and empty columns are not used by a model, each for a reason that
is reported.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..text.format import count
from .conversion import MAX_ROWS_NAMED, Converted, clipped, matches, n_true, rows_of
from .formats import DATE, TRUTH_VALUES

if TYPE_CHECKING:
    import pyarrow as pa

MAX_CATEGORIES = 100
MIN_ROWS_OF_ID = 20  # in shorter columns all values differ by chance
ID_NAME = re.compile(
    r"(^|[_\s.-])(?i:id|ids|uuid|guid|key|index|rowid|row|nr|no)$|^(?i:unnamed|id[_\s.-])"
    r"|[a-z](Id|ID)$|^(?i:column_1)$"
)
MODEL_ROLES = ("number", "category", "truth")
LOOKS_LIKE_ID = "all values differ: it looks like an id"


class Column(NamedTuple):
    """One column: its role, and why it has it."""

    name: str
    role: str  # "number", "category", "truth", "date", "id", "text", "constant", "empty", "nested"
    n_missing: int
    n_distinct: int
    examples: tuple[str, ...]
    reason: str = ""  # why it is not used, or what is odd about it
    is_mixed: bool = False  # mostly numbers, and some text
    levels: tuple[str, ...] | None = None  # categories that models tell apart; None: all

    @property
    def is_used(self) -> bool:
        """Does a model use the column?"""
        return self.role in MODEL_ROLES


class Content(NamedTuple):
    """The values of a column, counted."""

    n: int
    n_missing: int
    n_distinct: int
    examples: tuple[str, ...]

    @property
    def all_differ(self) -> bool:
        """Do all values differ, and are there enough of them to say so?"""
        return self.n_distinct == self.n - self.n_missing and self.n >= MIN_ROWS_OF_ID


def described(
    name: str, column: Converted, role: str | None = None, numbers: np.ndarray | None = None
) -> Column:
    """The role of a column, and why.

    ``role``: the one that it must have; ``numbers``: of the rows, if they are not 1, 2, …
    """
    import pyarrow as pa

    values, kind = column.values, column.values.type
    if is_unreadable(kind):
        return Column(
            name, "nested", int(values.null_count), 0, (), f"values of type {kind} are not used"
        )
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if is_number:
        content, note = _numbers_counted(values, numbers)
        looks = role_of_numbers(name, content, lambda: _sequence_of(values))
    else:
        content, note = _values_counted(values), ""
        looks = role_of_values(
            name, kind, content, lambda: are_dates(values), lambda: _distinct(values)
        )
    found, reason = looks
    if role in MODEL_ROLES and found != "nested" and is_number == (role == "number"):
        found, reason = role, ""
    notes = filter(None, (column.note, note, reason))
    return Column(name, found, content.n_missing, content.n_distinct, content.examples,
                  "; ".join(notes), column.is_mixed)  # fmt: skip


def is_unreadable(kind: "pa.DataType") -> bool:
    import pyarrow as pa

    readable = (
        pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_string,
        pa.types.is_timestamp, pa.types.is_date, pa.types.is_time, pa.types.is_duration,
        pa.types.is_null,
    )  # fmt: skip
    return not any(test(kind) for test in readable)


# --- numbers --------------------------------------------------------------------------------------


def _numbers_counted(values: "pa.ChunkedArray", numbers: np.ndarray | None) -> tuple[Content, str]:
    """Counts of a column of numbers, and a note on infinite ones."""
    import pyarrow.compute as pc

    missing = pc.is_null(values, nan_is_null=True)
    n_missing = n_true(missing)
    present = values.filter(pc.invert(missing)) if n_missing else values
    ordered = np.sort(present.to_numpy())
    n_distinct = int(np.count_nonzero(ordered[1:] != ordered[:-1])) + bool(len(ordered))
    examples = dict.fromkeys(present[:MAX_EXAMPLE_ROWS].to_pylist())
    shown = tuple(_shown(v) for v in [*examples][:3])
    is_infinite = len(ordered) and np.isinf(ordered[[0, -1]]).any()
    note = infinite_rows(values, numbers) if is_infinite else ""
    return Content(len(values), n_missing, n_distinct, shown), note


MAX_EXAMPLE_ROWS = 1000  # in which examples are looked for


def infinite_rows(values: "pa.ChunkedArray", numbers: np.ndarray | None = None) -> str:
    """ "infinite in 2 rows (row 3, 9)", for a person; ``numbers``: of the rows, if not 1, 2, …"""
    import pyarrow.compute as pc

    is_infinite = pc.is_inf(values)
    found = rows_of(is_infinite)
    rows = ", ".join(f"{row if numbers is None else numbers[row - 1]:,}" for row in found)
    n = n_true(is_infinite)
    return f"infinite in {count(n, 'row')} (row {rows}{', …' if n > MAX_ROWS_NAMED else ''})"


class NumberSequence(NamedTuple):
    """Numbers in the order of their rows."""

    are_whole: bool
    count_up: bool  # each is one more than the one before


def _sequence_of(values: "pa.ChunkedArray") -> NumberSequence:
    numbers = values.to_numpy()
    whole = bool(np.all(np.isfinite(numbers))) and bool(np.all(numbers % 1 == 0))
    return NumberSequence(whole, bool(np.all(numbers[1:] - numbers[:-1] == 1)))


def role_of_numbers(
    name: str, content: Content, sequence: Callable[[], NumberSequence]
) -> tuple[str, str]:
    """The role of a column of numbers, and why; ``sequence`` is asked where it matters."""
    if content.n_distinct == 0:
        return "empty", "no value in any row"
    if content.n_distinct == 1 and content.n > 1:
        where = "in every row" if not content.n_missing else "wherever there is a value"
        return "constant", f"{content.examples[0]} {where}"
    if content.all_differ and not content.n_missing:
        found = sequence()
        if found.are_whole and (found.count_up or ID_NAME.search(name)):
            return "id", LOOKS_LIKE_ID
    return "number", ""


# --- text, truth values, dates --------------------------------------------------------------------


def _values_counted(values: "pa.ChunkedArray") -> Content:
    import pyarrow as pa

    distinct = values.unique().drop_null()
    first = distinct[:3]
    if pa.types.is_temporal(values.type):  # Python has no dates before the year 1
        first = first.cast(pa.string())
    examples = tuple(_shown(v) for v in first.to_pylist())
    return Content(len(values), int(values.null_count), len(distinct), examples)


def role_of_values(
    name: str,
    kind: "pa.DataType",
    content: Content,
    are_dates: Callable[[], bool],
    distinct: Callable[[], list[str]],
) -> tuple[str, str]:
    """The role of a column that holds no numbers, and why; callables are asked where it matters."""
    import pyarrow as pa

    if content.n_distinct == 0:
        return "empty", "no value in any row"
    if content.n_distinct == 1 and not content.n_missing and content.n > 1:
        return "constant", f"{content.examples[0]} in every row"
    if pa.types.is_boolean(kind):
        return "truth", ""
    if pa.types.is_temporal(kind) or are_dates():
        return "date", "a date or time: make numbers of it (days since a day, month, weekday)"
    if content.all_differ and ID_NAME.search(name):
        return "id", LOOKS_LIKE_ID
    if content.n_distinct > MAX_CATEGORIES or content.all_differ:
        return "text", (
            f"{content.n_distinct:,} distinct texts in {content.n:,} rows: too many to use "
            "as categories"
        )
    texts = distinct()
    is_truth = any({text.casefold() for text in texts} <= pair for pair in TRUTH_VALUES)
    return "truth" if is_truth else "category", _spelt_alike(texts)


def _distinct(values: "pa.ChunkedArray") -> list[str]:
    found: list[str] = values.unique().drop_null().to_pylist()
    return found


def are_dates(values: "pa.ChunkedArray") -> bool:
    """Is every text of a column a date?"""
    n_texts = len(values) - values.null_count
    first = values[:MAX_EXAMPLE_ROWS]
    if n_true(matches(first, DATE)) < len(first) - first.null_count:
        return False
    return n_true(matches(values, DATE)) == n_texts


def _spelt_alike(texts: list[str]) -> str:
    """A note on categories that differ in nothing but case or spaces."""
    first: dict[str, str] = {}
    for text in texts:
        other = first.setdefault(" ".join(text.casefold().split()), text)
        if other != text:
            return f"{clipped(other)} and {clipped(text)} are different categories: mistyped?"
    return ""


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    text = str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
