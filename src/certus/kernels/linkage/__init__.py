"""Compiled loops of agglomerative clustering."""
