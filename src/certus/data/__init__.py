"""Data on their way in: validation, labels, data frames, and rows in blocks."""
