"""Gradients held against finite differences."""

from .check import check_gradient

__all__ = ["check_gradient"]
