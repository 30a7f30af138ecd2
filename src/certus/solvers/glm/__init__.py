"""Solvers for smooth losses of linear models: Newton's method and its parts."""
