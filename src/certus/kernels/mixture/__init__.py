"""Compiled densities and responsibilities of mixtures."""
