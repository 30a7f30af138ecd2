"""Compiled loops of agglomerative clustering."""

from certus.kernels import _compile  # noqa: F401  first, so that loading Numba is timed
