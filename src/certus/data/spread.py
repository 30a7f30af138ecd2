"""Row numbers spread over all rows, which samples take."""

from functools import lru_cache

import numpy as np


@lru_cache(maxsize=64)
def spread(n: int, count: int) -> np.ndarray:
    """Return about ``count`` distinct row numbers below n, evenly spread but without a period.

    They are multiples of the golden ratio, modulo 1, so that no periodic pattern is missed.
    """
    phi = 0.6180339887498949
    rows = np.unique((np.arange(count) * phi % 1.0 * n).astype(np.intp))
    rows.flags.writeable = False  # cached for the next caller
    return rows
