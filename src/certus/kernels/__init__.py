"""Loops that NumPy and BLAS do not run fast enough, compiled by Numba for the user's own CPU."""
