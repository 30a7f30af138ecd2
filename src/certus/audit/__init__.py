"""Readers that express a fitted model, of certus or another library, as a claim's parameters."""

from .column_steps import ColumnStep
from .labels import Labels
from .parts import InnerModels, parts_of
from .reading import Reading, known, read, readable
from .shapes import READING_ERRORS, why_unreadable
from .statsmodels_results import is_result, with_rows
from .wrappers import Unwrapped, unwrap

__all__ = [
    "READING_ERRORS", "ColumnStep", "InnerModels", "Labels", "Reading", "Unwrapped", "is_result",
    "known", "parts_of", "read", "readable", "unwrap", "why_unreadable", "with_rows",
]  # fmt: skip
