"""Lines of code to read for a page and the terms that it is given."""

import inspect
from collections.abc import Iterable
from types import ModuleType

from certus.certificate.pages.lines import n_lines

__all__ = ["lines_to_read", "n_lines"]


def lines_to_read(page: ModuleType, terms: Iterable[type] = ()) -> int:
    """Lines of a page and of the terms that it is given."""
    return n_lines(inspect.getsource(page)) + sum(n_lines(inspect.getsource(t)) for t in terms)
