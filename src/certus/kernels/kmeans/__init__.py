"""Compiled loops of k-means."""
