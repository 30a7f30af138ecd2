"""Readers that express a fitted model, of certus or another library, as a claim's parameters."""

from .column_steps import ColumnStep
from .labels import Labels
from .reading import Reading, known, read, readable
from .shapes import UNREADABLE, why_unreadable
from .unwrap import unwrap

__all__ = [
    "UNREADABLE", "ColumnStep", "Labels", "Reading", "known", "read", "readable", "unwrap",
    "why_unreadable",
]  # fmt: skip
