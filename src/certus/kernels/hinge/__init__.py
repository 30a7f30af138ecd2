"""Compiled dual coordinate steps of the hinge loss."""

from certus.kernels import _compile  # noqa: F401  first, so that loading Numba is timed
