"""Sentences that several checks share."""

from collections.abc import Sequence

from ....text.format import listed

MAX_COLUMNS_NAMED = 50  # of a problem; its title says how many there are

SEVERE, WARNING, INFO = "severe", "warning", "info"


def quoted(names: Sequence[str], most: int = 4) -> str:
    """Names of columns in a sentence: 'a', 'b' and 3 more."""
    marked = [f"'{name}'" for name in names]
    if 1 < len(marked) <= most:
        return f"{', '.join(marked[:-1])} and {marked[-1]}"
    return listed(marked, most)


def columns_text(n: int, noun: str = "column") -> str:
    """ "1 column", "3 columns"."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def verb(n: int, singular: str, plural: str) -> str:
    """The form of a verb for n things."""
    return singular if n == 1 else plural


def sample_text(n: int, of: int) -> str:
    """What a sentence says of a sample: ", of a sample of 20,000 rows"; nothing of all rows."""
    return f", of a sample of {columns_text(n, 'row')}" if n < of else ""
