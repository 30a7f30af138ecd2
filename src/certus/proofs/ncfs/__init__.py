"""Proofs for NCFS: the slopes of its objective over all pairs of rows."""
