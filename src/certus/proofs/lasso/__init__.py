"""Proofs for penalized regression: duality gaps, slopes and uniqueness."""
