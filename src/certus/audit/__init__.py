"""Readers that turn a fitted model, ours or another library's, into a definition's terms."""

from .column_steps import ColumnStep
from .labels import Labels
from .reading import Reading, known, read, readable
from .shapes import UNREADABLE, why_unreadable
from .unwrap import unwrap

__all__ = [
    "UNREADABLE", "ColumnStep", "Labels", "Reading", "known", "read", "readable", "unwrap",
    "why_unreadable",
]  # fmt: skip
