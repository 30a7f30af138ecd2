"""Proofs for mixtures: the likelihood, and the gain of one more EM step."""
