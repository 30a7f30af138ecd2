"""One call of a page."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np


class Problem(NamedTuple):
    """``check(X, *targets(y, s), **arguments)`` of the page; the claims of several are summed.

    ``targets`` is a term of ``definitions/terms/targets.py``. Arguments are numbers, text, arrays,
    containers of these, and terms: NamedTuples of ``definitions/terms``, which scripts hold.
    """

    page: str  # name of a module of ``certus.definitions``
    targets: Callable[..., tuple[np.ndarray | None, np.ndarray]]
    arguments: Mapping[str, object]
    constant: float | None = None  # X gets one more column, of this number: a penalised intercept
