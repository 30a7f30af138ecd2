"""A small table of named columns that can be read, shown in a notebook or taken elsewhere."""

from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from textwrap import wrap
from typing import Any

import numpy as np

from .format import number, printable

WIDTH = 80  # characters, of the narrowest terminals in use
NUMBER_WIDTH = 9  # characters of a number: -1.23e-10
MIN_NAME_WIDTH = 8  # characters that remain of a shortened name
COLUMN_GAP = 2


class ResultTable:
    """Columns of equal length; the first ``keys`` of them name the rows.

    Parameters
    ----------
    columns : mapping from name to values
    keys : int
        How many columns, from the left, say what a row is about.
    title, notes : str, sequence of str
        Written above and below.

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
    ):
        lengths = {name: len(values) for name, values in columns.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns must be of one length, not {lengths}")
        self._columns = {name: np.asarray(values) for name, values in columns.items()}
        self.keys, self.title, self.notes = keys, title, tuple(notes)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def __getitem__(self, column: str) -> np.ndarray:
        if column not in self._columns:
            raise KeyError(f"no column {column!r}: there are {', '.join(self.columns)}")
        return self._columns[column]

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

    def __str__(self) -> str:
        cells = [_column(name, values) for name, values in self._columns.items()]
        widths = [max(map(len, column)) for column in cells]
        over = sum(widths) + COLUMN_GAP * (len(widths) - 1) - WIDTH
        if over > 0 and self.keys:  # long names give way, numbers do not
            longest = max(range(self.keys), key=widths.__getitem__)
            widths[longest] = max(MIN_NAME_WIDTH, widths[longest] - over)
        lines = _wrapped(self.title)
        for row in zip(*cells, strict=True):
            text = [
                f"{_short(cell, width):<{width}}" if j < self.keys else f"{cell:>{width}}"
                for j, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            lines.append((" " * COLUMN_GAP).join(text).rstrip())
        for note in self.notes:
            lines += _wrapped(note)
        return printable("\n".join(lines))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        cells = [_column(name, values) for name, values in self._columns.items()]
        head, *body = zip(*cells, strict=True)
        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        notes = "".join(f"<div>{escape(note)}</div>" for note in self.notes)
        return (
            f"<div><table>{caption}<thead>{self._html_row(head, self.keys, 'th')}</thead><tbody>"
            f"{''.join(self._html_row(row, self.keys, 'td') for row in body)}</tbody></table>"
            f"{notes}</div>"
        )

    @staticmethod
    def _html_row(row: Sequence[str], keys: int, tag: str) -> str:
        shown = [
            f'<{"th" if j < keys else tag} style="text-align:{"left" if j < keys else "right"}">'
            f"{escape(cell)}</{'th' if j < keys else tag}>"
            for j, cell in enumerate(row)
        ]
        return f"<tr>{''.join(shown)}</tr>"


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(
            f"to_{name}() needs {name}, which is not installed: pip install {name}, or use "
            "to_dict()"
        ) from error


def _column(name: str, values: np.ndarray) -> list[str]:
    return [_clean(name), *(_cell(value) for value in values.tolist())]


def _cell(value: object) -> str:
    if not isinstance(value, float):
        return _clean(str(value))
    if value != value:
        return "–"
    text = number(value, 5)
    if len(text) > NUMBER_WIDTH and abs(value) < np.inf:
        mantissa, exponent = f"{value:.2e}".split("e")
        text = f"{mantissa}e{int(exponent)}"
    return text


def _wrapped(text: str) -> list[str]:
    return wrap(text, WIDTH, subsequent_indent=" " * COLUMN_GAP, break_long_words=False)


def _clean(text: str) -> str:
    """Return a name on one line, with unprintable characters replaced."""
    return "".join(c if c.isprintable() else " " for c in text)


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
