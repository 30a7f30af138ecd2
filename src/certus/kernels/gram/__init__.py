"""Compiled Gram sums."""
