"""Proofs for the hinge loss: linear and kernel support vector machines."""
