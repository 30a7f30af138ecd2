"""Solvers for penalties of single coefficients: working sets and coordinate descent."""
