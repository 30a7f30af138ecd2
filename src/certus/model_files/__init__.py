"""Models on disk, without pickle."""

from .files import ModelFile, load, read, save, summary, to_bytes, write

__all__ = ["ModelFile", "load", "read", "save", "summary", "to_bytes", "write"]
