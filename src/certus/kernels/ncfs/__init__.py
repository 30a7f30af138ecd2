"""Compiled loops of NCFS over all pairs of rows."""
