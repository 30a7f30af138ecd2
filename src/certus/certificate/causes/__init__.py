"""Columns that are named as the cause of an optimum that does not exist."""
