"""Readers that turn a fitted model, ours or another library's, into a definition's terms."""

from .reading import Reading, read, readable
from .unwrap import unwrap

__all__ = ["Reading", "read", "readable", "unwrap"]
