"""Loops that NumPy and BLAS do not run fast enough, compiled by Numba for the user's CPU."""

from certus.kernels._fallback import KernelError, compiled_or

__all__ = ["KernelError", "compiled_or"]
