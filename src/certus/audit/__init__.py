"""Readers that turn a fitted model, ours or another library's, into a definition's terms."""

from .labels import Labels
from .reading import Reading, known, read, readable
from .unwrap import unwrap

__all__ = ["Labels", "Reading", "known", "read", "readable", "unwrap"]
