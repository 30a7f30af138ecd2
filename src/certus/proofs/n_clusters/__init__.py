"""Scores of a number of clusters, computed by their definitions."""
