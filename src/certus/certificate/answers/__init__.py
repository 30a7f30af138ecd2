"""Answers of a fitted model, recomputed from the parameters that were certified."""
