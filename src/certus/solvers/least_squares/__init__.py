"""Solvers for least squares and ridge regression."""
