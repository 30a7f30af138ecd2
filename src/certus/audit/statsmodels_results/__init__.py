"""Results of statsmodels: what they claim, and the rows that they recorded."""

from .claims import is_fit, is_result, read
from .rows import with_rows

__all__ = ["is_fit", "is_result", "read", "with_rows"]
