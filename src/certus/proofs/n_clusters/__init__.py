"""Scores of a number of clusters, as they are defined."""
