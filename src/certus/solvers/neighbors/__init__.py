"""Exact search for the nearest rows."""

from .index import DenseIndex

__all__ = ["DenseIndex"]
