"""Proofs for least squares and ridge regression."""
