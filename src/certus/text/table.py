"""A small table of named columns that can be read, shown in a notebook or taken elsewhere."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from textwrap import wrap
from typing import Any

import numpy as np

from . import markup
from .cells import DIGITS, Precision, aligned, plain, pvalue, statistic
from .format import printable

WIDTH = 80  # characters, of the narrowest terminals in use
MIN_NAME_WIDTH = 8  # characters that remain of a shortened name
COLUMN_GAP = 2
MAX_PRINTED_ROWS = 60
EDGE_ROWS = 10  # rows at either end of a longer table


class ResultTable:
    """Columns of equal length; the first ``keys`` of them name the rows.

    Printing shows the first and the last rows of a table that is longer than 60.

    Parameters
    ----------
    columns : mapping from name to values
    keys : int
        How many columns, from the left, say what a row is about.
    title, notes : str, sequence of str
        Written above and below.
    precision : sequence of Precision
        Errors of the rows, by which columns are rounded.
    pvalues, statistics : sequence of str
        Columns that are printed as such.
    interval : (str, str, str), optional
        Columns of the lower and the upper end of an interval, and the name of both together.

    Examples
    --------
    >>> table = ResultTable({"name": ["a", "b"], "value": [1.5, float("nan")]}, title="Two numbers")
    >>> print(table)
    Two numbers
    name  value
    a       1.5
    b         –
    >>> table["value"][0]
    np.float64(1.5)
    """

    def __init__(
        self,
        columns: Mapping[str, Sequence[Any] | np.ndarray],
        *,
        keys: int = 1,
        title: str = "",
        notes: Sequence[str] = (),
        precision: Sequence[Precision] = (),
        pvalues: Sequence[str] = (),
        statistics: Sequence[str] = (),
        interval: tuple[str, str, str] | None = None,
    ):
        lengths = {name: len(values) for name, values in columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns must be of one length, not {lengths}")
        self._columns = {name: np.asarray(values) for name, values in columns.items()}
        self.keys, self.title, self.notes = keys, title, tuple(notes)
        self._precision, self._interval = tuple(precision), interval
        self._formats: dict[str, Callable[[float], str]] = {
            **dict.fromkeys(pvalues, pvalue), **dict.fromkeys(statistics, statistic)
        }  # fmt: skip

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def __getitem__(self, column: str) -> np.ndarray:
        if column not in self._columns:
            raise KeyError(f"no column {column!r}: there are {', '.join(self.columns)}")
        return self._columns[column]

    def texts(self, column: str) -> list[str]:
        """The values of a column as they are printed."""
        self[column]  # raises KeyError where there is none
        return self._cells(range(len(self)))[column]

    def to_dict(self) -> dict[str, list[Any]]:
        """{column: list of values}."""
        return {name: values.tolist() for name, values in self._columns.items()}

    def to_pandas(self) -> Any:
        """A pandas DataFrame, its rows named by the key columns."""
        frame = _package("pandas").DataFrame(self.to_dict())
        return frame.set_index(list(self.columns[: self.keys])) if self.keys else frame

    def to_polars(self) -> Any:
        """A polars DataFrame; the key columns are columns as the others."""
        return _package("polars").DataFrame(self.to_dict())

    # --- for papers ---

    def to_markdown(self, digits: int = DIGITS) -> str:
        """A Markdown table of all rows, with the interval in one column.

        Parameters
        ----------
        digits : int, default=3
            Digits of an error that estimates and intervals are rounded to.
        """
        return markup.markdown(self._paper(digits), self.keys, self.title, self.notes)

    def to_latex(self, digits: int = DIGITS) -> str:
        """A LaTeX table of all rows, which needs the package booktabs; ``digits`` as above."""
        return markup.latex(self._paper(digits), self.keys, self.title, self.notes)

    def to_html(self, digits: int = DIGITS) -> str:
        """An HTML table of all rows; ``digits`` as above. All text is escaped."""
        return markup.html(self._paper(digits), self.keys, self.title, self.notes)

    def _paper(self, digits: int) -> list[tuple[str, ...]]:
        """Rows of text, the head first, with the interval in one column."""
        if isinstance(digits, bool) or not 1 <= digits <= 15:
            raise ValueError(f"digits={digits!r}: give a whole number from 1 to 15")
        cells = self._cells(range(len(self)), digits)
        if self._interval is None:
            return list(zip(*([_clean(name), *text] for name, text in cells.items()), strict=True))
        low, high, both = self._interval
        ends = zip(cells[low], cells.pop(high), strict=True)
        interval = [both, *(f"{a} to {b}" if a != "–" else "–" for a, b in ends)]
        place = min(list(cells).index(name) for name in (low, *self._formats) if name in cells)
        del cells[low]
        columns = [[_clean(name), *text] for name, text in cells.items()]
        columns.insert(place, interval)  # after the estimate, before its test
        return list(zip(*columns, strict=True))

    # --- for reading ---

    def __str__(self) -> str:
        before, after, n_hidden = self._printed_rows()
        cells = self._cells([*before, *after])
        columns = [
            [_clean(name), *(aligned(text) if self._is_number(name) else text)]
            for name, text in cells.items()
        ]
        widths = self._widths(columns)
        if _total(widths) > WIDTH:  # decimal points of very different scales are far apart
            columns = [[_clean(name), *text] for name, text in cells.items()]
            widths = self._widths(columns)
        lines = []
        for row in zip(*columns, strict=True):
            text = [
                f"{_short(cell, width):<{width}}" if j < self.keys else f"{cell:>{width}}"
                for j, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append((" " * COLUMN_GAP).join(text).rstrip())
        if n_hidden:
            lines.insert(1 + len(before), self._hidden(n_hidden))
        lines = [*_wrapped(self.title), *lines]
        for note in self.notes:
            lines += _wrapped(note)
        return printable("\n".join(lines))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        before, after, n_hidden = self._printed_rows()
        cells = self._cells([*before, *after])
        rows = list(zip(*([_clean(name), *text] for name, text in cells.items()), strict=True))
        if n_hidden:
            blank = [""] * (len(rows[0]) - 1)
            rows.insert(1 + len(before), (self._hidden(n_hidden), *blank))
        return markup.html(rows, self.keys, self.title, self.notes)

    def _widths(self, columns: list[list[str]]) -> list[int]:
        """Return the width of each column; a long name gives way, numbers do not."""
        widths = [max(map(len, column)) for column in columns]
        over = _total(widths) - WIDTH
        if over > 0 and self.keys:
            longest = max(range(self.keys), key=widths.__getitem__)
            widths[longest] = min(widths[longest], max(MIN_NAME_WIDTH, widths[longest] - over))
        return widths

    def _printed_rows(self) -> tuple[range, range, int]:
        """Return the rows at the head and the tail, and how many there are between them."""
        n = len(self)
        if n <= MAX_PRINTED_ROWS:
            return range(n), range(0), 0
        return range(EDGE_ROWS), range(n - EDGE_ROWS, n), n - 2 * EDGE_ROWS

    @staticmethod
    def _hidden(n: int) -> str:
        return f"… {n:,} more rows; .to_pandas() has all"

    def _cells(self, rows: Sequence[int], digits: int = DIGITS) -> dict[str, list[str]]:
        """Return the text of some rows, column by column."""
        which = np.asarray(rows, dtype=np.intp)
        cells = {
            name: [self._format(name, value) for value in values[which].tolist()]
            for name, values in self._columns.items()
        }
        for precision in self._precision if len(which) else ():
            names = [name for name in precision.columns if name in cells]
            numbers = np.column_stack([self._columns[name][which] for name in names])
            of = Precision(tuple(names), precision.errors[which], precision.ratio)
            rounded = zip(*of.cells(numbers.tolist(), digits), strict=True)
            cells |= dict(zip(names, map(list, rounded), strict=True))
        return cells

    def _format(self, name: str, value: object) -> str:
        if not isinstance(value, float):
            return _clean(str(value))
        return self._formats.get(name, plain)(value)

    def _is_number(self, name: str) -> bool:
        return bool(np.issubdtype(self._columns[name].dtype, np.floating))


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(
            f"to_{name}() needs {name}, which is not installed: pip install {name}, or use "
            "to_dict()"
        ) from error


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + COLUMN_GAP * (len(widths) - 1)


def _wrapped(text: str) -> list[str]:
    return wrap(text, WIDTH, subsequent_indent=" " * COLUMN_GAP, break_long_words=False)


def _clean(text: str) -> str:
    """Return a name on one line, with unprintable characters replaced."""
    return "".join(c if c.isprintable() else " " for c in text)


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
