"""Solvers for the hinge loss, with a linear score or a kernel."""
