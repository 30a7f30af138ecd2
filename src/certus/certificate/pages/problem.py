"""One call of a page."""

from collections.abc import Mapping
from typing import NamedTuple


class PageCall(NamedTuple):
    """A call ``check(X, *targets(y, s), **arguments)`` of a page; claims of several are summed.

    ``targets`` is a term of ``definitions/terms/targets.py``. Arguments are numbers, text, arrays,
    containers of these, and terms: NamedTuples of ``definitions/terms``, which scripts hold.
    """

    page: str  # name of a module of ``certus.definitions``
    targets: tuple[object, ...]  # a term, called with (y, s): targets and weights
    arguments: Mapping[str, object]
    constant: float | None = None  # X gets one more column, of this number: a penalised intercept
