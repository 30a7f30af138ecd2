"""Frames of pandas, polars, Arrow and others: their numbers, their names and the order of rows."""

from .names import other_columns
from .reading import (
    from_frame,
    from_series,
    holds_text,
    labels_from_frame,
    library_of,
    ordered_categories,
)
from .row_order import require_same_order

__all__ = [
    "from_frame",
    "from_series",
    "holds_text",
    "labels_from_frame",
    "library_of",
    "ordered_categories",
    "other_columns",
    "require_same_order",
]
