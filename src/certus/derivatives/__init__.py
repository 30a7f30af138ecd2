"""Comparison of gradients with finite differences."""

from .check import check_gradient

__all__ = ["check_gradient"]
