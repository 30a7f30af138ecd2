"""Proofs for k-means: nearest centres, the gain of a step and of single moves, lower bounds."""
