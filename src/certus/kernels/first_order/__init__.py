"""Compiled stochastic gradient steps."""
