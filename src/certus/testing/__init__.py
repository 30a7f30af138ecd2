"""Certificates in tests and searches: an assertion, and scorers that read certificates."""

from .assertion import assert_optimal
from .scorers import certified, relative_gap

__all__ = ["assert_optimal", "certified", "relative_gap"]
